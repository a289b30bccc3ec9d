"""An author's parameter never meets an option, an axis or a column, whatever it is called."""

import json

import pytest

import hegemon as hg
from hegemon.cli.main import main
from hegemon.experiments.names import OURS, axis_named, short
from hegemon.experiments.study import make_study
from hegemon.protocols.loading import name_protocol
from hegemon.runs.record import RUN_OPTIONS

UNUSABLE = {"n", "start_given"}  # a class may not have parameters that are called so
NAMES = sorted({*OURS, "fuel"} - UNUSABLE)


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    """Leaders fight, unless a parameter with some name of ours says otherwise: then nothing ever changes."""
    declared = "".join(f"    {name} = Parameter(1, low=1)\n" for name in NAMES)
    path = tmp_path_factory.mktemp("own") / "own.py"
    path.write_text(
        "from hegemon import Parameter, Pairwise\n\n\nclass Own(Pairwise):\n"
        f'    """Leaders fight."""\n\n{declared}\n    def interact(a, b, p):\n'
        "        if a.leader == 1 and b.leader == 1 and p.loss < 100:\n            b.leader = 0\n"
    )
    return path


def test_every_name_of_ours_may_be_a_parameter(file, tmp_path, capsys):
    names = NAMES
    assert {"loss", "max_steps", "trial", "case", "seed", "n_given", "engine_asked", "mean"} <= set(names)
    words = [word for name in names for word in ("--set", f"{name}=1,2")]
    zipped = ["--zip", ",".join(f"p.{name}" for name in names)]
    out = str(tmp_path / "all")
    command = ["sweep", str(file), "--n", "4", "--loss", "1/2", *words, *zipped, "--trials", "3", "--workers", "1"]
    assert main([*command, "--out", out, "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["cases"]
    assert len(rows) == 2 and all(row["trials"] == 3 for row in rows)
    assert [[row[short(f"p.{name}")] for name in names] for row in rows] == [[1] * len(names), [2] * len(names)]
    for name in ("loss", "trial", "fuel"):
        assert main(["results", out, "--by", f"p.{name}", "--where", f"p.{name} == 2", "--json"]) == 0
        (row,) = json.loads(capsys.readouterr().out)["rows"]
        assert row["trials"] == 3 and row[short(f"p.{name}")] == 2
    assert main(["results", out, "--by", "loss", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["rows"]
    assert row["loss"] == 0.5  # the option's


@pytest.mark.parametrize("name", [one.written for one in RUN_OPTIONS.values() if one.written in NAMES])
def test_a_parameter_called_like_an_option_reaches_the_protocol(file, name):
    study = make_study(f"{file}:Own", axes={"n": 4, f"p.{name}": "1,3"})
    assert [case.settings for case in study.cases] == [
        {"protocol": f"{file}:Own", "n": 4, f"p.{name}": value} for value in (1, 3)
    ]
    name_protocol(f"{file}:Own")
    assert [case.record.protocol.parameters[name] for case in study.cases] == [1, 3]
    assert [case.record.settings() for case in study.cases] == [{}, {}]


def test_what_it_changes_is_measured(file):
    table = hg.sweep(f"{file}:Own", n=4, max_steps=200, trials=2, workers=1, **{"p.loss": [1, 100]})
    assert list(table.groupby("p.loss")["reached"].all()) == [True, False] and set(table["max_steps"]) == {200}


def test_compare_takes_it_too(file, capsys):
    assert main(["compare", f"{file},loss=100", f"{file},case=2,max_steps=30", "--n", "4", "--trials", "2",
                 "--max-steps", "300", "--workers", "1", "--holding", "none", "--json"]) == 0  # fmt: skip
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert [row["censored"] for row in rows] == [2, 0]


def test_kinds_of_faults_are_told_apart(tmp_path, capsys):
    words = ["sweep", "pairwise", "--n", "30", "--fault", "step=50,agents=20", "--fault", "step=50,leave=20"]
    assert main([*words, "--trials", "2", "--workers", "1", "--out", str(tmp_path / "s"), "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["cases"]
    assert [row["fault"] for row in rows] == ["step=50,agents=20", "step=50,leave=20"]


def test_names_of_axes():
    assert [axis_named(name) for name in ("n", "loss", "tau", "p.loss", "p.tau")] == [
        "n", "loss", "p.tau", "p.loss", "p.tau",
    ]  # fmt: skip
    assert axis_named("loss", ["n", "p.loss"]) == "p.loss" and axis_named("loss", ["loss", "p.loss"]) == "loss"
    with pytest.raises(hg.InvalidInput, match="there is no axis 'tua'; the axes are n, tau"):
        axis_named("tua", ["n", "p.tau"])
    with pytest.raises(hg.InvalidInput, match="given twice"):
        make_study("timer", axes={"n": 4, "s": 3, "p.s": 4})


def test_a_measure_called_like_a_column_is_refused(tmp_path):
    file = tmp_path / "own.py"
    file.write_text(
        "from hegemon.protocols.flood_max import FloodMax\n\n\nclass Own(FloodMax):\n"
        '    """A measure too many."""\n\n    def measure(self, nodes):\n        return {"trial": 7}\n'
    )
    with pytest.raises(hg.InvalidInput, match="measures 'trial', which is a column of every table"):
        hg.sweep(f"{file}:Own", n=4, trials=1, workers=1)
