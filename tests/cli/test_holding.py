"""What `hegemon holding` prints: a bound is never shown as a value."""

import json

import pytest

from hegemon.cli.main import main

LINE = ["holding", "timer", "--n", "3", "--set", "s=3", "--relative", "40%", "--budget", "3e6", "--quiet"]


@pytest.mark.parametrize("importance, bounded", [("rarity", False)])
def test_an_upper_end_is_told_as_one(capsys, importance, bounded):
    assert main([*LINE, "--importance", importance]) == 0
    rows = dict(line.split("  ", 1) for line in capsys.readouterr().out.splitlines() if "  " in line.strip())
    assert rows["holds"].strip().startswith("at most ") == bounded
    assert ("hidden" in rows) != bounded
    assert main([*LINE, "--importance", importance, "--json"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert content["kind"] == ("at most" if bounded else "estimate") and (content["hidden"] is None) == bounded
