"""What `hegemon results` says of a study."""

import json

import numpy as np
import pandas
import pytest

from hegemon.cli.main import main
from hegemon.errors import InvalidInput
from hegemon.experiments.results import fit_laws, summarize_table
from hegemon.experiments.sweep import sweep
from tests.sentences import is_one_sentence


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    root = tmp_path_factory.mktemp("results") / "study"
    sweep("pairwise", n=[8, 12, 16, 24], until=["safe", "steps:50"], trials=30, workers=1, out=root)
    return root


def test_groups_intervals_and_fits(folder, capsys, tmp_path):
    assert main(["results", str(folder), "--by", "n", "--where", "until == 'safe'", "--json"]) == 0
    content = json.loads(capsys.readouterr().out)
    table = pandas.read_parquet(folder / "table.parquet")
    safe = table[table["until"] == "safe"]
    assert [row["mean"] for row in content["rows"]] == pytest.approx(list(safe.groupby("n")["steps"].mean()))
    assert all(row["ci95"][0] < row["mean"] < row["ci95"][1] and row["trials"] == 30 for row in content["rows"])
    assert content["fits"][0]["law"] == "n²"
    picture = tmp_path / "p.png"
    assert main(["results", str(folder), "--plot", str(picture), "--csv"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("n,until,trials,reached") and len(lines) == 9 and picture.stat().st_size > 5000
    assert main(["results", str(folder)]) == 0
    assert "steps ≈" in capsys.readouterr().out


def test_trials_that_were_cut_off_are_counted():
    rows = {"case": 0, "protocol": "p", "n": 8, "trial": range(4), "steps": [10, 20, 99, 99]}
    table = pandas.DataFrame({**rows, "reached": [True, True, False, False]})
    (row,) = summarize_table(table, ["n"])
    assert (row["trials"], row["reached"], row["mean"]) == (4, 2, 15)


@pytest.mark.parametrize(
    ("law", "name"),
    [
        (lambda n: 5 * n, "n"),
        (lambda n: 3 * n * np.log2(n), "n log n"),
        (lambda n: 7 * np.log2(n) ** 2, "log² n"),
        (lambda n: 4.0, "1"),
    ],
)
def test_laws_are_told_apart(law, name):
    rng = np.random.default_rng(3)
    parts = []
    for n in (64, 256, 1024, 4096, 16384):
        steps = law(n) * rng.gamma(50, 1 / 50, 400)
        parts.append(pandas.DataFrame({"case": 0, "n": n, "trial": range(400), "steps": steps, "reached": True}))
    (fit,) = fit_laws(pandas.concat(parts), ["n"])
    assert fit.law == name and fit.spread < 1.05
    for rival in fit.rivals:
        assert rival["share"][1] < 0.1 and rival["share"][2] > -0.1 and rival["spread"] > 1.2


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["--by", "nothing"], "nothing"),
        (["--of", "engine"], "engine"),
        (["--of", "n"], "measured"),
        (["--where", "n > 1e9"], "no trial"),
        (["--plot", "x.txt"], "x.txt"),
        (["--by", "until", "--plot", "x.png"], "axis"),
    ],
)
def test_bad_input_is_one_sentence(folder, arguments, word, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["results", str(folder), *arguments]) == 2
    message = capsys.readouterr().err
    assert word in message and is_one_sentence(message)


def test_no_study(tmp_path):
    with pytest.raises(InvalidInput, match="no study"):
        from hegemon.experiments.results import load_table

        load_table(tmp_path)
