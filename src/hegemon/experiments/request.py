"""A run from strings: names become a protocol, a graph and a record. Commands, studies and files come here."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from hegemon.errors import InvalidInput, meant
from hegemon.graphs.families import node_count, parse
from hegemon.graphs.topology import Topology
from hegemon.models.expressions import assignments
from hegemon.models.protocol import Protocol
from hegemon.models.start_files import located
from hegemon.protocols.loading import find_protocol
from hegemon.runs.option import MOST_AGENTS, Option, whole
from hegemon.runs.record import WRITTEN, RunRecord

NAMING = "name it as the command's PROTOCOL: {}"  # the advice if a Python file is named only in data, not by the user
SUBJECT = ("protocol", "n", "parameters")  # keys of a written record besides its options


def by_flag(option: Option) -> str:
    return option.flag


def make_record(
    written: Mapping[str, Any], spelled: Callable[[Option], str] = by_flag, naming: str = "give --protocol {}"
) -> RunRecord:
    """The inverse of `RunRecord.written`. Options that the protocol does not know are refused, named by `spelled`."""
    return _read(written, spelled, naming)[0]


def ask(written: Mapping[str, Any]) -> tuple[RunRecord, Topology]:
    """The record that a command's words describe, and its graph."""
    from hegemon.runs.setting import topology_for

    record, topology = _read(written, by_flag, NAMING)
    return record, topology_for(record.protocol, topology or record.graph, record.seed)


def _read(
    written: Mapping[str, Any], spelled: Callable[[Option], str], naming: str
) -> tuple[RunRecord, Topology | None]:
    for name in written:
        if name not in WRITTEN and name not in SUBJECT:
            known = [*SUBJECT, *WRITTEN]
            raise InvalidInput(f"a run has no option {name!r}; its options are {', '.join(known)}{meant(name, known)}")
    given = {name: value for name, value in written.items() if value is not None}
    if "protocol" not in given:
        raise InvalidInput("which protocol? Give an id of `hegemon list`, or your_file.py:YourClass")
    values = {WRITTEN[name].name: WRITTEN[name].read(value) for name, value in given.items() if name in WRITTEN}
    make = maker(str(given["protocol"]), given.get("parameters") or {}, naming)
    n, topology = size(given.get("n"), values.get("graph"), values.get("seed", 0))
    record = RunRecord(make(n), **values)
    record.require_known(spelled, values)
    return record, topology


def size(n: Any, graph: str | None, seed: int = 0) -> tuple[int, Topology | None]:
    """The number of agents, and the graph if it had to be built to know that."""
    if n is not None:
        return whole("n", low=1, high=MOST_AGENTS)(n), None
    if not graph:
        raise InvalidInput("how many agents? Give --n N, or a --graph with a size such as ring:64")
    if (nodes := node_count(graph, None)) is not None:
        return nodes, None
    from hegemon.compute.randomness import GRAPH, generator  # imported here: making a protocol needs no compiler

    topology = parse(graph, None, generator(seed, 0, GRAPH))
    return topology.n, topology


def build(name: str, n: int | str | None, graph: str | None, settings: Any, seed: int) -> tuple[Any, Topology]:
    """The protocol and the topology that a command's arguments describe."""
    from hegemon.runs.setting import topology_for

    make = maker(name, assignments(settings), NAMING)
    agents, topology = size(n, graph, seed)
    protocol = make(agents)
    return protocol, topology_for(protocol, topology or graph, seed)


def maker(name: str, parameters: Mapping[str, Any], naming: str) -> Callable[[int], Protocol]:
    """The protocol of that name as a function of n alone; the given parameters are checked first.

    `naming` is the advice if a Python file is named only in data, not by the user.
    """
    chosen = find_protocol(name, naming)
    if "n" in parameters:
        raise InvalidInput("--set n=… is not the way to say how many agents there are; give --n N")
    chosen.require_declared(parameters)
    return lambda n: chosen(n=n, **parameters)


def with_story(written: dict[str, Any]) -> dict[str, Any]:
    """The settings, completed from the start file: a story names its protocol and its graph."""
    start, content = written.get("start"), None
    named = str(start or "")
    if not written.get("protocol") and named.lower().endswith(".json") and not located(named).is_file():
        raise InvalidInput(
            f"there is no file {start} that could name a protocol; give a story, or a protocol before --start"
        )
    if start and str(start).lower().endswith(".json") and located(start).is_file():
        try:
            content = json.loads(located(start).read_text(encoding="utf-8-sig"))
        except (OSError, ValueError, RecursionError):
            pass  # the reader of starts reports the error
    if not isinstance(content, dict):
        return written
    filled = {name: value for name, value in written.items() if value is not None}
    if isinstance(content.get("protocol"), str):
        if "protocol" not in filled and isinstance(file := content.get("file"), str):
            digest = f" (SHA-256 {content['sha256'][:16]}…)" if isinstance(content.get("sha256"), str) else ""
            raise InvalidInput(
                f"{start} is a story of {file[:100]}{digest}, which is not in the catalogue; ask for that file, and "
                f"name it before --start {start}"
            )
        filled.setdefault("protocol", content["protocol"])
    if "n" not in filled and "graph" not in filled:
        if isinstance(content.get("graph"), str):
            filled["graph"] = content["graph"]
        elif isinstance(content.get("agents"), list):
            filled["n"] = len(content["agents"])
    if content.get("strategy"):
        filled.setdefault("scheduler", f"strategy:{start}")
    if isinstance(said := content.get("parameters"), dict):
        told = {name: value for name, value in said.items() if value is not None}
        filled["parameters"] = told | filled.get("parameters", {})
    return filled
