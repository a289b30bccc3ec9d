"""A start file may prescribe the first interactions: a counterexample is followed before chance takes over."""

import json
from pathlib import Path

from hegemon.errors import InvalidInput


def read_schedule(start, topology) -> list[tuple[int, int]]:
    """The `interactions` of a JSON start file, each an arc [initiator, responder] of the graph; else none."""
    if not isinstance(start, str | Path) or Path(start).suffix.lower() != ".json" or not Path(start).is_file():
        return []
    try:
        content = json.loads(Path(start).read_text())
    except (OSError, UnicodeDecodeError, json.JSONDecodeError):
        return []  # the reader of configurations says what is wrong
    pairs = content.get("interactions", []) if isinstance(content, dict) else []
    schedule = []
    for pair in pairs:
        whole = isinstance(pair, list) and len(pair) == 2 and all(type(agent) is int for agent in pair)
        if not whole or not all(0 <= agent < topology.n for agent in pair) or pair[0] == pair[1]:
            raise InvalidInput(f"{start}: the interaction {pair} is not a pair of different agents 0..{topology.n - 1}")
        if not topology.is_complete and pair[1] not in topology.neighbours(pair[0]):
            raise InvalidInput(f"{start}: the interaction {pair} is not an arc of {topology.name}")
        schedule.append((pair[0], pair[1]))
    return schedule
