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
from hegemon.experiments.laws import read_laws
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
    missing = json.loads(capsys.readouterr().out)["missing"]
    assert [(row["n"], row["until"], row["done"], row["goal"]) for row in missing] == [
        (32, "safe", 0, 30), (32, "steps:50", 0, 30),
    ]  # fmt: skip
    assert main(["results", str(copy), "--by", "n"]) == 0
    assert "not finished: 60 trials of 2 cases are missing" in " ".join(capsys.readouterr().out.split())
    Folder(copy).open(study, extend=True)
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
    assert fit.law == name and fit.spread < 1.05 and fit.fits and fit.left[1] <= 0 <= fit.left[2]
    assert f"≈ {fit.constant:.4g} · {name} fits. Divided by {name}, the means from n = 64 to 16,384" in fit.sentence(
        "t"
    )
    for rival in fit.rivals:
        assert rival["share"][1] < 0.1 and rival["share"][2] > -0.1 and rival["spread"] > 1.2


def growing(law, seed=3):
    rng = np.random.default_rng(seed)
    parts = []
    for n in (64, 256, 1024, 4096):
        steps = law(n) * rng.gamma(50, 1 / 50, 400)
        parts.append(pandas.DataFrame({"case": 0, "n": n, "trial": range(400), "steps": steps, "reached": True}))
    return pandas.concat(parts)


def test_a_law_that_does_not_fit_is_named():
    table = growing(lambda n: 3 * n**1.5)
    (fit,) = fit_laws(table, ["n"])
    assert not fit.fits and not fit.left[1] <= 0 <= fit.left[2]
    assert fit.sentence("steps").startswith(f"none of the ten laws fits; the nearest is steps ≈ {fit.constant:.4g} · ")
    (own,) = fit_laws(table, ["n"], laws=read_laws("n**1.5, n*log(n)"))
    assert own.fits and own.law == "n**1.5" and own.constant == pytest.approx(3, rel=0.02)
    (one,) = fit_laws(table, ["n"], laws=read_laws(["n^2"]))
    assert not one.fits and not one.rivals and one.sentence("steps").startswith("the law n^2 does not fit; the nearest")


def test_equal_trials_fit_their_law_exactly():
    """Without scatter the interval is one point, and rounding must not reject the law."""
    (fit,) = fit_laws(growing(lambda n: n).assign(steps=lambda table: 7.0 * table["n"]), ["n"])
    assert fit.law == "n" and fit.fits and fit.left[1] == fit.left[2]


@pytest.mark.parametrize(
    ("laws", "word"),
    [
        ("m*n", "uses m"),
        ("n-9", "positive at every measured n"),
        ("1/(n-8)", "has no value at n = 8"),
        ("n, n", "one twice"),
        ("n,", "empty place"),
        ("__import__('os')", "no function"),
        ("n" * 3000, "characters"),
        ("n >", "ends too early"),
    ],
)
def test_laws_are_read_by_a_grammar(folder, laws, word):
    with pytest.raises(InvalidInput, match=word.replace("(", r"\(")):
        results(folder, by="n", where="until == 'safe'", laws=laws)


def test_an_unfinished_study_has_results(folder, tmp_path, capsys):
    """What is there is shown with what is missing; the study's folder is not changed."""
    copy = tmp_path / "copy"
    shutil.copytree(folder, copy)
    (copy / "table.parquet").unlink()
    lines = [line for path in sorted((copy / "records").iterdir()) for line in path.read_bytes().splitlines(True)]
    for path in (copy / "records").iterdir():
        path.unlink()
    (copy / "records" / "a.jsonl").write_bytes(b"".join(lines[:-1]))  # the last of the trials are not there yet
    before = sorted(path.name for path in copy.rglob("*"))
    whole, part = results(folder), results(copy)
    (missing,) = part.missing
    assert sum(row["trials"] for row in part.rows) == sum(row["trials"] for row in whole.rows) - (30 - missing["done"])
    assert part.rows[0] == whole.rows[0] and not whole.missing and "missing trials may be the longer" in str(part)
    assert sorted(path.name for path in copy.rglob("*")) == before
    assert main(["results", str(copy)]) == 0
    assert f"{30 - missing['done']} trial" in capsys.readouterr().out.split("not finished: ")[1]
    (copy / "records" / "a.jsonl").write_bytes(b"")
    with pytest.raises(InvalidInput, match="no trial to show"):
        results(copy)


def test_an_unfinished_study_of_ones_own_is_read_without_an_import(tmp_path):
    file = tmp_path / "own.py"
    file.write_text(
        "from hegemon import Parameter, Pairwise\n\n\nclass Own(Pairwise):\n"
        '    """Leaders that fight."""\n\n    tau = Parameter(3, low=1)\n'
    )
    sweep(f"{file}:Own", n=[4, 6], tau=[1, 2], trials=3, workers=1, out=tmp_path / "s")
    finished = results(tmp_path / "s")
    (tmp_path / "s" / "table.parquet").unlink()
    file.write_text("raise SystemExit('imported')")
    assert results(tmp_path / "s").rows == finished.rows and [row["tau"] for row in finished.rows] == [1, 2, 1, 2]


def test_several_studies_are_one_table(folder, tmp_path, capsys):
    sweep("timer", n=[4, 6, 8], s=[5, 7], start="no-leader", trials=4, workers=1, out=tmp_path / "t")
    found = results([folder, tmp_path / "t"], where="n >= 8")
    assert found.by == ["study", "n", "until", "p.s"] or found.by == ["study", "n", "until", "s"]
    assert {row["study"] for row in found.rows} == {str(folder), str(tmp_path / "t")}
    alone = results(folder, by="n,until").rows
    both = [row for row in results([folder, tmp_path / "t"], by="study,n,until").rows if row["study"] == str(folder)]
    assert [row["mean"] for row in both] == [row["mean"] for row in alone]
    with pytest.raises(InvalidInput, match="named twice"):
        results([folder, folder])


def test_chosen_columns_and_a_given_curve(folder, tmp_path, capsys):
    table, picture = tmp_path / "t.tex", tmp_path / "p.svg"
    words = ["results", str(folder), "--by", "n", "--where", "until == 'safe'", "--columns", "n,mean,ci95"]
    assert main([*words, "--latex", str(table), "--plot", str(picture), "--curve", "n^2 - 2*n"]) == 0
    assert r"n & mean & ci95 \\" in table.read_text() and "n^2 - 2*n (given)" in picture.read_text()
    assert main([*words, "--csv"]) == 0
    assert capsys.readouterr().out.splitlines()[-5] == "n,mean,ci95_low,ci95_high"


def test_a_page_is_self_contained_and_escaped(tmp_path, capsys):
    out, page = tmp_path / "<b>", tmp_path / "r.html"
    words = ["sweep", "pairwise", "--n", "4,6,8", "--trials", "5", "--workers", "1", "--out", str(out)]
    assert main([*words, "--report", str(page)]) == 0
    text = page.read_text()
    assert "<b>" not in text and "&lt;b&gt;" in text and "data:image/svg+xml;base64," in text
    assert "http" not in text and "<script" not in text and "<td>4</td>" in text and "plain power of n" in text


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["--columns", "zork"], "zork"),
        (["--columns", "n", "--json"], "--columns"),
        (["--curve", "n"], "--curve"),
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
        results(tmp_path)


@pytest.mark.parametrize(
    ("precise", "told"),
    [
        ("2% of mean messages", "mean of messages to within 2 % of itself"),
        ("0.5% of share", "share to within 0.5 % of itself"),
        (None, "ci95: 95 % interval of the mean of messages ("),
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
