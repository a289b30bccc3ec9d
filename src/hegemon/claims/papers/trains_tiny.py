"""Trains on graphs so small that every configuration can be followed: the next state of a node is read from a table."""

import copy
import math
from typing import Any

import numpy as np

from hegemon.runs.setting import topology_for

ABSENT = -1


class Tiny:
    """All configurations of a graph whose nodes have at most two neighbours. A configuration is a row of codes; all
    nodes draw the same coins, which is every case, since only a leader reads them."""

    def __init__(self, protocol: Any, graph: str):
        self.protocol, self.topology = protocol, topology_for(protocol, graph)
        self.near = [[int(u) for u in self.topology.neighbours(v)] for v in range(protocol.n)]
        if max(map(len, self.near)) > 2:
            raise ValueError(f"{graph} has a node with more than two neighbours")
        space = protocol.space
        self.states = space.decode_array(np.arange(space.size))
        number = np.zeros(space.size, np.int64)
        for name in protocol.public:
            number = number * (int(self.states[name].max()) + 1) + self.states[name]
        _, self.shown_by, self.face = np.unique(number, return_index=True, return_inverse=True)
        self.faces = len(self.shown_by) + 1  # the last one: no second neighbour
        self._next: dict[int, np.ndarray] = {}  # by coins, made when the first round is followed

    def every(self, *codes: Any) -> np.ndarray:
        """All rows with these codes at each node; on a complete graph one of each class of equal ones."""
        n = self.protocol.n
        if self.topology.is_complete and len(codes) == 1:
            return _multisets(np.sort(codes[0]).astype(np.int32), n)
        chosen = [np.asarray(one, np.int32) for one in (codes * n if len(codes) == 1 else codes)]
        return np.stack([axis.ravel() for axis in np.meshgrid(*chosen, indexing="ij")], axis=1)

    def after(self, rows: np.ndarray, coins: int = 1) -> np.ndarray:
        """The rows one round later. `coins` 0 means X = 1 at every node, 1 means X = 0."""
        if coins not in self._next:
            self._next[coins] = np.full(len(self.states) * self.faces**2, ABSENT, np.int32)
        known, result = self._next[coins], np.empty_like(rows)
        for v, near in enumerate(self.near):
            first = self.face[rows[:, near[0]]]
            second = self.face[rows[:, near[1]]] if len(near) == 2 else self.faces - 1
            key = (rows[:, v].astype(np.int64) * self.faces + first) * self.faces + second
            missing = np.unique(key[known[key] == ABSENT])
            for one in missing.tolist():
                known[one] = self._learn(one, coins)
            result[:, v] = known[key]
        return result

    def _learn(self, key: int, coins: int) -> int:
        space = self.protocol.space
        rest, second = divmod(key, self.faces)
        code, first = divmod(rest, self.faces)
        seen = [first] if second == self.faces - 1 else [first, second]
        state = copy.copy(space.namespace(code))
        self.protocol.update(state, [space.namespace(int(self.shown_by[f])) for f in seen], coins, self.protocol.p)
        return space.code(state)

    def where(self, rows: np.ndarray, **values: Any) -> np.ndarray:
        """For every row and node whether its fields have these values."""
        found = np.ones(rows.shape, bool)
        for name, value in values.items():
            found &= self.states[name][rows] == value
        return found

    def marked(self, rows: np.ndarray) -> np.ndarray:
        return self.where(rows, F=1, F_flag=1) | self.where(rows, L=1, L_flag=1)

    def smallest(self, rows: np.ndarray, flag: int) -> np.ndarray:
        """The smallest value of a complete train with this flag, infinite where there is none: `values`, for arrays."""
        N, states, n = self.protocol.N, self.states, self.protocol.n
        idx, amount = {}, {}
        for s in range(2 * n):
            name, at = "LF"[s % 2], rows[:, s // 2]
            there = (states[name][at] == 1) & (states[f"{name}_flag"][at] == flag)
            idx[s] = np.where(there, states[f"{name}_idx"][at], ABSENT)
            amount[s] = states[f"{name}_bit"][at] + 2.0 * states[f"{name}_carry"][at]
        behind = {s: [s - 1] if s % 2 else [2 * u + 1 for u in self.near[s // 2]] for s in range(2 * n)}
        value = {s: np.where(idx[s] == N - 1, amount[s], math.inf) for s in range(2 * n)}
        for wagon in range(N - 2, -1, -1):
            for s in range(2 * n):
                best = np.full(len(rows), math.inf)
                for other in behind[s]:
                    best = np.minimum(best, np.where(idx[other] == wagon + 1, value[other], math.inf))
                value[s] = np.where(idx[s] == wagon, amount[s] + 2 * best, value[s])
        heads = [np.where(idx[s] == 0, value[s], math.inf) for s in range(2 * n)]
        return np.min(heads, axis=0)

    def may_have_trains(self, rows: np.ndarray, flag: int) -> np.ndarray:
        """Whether wagons of all indices are there: without, no train is complete."""
        present = np.zeros(len(self.states), np.int64)
        for name in "FL":
            there = (self.states[name] == 1) & (self.states[f"{name}_flag"] == flag)
            present |= np.where(there, 1 << self.states[f"{name}_idx"].astype(np.int64), 0)
        found = np.zeros(len(rows), np.int64)
        for v in range(self.protocol.n):
            found |= present[rows[:, v]]
        return found == (1 << self.protocol.N) - 1

    # -- which states ------------------------------------------------------------------------------------------

    def sound(self, leaders: bool = False) -> np.ndarray:
        """The codes of non-leaders without a local error (and of all leaders that may stand beside them), rand = 0."""
        plain = (self.states["rand"] == 0) & ~self.errs()
        return np.flatnonzero(plain if leaders else plain & (self.states["leader"] == 0))

    def errs(self, fourth: bool = True) -> np.ndarray:
        """Which codes have a local error (Err₄ may be left out), leaders judged as if they were none."""
        a, N = self.states, self.protocol.N
        both = (a["F"] == 1) & (a["L"] == 1)
        wrong = (a["L"] == 0) | (both & (a["L_idx"] != (a["F_idx"] + 1) % N))
        wrong |= both & (a["L_idx"] != 0) & (a["L_flag"] != a["F_flag"])
        return wrong | (self.carries_last("F") & fourth) | self.carries_last("L")

    def carries_last(self, name: str) -> np.ndarray:
        """Which codes have a wagon of index N - 1 with a carry at this station."""
        a = self.states
        return (a[name] == 1) & (a[f"{name}_idx"] == self.protocol.N - 1) & (a[f"{name}_carry"] == 1)

    def settled(self, later: bool = False) -> np.ndarray:
        """The codes of states that a round leaves, or the second round and every later one. There is no local error
        (after the first round Err₄ is possible, where a leader of the start had one), and a node without a first wagon
        holds the head of a train. A sum of two bits has not both bit and carry, and the head of a train was
        incremented; only a leader's new wagon is 0. `rand` is kept only where a leader begins a train."""
        a = self.states
        leader = a["leader"] == 1
        begins = leader & (a["L"] == 1) & (a["L_idx"] == self.protocol.N - 1)
        kept = ~self.errs(fourth=later) & ((a["F"] == 1) | (a["L_idx"] == 0)) & ((a["rand"] == 0) | begins)
        kept &= ~leader | ((a["L_bit"] == 0) & (a["L_carry"] == 0))
        for name, new in (("F", np.zeros_like(leader)), ("L", leader)):
            total = a[f"{name}_bit"] + 2 * a[f"{name}_carry"]
            kept &= (a[name] == 0) | (total <= 2) & ((total >= 1) | (a[f"{name}_idx"] != 0) | new)
        return np.flatnonzero(kept)

    def without_rand(self) -> np.ndarray:
        """For every code that of the same state with rand = 0."""
        plain = self.states.copy()
        plain["rand"] = 0
        return self.protocol.space.encode_array(plain)


def _multisets(codes: np.ndarray, n: int) -> np.ndarray:
    """All rows of n codes in which each is at least the one before."""
    rows = codes[:, None]
    for _ in range(n - 1):
        begins = np.searchsorted(codes, rows[:, -1])
        counts = len(codes) - begins
        offsets = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        rows = np.column_stack([np.repeat(rows, counts, axis=0), codes[np.repeat(begins, counts) + offsets]])
    return rows
