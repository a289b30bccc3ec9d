"""How the leader is lost: the ways seen with their shares, and one path to a loss, step by step, to be run again."""

import math
from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from hegemon.compute.philox import word_at
from hegemon.exact.traces import Interaction, Trace
from hegemon.experiments.holding.process import Walker
from hegemon.experiments.holding.sketch import kinds_of
from hegemon.experiments.holding.splitting import MEASURED, Plan, Replication, replicate

MOST_STEPS = 50_000  # of a path that is written down: a longer one begins at a later level


def ways(space, found: Sequence[Replication]) -> list[dict]:
    """Meetings that lost the leader, alike ones together, with their shares of all losses; the commonest first."""
    _, _, kind, _ = kinds_of(space)
    top = max((one.rates[-1] for one in found), default=-math.inf)
    groups: dict = defaultdict(list)
    for one in found:
        total = sum(one.ends.values())
        for end, count in one.ends.items():
            weight = math.exp(one.rates[-1] - top) * count / total
            groups[tuple(int(kind[code]) for code in end)].append((weight, end))
    whole = sum(weight for members in groups.values() for weight, _ in members)
    rows = []
    for members in groups.values():
        share = sum(weight for weight, _ in members) / whole
        columns = [[end[place] for _, end in members] for place in range(4)]
        rows.append({"share": share, "before": [_range(space, column) for column in columns[:2]],
                     "after": [_range(space, column) for column in columns[2:]]})  # fmt: skip
    return sorted(rows, key=lambda row: -row["share"])


def _range(space, codes) -> dict:
    """The fields of states that are alike: a value, or the range of those that differ."""
    states = [space.mapping(space.namespace(int(code))) for code in sorted(set(codes))]
    seen = {name: sorted({state[name] for state in states}) for name in states[0]}
    return {name: values[0] if len(values) == 1 else f"{values[0]}..{values[-1]}" for name, values in seen.items()}


def typical_path(walker: Walker, plan: Plan, seed: int, found: Sequence[Replication]) -> Trace | None:
    """The way of one clone to its loss, from the entry into a level; `hegemon run --start FILE` follows it.

    Replications are repeated, with all their entries kept, until one loses its leader.
    """
    lossy = next((one for one in found if one.rates[-1] > -math.inf), None)
    if lossy is None or plan.died:
        return None
    kept: list = []
    replicate(walker, plan, seed, MEASURED, lossy.number, kept)
    key = walker.process.key(seed, MEASURED, lossy.number, 1)
    place, steps = 0, 0
    pieces: list[np.ndarray] = []
    begin = None
    for number in range(len(kept) - 1, 0, -1):
        parent, clone, length = (int(value) for value in kept[number][2][place])
        if steps + length > MOST_STEPS and begin is not None:
            break
        pieces.insert(0, _pairs(walker, key, number - 1, clone, length))
        steps += length
        place, begin = parent, kept[number - 1][0].populations[parent]
    return _story(walker, begin, np.concatenate(pieces)) if begin is not None else None


def _pairs(walker: Walker, key, number: int, clone: int, length: int) -> np.ndarray:
    """Who met whom during a clone's walk: its stream once more."""
    rng = np.array([word_at(key, number, 5 * clone + word) for word in range(4)], np.uint64)
    pairs = np.empty((length, 2), np.int64)
    walker.draw_pairs(walker.model.arcs, rng, walker.process.protocol.n, pairs)
    return pairs


def _story(walker: Walker, begin: np.ndarray, pairs: np.ndarray) -> Trace:
    process = walker.process
    protocol, space = process.protocol, process.space
    codes = begin.astype(np.int64)
    interactions = []
    mapping: dict = {}

    def shown(code):
        if code not in mapping:
            mapping[code] = space.mapping(space.namespace(int(code)))
        return mapping[code]

    known: dict = {}
    for i, j in pairs.tolist():
        met = int(codes[i]), int(codes[j])
        if met not in known:
            known[met] = protocol.transition_codes(*met)
        after = known[met]
        interactions.append(Interaction(i, j, (shown(met[0]), shown(met[1])), (shown(after[0]), shown(after[1]))))
        codes[i], codes[j] = after
    start = [shown(int(code)) for code in begin]
    return Trace(protocol.id, start, tuple(interactions), protocol.parameters, process.topology.name)
