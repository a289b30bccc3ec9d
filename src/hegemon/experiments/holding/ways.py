"""How the leader is lost: the observed ways with their shares, and one path to a loss that can be run again."""

import math
from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from hegemon.experiments.holding.ensemble import MEASURED, Plan, Replication, replicate
from hegemon.experiments.holding.process import Crowd
from hegemon.experiments.holding.sketch import classes_of
from hegemon.runs.stories import Interaction, Trace

if TYPE_CHECKING:
    from hegemon.models.state import StateSpace

MOST_STEPS = 50_000  # steps of a written path: of a longer path the last part is kept


def ways(space: "StateSpace", found: Sequence[Replication]) -> list[dict[str, Any]]:
    """Meetings that lost the leader, similar ones grouped, with their shares of all losses; the most common first."""
    classes, _ = classes_of(space, space.size)
    top = max((one.rate for one in found), default=-math.inf)
    groups: dict[Any, list[Any]] = defaultdict(list)
    for one in found:
        for end in one.ends:
            groups[tuple(int(classes[code]) for code in end)].append((math.exp(one.rate - top) / len(one.ends), end))
    whole = sum(weight for members in groups.values() for weight, _ in members)
    rows = []
    for members in groups.values():
        share = sum(weight for weight, _ in members) / whole
        columns = [[end[place] for _, end in members] for place in range(4)]
        rows.append({"share": share, "before": [_range(space, column) for column in columns[:2]],
                     "after": [_range(space, column) for column in columns[2:]]})  # fmt: skip
    return sorted(rows, key=lambda row: -row["share"])


def _range(space: "StateSpace", codes: Any) -> dict[str, Any]:
    """The fields of similar states: a common value, or the range of values."""
    states = [space.mapping_of(code) for code in sorted(set(codes))]
    seen = {name: sorted({state[name] for state in states}) for name in states[0]}
    return {name: values[0] if len(values) == 1 else f"{values[0]}..{values[-1]}" for name, values in seen.items()}


def typical_path(crowd: Crowd, plan: Plan, seed: int, found: Sequence[Replication]) -> Trace | None:
    """The way of one walker to its loss; `hegemon run --start FILE` follows it.

    A replication that lost leaders is repeated, all parents kept, up to the first loss that was counted; then the
    ancestors of the walker that lost its leader are followed from the moment at which the first of them began, each
    with its own stream.
    """
    lossy = next((one for one in found if one.losses), None)
    if lossy is None:
        return None
    family = Family(plan.burn)
    replicate(crowd, plan, seed, MEASURED, lossy.number, family)
    return None if family.lost is None else _story(crowd, family)


class Family:
    """The parents of all walkers, per iteration, until the first loss that counts."""

    def __init__(self, burn: int):
        self.burn = burn
        self.parents: list[np.ndarray] = []
        self.lost: int | None = None

    def __call__(self, crowd: Crowd) -> None:
        if self.lost is not None:
            return
        self.parents.append(crowd.sorting.parents[: crowd.size].astype(np.int32))
        if crowd.time > self.burn and crowd.losses.numbers[0]:
            self.lost = int(crowd.losses.first[0])

    def line(self) -> list[int]:
        """The ancestor of the lost walker in every iteration, ending with the lost walker itself."""
        assert self.lost is not None
        walkers = [self.lost]
        for parents in reversed(self.parents[:-1]):
            walkers.append(int(parents[walkers[-1]]))
        return walkers[::-1]


def _story(crowd: Crowd, family: Family) -> Trace:
    process = crowd.process
    protocol, space, look = process.protocol, process.space, crowd.model.look
    line = family.line()
    codes, outputs = crowd.starters[line[0]].astype(np.int64), process.outputs
    known: dict[tuple[int, int], tuple[int, int]] = {}
    begin = codes.copy()
    met: list[tuple[Any, ...]] = []
    for time, walker in enumerate(line):
        if len(met) >= MOST_STEPS:  # too long: begin later
            begin, met = codes.copy(), []
        pairs = np.empty((look, 2), np.int64)
        crowd.draw_pairs(crowd.model.arcs, crowd.stream(time, walker), protocol.n, pairs)
        for i, j in pairs.tolist():
            before = int(codes[i]), int(codes[j])
            if before not in known:
                known[before] = protocol.transition_codes(*before)
            after = known[before]
            met.append((i, j, before, after))
            codes[i], codes[j] = after
            if outputs[before[0]] != outputs[after[0]] or outputs[before[1]] != outputs[after[1]]:
                if time == len(line) - 1:
                    break
                codes = process.start.astype(np.int64)
                begin, met = codes.copy(), []
    shown = {code: space.mapping_of(code) for code in {*begin.tolist(), *sum(known, ()), *codes.tolist()}}
    shown |= {code: space.mapping_of(code) for after in known.values() for code in after}
    steps = [Interaction(i, j, (shown[a], shown[b]), (shown[c], shown[d])) for i, j, (a, b), (c, d) in met]
    start = [shown[code] for code in begin.tolist()]
    return Trace.of(protocol, start, tuple(steps), process.topology.name)
