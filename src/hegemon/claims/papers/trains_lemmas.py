"""The lemmas on informative trains, each played round by round in plain Python, or run to its bound."""

import copy
import math

from hegemon.claims.checks import always, number_at_most
from hegemon.claims.registry import Outcome, Plot, Series
from hegemon.compute.randomness import generator
from hegemon.protocols.trains.legitimate import breadth_first, is_legitimate, station
from hegemon.protocols.trains.protocol import Trains, overflows
from hegemon.protocols.trains.values import extreme_value, marked_wagons
from hegemon.runs.setting import topology_for


class Bench:
    """One protocol on one graph, played round by round in plain Python."""

    def __init__(self, lab, protocol, graph: str, **parameters):
        self.topology = topology_for(protocol(n=nodes_of(graph)), graph, lab.seed)
        self.protocol = protocol(n=self.topology.n, **parameters)
        self.rows = self.topology.offsets, self.topology.targets
        self.rng = generator(lab.seed_for(protocol.id, graph, parameters))

    def start(self, name: str) -> list:
        made = self.protocol.initial(name, self.rng, topology=self.topology)
        return self.protocol.namespaces(made.agents)

    def random(self) -> list:
        codes = self.rng.integers(self.protocol.space.size, size=self.topology.n)
        return [self.protocol.space.namespace(code) for code in codes]

    def round(self, nodes: list, head: float = 0.25) -> list:
        """All nodes move; `head` is how often a node draws X = 1 (coins 0), whatever its fair probability is."""
        after = []
        for v, me in enumerate(nodes):
            state = copy.copy(me)
            coins = 0 if self.rng.random() < head else 1 + int(self.rng.integers(3))
            self.protocol.update(state, [nodes[u] for u in self.topology.neighbours(v)], coins, self.protocol.p)
            after.append(self.protocol.space.namespace(self.protocol.space.code(state)))
        return after

    def overflows(self, nodes, v: int) -> bool:
        near = [nodes[u] for u in self.topology.neighbours(v)]
        return bool(overflows(nodes[v], near, self.protocol.p))

    def is_legitimate(self, nodes) -> bool:
        return bool(is_legitimate(nodes, *self.rows, self.protocol.p))


def nodes_of(graph: str) -> int:
    family, _, text = graph.partition(":")
    parts = [int(part) for part in text.replace("x", ",").split(",")]
    if family in ("grid", "torus"):
        return math.prod(parts)
    return sum(parts) if family == "lollipop" else 2 ** parts[0] if family == "hypercube" else parts[0]


def leaders(nodes) -> list[int]:
    return [v for v, a in enumerate(nodes) if a.leader == 1]


def without_marks(nodes, space) -> list:
    """The same with every flag and every rand at 0: no leader will emit a marked wagon by itself."""
    for a in nodes:
        a.rand = a.F_flag = a.L_flag = 0
    return [space.namespace(space.code(a)) for a in nodes]


def closed(lab, protocol=Trains, *, graphs, trials, rounds) -> Outcome:
    """Lemma 4.2. Marked trains are rare by chance, so X = 1 is drawn often: closure is about all coins."""
    checks = []
    for graph in graphs:
        bench, good, kept, marked = Bench(lab, protocol, graph), 0, 0, 0
        for _ in range(trials):
            nodes = bench.start("safe")
            leader = leaders(nodes)
            for _ in range(rounds):
                nodes = bench.round(nodes, head=0.9)
                good += bench.is_legitimate(nodes)
                kept += leaders(nodes) == leader
                marked += marked_wagons(nodes, *bench.rows, bench.protocol.p) > 0
        made = trials * rounds
        lab.note(protocol=protocol.id, graph=graph, rounds=made, legitimate=good, same_leader=kept, with_marks=marked)
        checks.append(always(f"{graph}: still in Γ_L after a round", good, made, "closed"))
        checks.append(always(f"{graph}: the same leader after a round", kept, made, "the same leader"))
    total = len(graphs) * trials * rounds
    return Outcome(checks, f"{total:,} rounds on {len(graphs)} graphs, none left Γ_L or changed the leader")


def growth(lab, protocol=Trains, *, graphs, trials) -> Outcome:
    """Lemma 4.3: the structure of a legitimate configuration grows around a marked train, a layer per round."""
    as_stated = unhindered = hindered = 0
    for graph in graphs:
        bench = Bench(lab, protocol, graph)
        outcomes = [grows(bench, planted=trial % 4 == 0) for trial in range(trials)]
        counts = {name: outcomes.count(name) for name in ("as stated", "hindered", "failed")}
        lab.note(protocol=protocol.id, graph=graph, starts=trials, **counts)
        as_stated += counts["as stated"]
        hindered += counts["hindered"]
        unhindered += trials - counts["hindered"]
    made = trials * len(graphs)
    checks = [
        always("clauses (i) to (v) for every k, and Γ_L after 2ε + 1 rounds", as_stated, made, "from every start"),
        always("the same, where no train overflows at a node just as the marked head arrives", as_stated, unhindered,
               "from every start"),
    ]  # fmt: skip
    notes = (
        "The proof takes for granted that a node next to the marked head is not in error. An unmarked train of an "
        "arbitrary start may reach 2^N at a node in that very round (Err-Overflow^F: its first wagon has index N − 2 "
        "and a carry, its last wagon the bit 1). The node then becomes a leader instead of joining, and the structure "
        "does not close around it; another marked train has to come. With that case set aside the lemma holds."
    )
    headline = f"as stated from {as_stated:,} of {made:,} starts; an overflow hindered {hindered:,}"
    return Outcome(checks, headline, notes=notes if hindered else "")


def plant_overflow(bench, nodes, chosen: int) -> None:
    """Beside the chosen leader, a train that reaches 2^N just as the marked head arrives: the worst start known."""
    N = bench.protocol.N
    near = [u for u in bench.topology.neighbours(chosen) if len(bench.topology.neighbours(u)) > 1]
    if not near:
        return
    beside = near[int(bench.rng.integers(len(near)))]
    behind = next(w for w in bench.topology.neighbours(beside) if w != chosen)
    a, b = nodes[beside], nodes[behind]
    a.leader, a.F, a.L, b.F = 0, 1, 1, 1
    a.F_idx, a.F_bit, a.F_carry = N - 4, 0, 1
    a.L_idx, a.L_bit, a.L_carry = N - 3, 1, 0
    b.F_idx, b.F_bit, b.F_carry = N - 2, 1, 0


def grows(bench, planted: bool) -> str:
    """One arbitrary start without marks in which a leader begins a marked train: what becomes of it."""
    N, space = bench.protocol.N, bench.protocol.space
    nodes = without_marks(bench.random(), space)
    chosen = int(bench.rng.integers(len(nodes)))
    if planted:
        plant_overflow(bench, nodes, chosen)
    emitter = nodes[chosen]
    emitter.leader = emitter.rand = emitter.L = 1
    emitter.L_idx, emitter.L_bit, emitter.L_carry, emitter.L_flag = N - 1, 0, 0, 0
    before = [space.namespace(space.code(a)) for a in nodes]
    nodes = bench.round(before, head=0)
    _, distance = breadth_first(chosen, *bench.rows)
    last = 2 * int(max(distance)) + 1
    for k in range(last + 1):
        if not grown(nodes, chosen, distance, k, N):
            reached = [v for v in range(len(nodes)) if distance[v] == k // 2]
            return "hindered" if any(bench.overflows(before, v) for v in reached) else "failed"
        if k < last:
            before, nodes = nodes, bench.round(nodes, head=0)
    return "as stated" if bench.is_legitimate(nodes) else "failed"


def grown(nodes, chosen, distance, k: int, N: int) -> bool:
    """Clauses (i) to (v) of Lemma 4.3, k rounds after the marked train began."""
    layers = [[station(nodes[v], i) for v in range(len(nodes)) if distance[v] == i // 2]
              for i in range(2 * int(max(distance)) + 2)]  # fmt: skip
    if any(nodes[v].leader for v in range(len(nodes)) if v != chosen and 2 * distance[v] <= k):
        return False
    value = 0
    for i in range(k + 1):
        idx, bit, carry, flag = layers[i][0]
        if len(set(layers[i])) != 1 or (idx + i) % N != layers[0][0][0]:
            return False
        alone = i == 0 or idx == N - 1
        if not alone and flag != layers[i - 1][0][3]:
            return False
        value = bit + 2 * carry + (0 if alone else 2 * value)
        if value != i >> idx:
            return False
    beyond = all(idx < 0 or flag == 0 for layer in layers[k + 1 :] for idx, _, _, flag in layer)
    return beyond and (layers[k][0][0], layers[k][0][3]) == (0, 1)


def values_grow(lab, protocol=Trains, *, graphs, trials, rounds) -> Outcome:
    """Lemma 4.5: while no leader contains wagons of a flag, the smallest value of its trains grows."""
    checks, curve = [], []
    for graph in graphs:
        bench, good, made = Bench(lab, protocol, graph), 0, 0
        for trial in range(trials):
            nodes = bench.start("no-leader") if trial % 2 == 0 else bench.random()
            for _ in range(rounds):
                before = [smallest(bench, nodes, flag) for flag in (0, 1)]
                nodes = bench.round(nodes)
                if trial == 0 and graph == graphs[0]:
                    curve.append(smallest(bench, nodes, 0))
                for flag in (0, 1):
                    after = smallest(bench, nodes, flag)
                    if emits(nodes, flag) or after == math.inf:
                        continue
                    made += 1
                    good += after >= before[flag] + 1
        lab.note(protocol=protocol.id, graph=graph, rounds_with_trains=made, grew=good)
        if made:
            checks.append(always(f"{graph}: smallest value after a round", good, made, "at least one more"))
    finite = [value for value in curve if value < math.inf]
    plot = Plot(
        f"Trains that nobody emits count up ({graphs[0]})",
        "round",
        "smallest Value of a train",
        [Series("measured", list(range(1, len(finite) + 1)), finite, kind="both")],
    )
    total = sum(1 for check in checks)
    return Outcome(checks, f"the smallest value grew in every round with trains, on {total} graphs", [plot])


def smallest(bench, nodes, flag: int) -> float:
    offsets, targets = bench.rows
    value = extreme_value(nodes, offsets, targets, flag, 1, bench.protocol.p)
    return math.inf if value < 0 else int(value)


def emits(nodes, flag: int) -> bool:
    """Whether some leader contains a wagon with this flag."""
    return any(a.leader and any(w[0] >= 0 and w[3] == flag for w in (station(a, 0), station(a, 1))) for a in nodes)


A_LEADER = "count(leader == 1) >= 1"


def leader_comes(lab, protocol=Trains, *, cases, trials) -> Outcome:
    """Lemma 4.6: without a leader one appears within 2^N + N rounds."""
    checks, xs, ys = [], [], []
    for graph, N in cases:
        case = protocol(n=nodes_of(graph), N=N)
        options = {"graph": topology_for(case, graph, lab.seed), "start": "no-leader", "until": A_LEADER}
        rows = lab.trials(case, trials, max_steps=2**N + N + 1, **options)
        longest = max(row["rounds"] if row["reached"] else math.inf for row in rows)
        checks.append(number_at_most(f"{graph}, N = {N}: rounds to a leader, longest of {trials}", longest,
                                     2**N + N - 1, f"< 2^N + N = {2**N + N}"))  # fmt: skip
        xs.append(N)
        ys.append(min(longest, 2**N + N + 1))
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


def marks_vanish(lab, protocol=Trains, *, graphs, trials) -> Outcome:
    """Lemma 4.7: if leaders emit no marked wagon, there is none after 2^N + 2N - 2 rounds."""
    checks, longest = [], 0
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
                if marked_wagons(nodes, *bench.rows, bench.protocol.p):
                    longest = max(longest, k + 2)
            gone += marked_wagons(nodes, *bench.rows, bench.protocol.p) == 0
        lab.note(protocol=protocol.id, graph=graph, N=N, trials=trials, vanished=gone)
        checks.append(always(f"{graph}: no marked wagon after 2^N + 2N − 2 rounds", gone, trials, "none left"))
    return Outcome(checks, f"none left in {trials * len(graphs):,} runs; the last one was gone after {longest} rounds")
