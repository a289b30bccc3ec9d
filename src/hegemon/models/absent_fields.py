"""Whether a function reads fields that a state does not have: found by trial, over all states or many of them.

In machine code an absent field is a number like any other, so a condition that reads it would return a meaningless
value. A function is called with a state without its absent fields; if it misses one, it is called again with several
values there, and results that differ show that the field matters.
"""

import types
from collections.abc import Callable, Iterator
from contextlib import suppress
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from hegemon.models.state import random_numbers

if TYPE_CHECKING:
    from hegemon.models.protocol import Protocol
    from hegemon.models.state import StateSpace

ALL_STATES = 20_000  # up to here every state is tried
SAMPLED = 4_000  # beyond, this many, evenly over the classes of agents
ALL_VALUES = 100  # up to here every value of an absent field is tried


def tried_states(space: "StateSpace") -> Iterator[tuple[set[str], SimpleNamespace]]:
    """States that lack a field, with the fields they lack: all states, or equally many from each class of agents."""
    rng = np.random.default_rng(0)
    share = max(1, SAMPLED // len(space.variants)) if space.size > ALL_STATES else ALL_STATES
    for variant in space.variants:
        absent = set(space.names) - {name for name, _ in variant.fixed} - set(variant.free)
        if absent:
            few = variant.size <= share
            for rest in range(variant.size) if few else random_numbers(rng, variant.size, share).tolist():
                yield absent, space.namespace_in(variant, rest)


def fields_read_where_absent(function: Callable[..., Any], protocol: "Protocol") -> set[str]:
    """The fields on which the result of `function(a, p)` depends in some state that does not have them."""
    space = protocol.space
    found: set[str] = set()
    conditional = {field.name for field in space.declared if field.domain.condition}
    conditional |= {name for name in space.names if space.domains[name].condition}
    if not conditional & mentioned(function):
        return found
    for absent, state in tried_states(space):
        if not absent - found:
            continue
        bare = type(state)(**{name: value for name, value in vars(state).items() if name not in absent})
        try:
            function(bare, protocol.p)
        except AttributeError as error:
            if error.name not in absent:
                raise
            found |= {name for name in absent - found if _matters(function, protocol, state, name)}
    return found


def mentioned(function: Any) -> set[Any]:
    """Every name, text and number in the code of a function and of the plain functions that it calls."""
    return set().union(*(_words(reached.__code__) for reached in reachable(function)))


def reachable(function: Any, seen: set[Any] | None = None) -> set[Any]:
    """A plain function together with all that it can call by a global or enclosing name."""
    seen = set() if seen is None else seen
    function = getattr(function, "py_func", function)
    if isinstance(function, types.FunctionType) and function not in seen:
        seen.add(function)
        for name in _words(function.__code__):
            reachable(function.__globals__.get(name), seen)
        for cell in function.__closure__ or ():
            with suppress(ValueError):  # bound later
                reachable(cell.cell_contents, seen)
    return seen


def _words(code: types.CodeType) -> set[Any]:
    words = {*code.co_names, *(constant for constant in code.co_consts if isinstance(constant, str | int | float))}
    return words.union(*(_words(inner) for inner in code.co_consts if isinstance(inner, types.CodeType)))


def _matters(function: Callable[..., Any], protocol: "Protocol", state: SimpleNamespace, name: str) -> bool:
    """Whether the result depends on the value of an absent field."""
    answer = function(state, protocol.p)
    for value in values_to_try(protocol, name, function):
        changed = type(state)(**vars(state))
        setattr(changed, name, value)
        if function(changed, protocol.p) != answer:
            return True
    return False


def values_to_try(protocol: "Protocol", name: str, function: Callable[..., Any] | None = None) -> Iterator[int]:
    """Values of a field that may make a difference: all if they are few, else ends, parameters and constants."""
    low, high = protocol.space.bounds[name]
    if high - low <= ALL_VALUES:
        yield from range(low, high + 1)
        return
    for value in (low, high, (low + high) // 2, *protocol.values.values(), *mentioned(function)):
        if isinstance(value, int | float) and low - 1 <= value <= high + 1:
            yield from (int(value) + step for step in (-1, 0, 1) if low <= int(value) + step <= high)
