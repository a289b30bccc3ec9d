"""Whether a function reads what a state does not have: found by trial, over all states or many of them.

In machine code an absent field is a number like any other, so a condition that reads it would answer something
that means nothing. A state is shown without its absent fields; a function that misses one is then shown the state
with several values there, and answers that differ betray the reading.
"""

from collections.abc import Callable, Iterable, Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np

ALL_STATES = 20_000  # up to here every state is tried
SAMPLED = 4_000  # beyond, so many, evenly over the classes of agents
ALL_VALUES = 100  # up to here every value of an absent field is tried


def tried_states(space: Any) -> Iterable[int]:
    """The codes of the states to try: all, or as many from each class of agents."""
    if space.size <= ALL_STATES:
        return range(space.size)
    rng = np.random.default_rng(0)
    share = max(1, SAMPLED // len(space.variants))
    chosen = [
        variant.offset + rng.integers(variant.size, size=share)
        if variant.size > share
        else np.arange(variant.offset, variant.offset + variant.size)
        for variant in space.variants
    ]
    return np.concatenate(chosen).tolist()


def fields_read_where_absent(function: Callable, protocol: Any) -> set[str]:
    """The fields on which the answer of `function(a, p)` depends in some state that does not have them."""
    space = protocol.space
    found: set[str] = set()
    if not any(space.domains[name].condition for name in space.names):
        return found
    for code in tried_states(space):
        state = space.namespace(code)
        absent = set(space.names) - space.present(vars(state))
        if not absent - found:
            continue
        bare = SimpleNamespace(**{name: value for name, value in vars(state).items() if name not in absent})
        try:
            function(bare, protocol.p)
        except AttributeError as error:
            if error.name not in absent:
                raise
            found |= {name for name in absent - found if _matters(function, protocol, state, name)}
    return found


def _matters(function: Callable, protocol: Any, state: SimpleNamespace, name: str) -> bool:
    """Whether the answer depends on what an absent field holds."""
    answer = function(state, protocol.p)
    for value in _values(function, protocol, name):
        changed = SimpleNamespace(**vars(state))
        setattr(changed, name, value)
        if function(changed, protocol.p) != answer:
            return True
    return False


def _values(function: Callable, protocol: Any, name: str) -> Iterator[int]:
    """Values of a field that may make a difference: all if they are few, else ends, parameters and constants."""
    low, high = protocol.space.bounds[name]
    if high - low <= ALL_VALUES:
        yield from range(low, high + 1)
        return
    code = getattr(function, "__code__", None)
    known = [low, high, (low + high) // 2, *protocol.values.values(), *(code.co_consts if code else ())]
    for value in known:
        if isinstance(value, int | float) and low - 1 <= value <= high + 1:
            yield from (int(value) + step for step in (-1, 0, 1) if low <= int(value) + step <= high)
