"""A story to be watched: the interactions, or whole rounds, that a start file of `verify` prescribes."""

import json
from pathlib import Path

from hegemon.errors import InvalidInput
from hegemon.runs.schedules import read_schedule


def read_story(start, protocol, topology) -> list:
    """What the file prescribes: pairs that meet, or for each round the nodes that change and their new states."""
    if protocol.model == "population":
        return read_schedule(start, protocol, topology)
    if protocol.model in ("messages", "objects") or not isinstance(start, str) or not start.lower().endswith(".json"):
        return []
    try:
        content = json.loads(Path(start).read_text())
    except (OSError, ValueError, RecursionError):
        return []  # the reader of configurations says what is wrong
    rounds = content.get("rounds", []) if isinstance(content, dict) else []
    try:
        return [[(_node(v, topology), protocol.space.parse(state)) for v, state in changes] for changes in rounds]
    except (TypeError, ValueError, AttributeError):
        raise InvalidInput(f"{start}: rounds must be lists of [node, state]; save the story again") from None


def _node(v, topology) -> int:
    if type(v) is not int or not 0 <= v < topology.n:
        raise InvalidInput(f"the story changes the node {v!r}, but nodes are numbered 0..{topology.n - 1}")
    return v
