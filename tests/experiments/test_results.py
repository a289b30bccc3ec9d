"""What `hegemon results` says of a study."""

import json
import shutil
from types import SimpleNamespace

import numpy as np
import pandas
import pytest

from hegemon.analysis.statistics import sample_quantile
from hegemon.cli.main import main
from hegemon.cli.results import say_method
from hegemon.display import figure
from hegemon.errors import InvalidInput
from hegemon.experiments.precision import parse_precision
from hegemon.experiments.results import fit_laws, results, summarize_table
from hegemon.experiments.store.folder import Folder
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
    assert content == json.loads(json.dumps(results(folder, by="n", where="until == 'safe'").record()))
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


def cut_off_table(sizes=(8,)):
    rows = {"case": 0, "protocol": "p", "trial": range(5), "steps": [10, 20, 30, 99, 99]}
    return pandas.concat([pandas.DataFrame({**rows, "n": n, "reached": [True] * 3 + [False] * 2}) for n in sizes])


def test_trials_that_were_cut_off_are_counted():
    """A median of the others alone would be 20, too early, and lie outside its own interval."""
    (row,) = summarize_table(cut_off_table(), ["n"])
    assert (row["trials"], row["reached"], row["censored"]) == (5, 3, 2)
    assert (row["mean"], row["ci95"], row["mean_at_least"], row["mean_of_reached"]) == (None, None, 51.6, 20)
    assert (row["median"], row["q10"], row["q90"], row["maximum"]) == (30, 10, None, None)
    (row,) = summarize_table(cut_off_table().assign(messages=range(5)), ["n"], of="messages")
    assert (row["censored"], row["mean"]) == (0, 2)
    stopped = cut_off_table().assign(messages=range(5), cause=["", "", "", "no leader", "round limit"])
    (row,) = summarize_table(stopped, ["n"], of="messages")
    assert (row["censored"], row["mean"], row["mean_at_least"]) == (1, None, 2)
    assert not fit_laws(cut_off_table((8, 16, 32)), ["n"])


def test_quantiles_are_those_of_the_sequences():
    table = cut_off_table().assign(reached=True, steps=[1.0, 2, 3, 4, 5])
    (row,) = summarize_table(table, ["n"])
    assert [row["q10"], row["q90"]] == [sample_quantile(table["steps"], level) for level in (0.1, 0.9)] == [1, 5]


def test_a_sequence_is_of_whole_cases():
    """Trials that were chosen by their outcome say nothing about the case."""
    table = pandas.DataFrame({"case": 0, "protocol": "p", "n": 8, "trial": range(40), "reached": True})
    table = table.assign(steps=np.arange(100.0, 140.0))
    (row,) = summarize_table(table, ["n"], precision=parse_precision("20%"))
    assert row["precise"] and row["mean_sequence95"][0] < row["mean"] < row["mean_sequence95"][1]
    (row,) = summarize_table(table, ["n"], where="steps < 135", precision=parse_precision("20%"))
    assert "precise" not in row and row["ci95"] is None


def test_a_precise_measure_is_what_is_shown():
    table = cut_off_table().assign(messages=[3, 4, 5, 6, 7])
    (row,) = summarize_table(table, ["n"], precision=parse_precision("2% of median messages"))
    assert row["mean"] == 5 and "q50_sequence95" in row


def test_a_damaged_table_and_an_older_one(folder, tmp_path, capsys):
    copy = tmp_path / "copy"
    shutil.copytree(folder, copy)
    study = Folder(copy).study()
    Folder(copy).open(study.extended({"n": [32]}), extend=True)  # as if it had been interrupted
    assert main(["results", str(copy), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["extended_since"]
    assert main(["results", str(copy), "--by", "n"]) == 0
    assert "extended since" in " ".join(capsys.readouterr().out.split())
    (copy / "table.parquet").write_bytes((copy / "table.parquet").read_bytes()[:500])
    assert main(["results", str(copy)]) == 2
    message = capsys.readouterr().err
    assert "damaged" in message and is_one_sentence(message)


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


@pytest.mark.parametrize(
    ("precise", "told"),
    [
        ("2% of mean messages", "mean of messages to within 2 % of itself"),
        ("0.5% of share", "share to within 0.5 % of itself"),
        (None, "ci95 of the mean of messages:"),
    ],
)
def test_what_an_interval_is_of_is_told(precise, told):
    said = []
    screen = SimpleNamespace(print=said.append)
    rows = [{"ci95": (1, 2), "trials": 3, "reached": 3, "censored": 0}]
    say_method(screen, precise and parse_precision(precise), rows, "messages")
    assert said[0].startswith(told)


def test_what_is_printed_has_the_interval_that_was_asked_for(tmp_path):
    for precise, title, label in (
        ("80%", "mean of steps and its 95 % interval: pairwise", "mean"),
        ("80% of median", "mean of steps and the 95 % interval of the q50: pairwise", "q50"),
    ):
        sweep("pairwise", n=[4], relative=precise, workers=1, out=tmp_path / label)
        found = results(tmp_path / label)
        low, high = found.rows[0][f"{label}_sequence95"]
        interval = f"{figure(low)} … {figure(high)}"
        assert str(found).startswith(title) and f"{', q50' * (label == 'q50')} ({interval})" in str(found)


def test_a_parameter_with_the_name_of_a_measure_is_an_axis(tmp_path):
    file = tmp_path / "own.py"
    file.write_text(
        "from hegemon import Parameter, Pairwise\n\n\nclass Own(Pairwise):\n"
        '    """Leaders that fight."""\n\n    leaders = Parameter(3, low=1)\n'
    )
    sweep(f"{file}:Own", n=[4, 6, 8], leaders=[1, 2], trials=3, workers=1, out=tmp_path / "study")
    found = results(tmp_path / "study")
    assert found.by == ["n", "p.leaders"] and "n = 4, p.leaders = 1" in str(found)
    assert [fit.series for fit in found.fits] == [{"p.leaders": 1}, {"p.leaders": 2}]
    assert main(["results", str(tmp_path / "study"), "--by", "n,p.leaders", "--plot", str(tmp_path / "p.png")]) == 0
