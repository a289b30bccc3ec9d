"""Which configurations of a chain are in a set: counts by state, whole predicates on the arrays themselves."""

import dataclasses
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from hegemon.compute.compilation import specialize
from hegemon.errors import InvalidInput, meant
from hegemon.exact.chain import Chain
from hegemon.exact.numbering import count_marked
from hegemon.graphs.topology import Topology
from hegemon.models.conditions import is_condition, parse_set
from hegemon.models.protocol import Protocol
from hegemon.models.sets import Alternative, ConfigurationSet
from hegemon.models.words import checked
from hegemon.process.membership import rows_of

if TYPE_CHECKING:
    from hegemon.exact.configurations import ConfigurationSpace

PLAIN_EVALUATIONS = 6000  # up to here plain Python takes less time than compiling a predicate
ROWS = 1 << 16

# ruff: noqa: F821 - in kernels, `predicate` is bound by specialize


def check_rows(agents, parameters, n, result):  # type: ignore[no-untyped-def]
    """The predicate on every n consecutive records."""
    for row in range(len(result)):
        result[row] = predicate(agents[row * n : (row + 1) * n], parameters[0])


def check_rows_on_graph(agents, offsets, targets, parameters, n, result):  # type: ignore[no-untyped-def]
    for row in range(len(result)):
        result[row] = predicate(agents[row * n : (row + 1) * n], offsets, targets, parameters[0])


def check_turns(codes, states, agents, parameters, turns, result):  # type: ignore[no-untyped-def]
    """The predicate on every row of codes and its rotations: 1 in all of them, 0 in none, -1 if they differ."""
    n = codes.shape[1]
    for row in range(len(codes)):
        for turn in range(turns):
            for place in range(n):
                agents[place] = states[codes[row, (place + turn) % n]]
            holds = 1 if predicate(agents, parameters[0]) else 0
            if turn == 0:
                result[row] = holds
            elif result[row] != holds:
                result[row] = -1
                break


def named_set(protocol: Protocol, name: str) -> ConfigurationSet:
    """A set of the protocol, or one described by a text of conditions."""
    if name in protocol.sets:
        return protocol.sets[name]
    if is_condition(name):
        return parse_set(name, protocol)
    known = ", ".join(protocol.sets) or "none"
    raise InvalidInput(
        f"{protocol.id} has no set {name!r}; its sets are {known}, or write a condition such as "
        f'"{sample_condition(protocol)}"{meant(name, protocol.sets)}'
    )


def sample_condition(protocol: Protocol) -> str:
    """A condition on the protocol's own fields, as an example in error messages."""
    field = protocol.fields[0]
    low, high = field.domain.low, field.domain.high
    value = field.domain.names[0] if field.domain.names else low if isinstance(low, str) or low > 1 or high == 0 else 1
    return f"count({field.name} == {value}) >= 1"


def members(chain: Chain, chosen: ConfigurationSet) -> np.ndarray:
    """For every configuration, whether it is in the set."""
    space, inside = chain.space, np.empty(chain.size, bool)
    counted = dataclasses.replace(chosen, rows=tuple(Alternative(row.counts) for row in chosen.rows))
    for block in chain.blocks:
        inside[block] = contains_rows(space.protocol, counted, chain.codes_at(block), space.topology)
    if chosen.whole:
        candidates = np.flatnonzero(inside)
        inside[candidates] = contains_rows(space.protocol, chosen, chain.codes_at(candidates), space.topology)
    if space.rotations and chosen.whole:
        _require_invariance(space, chosen, chain.codes, inside)
    return inside


def contains_rows(
    protocol: Protocol, chosen: ConfigurationSet, codes: np.ndarray, topology: Topology | None
) -> np.ndarray:
    """Whether each row of codes is in the set."""

    def holds(predicate: Callable[..., Any], candidates: np.ndarray) -> np.ndarray:
        return _evaluate(protocol, predicate, codes[candidates], topology)

    return _satisfying(protocol, chosen, codes, holds)


def contains_turned_rows(protocol: Protocol, chosen: ConfigurationSet, codes: np.ndarray) -> np.ndarray:
    """Whether each row of codes is in the set, with all its rotations; counts do not depend on rotations."""
    states = protocol.space.decode_array(np.arange(protocol.space.size))

    def holds(predicate: Callable[..., Any], candidates: np.ndarray) -> np.ndarray:
        check = specialize(check_turns, protocol.record_types, predicate=predicate)
        result = np.empty(len(candidates), np.int8)
        check(codes[candidates], states, np.zeros(protocol.n, states.dtype), protocol.compiled_p, protocol.n, result)
        if (result < 0).any():
            raise InvalidInput(
                f"a set of {protocol.id} changes when the ring is turned; verify without symmetry (--no-symmetry)"
            )
        return result == 1

    return _satisfying(protocol, chosen, codes, holds)


def _satisfying(
    protocol: Protocol, chosen: ConfigurationSet, codes: np.ndarray,
    holds: Callable[[Callable[..., Any], np.ndarray], np.ndarray],
) -> np.ndarray:  # fmt: skip
    """Which rows of codes satisfy one of the set's rows; `holds` evaluates a predicate on some of them."""
    inside = np.zeros(len(codes), bool)
    for row in chosen.rows:
        possible = ~inside
        for count in row.counts:
            possible &= count.allows(count_marked(codes, _marked(protocol, count.condition)), protocol.values)
        candidates = np.flatnonzero(possible)
        for predicate in row.whole:
            candidates = candidates[holds(predicate, candidates)]
        for predicate in row.unless:
            candidates = candidates[~holds(predicate, candidates)]
        inside[candidates] = True
    return inside


def leaders(chain: Chain) -> np.ndarray | None:
    """How many leaders every configuration has; None for a protocol that elects none."""
    if not chain.space.protocol.elects_leader:
        return None
    number = np.empty(chain.size, np.int32)
    for block in chain.blocks:
        number[block] = count_marked(chain.codes_at(block), chain.space.outputs)
    return number


@lru_cache(maxsize=64)
def _marked(protocol: Protocol, condition: Callable[..., Any]) -> np.ndarray:
    """A condition on one agent, evaluated at every state."""
    states = map(protocol.space.namespace, range(protocol.space.size))
    return np.array([protocol.holds(condition, state) for state in states], np.int64)


def _evaluate(
    protocol: Protocol, predicate: Callable[..., Any], codes: np.ndarray, topology: Topology | None
) -> np.ndarray:
    space = protocol.space
    graph = rows_of(topology) if protocol.reads_graph else ()
    if len(codes) <= PLAIN_EVALUATIONS:
        known = {code: checked(space.namespace(code)) for code in np.unique(codes).tolist()}
        rows = ([known[code] for code in row] for row in codes.tolist())
        return np.array([bool(predicate(row, *graph, protocol.checked_p)) for row in rows], bool)
    kernel = check_rows_on_graph if graph else check_rows
    check = specialize(kernel, protocol.record_types, predicate=predicate)
    result = np.empty(len(codes), bool)
    states = space.decode_array(np.arange(space.size)) if space.size <= ROWS else None
    for first in range(0, len(codes), ROWS):
        part = codes[first : first + ROWS]
        agents = space.decode_array(part.ravel()) if states is None else states[part.ravel()]
        check(agents, *graph, protocol.compiled_p, protocol.n, result[first : first + len(part)])
    return result


def _require_invariance(space: "ConfigurationSpace", chosen: Any, codes: Any, expected: np.ndarray) -> None:
    """Refuse predicates that differ between rotations: then representatives cannot stand for all their rotations."""
    for turn in range(1, space.n):
        turned = np.roll(codes, turn, axis=1)
        if not np.array_equal(contains_rows(space.protocol, chosen, turned, space.topology), expected):
            raise InvalidInput(
                f"a set of {space.protocol.id} changes when the ring is turned; verify without symmetry (--no-symmetry)"
            )
