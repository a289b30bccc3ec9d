"""A start file may prescribe the first interactions or rounds: a counterexample is followed, then chance takes over."""

import json
from pathlib import Path

from hegemon.errors import InvalidInput


def read_rounds(start, protocol) -> list[list[tuple[int, int]]]:
    """The `rounds` of a JSON start file: in each, the nodes that change, with the codes of their next states.

    In the file a round is a list of [node, state]. Whether a node may become that is seen when it is followed.
    """
    rounds = []
    for number, told in enumerate(_told(start).get("rounds") or [], start=1):
        what = f"{start}: round {number}"
        if not isinstance(told, list) or not all(isinstance(one, list) and len(one) == 2 for one in told):
            raise InvalidInput(f'{what} is not a list of changes such as [0, {{"field": value}}]')
        for node, _ in told:
            if type(node) is not int or not 0 <= node < protocol.n:
                raise InvalidInput(f"{what}: {node!r} is not one of the nodes 0..{protocol.n - 1}")
        rounds.append([(node, int(protocol.space.code(protocol.space.parse(state)))) for node, state in told])
    return rounds


def _told(start) -> dict:
    """What a JSON start file says; nothing, if there is none."""
    if not isinstance(start, str | Path) or Path(start).suffix.lower() != ".json" or not Path(start).is_file():
        return {}
    try:
        content = json.loads(Path(start).read_text())
    except (OSError, UnicodeDecodeError, json.JSONDecodeError):
        return {}  # the reader of configurations says what is wrong
    return content if isinstance(content, dict) else {}


def read_schedule(start, protocol, topology) -> list[tuple[int, int, int]]:
    """The `interactions` of a JSON start file: initiator, responder, and the number of what their coins show.

    In the file an interaction is an arc [initiator, responder] of the graph, or [initiator, responder, {"coin": value}]
    where the protocol tosses coins; without a file there are none.
    """
    schedule = []
    for told in _told(start).get("interactions", []):
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
