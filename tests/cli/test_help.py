"""What --help shows: numbers as numbers, options by model, and examples that work as they are printed."""

import shlex

import pytest
import typer

from hegemon.cli.application import VERBS, application
from hegemon.cli.main import main

BY_MODEL = {
    "start": "Population and rounds models", "fault": "Population and rounds models",
    "one_sided": "Population and rounds models", "delay": "Messages model", "crash": "Messages model",
    "wake": "Messages model", "variant": "Messages model", "mixing_time": "Messages model",
}  # fmt: skip
EVERY_MODEL = {
    "verify",
    "import",
    "export",
    "discover",
    "prove",
    "holding",
    "network",
}  # whose --start is part of the question itself


@pytest.fixture(scope="module")
def commands():
    return typer.main.get_command(application(list(VERBS))).commands


def test_options_are_grouped_by_the_model_that_they_mean_something_to(commands):
    wrong = [
        (name, option.name)
        for name, command in commands.items()
        for option in command.params
        if option.name in BY_MODEL and not (option.name == "start" and name in EVERY_MODEL)
        if option.rich_help_panel != BY_MODEL[option.name]
    ]
    assert not wrong


def test_numbers_are_shown_as_numbers(commands):
    for name, command in commands.items():
        for option in command.params:
            shown = option.metavar or getattr(getattr(option, "type", None), "name", "")  # Typer 0.28 has no types
            if option.name in ("n", "trials", "seed", "workers", "max_steps", "port", "budget"):
                assert shown in ("INTEGER", "INTEGER,…", "RANGE"), (name, option.name)
            assert "str" not in shown.lower().split() and shown.upper() != "TEXT", (name, option.name)


def test_every_command_ends_with_two_examples(capsys):
    for name, verb in VERBS.items():
        assert len(verb.examples) == 2 and all(line.split()[:2] == ["hegemon", name] for line in verb.examples)


AT_ONCE = ("list", "show", "new", "mixing-time", "advise")  # what they ask for takes no time


@pytest.mark.parametrize("name", AT_ONCE)
def test_examples_work_as_they_are_printed(capsys, monkeypatch, tmp_path, name):
    monkeypatch.chdir(tmp_path)
    for line in VERBS[name].examples:
        assert main(shlex.split(line)[1:]) == 0, line


def test_the_examples_of_check_speak_of_the_file_that_new_writes(capsys, monkeypatch, tmp_path):
    from hegemon.experiments import checking

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(checking, "engines", lambda *_: ())  # what is asked is whether the words fit
    for line in (VERBS["new"].examples[0], *VERBS["check"].examples):
        assert main([*shlex.split(line)[1:]]) == 0, line


def test_help_shows_the_options_that_most_people_use_and_help_all_all_of_them(capsys):
    assert main(["run", "--help"]) == 0
    short = capsys.readouterr().out
    assert main(["run", "--help-all"]) == 0
    full = capsys.readouterr().out
    assert "--trials" in short and "--scheduler" not in short and "--scheduler" in full
    assert "more options: hegemon run --help-all" in short and "--help-all" in full
    assert len(short.splitlines()) < 50 and short.index("hegemon run pairwise --n 1000") < short.index("--trials  ")


def test_the_common_options_exist(commands):
    for name, verb in VERBS.items():
        assert set(verb.common) <= {option.name for option in commands[name].params}, name


def test_verbs_stand_in_groups(capsys):
    assert main(["--help"]) == 0
    shown = capsys.readouterr().out
    assert all(verb.group in shown for verb in VERBS.values())


def test_a_switch_is_not_shown_as_if_it_took_a_value(capsys):
    for verb in ("run", "discover", "verify"):
        assert main([verb, "--help"]) == 0
        shown = capsys.readouterr().out
        assert "--json" in shown and "bool" not in shown and "<str>" not in shown
