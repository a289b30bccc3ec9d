"""Informative trains, Lemmas 4.5 to 4.7: trains count up, so that a leader comes and marks go."""

import math
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

from hegemon.claims.checks import always, number_at_most
from hegemon.claims.errata import erratum
from hegemon.claims.laboratory import Cases, Definition, Laboratory
from hegemon.claims.papers.trains_lemmas import Bench, nodes_of
from hegemon.claims.papers.trains_tiny import Tiny
from hegemon.claims.registry import Check, Outcome, Plot, Series, Table
from hegemon.protocols.trains.legitimate import station
from hegemon.protocols.trains.protocol import Trains
from hegemon.protocols.trains.values import extreme_value, marked_wagons
from hegemon.runs.setting import topology_for

WITNESSES = {"trains-lemma-4-5": 0, "trains-lemma-4-5-later": 1}  # start files, and the time at which a value falls


def values_grow(repaired: bool) -> Callable[..., Outcome]:
    """Lemma 4.5: while no leader contains wagons of a flag, the smallest value of its trains grows; from time 0 on, as
    it is stated, or from time 2 on."""

    def experiment(
        lab: Laboratory, protocol: Definition = Trains, *, graphs: Sequence[str], trials: int, rounds: int,
        lengths: Sequence[int] = (),
    ) -> Outcome:  # fmt: skip
        checks, lines, curve = [], [], []
        for N in lengths:
            checks += on_a_triangle(lab, protocol, N)
        for graph in graphs:
            bench, good, made, early_good, early = Bench(lab, protocol, graph), 0, 0, 0, 0
            for trial in range(trials):
                nodes = (bench.start("no-leader"), bench.random(), marked_trains(bench))[trial % 3]
                for time in range(rounds):
                    after = bench.round(nodes)
                    tried, grew = grew_in(bench, nodes, after)
                    if time < 2:
                        early, early_good = early + tried, early_good + grew
                    else:
                        made, good = made + tried, good + grew
                    nodes = after
                    if trial == 0 and graph == graphs[0]:
                        curve.append(smallest(bench, nodes, 0))
            lab.note(protocol=protocol.id, graph=graph, early=early, grew_then=early_good, later=made, grew=good)
            lines.append([graph, f"{early_good:,} of {early:,}", f"{good:,} of {made:,}"])
            if not repaired:
                good, made = good + early_good, made + early
            if made:
                checks.append(always(f"{graph}: smallest value after a round", good, made, "at least one more"))
            else:
                lines[-1][-1] = f"no train outlived a round in {trials * rounds:,} rounds: nothing to grow"
        if not repaired:
            checks += [from_the_witness(lab, protocol, *witness) for witness in WITNESSES.items()]
        finite = [value for value in curve if value < math.inf]
        plot = Plot(
            f"Trains that nobody emits count up ({graphs[0]})",
            "round",
            "smallest Value of a train",
            [Series("measured", list(range(1, len(finite) + 1)), finite, kind="both")],
        )
        table = Table("Rounds in which the lemma is about a train", ["graph", "at t = 0 and 1", "at t ≥ 2"], lines)
        headline = "the smallest value can fall in the first two rounds; afterwards it always grew"
        if repaired:
            headline = (
                f"from t = 2 on it grew in every round, on a triangle (N = {listed(lengths)}) and {len(graphs)} graphs"
            )
        return Outcome(checks, headline, [plot], [table], BORN)

    return experiment


BORN = (
    "An empty first station beside a last wagon of index ≥ 1 is no local error, so an arbitrary start may hold the "
    "pieces of a train that becomes complete in the first round, with any value. And a leader of the start may hold a "
    "last wagon with a carry, at times 0 and 1, which is lost where the leader is eliminated. A later round leaves "
    "neither, so from time 2 on the lemma holds; and since values are at least 1 at time 1 and 2 at time 2, Lemmas 4.6 "
    "and 4.7 keep their bounds. See the errata: `hegemon watch --start errata/trains-lemma-4-5.json`."
)


def listed(lengths: Sequence[int]) -> str:
    return " and ".join(map(str, lengths))


def from_the_witness(lab: Laboratory, protocol: Definition, name: str, time: int) -> Check:
    """A shipped counterexample: the round from this time on."""
    known = erratum(name)
    bench = Bench(lab, protocol, known["graph"], **known["parameters"])
    space = bench.protocol.space
    after = [space.namespace(space.code(space.parse(state))) for state in known["agents"]]
    for _ in range(time + 1):
        nodes, after = after, bench.round(after, head=0)
    tried, grew = grew_in(bench, nodes, after)
    values = [smallest(bench, nodes, 1), smallest(bench, after, 1)]
    lab.note(protocol=protocol.id, graph=known["graph"], start=name, value_before=values[0], value_after=values[1])
    return always(f"{known['graph']}, the start errata/{name}.json, at t = {time}", grew, tried, "at least one more")


def on_a_triangle(lab: Laboratory, protocol: Definition, N: int) -> list[Check]:
    """Every configuration of three nodes that two rounds can leave; and the values that a second round leaves."""
    lab.report(f"all configurations of a triangle, N = {N}")
    world = Tiny(protocol(n=3, N=N), "complete:3")
    checks = []
    for later in (True, False):
        rows = world.every(world.settled(later=later))
        made = good = 0
        for x in (0, 1):
            after = world.after(rows, x)
            for flag in (0, 1):
                held = world.where(after, leader=1, F=1, F_flag=flag) | world.where(after, leader=1, L=1, L_flag=flag)
                chosen = np.flatnonzero(world.may_have_trains(after, flag) & ~held.any(axis=1))
                value = world.smallest(after[chosen], flag)
                chosen, value = chosen[np.isfinite(value)], value[np.isfinite(value)]
                made += len(chosen)
                good += int((value >= (world.smallest(rows[chosen], flag) + 1 if later else 2)).sum())
        many = "two rounds" if later else "a round"
        counted = {"configurations": len(rows), "with_trains": made, "as_claimed": good}
        lab.note(protocol=protocol.id, graph="complete:3", N=N, left_by=many, **counted)
        what = f"triangle, N = {N}: smallest value after a round, from all {len(rows):,} configurations {many} leave"
        checks.append(always(what, good, made, "at least one more" if later else "at least 2"))
    return checks


def marked_trains(bench: Bench) -> list[Any]:
    """Where the graph is deep enough, complete marked trains that no leader follows: no leader emits marked ones."""
    nodes = bench.start("safe")
    for a in nodes:
        a.leader, a.F_flag, a.L_flag = 0, 1, 1
    return [bench.protocol.space.namespace(bench.protocol.space.code(a)) for a in nodes]


def grew_in(bench: Bench, before: list[SimpleNamespace], after: list[SimpleNamespace]) -> tuple[int, int]:
    """The number of flags for which the lemma applies to this round, and for which it is right."""
    made = good = 0
    for flag in (0, 1):
        value = smallest(bench, after, flag)
        if not emits(after, flag) and value < math.inf:
            made += 1
            good += value >= smallest(bench, before, flag) + 1
    return made, good


def smallest(bench: Bench, nodes: list[SimpleNamespace], flag: int) -> float:
    offsets, targets = bench.rows
    value = extreme_value(nodes, offsets, targets, flag, 1, bench.protocol.p)
    return math.inf if value < 0 else int(value)


def emits(nodes: list[SimpleNamespace], flag: int) -> bool:
    """Whether some leader contains a wagon with this flag."""
    return any(a.leader and any(w[0] >= 0 and w[3] == flag for w in (station(a, 0), station(a, 1))) for a in nodes)


A_LEADER = "count(leader == 1) >= 1"


def leader_comes(
    lab: Laboratory, protocol: Definition = Trains, *, lengths: Sequence[int], cases: Cases, trials: int
) -> Outcome:
    """Lemma 4.6: without a leader one appears within 2^N + N rounds."""
    checks, xs, ys = [], [], []
    for N in lengths:
        lab.report(f"all configurations of a triangle without a leader, N = {N}")
        world = Tiny(protocol(n=3, N=N), "complete:3")
        rows, longest = world.every(world.sound()), 0
        made = len(rows)
        while len(rows) and longest <= 2**N + N:
            rows = world.after(rows)
            rows = rows[~world.where(rows, leader=1).any(axis=1)]
            longest += 1
        lab.note(protocol=protocol.id, graph="complete:3", N=N, configurations=made, longest=longest)
        what = (
            f"triangle, N = {N}: rounds to a leader, from all {made:,} configurations without one (and without errors)"
        )
        checks.append(number_at_most(what, longest, 2**N + N - 1, f"< 2^N + N = {2**N + N}"))
        xs.append(N)
        ys.append(longest)
    for graph, N in cases:
        case = protocol(n=nodes_of(graph), N=N)
        options: dict[str, Any] = {
            "graph": topology_for(case, graph, lab.seed),
            "start": "no-leader",
            "until": A_LEADER,
        }
        found = lab.trials(case, trials, max_steps=2**N + N + 1, **options)
        last = max(row["rounds"] if row["reached"] else math.inf for row in found)
        checks.append(number_at_most(f"{graph}, N = {N}: rounds to a leader, longest of {trials}", last,
                                     2**N + N - 1, f"< 2^N + N = {2**N + N}"))  # fmt: skip
        xs.append(N)
        ys.append(min(last, 2**N + N + 1))
    bounds = sorted(set(xs))
    plot = Plot(
        "How long a graph can be without a leader",
        "N",
        "rounds",
        [Series("longest observed", xs, ys), Series("2^N + N", bounds, [2**N + N for N in bounds], kind="line")],
        logy=True,
    )
    closest = max(y / (2**N + N) for N, y in zip(xs, ys, strict=True))
    return Outcome(checks, f"a leader always came; at the latest after {closest:.0%} of 2^N + N rounds", [plot])


def marks_vanish(
    lab: Laboratory, protocol: Definition = Trains, *, lengths: Sequence[int], graphs: Sequence[str], trials: int
) -> Outcome:
    """Lemma 4.7: if leaders emit no marked wagon, there is none after 2^N + 2N - 2 rounds."""
    checks, tight = [], ""
    for N in lengths:
        lab.report(f"all configurations of a triangle without a leader, N = {N}")
        world = Tiny(protocol(n=3, N=N), "complete:3")
        rows, bound, longest = world.every(world.sound()), 2**N + 2 * N - 2, 0
        made = len(rows)
        rows = rows[world.marked(rows).any(axis=1)]
        while len(rows) and longest <= bound:
            rows = world.after(rows)
            rows = rows[world.marked(rows).any(axis=1)]
            longest += 1
        tight = f"; on a triangle with N = {N} after {longest} of at most {bound}"
        lab.note(protocol=protocol.id, graph="complete:3", N=N, configurations=made, longest=longest)
        what = f"triangle, N = {N}: rounds until no wagon is marked, from all {made:,} configurations without a leader"
        checks.append(number_at_most(what, longest, bound, f"≤ 2^N + 2N − 2 = {bound}"))
    last = 0
    for graph in graphs:
        bench, gone = Bench(lab, protocol, graph), 0
        N, space = bench.protocol.N, bench.protocol.space
        for trial in range(trials):
            nodes = bench.start("no-leader") if trial % 2 == 0 else bench.random()
            for a in nodes:
                a.rand = 0
                if a.leader:
                    a.F_flag = a.L_flag = 0
                elif trial % 2 == 0:
                    a.F_flag = a.L_flag = 1
            nodes = [space.namespace(space.code(a)) for a in nodes]
            for k in range(2**N + 2 * N - 2):
                nodes = bench.round(nodes, head=0)
                if not marked_wagons(nodes, *bench.rows, bench.protocol.p):  # none is emitted, so none comes back
                    gone, last = gone + 1, max(last, k + 1)
                    break
        lab.note(protocol=protocol.id, graph=graph, N=N, trials=trials, vanished=gone)
        checks.append(always(f"{graph}: no marked wagon after 2^N + 2N − 2 rounds", gone, trials, "none left"))
    return Outcome(checks, f"none left in {trials * len(graphs):,} runs, the last gone after {last} rounds{tight}")
