"""Graphs that change while agents meet. A step is still one meeting; how often the graph changes meanwhile varies.

`edge-markov`: before every meeting each edge that is absent appears with probability p, and each that is present
disappears with probability q; again, while there is none. Then one of those present is used, each alike. All are
present at first. Edges are independent, so an edge is brought up to date only when it is drawn.

`moving`: agents walk on a torus. One of them, each alike, moves to one of the four neighbouring cells, and meets one of
those that are near it now, each alike; if none is near, an agent is drawn again. At first they are spread evenly.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable
from fractions import Fraction
from typing import Any

import numpy as np
from numba import uint64

from hegemon.compute.randomness import turn, turn_below
from hegemon.errors import InvalidInput
from hegemon.graphs.topology import Topology
from hegemon.models.expressions import fraction_of
from hegemon.models.protocol import Protocol
from hegemon.process.schedulers.scheduler import MOST_ROWS, SchedulePlan, Scheduler
from hegemon.process.schedulers.uniform import all_arcs

UNIT = 2**53  # a probability is a whole number of these parts
FINEST_CHANCE = Fraction(1, 10**9)  # the least of a run: in parts of UNIT it is right to seven digits
FINEST = 2**53  # the largest denominator of an exact chain
MOST_EDGES = 5_000_000  # that a run follows
MOST_MASKED = 6  # edges: an exact chain keeps every set of them apart
MOST_CELLS = 10**7
MOST_PLACED = 100  # placements of agents that an exact chain keeps apart

Outcome = tuple[int, int, Hashable]  # initiator, responder, and what is remembered then


def pair_present(rows, n, s0, s1, s2, s3):  # type: ignore[no-untyped-def]
    """Row 0: the clock, whether an edge is used in both directions, p and q. Every other row is an edge: its ends,
    whether it was present, and when that was."""
    edges, clock = len(rows) - 1, rows[0, 0] + 1
    p, q = rows[0, 2] / UNIT, rows[0, 3] / UNIT
    often, decay = p / (p + q), 1.0 - p - q
    absent, k = 0, 0
    while True:
        drawn, s0, s1, s2, s3 = turn_below(edges, s0, s1, s2, s3)
        k = 1 + np.int64(drawn)
        if rows[k, 3] != clock:
            word, s0, s1, s2, s3 = turn(s0, s1, s2, s3)
            here = often + (rows[k, 2] - often) * decay ** (clock - rows[k, 3])
            rows[k, 2] = 1 if np.int64(word >> uint64(11)) < here * UNIT else 0  # also where it is 0 or 1
            rows[k, 3] = clock
            absent += 1 - rows[k, 2]
        if rows[k, 2] == 1:
            break
        if absent == edges:  # nothing happens until the first one appears
            word, s0, s1, s2, s3 = turn(s0, s1, s2, s3)
            rate = edges * np.log1p(-p)
            clock += 1 + np.int64(np.floor(np.log((np.int64(word >> uint64(11)) + 0.5) / UNIT) / rate))
            word, s0, s1, s2, s3 = turn(s0, s1, s2, s3)
            share = (np.int64(word >> uint64(11)) + 0.5) / UNIT * -np.expm1(rate)
            first = min(edges, 1 + np.int64(np.floor(np.log1p(-share) / np.log1p(-p))))
            for edge in range(1, edges + 1):
                rows[edge, 3] = clock if edge <= first else clock - 1
            rows[first, 2] = 1
            absent = first - 1
    rows[0, 0] = clock
    turned = np.int64(0)
    if rows[0, 1] == 1:
        side, s0, s1, s2, s3 = turn_below(2, s0, s1, s2, s3)
        turned = np.int64(side)
    return uint64(rows[k, turned]), uint64(rows[k, 1 - turned]), s0, s1, s2, s3


def pair_near(rows, n, s0, s1, s2, s3):  # type: ignore[no-untyped-def]
    """Row 0: the width of the torus, and how far is near. Then for every agent its cell and the next agent there, and
    for every cell the first agent there; -1 for none."""
    width, near = rows[0, 0], rows[0, 1]
    first = 1 + n
    height = (len(rows) - first) // width
    while True:
        drawn, s0, s1, s2, s3 = turn_below(n, s0, s1, s2, s3)
        side, s0, s1, s2, s3 = turn_below(4, s0, s1, s2, s3)
        i, way = np.int64(drawn), np.int64(side)
        cell = rows[1 + i, 0]
        x, y = cell % width, cell // width
        if way < 2:
            x = (x + 2 * way - 1 + width) % width
        else:
            y = (y + 2 * way - 5 + height) % height
        if rows[first + cell, 0] == i:
            rows[first + cell, 0] = rows[1 + i, 1]
        else:
            other = rows[first + cell, 0]
            while rows[1 + other, 1] != i:
                other = rows[1 + other, 1]
            rows[1 + other, 1] = rows[1 + i, 1]
        cell = y * width + x
        rows[1 + i, 0], rows[1 + i, 1], rows[first + cell, 0] = cell, rows[first + cell, 0], i
        met = np.int64(-1)  # which of those near it is met: drawn after a first pass, which counts them
        for look in range(2):
            seen = np.int64(0)
            for over in range(-near, near + 1):
                for across in range(-near, near + 1):
                    there = (y + over + height) % height * width + (x + across + width) % width
                    other = rows[first + there, 0]
                    while other >= 0:
                        if other != i:
                            if look == 1 and seen == met:
                                return uint64(i), uint64(other), s0, s1, s2, s3
                            seen += 1
                        other = rows[1 + other, 1]
            if seen == 0:
                break
            if look == 0:
                level, s0, s1, s2, s3 = turn_below(seen, s0, s1, s2, s3)
                met = np.int64(level)


class EdgeMarkov(Scheduler):
    """Every edge of the graph appears and disappears by itself."""

    memoryless = False

    def __init__(self, appears: Fraction, disappears: Fraction):
        self.appears, self.disappears = appears, disappears
        self.name = f"edge-markov:{appears},{disappears}"

    def _edges(self, topology: Topology) -> tuple[np.ndarray, bool]:
        """The edges, and whether each is used in both directions; else every arc is one."""
        if topology.n**2 > 4 * MOST_EDGES and topology.is_complete:
            raise InvalidInput(f"the scheduler {self} follows at most {MOST_EDGES:,} edges; take a smaller graph")
        arcs = all_arcs(topology)
        known = set(map(tuple, arcs.tolist()))
        both = all((j, i) in known for i, j in known)
        edges = arcs[arcs[:, 0] < arcs[:, 1]] if both else arcs
        if len(edges) > MOST_EDGES:
            raise InvalidInput(f"the scheduler {self} follows at most {MOST_EDGES:,} edges; take a smaller graph")
        return edges, both

    def compiled(self, topology: Topology) -> tuple[Callable[..., Any], np.ndarray]:
        edges, both = self._edges(topology)
        rows = np.zeros((1 + len(edges), 4), np.int64)
        rows[0] = 0, both, round(self.appears * UNIT), round(self.disappears * UNIT)
        rows[1:, :2], rows[1:, 2] = edges, 1
        return pair_present, rows

    def plan(self, topology: Topology) -> SchedulePlan:
        edges, both = self._edges(topology)
        if len(edges) > MOST_MASKED:
            raise InvalidInput(
                f"an exact chain under the scheduler {self} keeps every set of edges apart, and {len(edges)} are too "
                f"many; take at most {MOST_MASKED}, or use run, which simulates it exactly"
            )
        p, q, every = self.appears, self.disappears, range(len(edges))

        def goes(before: int, after: int) -> Fraction:
            chances = ((q, 1 - q) if before >> k & 1 else (1 - p, p) for k in every)
            return math.prod((one[after >> k & 1] for k, one in zip(every, chances, strict=True)), start=Fraction(1))

        def after(mask: int) -> Iterable[tuple[Fraction, Outcome | int]]:
            for then in range(1, 1 << len(edges)):
                chance = goes(mask, then) + goes(mask, 0) * goes(0, then) / (1 - goes(0, 0))
                arcs = [(i, j) for k, (i, j) in enumerate(edges.tolist()) if then >> k & 1]
                arcs += [(j, i) for i, j in arcs] * both
                for i, j in arcs:
                    yield chance / len(arcs), (i, j, then)

        return planned(self, (1 << len(edges)) - 1, after)


class Moving(Scheduler):
    """Agents walk on a torus, and meet those that are near."""

    memoryless = False

    def __init__(self, width: int, height: int, near: int = 1):
        self.width, self.height, self.near = width, height, near
        self.torus = width, height
        self.name = f"moving:{width}x{height},near={near}"

    def compiled(self, topology: Topology) -> tuple[Callable[..., Any], np.ndarray]:
        cells, n = self.width * self.height, topology.n
        rows = np.full((1 + n + cells, 2), -1, np.int64)
        rows[0] = self.width, self.near
        for agent, cell in enumerate(self._begin(n)):
            rows[1 + agent] = cell, rows[1 + n + cell, 0]
            rows[1 + n + cell, 0] = agent
        return pair_near, rows

    def _begin(self, n: int) -> list[int]:
        return [agent * self.width * self.height // n for agent in range(n)]

    def places(self, rows: np.ndarray, n: int) -> np.ndarray:
        cells = rows[1 : 1 + n, 0]
        return np.stack([cells % self.width, cells // self.width], axis=1)

    def plan(self, topology: Topology) -> SchedulePlan:
        width, height, near, n = self.width, self.height, self.near, topology.n
        placements = (width * height) ** (n - 1)
        if placements > MOST_PLACED:
            raise InvalidInput(
                f"an exact chain under the scheduler {self} keeps every placement of the agents apart, and "
                f"{placements} are too many; take at most {MOST_PLACED}, or use run, which simulates it exactly"
            )

        def seen(places: tuple[Any, ...]) -> tuple[Any, ...]:
            """The same from the first agent's cell: the torus looks alike everywhere."""
            x, y = places[0]
            return tuple(((a - x) % width, (b - y) % height) for a, b in places)

        def is_near(one: tuple[Any, ...], other: tuple[Any, ...]) -> bool:
            gaps = ((one[k] - other[k]) % size for k, size in enumerate((width, height)))
            return all(min(gap, size - gap) <= near for gap, size in zip(gaps, (width, height), strict=True))

        def after(places: tuple[Any, ...]) -> Iterable[tuple[Fraction, Outcome | tuple[Any, ...]]]:
            for i in range(n):
                for across, over in ((-1, 0), (1, 0), (0, -1), (0, 1)):
                    moved = list(places)
                    moved[i] = (places[i][0] + across) % width, (places[i][1] + over) % height
                    others = [j for j in range(n) if j != i and is_near(moved[i], moved[j])]
                    then = seen(tuple(moved))
                    for j in others:
                        yield Fraction(1, 4 * n * len(others)), (i, j, then)
                    if not others:
                        yield Fraction(1, 4 * n), then

        begin = tuple((cell % width, cell // width) for cell in self._begin(n))
        return planned(self, seen(begin), after)


def planned(scheduler: Scheduler, begin: Hashable, after: Callable[[Any], Iterable[Any]]) -> SchedulePlan:
    """The plan of a memory that begins so: `after(memory)` are chances of meetings, each with the memory then, and of
    other memories from which it goes on without a meeting."""
    idle: dict[Hashable, dict[Any, Fraction]] = {}
    meets: dict[Hashable, dict[Any, Fraction]] = {}
    known, order = {begin: 0}, [begin]
    for memory in order:
        idle[memory], meets[memory] = defaultdict(Fraction), defaultdict(Fraction)
        for chance, then in after(memory):
            if not chance:
                continue
            is_meeting = len(then) == 3 and isinstance(then[0], int) if isinstance(then, tuple) else False
            (meets if is_meeting else idle)[memory][then] += chance
            place = then[2] if is_meeting else then
            if place not in known:
                known[place] = len(order)
                order.append(place)
    for gone in order:  # eliminate moves without a meeting, one memory after the other
        stays = 1 - idle[gone].pop(gone, Fraction(0))
        for table in (idle[gone], meets[gone]):
            for then in table:
                table[then] /= stays
        for memory in order:
            if memory != gone and (chance := idle[memory].pop(gone, None)):
                for table, source in ((idle[memory], idle[gone]), (meets[memory], meets[gone])):
                    for then, share in source.items():
                        table[then] += chance * share
    rows: list[tuple[int, int, int, int]] = []
    places, denominators = [0], set()
    for memory in order:
        common = math.lcm(*(share.denominator for share in meets[memory].values()))
        denominators.add(common)
        rows += [(i, j, int(share * common), known[then]) for (i, j, then), share in meets[memory].items()]
        places.append(len(rows))
    if len(rows) > MOST_ROWS or math.lcm(*denominators) > FINEST // 1000:
        raise InvalidInput(
            f"the law of the scheduler {scheduler} is too fine for an exact chain here; take a smaller case or simpler "
            "probabilities such as 1/2, or run, which simulates it exactly"
        )
    drawn = np.array(rows, np.int64)
    return SchedulePlan(
        drawn[:, :2].astype(np.int32), drawn[:, 2].copy(), drawn[:, 3].astype(np.int32), np.array(places, np.int64)
    )


def read_edge_markov(words: str, protocol: Protocol, topology: Topology) -> EdgeMarkov:
    """`edge-markov:p,q`: the probabilities that an edge appears and that it disappears, before every meeting."""
    try:
        appears, disappears = map(fraction_of, words.split(","))
    except (ValueError, ZeroDivisionError):
        appears = disappears = Fraction(-1)
    if any(0 < one < FINEST_CHANCE for one in (appears, disappears)):
        raise InvalidInput(
            f"edge-markov:{words[:40]} is out of range: P and Q are 1e-9 at least (Q may be 0), since smaller ones "
            "would be rounded; take larger ones in the same proportion"
        )
    if not 0 < appears <= 1 or not 0 <= disappears <= 1:
        raise InvalidInput(
            f"edge-markov:{words[:40]} is not understood; write edge-markov:P,Q: an edge appears with probability "
            "P, above 0, and disappears with probability Q, such as edge-markov:1/100,1/10"
        )
    return EdgeMarkov(appears, disappears)


def read_moving(words: str, protocol: Protocol, topology: Topology) -> Moving:
    """`moving:WxH` or `moving:WxH,near=R`: a torus, and how many cells away, in each direction, is near."""
    size, _, more = words.partition(",")
    width, _, height = size.partition("x")
    near = more.removeprefix("near=") if more else "1"
    if not (width.isdecimal() and height.isdecimal() and near.isdecimal()):
        raise InvalidInput(
            f"moving:{words[:40]} is not understood; write moving:WxH or moving:WxH,near=R, such as moving:40x40"
        )
    w, h, r = int(width), int(height), int(near)
    if not 1 <= w * h <= MOST_CELLS or 2 * r + 1 > min(w, h):
        raise InvalidInput(
            f"moving:{words[:40]} is out of range: a torus has 1 to {MOST_CELLS:,} cells, and what is near, 2 R + 1 "
            "cells wide, must fit into it; near=0 is the same cell"
        )
    if not topology.is_complete:
        raise InvalidInput(
            f"moving agents meet whoever is near, and {topology.name} says otherwise; leave the graph out"
        )
    return Moving(w, h, r)
