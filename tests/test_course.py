"""The course of the manual, run as a reader runs it: commands end as the page says, and print what the page shows."""

import re
import shlex
from pathlib import Path

import pytest

from hegemon.cli.main import main

PAGE = Path(__file__).parents[1] / "docs" / "course.md"
PART = re.compile(r'^```(sh|text|python)(?: title="([\w.]+)")?\n(.*?)^```', re.M | re.S)
EXERCISES = re.split(r"^## ", PAGE.read_text("utf-8"), flags=re.M)[1:]


def plain(text: str) -> str:
    return " ".join(text.split())


def missing(shown: str, printed: str) -> list[str]:
    """The lines of the page that a command did not print, whatever the widths of its columns."""
    return [line for line in shown.strip().split("\n") if plain(line) not in plain(printed)]


def test_a_line_that_is_not_printed_is_noticed():
    assert missing("worst   36\n", "worst      36 \nbest 39") == []
    assert missing("worst 37\nbest 39", "worst 36\nbest  39") == ["worst 37"]


def test_there_are_six_exercises_with_solutions():
    assert len(EXERCISES) == 6 and all("**Solution.**" in one for one in EXERCISES)


@pytest.mark.full
@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda one: one.split("\n")[0])
def test_an_exercise(exercise, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    printed, commands = "", 0
    for kind, name, text in PART.findall(exercise):
        if kind == "python":
            (tmp_path / name).write_text(text)
        elif kind == "text":
            assert not missing(text, printed), printed
        else:
            for line in text.strip().split("\n"):
                command, _, comment = line.partition("#")
                assert main(shlex.split(command)[1:]) == (1 if "exit code 1" in comment else 0), line
                printed, commands = capsys.readouterr().out, commands + 1
    assert commands >= 2
