"""P_RL on rings so small that all configurations, or many members of a set, are evaluated as one array."""

import copy
import itertools
import math
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import numpy as np

from hegemon.protocols.ring import DUMMY, LIVE

LARGEST = 2_000_000  # configurations that are listed


@lru_cache(maxsize=4)
def small_ring(protocol: Any, n: int, N: int) -> "SmallRing":
    """The small ring of this size, cached, since several claims use the same rings."""
    return SmallRing(protocol(n=n, N=N))


class SmallRing:
    """A configuration is a row of codes. The predicates are those of section 4.1, one column per agent."""

    def __init__(self, case: Any):
        self.case, self.n, self.N = case, case.n, case.N
        space = case.space
        self.states = space.decode_array(np.arange(space.size))
        self.table = np.empty((space.size, space.size, 2), np.int32)
        for left, right in itertools.product(range(space.size), repeat=2):
            a, b = copy.copy(space.namespace(left)), copy.copy(space.namespace(right))
            case.interact(a, b, case.p)
            self.table[left, right] = space.code(a), space.code(b)

    def every(self) -> np.ndarray:
        """All configurations."""
        size = len(self.states)
        if size**self.n > LARGEST:
            raise ValueError(f"{size}^{self.n} configurations are too many to list")
        rest, columns = np.arange(size**self.n), []
        for _ in range(self.n):
            rest, digit = np.divmod(rest, size)
            columns.append(digit.astype(np.int32))
        return np.stack(columns, axis=1)

    def get(self, rows: np.ndarray, name: str) -> np.ndarray:
        return self.states[name][rows].astype(np.int64)

    def step(self, rows: np.ndarray, arc: int) -> np.ndarray:
        """After the interaction e_arc of agents `arc` and `arc + 1`."""
        result, right = rows.copy(), (arc + 1) % self.n
        after = self.table[rows[:, arc], rows[:, right]]
        result[:, arc], result[:, right] = after[:, 0], after[:, 1]
        return result

    def walk(self, rows: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """After one random interaction in each row."""
        result, arcs = rows.copy(), rng.integers(self.n, size=len(rows))
        for arc in range(self.n):
            result[arcs == arc] = self.step(rows[arcs == arc], arc)
        return result

    def reached(self, rows: np.ndarray) -> Iterator[np.ndarray]:
        """Everything that executions from these rows reach, the rows first, each configuration once."""
        weights = len(self.states) ** np.arange(self.n, dtype=np.int64)
        seen = np.zeros(len(self.states) ** self.n, bool)
        seen[rows @ weights] = True
        while len(rows):
            yield rows
            after = np.concatenate([self.step(rows, arc) for arc in range(self.n)])
            numbers, first = np.unique(after @ weights, return_index=True)
            fresh = ~seen[numbers]
            seen[numbers[fresh]] = True
            rows = after[first[fresh]]

    # -- section 4.1 ---------------------------------------------------------------------------------------------

    def distance(self, rows: np.ndarray, towards: int) -> np.ndarray:
        """d_L (towards = -1) or d_R (+1) of every agent; -1 without a leader."""
        leader, found = self.get(rows, "leader") == 1, np.full(rows.shape, -1)
        for d in range(self.n - 1, -1, -1):
            found = np.where(np.roll(leader, -towards * d, axis=1), d, found)
        return found

    def along(self, bad: np.ndarray, left: np.ndarray) -> np.ndarray:
        """Whether an agent on the way from each one back to its nearest left leader is bad."""
        found = np.zeros(bad.shape, bool)
        for j in range(self.n):
            found |= np.roll(bad, j, axis=1) & (j <= left)
        return found

    def peaceful(self, rows: np.ndarray) -> np.ndarray:
        left, shield = self.distance(rows, -1), self.get(rows, "shield") == 1
        columns = (np.arange(self.n) - left) % self.n
        shielded = np.take_along_axis(shield, columns, axis=1)
        return (left >= 0) & shielded & ~self.along(self.get(rows, "signal") == 1, left)

    def modest(self, rows: np.ndarray) -> np.ndarray:
        left = self.distance(rows, -1)
        return self.peaceful(rows) & ~self.along(self.get(rows, "distL") > left, left)

    def secure(self, rows: np.ndarray) -> np.ndarray:
        dist, right = self.get(rows, "distL"), self.distance(rows, 1)
        return np.where(self.get(rows, "leader") == 1, dist == 0, (right >= 0) & (dist <= self.N - right))

    def live(self, rows: np.ndarray) -> np.ndarray:
        return self.get(rows, "bullet") == LIVE

    def inside(self, rows: np.ndarray, name: str) -> np.ndarray:
        """Membership in C_PB, C_NI, S_RL (`safe`), or in `C_prime`, where Ξ′ of Lemma 11 begins: a leader exists, all
        live bullets are modest and every leader has distL = 0."""
        leaders, live = self.get(rows, "leader").sum(axis=1), self.live(rows)
        if name == "C_PB":
            return (leaders > 0) & (self.peaceful(rows) | ~live).all(axis=1)
        modest = (self.modest(rows) | ~live).all(axis=1) & (leaders > 0)
        if name == "C_prime":
            return modest & ((self.get(rows, "distL") == 0) | (self.get(rows, "leader") == 0)).all(axis=1)
        secure = modest & self.secure(rows).all(axis=1)
        return secure & (leaders == 1) if name == "safe" else secure

    def without_old_bullets(self) -> np.ndarray:
        """The numbers (in `every`) of all configurations that an execution reaches when all bullets of its start have
        disappeared: a search over configurations with those bullets marked."""
        rows, n = self.every(), self.n
        leader, bullet, signal = (self.get(rows, name) for name in ("leader", "bullet", "signal"))
        weights = len(self.states) ** np.arange(n, dtype=np.int64)
        following = [(self.step(rows, arc).astype(np.int64) * weights).sum(axis=1) for arc in range(n)]
        old = sum((bullet[:, i] > 0).astype(np.int64) << i for i in range(n))
        seen = np.zeros(len(rows) << n, bool)
        frontier = old * len(rows) + np.arange(len(rows))
        while len(frontier):
            seen[frontier] = True
            old, number = np.divmod(frontier, len(rows))
            found = []
            for arc in range(n):
                right, after = (arc + 1) % n, following[arc][number]
                born = (leader[number, right] == 0) & (leader[after, right] == 1)
                here = (old >> arc & 1) & ~(leader[number, arc] & signal[number, arc])  # a shot replaces it
                there = (old >> right & 1) & ~(leader[number, right] & signal[number, right]) & ~born
                there |= here & (leader[number, right] == 0) & (bullet[number, right] == 0) & ~born
                kept = old & ~(1 << arc | 1 << right)
                found.append((kept | there.astype(np.int64) << right) * len(rows) + after)
            frontier = np.unique(np.concatenate(found))
            frontier = frontier[~seen[frontier]]
        return np.flatnonzero(seen[: len(rows)])

    def members(self, name: str, number: int, rng: np.random.Generator) -> np.ndarray:
        """Random members of a set, with as many leaders, bullets and signals as fit into it."""
        n, space = self.n, self.case.space
        agents = {field: rng.integers(0, 2, (number, n)) for field in ("leader", "shield", "signal")}
        agents["leader"] &= rng.integers(0, 2, (number, 1)) | rng.integers(0, 2, (number, n))  # few leaders, or many
        if name == "safe":
            agents["leader"][:] = 0
        agents["leader"][np.arange(number), rng.integers(n, size=number)] = 1
        agents["signal"] &= rng.integers(0, 2, (number, 1))
        agents["bullet"] = rng.integers(0, 3, (number, n))
        agents["distL"] = rng.integers(0, self.N + 1, (number, n))
        rows = self._encode(agents)
        if name != "C_PB":
            agents["distL"][agents["leader"] == 1] = 0
            right, left = self.distance(rows, 1), self.distance(rows, -1)
            if name != "C_prime":
                agents["distL"] = np.where(agents["leader"] == 1, 0, np.minimum(agents["distL"], self.N - right))
            exact = rng.integers(0, 2, (number, 1)) == 1
            agents["distL"] = np.where(exact, np.minimum(agents["distL"], left), agents["distL"])
            rows = self._encode(agents)
        fits = self.peaceful(rows) if name == "C_PB" else self.modest(rows)
        agents["bullet"] = np.where((agents["bullet"] == LIVE) & ~fits, DUMMY, agents["bullet"])
        rows = self._encode(agents)
        assert space.size > int(rows.max()) and self.inside(rows, name).all()
        return rows

    def _encode(self, agents: dict[str, Any]) -> np.ndarray:
        number = agents["leader"].shape[0]
        flat = np.zeros(number * self.n, self.case.space.dtype)
        for field, values in agents.items():
            flat[field] = values.ravel()
        return self.case.space.encode_array(flat).reshape(number, self.n).astype(np.int32)


def worst_time(world: SmallRing, rows: np.ndarray) -> float:
    """The largest expected number of steps in which any of these configurations leaves them; by value iteration, from
    below."""
    weights = len(world.states) ** np.arange(world.n, dtype=np.int64)
    numbers = (rows * weights).sum(axis=1)
    order = np.argsort(numbers)
    following = []
    for arc in range(world.n):
        after = (world.step(rows, arc) * weights).sum(axis=1)
        place = np.searchsorted(numbers[order], after).clip(max=len(rows) - 1)
        following.append(np.where(numbers[order][place] == after, order[place], len(rows)))
    if not _all_can_leave(following):
        return math.inf
    expected, change = np.zeros(len(rows) + 1), 1.0
    while change > 1e-9:
        later = 1 + sum(expected[one] for one in following) / world.n
        change = float(np.max(later - expected[:-1]))
        expected[:-1] = later
    return float(expected.max())


def _all_can_leave(following: list[np.ndarray]) -> bool:
    """Whether the outside, which has the last number, can be reached from every configuration."""
    able = np.zeros(len(following[0]) + 1, bool)
    able[-1], known = True, 0
    while known < able.sum():
        known = able.sum()
        able[:-1] |= np.logical_or.reduce([able[one] for one in following])
    return bool(able.all())
