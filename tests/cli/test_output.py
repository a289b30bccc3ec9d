"""What is printed: tables whose figures are whole at any width."""

import sys

import pytest
from rich.console import Console

from hegemon.cli import output


@pytest.mark.parametrize("width", [30, 60, 200])
def test_no_figure_of_a_table_is_ever_cut(width, capsys):
    names, rows = ["n", "success_rate_ci95", "largest_message"], [["10,000", "0.09453 … 0.9055", "123,456,789,012"]] * 2
    output.print_figures(Console(width=width, file=sys.stdout), names, rows)
    lines = capsys.readouterr().out.splitlines()
    shown = [line for line in lines if line.strip().startswith("10,000")]
    assert len(shown) == 2 and "…" not in shown[0].replace(" … ", "")
    assert all(figure in shown[0] or "no room for" in "\n".join(lines) for figure in rows[0])
