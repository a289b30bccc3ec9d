"""What a page may change about its run: values, never files or code. Every other value is refused in one sentence."""

import inspect
import json
import os
import re
import sys
from typing import Any

from hegemon import parts
from hegemon.errors import InvalidInput, choose, meant
from hegemon.graphs.families import FAMILIES, node_count
from hegemon.models.expressions import assignments
from hegemon.models.naming import chosen_parameters
from hegemon.models.protocol import Protocol
from hegemon.process.messages.initiators import SCHEDULES
from hegemon.process.schedulers.reading import run_names
from hegemon.protocols import CATALOGUE
from hegemon.protocols.listing import entries
from hegemon.runs.disturbances import fault_text
from hegemon.runs.disturbances import record as record_of
from hegemon.runs.option import MOST_AGENTS, MOST_SEED, whole
from hegemon.runs.rates import read_rates
from hegemon.runs.record import RunRecord
from hegemon.runs.values import read_faults

LONGEST = 200  # characters of a value
CODE = ("function", "recorded", "strategy")  # schedulers that are read from a file
NAMED = ("protocol", "n", "graph", "start", "wake", "scheduler", "engine", "rates", "faults", "seed")
FILES = "a page gives values, not files or code; name it on the command line of `hegemon watch`"


def offered(kind: type[Protocol]) -> dict[str, str]:
    """The protocols that a page may choose, with their summaries: those of the opened file, and the catalogue."""
    return {found.id: found.summary() for found in _own(kind).values()} | {
        id: entry.summary for id, entry in entries().items() if id not in _own(kind)
    }


def _own(kind: type[Protocol]) -> dict[str, type[Protocol]]:
    if kind.__module__.startswith("hegemon.protocols."):
        return {}
    found = [kind, *vars(sys.modules.get(kind.__module__, object)).values()]
    protocols = [one for one in found if inspect.isclass(one) and issubclass(one, Protocol)]
    return {one.id: one for one in protocols if one.__module__ == kind.__module__}


def kind_named(name: str, kind: type[Protocol]) -> type[Protocol]:
    """The class of the name that a page chose, among those offered with `kind`."""
    own = _own(kind)
    if name in own:
        return own[name]
    if name not in CATALOGUE:
        known = [*own, *CATALOGUE]
        raise InvalidInput(
            f"there is no protocol {name[:60]!r} on this page{meant(name, known)}; choose one of its list"
        )
    return CATALOGUE[name]


def choices(kind: type[Protocol]) -> dict[str, Any]:
    """What the controls of a page offer for a protocol. An option that its model lacks is left empty."""
    model = kind.model
    engines = [*parts.BUILT_IN[f"{model.name} engines"]] if model.has_interactions else [model.follower]
    return {
        "protocol": kind.id,
        "parameters": [
            {
                "name": name,
                "default": "" if one.default is None else str(one.default),
                "help": one.help,
                "choices": one.choices,
            }
            for name, one in kind.parameter_declarations.items()
        ],  # fmt: skip
        "graph": kind.topology,
        "graphs": [f"{family}:{shape}" for family, (shape, _) in FAMILIES.items()],
        "starts": {name: (inspect.getdoc(one) or "").split("\n")[0] for name, one in kind.starts.items()}
        if model.has_starts
        else {},
        "start": kind.default_start or "",
        "wakes": SCHEDULES if model.wakes else (),
        "schedulers": schedulers(kind),
        "engines": ["auto", *engines],
        "rates": model.has_interactions,
        "faults": model.has_configurations,
    }


def schedulers(kind: type[Protocol]) -> list[str]:
    return [name for name in run_names(kind) if name not in CODE] if kind.model.scheduler else []


def shown(record: RunRecord) -> dict[str, Any]:
    """A record as the controls show it."""
    protocol = record.protocol
    graph = record.graph if isinstance(record.graph, str | os.PathLike) else getattr(record.graph, "name", "")
    return {
        "protocol": protocol.id,
        "n": str(protocol.n),
        "parameters": {name: str(value) for name, value in chosen_parameters(protocol).items()},
        "graph": str(graph or ""),
        "start": record.start if isinstance(record.start, str) else protocol.default_start or "",
        "wake": record.wake if isinstance(record.wake, str) else "",
        "scheduler": str(record.scheduler or protocol.usual_scheduler),
        "engine": record.engine,
        "rates": "; ".join(map(str, record.rates)),
        "faults": "; ".join(fault_text(one) or json.dumps(record_of(one)) for one in record.faults)[:LONGEST],
        "seed": str(record.seed),
    }


def changed(record: RunRecord, given: Any) -> RunRecord:
    """The record with the values of a page. What the page left unchanged stays, even if it is an object or a file."""
    if not isinstance(given, dict) or not all(isinstance(name, str) for name in given):
        raise ValueError
    for name in given:
        if name not in (*NAMED, "parameters"):
            raise InvalidInput(f"a page changes {', '.join(NAMED)} and parameters, not {name[:40]!r}")
    words = {name: _word(name, value) for name, value in given.items() if name != "parameters"}
    kind = kind_named(words.pop("protocol", record.protocol.id), type(record.protocol))
    before = shown(record) if kind is type(record.protocol) else {}
    new = {name: word for name, word in words.items() if word != before.get(name)}
    kept = vars(record) if before else {"seed": record.seed, "protocol": record.protocol}
    values = {name: value for name, value in kept.items() if name not in new} | {
        name: _read(name, word, kind) for name, word in new.items() if name != "n"
    }
    n = whole("n", low=1, high=MOST_AGENTS)(new["n"]) if "n" in new else record.protocol.n
    if "n" not in new and isinstance(values.get("graph"), str):
        n = node_count(values["graph"], n) or n
    parameters = given.get("parameters")
    chosen = (
        chosen_parameters(record.protocol) if parameters is None and before else _parameters(parameters or {}, kind)
    )
    values["protocol"] = kind(n=n, **chosen)
    made = RunRecord(**values)
    made.require_known()
    return made


def _word(name: str, value: Any) -> str:
    if not isinstance(value, str) or len(value) > LONGEST:
        raise InvalidInput(f"{name} must be text of at most {LONGEST} characters; write it into its field")
    return value.strip()


def _parameters(given: Any, kind: type[Protocol]) -> dict[str, int | float | str]:
    if not isinstance(given, dict):
        raise ValueError
    words = {name: _word(str(name)[:40], value) for name, value in given.items()}
    for name in words:
        if name not in kind.parameter_declarations:
            raise InvalidInput(
                f"{kind.id} has no parameter {str(name)[:40]!r}{meant(name, kind.parameter_declarations)}"
            )
    return assignments([f"{name}={word}" for name, word in words.items() if word])


def _read(name: str, word: str, kind: type[Protocol]) -> Any:
    """The value of an option as written on a page; an empty text means its default."""
    offers = choices(kind)
    if name == "seed":
        return whole("seed", high=MOST_SEED)(word)
    if name == "rates":
        return read_rates(word) if word else ()
    if name == "faults":
        return read_faults(word) if word else ()
    if name == "graph":
        if word and word.partition(":")[0] not in FAMILIES:
            known = ", ".join(offers["graphs"])
            raise InvalidInput(f"the graph {word[:60]!r} is of no family; give one of {known}; {FILES}")
        return word or None
    if name == "scheduler":
        if word and names_file(word):
            raise InvalidInput(f"the scheduler {word[:60]!r} names a file; {FILES}")
        return word or None
    known = {"start": tuple(offers["starts"]), "wake": offers["wakes"], "engine": offers["engines"]}[name]
    if word and word not in known:
        raise InvalidInput(f"{kind.id} has no {name} {word[:60]!r}; {choose(known)}{meant(word, known)}")
    return word or {"start": None, "wake": "all", "engine": "auto"}[name]


def names_file(word: str) -> bool:
    """Whether a value could cause a file to be read: a path, a name with an ending, or an existing file."""
    first, *parts = re.split(r"[:=,\s]", word)
    return (
        first in CODE
        or bool(re.search(r"[/\\~]|\.[^\W\d]", word))
        or any(part and os.path.lexists(part) for part in parts)
    )
