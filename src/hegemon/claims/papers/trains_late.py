"""Informative trains: Lemma 4.3 as Lemma 4.9 uses it, after many rounds without a mark; how often trains are marked;
how many states there are."""

import copy
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from hegemon.claims.checks import always, number_at_most, number_is
from hegemon.claims.laboratory import Cases, Definition, Laboratory
from hegemon.claims.papers.trains_lemmas import Bench, grows_from, nodes_of, packed, without_marks
from hegemon.claims.papers.trains_tiny import Tiny
from hegemon.claims.registry import Check, Outcome, Table
from hegemon.protocols.trains.protocol import Trains
from hegemon.protocols.trains.starts import all_leaders, legitimate


def quiet(N: int) -> int:
    """Rounds without marks that Lemma 4.8 waits for."""
    return 2 ** (N + 2) + N


def late(
    lab: Laboratory, protocol: Definition = Trains, *, tiny: Cases, graphs: Sequence[str], trials: int,
    lengths: Sequence[int],
) -> Outcome:  # fmt: skip
    """After 2^(N+2) + N rounds in which nobody emits a marked wagon, a marked train spreads order from any leader."""
    checks, everything, last = [], 0, {}
    for graph, N in tiny:
        lab.report(f"all configurations of {graph}, N = {N}, followed for {quiet(N)} rounds")
        world = Tiny(protocol(n=nodes_of(graph), N=N), graph)
        rows = world.every(world.settled())
        everything += len(rows)
        begun, made, good, latest = len(rows), 0, 0, 0
        for k in range(quiet(N)):
            later = world.after(forget(world, rows))
            if (world.where(later, leader=1) & ~world.where(rows, leader=1)).any():
                latest = k + 1
            rows = np.unique(later, axis=0)
        kept = rows
        for _ in range(N):  # every leader is about to begin a train in one of N rounds
            tried, right = marked_from(world, kept)
            made, good = made + tried, good + right
            kept = world.after(forget(world, kept))
        back = int((forget(world, kept) == forget(world, rows)).all(axis=1).sum())
        lab.note(
            protocol=protocol.id, graph=graph, N=N, configurations=begun, left=len(rows), last_new_leader=latest,
            repeat=back, marked=made, good=good,
        )  # fmt: skip
        last[graph, N] = latest
        where = f"{graph}, N = {N}"
        what = f"{where}: all {begun:,} configurations a round can leave, {quiet(N)} rounds later, every leader"
        checks.append(always(what, good, made, "Γ_L after 2ε + 1 rounds"))
        what = f"{where}: without marks the {len(rows):,} configurations that are left repeat after N rounds"
        checks.append(always(what, back, len(rows), "so that no train overflows later"))
    outcomes = []
    for graph in graphs:
        bench = Bench(lab, protocol, graph)
        for _ in range(trials):
            nodes = without_marks(bench.random(), bench.protocol.space)
            for _ in range(quiet(bench.protocol.N)):
                nodes = bench.round(nodes, head=0)
            outcomes.append(grows_from(bench, nodes))
        lab.note(protocol=protocol.id, graph=graph, starts=trials, as_stated=outcomes[-trials:].count("as stated"))
    if outcomes:
        what = f"{len(graphs)} graphs, random starts: clauses (i) to (v), and Γ_L in the end"
        checks.append(always(what, outcomes.count("as stated"), len(outcomes), "from every start"))
    checks += [from_both_ends(lab, protocol, N) for N in lengths]
    headline = f"order spread from every leader, after {everything:,} starts of {len(tiny)} tiny graphs"
    lines = [[graph, str(N), f"{round_:,}", f"{quiet(N):,}"] for (graph, N), round_ in last.items()]
    table = Table("Without marks", ["graph", "N", "last round that makes a leader", "rounds followed"], lines)
    return Outcome(checks, headline, tables=[table])


def from_both_ends(lab: Laboratory, protocol: Definition, N: int) -> Check:
    """Two leaders at the ends of a path, so far apart that a train of the first has a carry in its wagon N − 2 where it
    meets the marked head of the second: there the guard of Err-Overflow^L is needed. In every phase between them."""
    n = 2 ** (N - 2) + 2
    bench = Bench(lab, protocol, f"path:{n}", N=N)
    fresh, outcomes = all_leaders(bench.protocol)[-1], []
    for phase in range(N):
        made = legitimate(bench.protocol, bench.topology, 0, phase)
        made[-1] = fresh
        nodes = bench.protocol.namespaces(made)
        for _ in range(quiet(N)):
            nodes = bench.round(nodes, head=0)
        outcomes += [grows_from(bench, copy.deepcopy(nodes), (chosen,)) for chosen in (0, n - 1)]
    lab.note(protocol=protocol.id, graph=f"path:{n}", N=N, starts=len(outcomes), as_stated=outcomes.count("as stated"))
    what = f"a path of {n} nodes, N = {N}, leaders at both ends in every phase: clauses (i) to (v), and Γ_L in the end"
    return always(what, outcomes.count("as stated"), len(outcomes), "from either leader")


def forget(world: Tiny, rows: np.ndarray) -> np.ndarray:
    """The same configurations with every rand at 0: nobody will emit a marked wagon."""
    return world.without_rand()[rows].astype(rows.dtype)


def marked_from(world: Tiny, rows: np.ndarray) -> tuple[int, int]:
    """Every leader that is about to begin a train marks it, alone: how many there are, and for how many Γ_L follows."""
    legitimate = packed(world.protocol.listed("safe", world.topology).astype(np.int64), world)
    begins = world.where(rows, leader=1, L=1, L_idx=world.protocol.N - 1)
    made = good = 0
    for v in range(world.protocol.n):
        chosen = rows[begins[:, v]].copy()
        if not len(chosen):
            continue
        marked = world.states[chosen[:, v]].copy()
        marked["rand"] = 1
        chosen[:, v] = world.protocol.space.encode_array(marked)
        far = eccentricity(world, v)
        for _ in range(1 + 2 * far + 1):  # to time t, and then 2ε + 1 rounds
            chosen = forget(world, world.after(chosen))
        plain = np.isin(packed(chosen, world), legitimate)
        made, good = made + len(chosen), good + int((plain & world.where(chosen, leader=1)[:, v]).sum())
    return made, good


def eccentricity(world: Tiny, v: int) -> int:
    reached, far = {v}, 0
    while len(reached) < world.protocol.n:
        reached |= {u for w in reached for u in world.near[w]}
        far += 1
    return far


def no_local_errors(repaired: bool) -> Callable[..., Outcome]:
    """Section 3.3: no local error at a node that is no leader after the first round, or after the second. Every state
    beside every (pair of) faces of its neighbours."""

    def experiment(
        lab: Laboratory, protocol: Definition = Trains, *, cases: Cases, coins: Sequence[int] = (0, 1)
    ) -> Outcome:
        checks = []
        for graph, N in cases:
            lab.report(f"every state beside every face, {graph}, N = {N}")
            world = Tiny(protocol(n=nodes_of(graph), N=N), graph)
            surrounding = f"{len(world.near[1])} neighbour(s), N = {N}: every state"
            everything, chosen = np.arange(len(world.states)), np.unique(kept_rand(world))
            if not repaired:
                good = ~world.errs() | (world.states["leader"] == 1)
                checks.append(
                    leads_to(lab, world, chosen, good, f"{surrounding}, no local error after the round", coins)
                )
                continue
            first, later = (np.isin(everything, world.settled(later=later)) for later in (False, True))
            what = f"{surrounding}, at most Err₄ after the round, and ⊥ only before a head"
            checks.append(leads_to(lab, world, chosen, first, what, coins))
            what = f"{surrounding} of those, no local error after another round"
            checks.append(leads_to(lab, world, world.settled(), later, what, coins))
        return Outcome(
            checks, "after the first round Err₄ is left where a leader that had it is eliminated, then never"
        )

    return experiment


def last_wagons(repaired: bool) -> Callable[..., Outcome]:
    """Section 3.2.1: no round makes a wagon of index N - 1 with a carry, from any start, or from time 1 on."""

    def experiment(
        lab: Laboratory, protocol: Definition = Trains, *, cases: Cases, coins: Sequence[int] = (0, 1)
    ) -> Outcome:
        checks = []
        for graph, N in cases:
            lab.report(f"every state beside every face, {graph}, N = {N}")
            world = Tiny(protocol(n=nodes_of(graph), N=N), graph)
            good = ~world.carries_last("F") & ~world.carries_last("L")
            begins = world.settled() if repaired else np.intersect1d(np.flatnonzero(good), kept_rand(world))
            which = "that a round can leave" if repaired else "without one"
            what = f"{len(world.near[1])} neighbour(s), N = {N}: every state {which}, no last wagon with a carry later"
            checks.append(leads_to(lab, world, begins, good, what, coins))
        return Outcome(checks, "a leader of an arbitrary start can make one in the first round; nobody does later")

    return experiment


def leads_to(
    lab: Laboratory, world: Tiny, codes: np.ndarray, good: np.ndarray, what: str, coins: Sequence[Any]
) -> Check:
    """Node 1 in each of these states, its neighbours with every face: whether a round leads to a good state."""
    faces = world.shown_by.astype(np.int32)
    rows = world.every(*[codes if v == 1 else faces for v in range(world.protocol.n)])
    plain = kept_rand(world)
    after = np.concatenate([plain[world.after(rows, x)[:, 1]] for x in coins])
    lab.note(protocol=world.protocol.id, graph=world.topology.name, cases=len(after), good=int(good[after].sum()))
    return always(what, int(good[after].sum()), len(after), "none")


def kept_rand(world: Tiny) -> np.ndarray:
    """For every code the one that `settled` lists: rand matters only where a leader begins a train."""
    a = world.states
    begins = (a["leader"] == 1) & (a["L"] == 1) & (a["L_idx"] == world.protocol.N - 1)
    return np.where(begins, np.arange(len(a)), world.without_rand())


def marks(repaired: bool) -> Callable[..., Outcome]:
    """Section 3.4: how often a leader marks a train, exactly, over all coins."""

    def experiment(lab: Laboratory, protocol: Definition = Trains, *, lengths: Sequence[int]) -> Outcome:
        checks = []
        for N in lengths:
            case = protocol(n=2, N=N)
            fallen = [{"leader": 0, "F": "empty", "L": "empty", "rand": rand} for rand in (0, 1)]  # Err₁: New-Leader
            first = max((marked(case, state) for state in fallen), key=lambda one: abs(one * 4 ** (N - 1) - 1))
            wagons = {"F": "wagon", "F_idx": N - 2, "F_bit": 1, "F_carry": 0, "F_flag": 0}
            wagons |= {"L": "wagon", "L_idx": N - 1, "L_bit": 0, "L_carry": 0, "L_flag": 0}
            emitting = [{"leader": 1, **wagons, "rand": rand} for rand in (0, 1)]
            later = max((marked(case, state) for state in emitting), key=lambda one: abs(one * 4**N - 1))
            lab.note(protocol=protocol.id, N=N, first_train=first, later_trains=later)
            checks.append(number_is(f"N = {N}: P(a later train is marked) · 4^N", later * 4**N, 1))
            what = f"N = {N}: P(the first train of a new leader is marked) · 4^N"
            checks.append(number_is(what, first * 4**N, 4 if repaired else 1))
        return Outcome(checks, "4^−(N−1) for the first train of a new leader, 4^−N for all others")

    return experiment


def marked(case: Any, state: dict[str, Any]) -> float:
    """The probability that a node in this state, which begins a train in the next round, marks the train behind it: the
    law of its state, over all coins. `rand` of before must not matter."""
    law = one_round(case, {case.space.code(case.space.parse(state)): 1.0})
    for _ in range(2 * case.N):
        law = one_round(case, law)
        heads = {code: p for code, p in law.items() if case.space.namespace(code).L_idx == 0}
        if heads:
            return sum(p for code, p in heads.items() if case.space.namespace(code).L_flag == 1)
    return math.nan  # no train follows


def one_round(case: Any, law: dict[int, float]) -> dict[int, float]:
    """Beside a neighbour with empty stations: nothing eliminates a leader."""
    after: dict[int, float] = {}
    for code, probability in law.items():
        for coins in range(4):
            state = copy.copy(case.space.namespace(code))
            case.update(state, [case.space.namespace(0)], coins, case.p)
            new = case.space.code(state)
            after[new] = after.get(new, 0.0) + probability / 4
    return after


def states(repaired: bool) -> Callable[..., Outcome]:
    """Theorem 1.2 and section 1.2: Θ(N) states as it is stated; 4(8N + 1)², of which Θ(N) have no local error."""

    def experiment(lab: Laboratory, protocol: Definition = Trains, *, lengths: Sequence[int]) -> Outcome:
        checks, sound = [], []
        for N in lengths:
            case = protocol(n=2, N=N)
            world = Tiny(case, "path:2")
            sound.append(len(world.sound(leaders=True)) / N)
            lab.note(protocol=protocol.id, N=N, states=case.states, without_local_error=sound[-1] * N)
            if repaired:
                checks.append(number_is(f"N = {N}: states of the listed variables", case.states, 4 * (8 * N + 1) ** 2))
        if repaired:
            spread = max(sound) / min(sound)
            checks.append(
                number_at_most(f"states without a local error / N, N = {lengths}: spread", spread, 1.2, "Θ(N)")
            )
        else:
            ratio = [protocol(n=2, N=N).states / N for N in lengths]
            what = f"states / N, N = {lengths[0]} … {lengths[-1]}: largest over smallest"
            checks.append(number_at_most(what, max(ratio) / min(ratio), 1.2, "Θ(N) states"))
        return Outcome(checks, f"4(8N + 1)² states; about {sound[-1]:.0f}·N of them have no local error and rand = 0")

    return experiment
