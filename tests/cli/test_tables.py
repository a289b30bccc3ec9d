"""`--latex` and `--csv` on every command that prints a table: what was printed, with no column left out."""

import csv
import json
import re

import pytest

import hegemon as hg
from hegemon.analysis.pictures import Picture, new_figure
from hegemon.cli import tables
from hegemon.cli.application import VERBS, application
from hegemon.cli.main import main
from hegemon.protocols.listing import SHELVES


def test_every_command_that_prints_tables_has_both(capsys):
    without = {"compare", "agent", "network", "watch", "new", "import", "export", "compare-messages"}
    tabled = {name for name, verb in VERBS.items() if verb.tabled}
    assert set(VERBS) - without == tabled
    for name in [*sorted(tabled), "compare"]:
        (command,) = [one for one in application([name]).registered_commands if one.name == name]
        assert main([name, "--help-all"]) == 0
        shown = capsys.readouterr().out
        assert command is not None and "--latex" in shown and "--csv" in shown, name


def test_the_verdicts_of_claims_and_every_trial_of_a_study(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    words = ["reproduce", "--only", "sub.message-size", "--jobs", "1", "--quiet"]
    assert main([*words, "--latex", "claims.tex", "--csv", "claims.csv"]) == 0
    (row,) = csv.DictReader((tmp_path / "claims.csv").open())
    assert row["claim"] == "sub.message-size" and row["verdict"] == "holds"
    assert (tmp_path / "claims.tex").read_text().count(r"\begin{tabular}") == 1
    assert (
        main(["sweep", "pairwise", "--n", "4,5", "--trials", "3", "--workers", "1", "--quiet", "--out", "study"]) == 0
    )
    for where, count in (([], 6), (["--where", "n == 5"], 3)):
        assert main(["results", "study", *where, "--trials-csv", "trials.csv"]) == 0
        rows = list(csv.DictReader((tmp_path / "trials.csv").open()))
        assert len(rows) == count and [row["trial"] for row in rows[-3:]] == ["0", "1", "2"]
    table = hg.sweep("pairwise", n=[4, 5], trials=3, workers=1)
    assert [int(row["steps"]) for row in rows] == list(table[table["n"] == 5]["steps"])
    capsys.readouterr()


def test_a_table_with_all_its_columns(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "40")
    words = ["run", "pairwise", "--n", "6", "--trials", "4", "--quiet"]
    assert main([*words, "--latex", "a.tex", "--csv", "trials.csv"]) == 0
    text = (tmp_path / "a.tex").read_text()
    assert text.count(r"\begin{tabular}") == text.count(r"\end{tabular}") >= 2
    for row in text.splitlines():
        if row.endswith(r"\\"):
            assert not re.search(r"(?<!\\)[%#]", row)
    with (tmp_path / "trials.csv").open() as file:
        rows = list(csv.DictReader(file))
    runs = hg.run_trials(hg.Pairwise(n=6), 4).runs
    assert [int(row["steps"]) for row in rows] == [run.steps for run in runs]
    capsys.readouterr()


def test_the_catalogue_as_a_file_has_one_row_per_protocol(tmp_path, monkeypatch, capsys):
    """Shelves are a column, not rows: the file says what --json says."""
    monkeypatch.chdir(tmp_path)
    assert main(["list", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert main(["list", "--csv", "list.csv", "--latex", "list.tex"]) == 0
    assert "– rings –" in capsys.readouterr().out
    rows = list(csv.DictReader((tmp_path / "list.csv").open(encoding="utf-8")))
    assert rows == [{name: value or "" for name, value in row.items()} for row in told]
    assert {row["shelf"] for row in rows if row["grade"] != "cited"} == set(SHELVES)
    assert "– rings –" not in (tmp_path / "list.tex").read_text(encoding="utf-8")


def test_a_refuted_claim_is_written_too(tmp_path, monkeypatch, capsys):
    """Exit code 1 is a verdict, and the table stands; a mistake, exit code 2, writes nothing."""
    monkeypatch.chdir(tmp_path)
    assert (
        main(["verify", "stable-ranking", "--n", "2", "--set", "waiting_resets=0", "--quiet", "--latex", "v.tex"]) == 1
    )
    assert "never reached" in (tmp_path / "v.tex").read_text()
    assert main(["verify", "pairwise", "--n", "0", "--latex", "w.tex"]) == 2
    assert main(["list", "--latex", "list.pdf"]) == 2 and "must end in .tex" in capsys.readouterr().err
    assert main(["list", "--json", "--latex", "l.tex"]) == 2 and "drop --json" in capsys.readouterr().err
    assert not (tmp_path / "l.tex").exists()


def test_cells_as_latex_shows_them():
    assert tables.latex("50 % of a_b & ≥ 3") == r"50 \% of a\_b \& $\geq$ 3"
    assert tables.is_figures(["1,024", "–", "≥ 3.5"]) and not tables.is_figures(["ring:3", "x"])


@pytest.mark.parametrize("ending", ["svg", "pdf", "png"])
def test_figures_are_the_same_bytes_again(tmp_path, ending):
    """Two figures of the same data; another curve is another file."""
    made = []
    for values in ([1, 3, 2], [1, 3, 2], [1, 3, 1]):
        figure, (axis,) = new_figure(1)
        axis.plot(values, marker="o", label="a")
        axis.legend()
        Picture(figure).save(tmp_path / f"{len(made)}.{ending}")
        made.append((tmp_path / f"{len(made)}.{ending}").read_bytes())
    assert made[0] == made[1] != made[2]
