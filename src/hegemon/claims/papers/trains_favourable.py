"""Informative trains, Lemma 4.8: the probability of the event after which order spreads, computed exactly.

Only leaders draw coins, and only `rand` depends on them. As long as no leader marks a train, all that neighbours see is
determined, and the `rand` of every leader is a chain of its own. So the probability is a product over the trains that
leaders begin, summed over the one that is marked.
"""

import copy
import itertools
import math
from collections.abc import Sequence
from typing import Any

from hegemon.claims.checks import number_at_least
from hegemon.claims.laboratory import Cases, Definition, Laboratory
from hegemon.claims.papers.trains_lemmas import Bench
from hegemon.claims.registry import Outcome, Table
from hegemon.protocols.trains.legitimate import breadth_first
from hegemon.protocols.trains.protocol import Trains

COINS = 4  # two bits, equally likely


class Unmarked:
    """A configuration on the path on which no train is marked, and for every node the probability of rand = 1."""

    def __init__(self, bench: Bench, nodes: list[Any], rand: list[float]):
        self.bench, self.nodes, self.rand = bench, nodes, rand
        self.begun: dict[
            int, float
        ] = {}  # leaders that begin a train in the next round, if nobody marks one: P(marked)
        self.following: list[Any] = []
        self.rand_after: list[float] = []
        for v, me in enumerate(nodes):
            near = [nodes[u] for u in bench.topology.neighbours(v)]
            after = _updated(bench, me, near, 0, 1)
            marked = kept = 0.0
            if after.leader == 1:
                for bit, coins in itertools.product((0, 1), range(COINS)):
                    weight = (rand[v] if bit else 1 - rand[v]) / COINS
                    found = _updated(bench, me, near, bit, coins) if weight else after
                    if _begins(me, found) and found.L_flag == 1:
                        marked += weight
                    elif found.rand == 1:
                        kept += weight
                if _begins(me, after):
                    self.begun[v] = marked
            after.rand = 0
            self.following.append(after)
            self.rand_after.append(kept / (1 - marked) if marked < 1 else 0.0)

    def next(self, marks: int | None = None) -> "Unmarked":
        """One round later, without a marked train or with that of one leader."""
        nodes = list(self.following)
        if marks is not None:
            nodes[marks] = copy.copy(nodes[marks])
            nodes[marks].L_flag = 1
        return Unmarked(self.bench, nodes, self.rand_after)

    def nobody(self, but: int | None = None) -> float:
        """The probability that no leader but this one marks the train that it begins in the next round."""
        return math.prod(1 - p for v, p in self.begun.items() if v != but)


def _updated(bench: Bench, me: Any, near: list[Any], rand: int, coins: int) -> Any:
    state = copy.copy(me)
    state.rand = rand
    bench.protocol.update(state, near, coins, bench.protocol.p)
    return state


def _begins(before: Any, after: Any) -> bool:
    """A leader that goes on leading, and whose last station now holds the head of a new train."""
    return bool(before.leader and after.leader and after.L == 1 and after.L_idx == 0)


def probability(bench: Bench, nodes: list[Any], rand: list[float], before: int, window: int, behind: int) -> float:
    """Of clauses (i) to (iii): nobody marks for `before` rounds, then a single leader does within a window, and nobody
    for the rounds `behind` it."""
    now, quiet, total = Unmarked(bench, nodes, rand), 1.0, 0.0
    for _ in range(before):
        quiet, now = quiet * now.nobody(), now.next()
    for _ in range(window):
        for v, marked in now.begun.items():
            if not marked:
                continue
            later, calm = now.next(v), 1.0
            for _ in range(behind):
                calm, later = calm * later.nobody(), later.next()
            total += quiet * marked * now.nobody(but=v) * calm
        quiet, now = quiet * now.nobody(), now.next()
    return total


def favourable(lab: Laboratory, protocol: Definition = Trains, *, cases: Cases, starts: Sequence[str]) -> Outcome:
    """From arbitrary starts: the first N rounds with fair coins, after which no `rand` is the adversary's."""
    checks, lines = [], []
    for graph, N in cases:
        bench = Bench(lab, protocol, graph, N=N)
        diameter = max(int(max(breadth_first(v, *bench.rows)[1])) for v in range(bench.topology.n))
        least, worst = math.inf, ""
        for start in starts:
            lab.report(f"{graph}, N = {N}: the favourable event from {start}")
            nodes = bench.random() if start == "random" else bench.start(start)
            rand = [float(a.rand) for a in nodes]
            for _ in range(N):
                rand, nodes = Unmarked(bench, nodes, rand).rand_after, bench.round(nodes)
            found = probability(bench, nodes, rand, 2 ** (N + 2) + N, 2**N + 2 * N, 2 * diameter)
            lab.note(protocol=protocol.id, graph=graph, N=N, start=start, probability=found)
            if found < least:
                least, worst = found, start
        bound = math.exp(-16) / 4**N
        what = f"{graph}, N = {N}: probability of the event from the worst of {len(starts)} starts ({worst}), exact"
        checks.append(number_at_least(what, least, bound, f"at least e^−16 · 4^−N = {bound:.2g}"))
        lines.append([graph, str(N), f"{bound:.3g}", f"{least:.3g}", worst])
    table = Table("The favourable event", ["graph", "N", "claimed at least", "least found", "from"], lines)
    slack = min(check.figure / (math.exp(-16) / 4**N) for check, (_, N) in zip(checks, cases, strict=True))
    return Outcome(checks, f"at least {slack:.2g} times the claimed probability", tables=[table])
