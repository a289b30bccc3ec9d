"""Agents that crash or pause: the same protocol with one more field, `halted`, which its own rules do not read.

A meeting with a halted agent has no effect: neither of the two changes. A crashed agent stays so, and counts
neither as a leader nor in any other condition. A paused one keeps its state and its output until it goes on: when it
has missed its next K meetings, or when it is woken. All this is in the rules, so every engine runs it without changes.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from hegemon.errors import InvalidInput
from hegemon.models.configuration import Configuration
from hegemon.models.domains import Choice
from hegemon.models.population import PopulationProtocol
from hegemon.models.protocol import Protocol
from hegemon.models.sets import ConfigurationSet

if TYPE_CHECKING:
    from hegemon.models.state import StateSpace

HALTED, RUNNING, PAUSED, CRASHED = "halted", "no", "paused", "crashed"
MOST_MISSED = 100  # meetings of one pause: the number of states grows by about this factor


def missing(meetings: int) -> str:
    """The value of `halted` of an agent that misses this many more meetings."""
    return f"misses_{meetings}"


def halting(protocol: Protocol, marks: tuple[str, ...]) -> Any:
    """The protocol whose agents may have these marks besides `no`; itself without any."""
    if not marks:
        return protocol
    if not isinstance(protocol, PopulationProtocol):
        raise InvalidInput(f"agents crash and pause in populations, and {protocol.id} is one {protocol.model.kind}")
    if protocol.inputs:
        raise InvalidInput(f"agents of {protocol.id} have inputs, so they cannot crash or pause")
    made = vars(protocol).setdefault("_halting", {})
    if marks not in made:
        kind: Any = type(protocol)
        found = made[marks] = _derived(kind, marks)(protocol.n, **protocol.parameters)
        found.check_sound = protocol.check_sound  # only the author's functions need a check
    return made[marks]


def began(configuration: Configuration, space: "StateSpace", as_multiset: bool) -> Configuration:
    """A configuration of the protocol itself, in which no agent is halted yet."""
    agents, weights = configuration.weighted()
    wide = np.zeros(len(agents), space.dtype)
    for name in agents.dtype.names or ():
        wide[name] = agents[name]
    if not as_multiset:
        return Configuration(space, agents=wide if weights is None else np.repeat(wide, weights))
    codes, places = np.unique(space.encode_array(wide), return_inverse=True)
    counts = np.zeros(len(codes), np.int64)
    np.add.at(counts, places, 1 if weights is None else weights)
    return Configuration(space, codes=codes, counts=counts)


def lasting(space: "StateSpace", before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """The codes after an event, which changes no crashed agent."""
    if not space.halts or CRASHED not in (names := space.domains[HALTED].names):
        return after
    return np.where(space.decode_array(before)[HALTED] == names.index(CRASHED), before, after)


@lru_cache(maxsize=64)
def _derived(kind: Any, marks: tuple[str, ...]) -> Any:
    fields = {field.name: field for field in kind.fields}
    if HALTED in fields:
        raise InvalidInput(f"{kind.__name__} has a field {HALTED!r} of its own; rename it to let agents crash or pause")
    domains = {name: field.domain for name, field in fields.items()} | {HALTED: Choice(RUNNING, *marks)}
    state = {name: field.default for name, field in fields.items() if field.default is not None}
    own = tuple(field.name for field in kind.coin_fields)
    body: dict[str, Any] = {
        "__doc__": kind.__doc__,
        "__module__": kind.__module__,
        "id": kind.id,
        "_halts": kind,
        "State": type("State", (), state | {"__annotations__": domains, HALTED: RUNNING}),
        "interact": _interact(kind.interact, bool(own), sum(mark.startswith("misses_") for mark in marks)),
    }
    if CRASHED in marks:
        sets = {name: one for name, one in kind.sets.items() if isinstance(one, ConfigurationSet) and not one.whole}
        body |= {name: one.mapped(lambda f: living(f, marks)) for name, one in sets.items()}
        body |= {
            name: one.mapped(lambda value: living(value, marks))
            for name, one in kind.observables.items()
            if one.reduce == "count"
        }
        body["_living"] = staticmethod(lambda condition: living(condition, marks))
        if hasattr(kind, "output"):
            body["output"] = living(kind.output, marks)
    return type(kind.__name__, (kind,), body)


@lru_cache(maxsize=256)
def living(condition: Callable[..., Any], marks: tuple[str, ...]) -> Callable[..., Any]:
    """The condition, for agents that have not crashed; a condition that mentions `halted` is returned unchanged."""
    if CRASHED not in marks or HALTED in getattr(getattr(condition, "__code__", None), "co_names", ()):
        return condition
    crashed = 1 + marks.index(CRASHED)
    scope: dict[str, Any] = {"condition": condition}
    text = f"def living_condition(a, p):\n    return a.{HALTED} != {crashed} and condition(a, p)\n"
    exec(compile(text, "<hegemon>", "exec"), scope)
    return scope["living_condition"]


@lru_cache(maxsize=256)
def _interact(interact: Any, has_coins: bool, missed: int) -> Any:
    """The author's `interact` where neither agent is halted; else each misses one of its meetings."""
    coins = ", coins" * has_coins
    lines = [f"def halting_interact(a, b, p{coins}):", f"    if a.{HALTED} == 0 and b.{HALTED} == 0:"]
    lines += [f"        interact(a, b, p{coins})"]
    if missed:
        lines += ["    else:"]
        for agent in "ab":
            lines += [f"        if 1 <= {agent}.{HALTED} <= {missed}:", f"            {agent}.{HALTED} -= 1"]
    scope: dict[str, Any] = {"interact": interact, "__name__": interact.__module__}
    exec(compile("\n".join(lines), "<hegemon>", "exec"), scope)
    return scope["halting_interact"]
