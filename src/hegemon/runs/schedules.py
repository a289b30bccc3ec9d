"""A start file may prescribe the first interactions: a counterexample is followed before chance takes over."""

import json
from pathlib import Path

from hegemon.errors import InvalidInput


def read_schedule(start, protocol, topology) -> list[tuple[int, int, int]]:
    """The `interactions` of a JSON start file: initiator, responder, and the number of what their coins show.

    In the file an interaction is an arc [initiator, responder] of the graph, or [initiator, responder, {"coin": value}]
    where the protocol tosses coins; without a file there are none.
    """
    if not isinstance(start, str | Path) or Path(start).suffix.lower() != ".json" or not Path(start).is_file():
        return []
    try:
        content = json.loads(Path(start).read_text())
    except (OSError, UnicodeDecodeError, json.JSONDecodeError):
        return []  # the reader of configurations says what is wrong
    listed = content.get("interactions", []) if isinstance(content, dict) else []
    schedule = []
    for told in listed:
        pair = told[:2] if isinstance(told, list) else told
        coins = told[2] if isinstance(told, list) and len(told) == 3 else {}
        whole = isinstance(pair, list) and len(told) in (2, 3) and all(type(agent) is int for agent in pair)
        if not whole or not all(0 <= agent < topology.n for agent in pair) or pair[0] == pair[1]:
            raise InvalidInput(f"{start}: the interaction {told} is not a pair of different agents 0..{topology.n - 1}")
        if not topology.is_complete and pair[1] not in topology.neighbours(pair[0]):
            raise InvalidInput(f"{start}: the interaction {told} is not an arc of {topology.name}")
        if not isinstance(coins, dict):
            raise InvalidInput(f'{start}: the coins of the interaction {told} must be given as {{"name": value}}')
        schedule.append((pair[0], pair[1], protocol.coins.number(coins)))
    return schedule
