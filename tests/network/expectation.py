"""Exactly, on small instances: what lost and one-sided interactions do to a protocol.

The chain of all configurations that can follow a start, in plain Python: on a complete graph configurations are
multisets. With probability `lost` a step changes nothing, else with probability `one_sided` it changes the
responder only. Without both it is the chain of `hegemon verify`, and the tests compare the two.
"""

from dataclasses import dataclass

import numpy as np

from hegemon.errors import InvalidInput
from tests.network.reference import arcs_of, check_shares

MOST_CONFIGURATIONS = 50_000


@dataclass(frozen=True)
class Reaching:
    """Whether a set is reached with probability 1 from the start, and after how many steps, lost ones included."""

    configurations: int
    is_certain: bool
    expected_steps: float | None
    stuck: tuple[dict, ...] | None = None  # a configuration from which the set is never reached


def reaching(protocol, codes, chosen, *, topology=None, lost: float = 0.0, one_sided: float = 0.0) -> Reaching:
    """From the configuration with these codes to a set of configurations."""
    check_shares(lost, one_sided)
    if len(codes) != protocol.n:
        raise InvalidInput(f"the start has {len(codes)} states but n = {protocol.n}; make them equal")
    chain = _Chain(protocol, chosen, topology, lost, one_sided)
    first = chain.explore(tuple(codes))
    stuck = chain.stuck()
    if stuck is not None:
        shown = tuple(protocol.space.mapping(protocol.space.namespace(code)) for code in stuck)
        return Reaching(len(chain.index), False, None, shown)
    return Reaching(len(chain.index), True, chain.expectation(first))


class _Chain:
    def __init__(self, protocol, chosen, topology, lost, one_sided):
        self.protocol, self.chosen, self.lost, self.one_sided = protocol, chosen, lost, one_sided
        self.arcs = arcs_of(protocol.n, topology)
        self.is_symmetric = topology is None or topology.is_complete
        self.index: dict[tuple, int] = {}
        self.inside: list[bool] = []
        self.rows: list[dict[int, float]] = []

    def _number(self, codes: tuple) -> int:
        codes = tuple(sorted(codes)) if self.is_symmetric else codes
        if codes not in self.index:
            if len(self.index) == MOST_CONFIGURATIONS:
                raise InvalidInput(
                    f"more than {MOST_CONFIGURATIONS} configurations follow; take fewer agents or states"
                )
            states = [self.protocol.space.namespace(code) for code in codes]
            self.index[codes] = len(self.index)
            self.inside.append(self.chosen.contains(states, self.protocol.p, self.protocol.values))
        return self.index[codes]

    def explore(self, codes: tuple) -> int:
        """All configurations that follow; those inside the set are not left."""
        first = self._number(codes)
        known = list(self.index)
        for number, now in enumerate(known):  # grows while it is gone through
            row: dict[int, float] = {}
            if not self.inside[number]:
                for after, weight in self._steps(now):
                    after = self._number(after)
                    row[after] = row.get(after, 0.0) + weight
            self.rows.append(row)
            known += list(self.index)[len(known) :]
        return first

    def _steps(self, codes: tuple):
        each = 1.0 / len(self.arcs)
        if self.lost:
            yield codes, self.lost
        for initiator, responder in self.arcs:
            theirs, own = self.protocol.transition_codes(codes[initiator], codes[responder])
            after = list(codes)
            after[responder] = own
            if self.one_sided:
                yield tuple(after), each * (1 - self.lost) * self.one_sided
            after[initiator] = theirs
            yield tuple(after), each * (1 - self.lost) * (1 - self.one_sided)

    def stuck(self) -> tuple | None:
        """A configuration from which the set cannot be reached at all, if there is one."""
        before: list[list[int]] = [[] for _ in self.rows]
        for number, row in enumerate(self.rows):
            for after in row:
                before[after].append(number)
        reaches = {number for number, inside in enumerate(self.inside) if inside}
        waiting = list(reaches)
        while waiting:
            for number in before[waiting.pop()]:
                if number not in reaches:
                    reaches.add(number)
                    waiting.append(number)
        return next((codes for codes, number in self.index.items() if number not in reaches), None)

    def expectation(self, first: int) -> float:
        from scipy.sparse import coo_array, eye_array
        from scipy.sparse.linalg import spsolve

        outside = {
            number: place for place, number in enumerate(n for n, inside in enumerate(self.inside) if not inside)
        }
        if first not in outside:
            return 0.0
        entries = [
            (outside[number], outside[after], weight)
            for number in outside
            for after, weight in self.rows[number].items()
            if after in outside
        ]
        rows, columns, weights = zip(*entries, strict=True) if entries else ((), (), ())
        size = len(outside)
        matrix = (eye_array(size) - coo_array((weights, (rows, columns)), (size, size))).tocsc()
        return float(np.atleast_1d(spsolve(matrix, np.ones(size)))[outside[first]])
