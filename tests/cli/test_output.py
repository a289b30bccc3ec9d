"""What is printed: tables whose figures are whole at any width."""

import sys
from pathlib import Path

import pytest
from rich.console import Console

from hegemon.cli import output, results
from hegemon.display import figure


@pytest.mark.parametrize("width", [30, 60, 200])
def test_no_figure_of_a_table_is_ever_cut(width, capsys):
    names, rows = ["n", "success_rate_ci95", "largest_message"], [["10,000", "0.09453 … 0.9055", "123,456,789,012"]] * 2
    output.print_figures(Console(width=width, file=sys.stdout), names, rows)
    lines = capsys.readouterr().out.splitlines()
    shown = [line for line in lines if line.strip().startswith("10,000")]
    assert len(shown) == 2 and "…" not in shown[0].replace(" … ", "")
    assert all(figure in shown[0] or "no room for" in "\n".join(lines) for figure in rows[0])


def test_the_results_of_a_study_are_such_a_table(capsys):
    rows = [{"n": 10**6, "trials": 1000, "mean": 123456789.25, "mean_ci95": (1.5, 2.5)}] * 2
    results.print_rows(Console(width=24, file=sys.stdout), rows)
    printed = capsys.readouterr().out
    assert printed.count("1,000,000") == 2 and "no room for mean" in printed


def test_every_table_is_made_in_one_place():
    makers = {
        path.name
        for path in Path(output.__file__).parent.glob("*.py")
        if "(Table)" in path.read_text() or " Table(" in path.read_text()
    }
    assert makers == {"output.py"}


def test_equal_trials_have_no_interval_and_narrow_tables_are_folded(capsys):
    rows = [{"n": 4, "mean": 3.0, "ci95": (3.0, 3.0)}, {"n": 6, "mean": 5.0, "ci95": (4.5, 5.5)}]
    results.print_rows(Console(width=80, file=sys.stdout), rows)
    printed = capsys.readouterr().out
    assert "3 … 3" not in printed and "4.5 … 5.5" in printed
    table = output.new_table("leaders in the end", "probability")
    table.add_row("1", "0.981557689377")
    Console(width=14, file=sys.stdout).print(table)
    assert "…" not in capsys.readouterr().out


def test_numbers_that_no_line_holds_are_rounded_and_say_so():
    """A protocol with arrays may have 10^90 states: a number folded over two lines is not read."""
    assert figure(10**21 - 1) == "999,999,999,999,999,999,999"
    assert figure(1037 * 10**92) == "about 1.037e+95" and figure(-(10**5000)) == "about -1.000e+5000"
    assert figure(5.4709494560526e19) == "5.471e+19" and figure(1e14) == "100,000,000,000,000"
