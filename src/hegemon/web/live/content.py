"""What a page must know of a protocol to run it without Python: its table of pairs, its states, and what is seen.

Everything is computed here by the functions that the engines use. What cannot be put into a table is absent, with a
sentence (`ABSENT`).
"""

import base64
import re
from dataclasses import replace
from typing import Any, cast

import numpy as np

from hegemon.compute.compilation import specialize
from hegemon.compute.intrinsics import call_meeting
from hegemon.compute.randomness import START, generator
from hegemon.engines.meeting import RESULT, meeting_of
from hegemon.engines.population.pairs import CODE, KNOWN, LARGEST_TABLE, entries
from hegemon.errors import InvalidInput
from hegemon.graphs.topology import Topology
from hegemon.models.configuration import Configuration, Group
from hegemon.models.naming import chosen_parameters
from hegemon.models.population import PopulationProtocol
from hegemon.models.protocol import Protocol
from hegemon.process.membership import Membership
from hegemon.process.schedulers.uniform import all_arcs
from hegemon.process.stopping import Stop, never, parse_stop
from hegemon.runs.capabilities import supporting
from hegemon.runs.faults import fault_codes
from hegemon.runs.record import RunRecord
from hegemon.runs.run import Fault
from hegemon.runs.stories import Trace
from hegemon.web.explaining import traced
from hegemon.web.layout import LARGEST_RASTER
from hegemon.web.live.predicates import module_of, records_of
from hegemon.web.readings import plain
from hegemon.web.session import Session

MOST_ENTRIES = 1 << 22  # of a table of pairs: 16 MB of a browser's memory
MOST_TRACED = 4096  # entries whose executed lines are looked up beforehand
UNBOUNDED = 2**53 - 1  # the largest whole number of JavaScript
MOST_CODES = 200_000  # agents of a start that is kept agent by agent
NUMBERS = (
    2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 30, 32, 40, 50, 60, 64, 80, 100, 128, 150, 200, 256, 300, 400, 500, 512, 800,
    1000, 1024, 2000, 4096, 5000, 10_000, 20_000, 50_000, 65_536, 100_000, 200_000, 500_000, 1_000_000,
)  # fmt: skip
SUPPORTS = supporting("a live page", "graph start seed engine", instead="leave it out, or watch without --live")
HERE = "; `hegemon watch` without --live shows it on a page that Python serves"

# ruff: noqa: F821 - `meet` is bound by specialize


def fill_pairs(gate, table, states, values):  # type: ignore[no-untyped-def]
    """Carry out the meeting of every two codes for all values of the coins; where it fails, the entry stays 0."""
    for coin in range(values):
        for a in range(states):
            for b in range(states):
                if call_meeting(gate, a, b, coin) == 0:
                    table[(coin * states + a) * states + b] = KNOWN | (gate[RESULT] << CODE) | gate[RESULT + 1]


def table_of(protocol: PopulationProtocol) -> np.ndarray:
    """What all pairs of states become, in the form of the table of engine `agents`, without marks."""
    meeting = meeting_of(protocol, never("never"))
    table = np.zeros(entries(protocol), np.uint32)
    specialize(fill_pairs, allocates=False)(meeting.gate(), table, protocol.space.size, protocol.coins.size)
    return table


def require_model(kind: type[Protocol]) -> None:
    """Raise InvalidInput if protocols of this model are never live."""
    if not kind.model.has_interactions or kind.model.has_objects:
        raise InvalidInput(
            f"a live page runs population protocols, and {kind.id} is a protocol {kind.model.kind}{HERE}"
        )


def require_live(record: RunRecord) -> None:
    """Raise InvalidInput, with the reason, if no page can run this record by itself."""
    protocol = cast(PopulationProtocol, record.protocol)
    require_model(type(protocol))
    record.require_known()
    SUPPORTS.require(record.given)
    if record.engine not in ("auto", "agents"):
        raise InvalidInput(f"a live page runs engine agents, not {record.engine}; leave the engine out")
    if not protocol.space.has_codes or protocol.space.size > LARGEST_TABLE or entries(protocol) > MOST_ENTRIES:
        states = f"{protocol.space.size:,}" if protocol.space.size < 10**15 else f"{protocol.space.size:.1e}"
        coins = f" and {protocol.coins.size:,} values of the coins" if protocol.coins.size > 1 else ""
        raise InvalidInput(
            f"the table of pairs of {protocol.id} is too large for a live page: it has {states} states{coins}, and "
            f"{MOST_ENTRIES:,} pairs are allowed; take smaller parameters or a smaller n{HERE}"
        )
    if protocol.n > LARGEST_RASTER:
        raise InvalidInput(
            f"n = {protocol.n:,} is too large for a live page, which keeps every agent; take at most "
            f"{LARGEST_RASTER:,}{HERE}"
        )


def content_of(session: Session) -> tuple[dict[str, Any], list[np.ndarray]]:
    """All that a page's run needs besides the greeting: what is written as JSON, and arrays."""
    protocol, record = _population(session), session.record
    space, n = protocol.space, protocol.n
    table = table_of(protocol)
    starts = {name: start for name in protocol.starts if (start := start_of(session, name))}
    sizes = {n: _numbers(protocol, session, starts)}
    if record.graph is None and session.topology.is_complete:
        for other in (number for number in NUMBERS if number != n):
            if found := _as_with(other, session, starts, table):
                sizes[other] = found
    story = Trace.of(protocol, [], (), session.topology.name).record()
    states = [_plain(space.mapping_of(code)) for code in range(space.size)]
    content = {
        "states": states,
        "values": protocol.coins.size,
        "coins": [_plain(protocol.coins.mapping(coin)) for coin in range(protocol.coins.size)],
        "unit": protocol.time_unit,
        "sizes": sizes,
        "output": _marks(protocol, protocol.output) if session.world.has_output else None,
        "sets": {name: _set(protocol, name) for name in protocol.sets},
        "observables": {name: _observable(protocol, name) for name in protocol.watched()},
        "writes": _writes(protocol),
        "inputs": [[state[name] for name in space.inputs] for state in states] if space.inputs else None,
        "inputNames": list(space.inputs),
        "labels": _labels(protocol),
        "command": _command(record),
        "lines": _lines(protocol, table),
        "story": {name: value for name, value in story.items() if name not in ("agents", "interactions", "story")},
        "isComplete": session.topology.is_complete,
    }
    if any(chosen.whole for chosen in protocol.sets.values()):
        stops = {name: parse_stop(name, protocol) for name in protocol.sets}
        content["modules"] = {name: module_of(protocol, stop) for name, stop in stops.items() if stop.whole}
        content["records"] = records_of(protocol)
    looks = session.world.look.of_codes(np.arange(space.size)).astype(np.uint8)
    arcs = np.empty((0, 2), np.int32) if session.topology.is_complete else all_arcs(session.topology)
    return content, [table, looks, arcs.ravel()]


def _plain(mapping: dict[str, Any] | None) -> dict[str, Any]:
    return {name: plain(value) for name, value in (mapping or {}).items()}


def _marks(protocol: PopulationProtocol, *conditions: Any) -> list[list[int]]:
    """For every code, which of these conditions hold."""
    states = protocol.space.decode_array(np.arange(protocol.space.size))
    return Membership(protocol, Stop("marks", conditions)).marks(states).tolist()


def _set(protocol: PopulationProtocol, name: str) -> dict[str, Any]:
    stop = parse_stop(name, protocol)
    marks = _marks(protocol, *stop.conditions) if stop.conditions else []
    return {"marks": marks, "whole": bool(stop.whole), "closed": stop.closed}


def _bounds(protocol: PopulationProtocol, name: str) -> dict[str, Any]:
    """The least and the largest numbers of agents that meet the conditions of a set, in rows of which one must hold."""
    stop = parse_stop(name, protocol)
    return {"low": stop.low.tolist(), "high": np.minimum(stop.high, UNBOUNDED).tolist()}


def _observable(protocol: PopulationProtocol, name: str) -> dict[str, Any] | None:
    """The observable's value in every state; None if it is no value of single agents."""
    observable = protocol.watched()[name]
    if not observable.reads_one:
        return None
    space = protocol.space
    states = [space.namespace(code) for code in range(space.size)]
    values = observable.values_of(range(space.size), states, (), protocol.p)
    return {"reduce": observable.reduce, "values": [plain(value) + 0 for value in values]}


def _numbers(protocol: PopulationProtocol, session: Session, starts: dict[str, Any]) -> dict[str, Any]:
    """What differs between populations of different size: the bounds of sets, and the starts."""
    found: dict[str, Any] = {"bounds": {name: _bounds(protocol, name) for name in protocol.sets}, "starts": starts}
    if any(chosen.whole for chosen in protocol.sets.values()):
        found["parameters"] = base64.b64encode(protocol.compiled_p.tobytes()).decode()
    return found


def _as_with(n: int, session: Session, starts: dict[str, Any], table: np.ndarray) -> dict[str, Any] | None:
    """The same for another n, if all rules and states are the same with it; else None."""
    protocol = _population(session)
    try:
        other = type(protocol)(n, **chosen_parameters(protocol))
        if other.space.size != protocol.space.size or other.coins.size != protocol.coins.size:
            return None
        same = {name: value for name, value in other.values.items() if name != "n"}
        if same != {name: value for name, value in protocol.values.items() if name != "n"}:
            return None
        if not np.array_equal(table_of(other), table):
            return None
        for name in other.watched():
            if _observable(other, name) != _observable(protocol, name):
                return None
        for name in other.sets:
            if _set(other, name) != _set(protocol, name):
                return None
        drawn = {name: _groups(other, name, session.seed) for name in starts}
        if not any(drawn.values()):
            return None
        return _numbers(other, session, {name: {"groups": groups} for name, groups in drawn.items() if groups})
    except InvalidInput:
        return None


def _population(session: Session) -> PopulationProtocol:
    return cast(PopulationProtocol, session.protocol)


def start_of(session: Session, name: str) -> dict[str, Any] | None:
    """A start as groups that the page makes itself, exactly for every seed; else as the codes that it has for the seed
    of the session; None if that is too large."""
    protocol = _population(session)
    if groups := _groups(protocol, name, session.seed, session.topology):
        return {"groups": groups}
    if protocol.n > MOST_CODES:
        return None
    rng = generator(session.seed, 0, START)
    before = rng.bit_generator.state
    made = protocol.initial(name, rng, False, session.topology)
    codes = protocol.space.encode_array(made.agents)
    firsts = np.flatnonzero(np.diff(codes, prepend=-1))
    counts = np.diff(firsts, append=len(codes))
    groups = np.stack([counts, codes[firsts]], axis=1).tolist()
    return {"groups": groups} | ({} if rng.bit_generator.state == before else {"seed": str(session.seed)})


def _groups(
    protocol: PopulationProtocol, name: str, seed: int, topology: Topology | None = None
) -> list[list[int]] | None:
    """A start as [count, code] pairs, with code -1 for uniform states; None if its function draws by itself, or if
    something is fixed in its random states."""
    if protocol.reads_graph or protocol.space.halts:
        return None
    rng = generator(seed, 0, START)
    before = rng.bit_generator.state
    made = protocol.starts[name](protocol, rng)
    drew = rng.bit_generator.state != before
    if drew or not isinstance(made, list | tuple) or not all(isinstance(group, Group) for group in made):
        return None
    if any(group.random and group.values for group in made):
        return None
    space = protocol.space
    found = [
        [int(group.count), -1 if group.random else int(space.code_of(group.values))] for group in made if group.count
    ]
    # What the author's class makes of a start must be what these groups are.
    with_groups = Configuration.from_groups(space, [*made], generator(seed, 0, START))
    real = protocol.initial(name, generator(seed, 0, START), False, topology)
    return found if np.array_equal(space.encode_array(real.agents), space.encode_array(with_groups.agents)) else None


def _writes(protocol: PopulationProtocol) -> dict[str, dict[str, list[int]]]:
    """For fields whose value decides which other fields there are: what each code becomes when a value is written."""
    space = protocol.space
    codes = np.arange(space.size)
    found: dict[str, dict[str, list[int]]] = {}
    for name in space.discriminators:
        low, high = space.bounds[name]
        for value in range(low, high + 1):
            label = plain(space.domains[name].label(value))
            try:
                after = fault_codes(Fault(0, (0,), {name: label}), space, codes, None).tolist()
            except InvalidInput:
                after = []
            found.setdefault(name, {})[str(label)] = after
    return found


def _labels(protocol: PopulationProtocol) -> list[str] | None:
    """The author's text on agents, by code."""
    label = getattr(protocol, "label", None)
    if not callable(label):
        return None
    space = protocol.space
    return [str(label(space.namespace(code), protocol.p) or "") for code in range(space.size)]


def _lines(protocol: PopulationProtocol, table: np.ndarray) -> dict[str, Any] | None:
    """Which lines of `interact` every pair goes through; None for a large table."""
    if len(table) > MOST_TRACED:
        return None
    space, seen, places = protocol.space, dict[Any, int](), list[int]()
    for coin in range(protocol.coins.size):
        for first in range(space.size):
            for second in range(space.size):
                if not table[len(places)]:
                    places.append(0)
                    continue
                a, b = space.namespace(first), space.namespace(second)
                coins = (protocol.coins.value(coin),) if protocol.coin_fields else ()
                _, lines = traced(protocol.interact, a, b, protocol.p, *coins)
                places.append(seen.setdefault(tuple(lines), len(seen)))
    return {"kinds": [list(map(list, lines)) for lines in seen], "places": places}


def _command(record: RunRecord) -> str:
    """The command that repeats the run, whose numbers the page replaces."""
    start = record.start if isinstance(record.start, str) else record.protocol.default_start
    return replace(record, engine="agents", start=start, until="steps:0").command()


def absent(record: RunRecord, content: dict[str, Any]) -> list[str]:
    """What this page cannot do without Python, in sentences."""
    found = ["Graph, parameters, scheduler, engine, rates and faults are those with which the page was made"]
    if len(content["sizes"]) == 1:
        why = (
            "its rules depend on n"
            if record.graph is None and content["isComplete"]
            else "its graph has that many nodes"
        )
        found.append(f"n is fixed here, because {why}")
    if any(start.get("seed") for size in content["sizes"].values() for start in size["starts"].values()):
        found.append("starts that Python draws have the seed of the page")
    if dotted := [name for name, module in content.get("modules", {}).items() if module is None]:
        why = "its function could not be made into WebAssembly, for which wasm-ld is needed"
        found.append(f"the lamp of {', '.join(dotted)} stays dotted: {why}")
    if overall := [name for name, values in content["observables"].items() if values is None]:
        found.append(f"{', '.join(overall)} cannot be computed here")
    if not content["lines"]:
        found.append("executed lines are not marked, because there are too many pairs of states")
    found.append("films need Python")
    return [re.sub("^[a-z](?! )", lambda first: first[0].upper(), text) + "." for text in found]
