"""The examples are protocols of one's own, in files of one's own: each runs, and is verified where it can be."""

import json
from pathlib import Path

import pytest

from hegemon.cli.main import main

EXAMPLES = Path(__file__).parents[1] / "examples"


@pytest.mark.parametrize(
    ("file", "words"),
    [
        ("lives.py", ["--n", "30", "--trials", "3"]),
        ("lottery.py", ["--n", "30", "--trials", "3"]),
        ("knockout.py", ["--graph", "complete:20", "--trials", "3"]),
        ("flood.py", ["--graph", "torus:4x4", "--set", "diameter=4", "--trials", "3"]),
    ],
)
def test_an_example_elects_one_leader(file, words, capsys):
    assert main(["run", str(EXAMPLES / file), *words, "--json"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert [trial["leaders"] for trial in content["trials"]] == [1, 1, 1]


@pytest.mark.parametrize(
    ("file", "words"),
    [
        ("lives.py", ["--n", "3"]),
        ("lottery.py", ["--n", "4"]),
        ("knockout.py", ["--graph", "complete:3"]),
    ],
)
def test_an_example_is_verified(file, words, capsys):
    assert main(["verify", str(EXAMPLES / file), *words]) == 0
