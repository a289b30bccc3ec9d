"""What `hegemon holding` prints: a bound is never shown as a value."""

import json

from hegemon.cli.main import main

LINE = ["holding", "timer", "--n", "3", "--relative", "40%", "--budget", "3e6", "--quiet"]


def test_bounds_are_shown_as_bounds(capsys):
    for s, holds, kind in ((3, "1", "estimate"), (400, "at least ", "bound")):
        assert main([*LINE, "--set", f"s={s}"]) == 0
        rows = dict(line.split("  ", 1) for line in capsys.readouterr().out.splitlines() if "  " in line.strip())
        assert rows["holds"].strip().startswith(holds)
        assert ("no estimate" in rows) == (kind == "bound") and ("hidden" in rows) == (kind == "estimate")
        assert main([*LINE, "--set", f"s={s}", "--json"]) == 0
        content = json.loads(capsys.readouterr().out)
        assert content["kind"] == kind and bool(content["why_no_estimate"]) == (kind == "bound")
        assert (content["steps"] is None) == (content["high"] is None) == (kind == "bound")
