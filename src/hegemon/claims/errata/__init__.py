"""Counterexamples to published statements, shipped as start files that `run` and `watch` replay."""

import json
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent


def erratum(name: str) -> dict[str, Any]:
    """The start file of that name: protocol, parameters, graph, agents, and the interactions or rounds that follow."""
    return json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
