"""Faults as strings and files, so that the same run can be repeated."""

import json
from pathlib import Path
from typing import Any

from hegemon.errors import InvalidInput
from hegemon.files import note_reading, read_regular
from hegemon.models.expressions import number_or_text, whole_number
from hegemon.models.grammar import short
from hegemon.runs.run import Fault

HELP = 'a list such as [{"step": 100, "agents": [3], "values": {"leader": 0}}, {"step": 200, "leave": 5}]'
LARGEST_FILE = 500_000_000  # bytes
KINDS = {"agents": "corrupt", "join": "join", "leave": "leave"}  # keyword of the number of agents -> kind of fault


def parse_fault(text: str) -> Fault:
    """A fault from its form on the command line: `step=1000,agents=5` and, optionally, new values: `leader=1`.

    With `join=5` instead, five agents join, and with `leave=5` five leave.
    """
    values: dict[str, str] = {}
    for part in text.split(","):
        key, equals, value = part.partition("=")
        if not equals or key.strip() in values:
            raise InvalidInput(f"the fault {short(text)} is not understood; write step=K,agents=J,field=value…")
        values[key.strip()] = value.strip()
    words = [word for word in KINDS if word in values]
    if "step" not in values or len(words) != 1:
        raise InvalidInput(f"the fault {short(text)} must say step=K and one of agents=J, join=J and leave=J")
    step = whole_number(values.pop("step"), "the fault's step")
    agents = whole_number(values.pop(words[0]), f"the fault's {words[0]}", low=1)
    if words[0] == "leave" and values:
        raise InvalidInput(f"the fault {short(text)} gives values to agents that leave; write step={step},leave=J")
    given = {name: number_or_text(value) for name, value in values.items()} or None
    return Fault(step, agents, given, kind=KINDS[words[0]])


def read_disturbances(path: str | Path) -> tuple[Fault, ...]:
    """The faults of a JSON file: a list, or an object whose `disturbances` is one."""
    note_reading(path)
    try:
        content = json.loads(read_regular(path, LARGEST_FILE))
    except (OSError, ValueError, RecursionError) as error:
        raise InvalidInput(f"{path} cannot be read as JSON ({error}); give {HELP}") from None
    rows = content.get("disturbances") if isinstance(content, dict) else content
    if not isinstance(rows, list):
        raise InvalidInput(f"{path} holds no list of disturbances; give {HELP}")
    return tuple(as_fault(row, f"{path}, entry {index}") for index, row in enumerate(rows))


def as_fault(row: Any, place: str) -> Fault:
    """A fault from its form in a file; `place` names its position for errors."""
    words = [word for word in KINDS if isinstance(row, dict) and word in row] or ["agents"]
    word = words[0]
    unknown = set(row) - {"step", word, "values", "of"} if isinstance(row, dict) else {"no object"}
    if unknown or word == "leave" and row.get("values") or word == "join" and "of" in row:
        raise InvalidInput(f"{place} is not a disturbance; give {HELP}")
    step, agents = row.get("step"), row.get(word)
    if type(step) is not int or step < 0:
        raise InvalidInput(f"{place}: step = {step!r} is out of range; give a whole number >= 0")
    if word != "join" and isinstance(agents, list) and agents and all(type(agent) is int for agent in agents):
        agents = tuple(agents)
    elif type(agents) is not int:
        raise InvalidInput(
            f"{place}: {word} = {agents!r} is neither a number of agents nor a list of them; give {HELP}"
        )
    for name in ("values", "of"):
        state = row.get(name)
        if state is not None and not (
            isinstance(state, dict) and all(type(value) in (int, str) for value in state.values())
        ):
            raise InvalidInput(f"{place}: {name} = {state!r} does not say which field has which value")
    return Fault(step, agents, row.get("values") or None, row.get("of"), KINDS[word])


def record(fault: Fault) -> dict[str, Any]:
    """A fault as it appears in a file."""
    agents = fault.agents if isinstance(fault.agents, int) else list(fault.agents)
    row = {"step": fault.step, _word(fault): agents, "values": fault.values, "of": fault.of}
    return {name: value for name, value in row.items() if value is not None}


def fault_text(fault: Fault) -> str | None:
    """A fault in its form on the command line; None if only a file can express it."""
    values = {"step": fault.step, _word(fault): fault.agents, **(fault.values or {})}
    text = ",".join(f"{name}={value}" for name, value in values.items())
    return text if isinstance(fault.agents, int) and fault.of is None and parse_fault(text) == fault else None


def _word(fault: Fault) -> str:
    """The keyword of the number of agents."""
    return next(word for word, kind in KINDS.items() if kind == fault.kind)
