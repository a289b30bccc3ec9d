"""Which configurations of a chain are in a set: counts by state, whole predicates on the arrays themselves."""

import numpy as np

from hegemon.engines.compilation import specialize
from hegemon.errors import InvalidInput
from hegemon.models.conditions import parse_set
from hegemon.models.sets import ConfigurationSet
from hegemon.verify import kernels
from hegemon.verify.chain import Chain

PLAIN_EVALUATIONS = 6000  # up to here plain Python is done before a predicate is compiled
ROWS = 1 << 16

# ruff: noqa: F821 - in kernels, `predicate` is bound by specialize


def check_rows(agents, parameters, n, result):
    """The predicate on every n consecutive records."""
    for row in range(len(result)):
        result[row] = predicate(agents[row * n : (row + 1) * n], parameters[0])


def named_set(protocol, name: str) -> ConfigurationSet:
    """A set of the protocol, or one described by a text of conditions."""
    if name in protocol.sets:
        return protocol.sets[name]
    if "(" in name:
        return parse_set(name, protocol)
    known = ", ".join(protocol.sets) or "none"
    raise InvalidInput(
        f"{protocol.id} has no set {name!r}; its sets are {known}, or write a condition such as "
        f'"count({protocol.fields[0].name} == 1) == 1"'
    )


def members(chain: Chain, chosen: ConfigurationSet) -> np.ndarray:
    """A truth value for every configuration."""
    space, protocol = chain.space, chain.space.protocol
    inside = np.ones(chain.size, bool)
    for count in chosen.counts:
        low, high = count.bounds(protocol.values)
        number = np.empty(chain.size, np.int64)
        kernels.count_marked(chain.codes, space.marked(_truth(count.condition)), number)
        inside &= (low <= number) & (number <= high)
    for predicate in chosen.whole:
        candidates = np.flatnonzero(inside)
        inside[candidates] = _evaluate(protocol, predicate, chain.codes[candidates])
        if space.rotations:
            _require_invariance(protocol, predicate, chain.codes[candidates], inside[candidates])
    return inside


def leaders(chain: Chain) -> np.ndarray | None:
    """How many leaders every configuration has; None for a protocol that elects none."""
    if not chain.space.protocol.elects_leader:
        return None
    number = np.empty(chain.size, np.int64)
    kernels.count_marked(chain.codes, chain.space.outputs, number)
    return number


def _truth(condition):
    return lambda a, p: bool(condition(a, p))


def _evaluate(protocol, predicate, codes: np.ndarray) -> np.ndarray:
    space = protocol.space
    if len(codes) <= PLAIN_EVALUATIONS:
        states = {code: space.namespace(code) for code in np.unique(codes).tolist()}
        return np.array([bool(predicate([states[c] for c in row], protocol.p)) for row in codes.tolist()], bool)
    check = specialize(check_rows, protocol.record_types, predicate=predicate)
    result = np.empty(len(codes), bool)
    for first in range(0, len(codes), ROWS):
        part = codes[first : first + ROWS]
        check(space.decode_array(part.ravel()), protocol.compiled_p, protocol.n, result[first : first + len(part)])
    return result


def _require_invariance(protocol, predicate, codes, expected) -> None:
    """Representatives may stand for all their rotations only if the predicate does not see the difference."""
    for turn in range(1, protocol.n):
        if not np.array_equal(_evaluate(protocol, predicate, np.roll(codes, turn, axis=1)), expected):
            raise InvalidInput(
                f"{protocol.id}: the predicate {predicate.__name__} changes when the ring is turned; "
                "verify without symmetry (--no-symmetry)"
            )
