"""Informative trains: the lemmas of section 4 round by round on small graphs, and Theorem 1.2 at scale."""

import copy
import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from hegemon.analysis.scaling import Law
from hegemon.claims.checks import always, brief, follows
from hegemon.claims.drawing import laws, means, over_n
from hegemon.claims.laboratory import Cases, Definition, Laboratory, Sample, counted
from hegemon.claims.papers.trains_counting import leader_comes, marks_vanish, values_grow
from hegemon.claims.papers.trains_favourable import favourable
from hegemon.claims.papers.trains_late import last_wagons, late, marks, no_local_errors, states
from hegemon.claims.papers.trains_lemmas import Bench, closed, growth, nodes_of
from hegemon.claims.registry import Check, Claim, Outcome, Table
from hegemon.claims.settling import settles
from hegemon.protocols.trains.protocol import Trains
from hegemon.runs.setting import topology_for

GRAPHS = ("path:7", "ring:8", "star:7", "grid:3x3", "regular:8,3", "lollipop:5,3")
LARGEST = "path:16"  # as many nodes as N = 5 allows: the values of its trains need all five bits
CUBE_LOG = Law("n³ log n", lambda n: n**3 * np.log2(n))
FOURTH = Law("n⁴", lambda n: n**4)


SLOW_STARTS = ("no-leader", "corrupted", "random")  # the slowest first


def theorem(
    lab: Laboratory, protocol: Definition = Trains, *, graphs: Sequence[str], trials: int, sizes: Sequence[int],
    growth_trials: int, updates: int, alike: Cases,
) -> Outcome:  # fmt: skip
    """Theorem 1.2: from any start to one leader, in poly(n) rounds, with few states and two random bits."""
    checks, table, everything = [], [], []
    for graph in graphs:
        case = protocol(n=nodes_of(graph))
        topology = topology_for(case, graph, lab.seed)
        for start in ("random", "all-leaders", "no-leader", "corrupted"):
            everything.append(lab.times(case, trials, graph=topology, start=start, max_steps=limit(case)))
            table.append([graph, start, f"{len(everything[-1].values)}", brief(everything[-1].mean)])
    rings: dict[str, list[Sample]] = {start: [] for start in SLOW_STARTS}
    for start, n in itertools.product(SLOW_STARTS, sizes):
        case = protocol(n=n)
        topology = topology_for(case, f"ring:{n}", lab.seed)
        rings[start].append(lab.times(case, growth_trials, graph=topology, start=start, max_steps=limit(case)))
    everything += [sample for group in rings.values() for sample in group]
    good, made = counted(everything)
    checks.append(always("every run ends in a legitimate configuration", good, made))
    for start, samples in rings.items():
        checks.append(follows(f"rings from {start}: rounds, N = 1 + log n", sizes, samples, CUBE_LOG, FOURTH))
    checks.append(two_bits(lab, protocol, graphs[0], updates))
    for graph, most in alike:
        case = protocol(n=nodes_of(graph))
        checks += settles(lab, case, limit=limit(case), watch=1000, most=most, graph=graph, random=most // 4)
    plot = over_n(
        "Rings, N = 1 + log n",
        "rounds",
        [means(start, sizes, samples) for start, samples in rings.items()]
        + laws(sizes, rings[SLOW_STARTS[0]], CUBE_LOG, FOURTH),
    )
    notes = (
        "Not tested: the memory, which is that of the definition. The variables as listed have Θ(N²) values, since "
        "either wagon has its own index; those in which the two wagons follow one another, the only ones in which a "
        "node is not in error, are Θ(N). Both are Θ(log N) bits, and the table counts them. The growth of the time "
        "is tested on rings; on the other graphs only that every run ends."
    )
    headline = (
        f"{good:,} of {made:,} runs become legitimate; {brief(rings[SLOW_STARTS[0]][-1].mean)} rounds "
        f"on a ring of {sizes[-1]:,} without a leader"
    )
    tables = [Table("From any start", ["graph", "start", "runs", "mean rounds"], table), memory_table(protocol)]
    return Outcome(checks, headline, [plot], tables, notes)


def limit(case: Any) -> int:
    """Rounds after which a run is stopped: 2^3N is the law of Lemma 4.9, and many times the measured values."""
    return 4 * 2 ** (3 * case.N)


def two_bits(lab: Laboratory, protocol: Definition, graph: str, updates: int) -> Check:
    """An update with the same neighbourhood and the same two bits returns the same state: it draws nothing else."""
    bench, same = Bench(lab, protocol, graph), 0
    for _ in range(updates):
        nodes = bench.random()
        v = int(bench.rng.integers(len(nodes)))
        near = [nodes[u] for u in bench.topology.neighbours(v)]
        for coins in range(4):
            found = []
            for _ in range(2):
                state = copy.copy(nodes[v])
                bench.protocol.update(state, [copy.copy(a) for a in near], coins, bench.protocol.p)
                found.append(bench.protocol.space.code(state))
            same += found[0] == found[1]
    lab.note(protocol=protocol.id, graph=graph, updates=4 * updates, same=same)
    what = "the same neighbourhood and the same two random bits give the same next state"
    return always(what, same, 4 * updates, "two random bits per node and round")


def memory_table(protocol: Definition) -> Table:
    rows = []
    for k in (4, 8, 12, 16):
        case = protocol(n=2**k)
        bits = math.log2(case.states) / math.log2(case.N)
        consecutive = consecutive_states(case) / case.N
        rows.append([f"2^{k}", f"{case.N}", f"{case.states:,}", f"{bits:.2f}", f"{consecutive:.1f}"])
    columns = ["n", "N", "states", "bits / log N", "states with consecutive wagons / N"]
    return Table("Memory, read off the definition and not measured", columns, rows)


def consecutive_states(protocol: Any) -> int:
    """The number of states with both wagons, the last one directly behind the first."""
    states = protocol.space.decode_array(np.arange(protocol.states))
    both = (states["F"] == 1) & (states["L"] == 1)
    return int((both & (states["L_idx"] == (states["F_idx"] + 1) % protocol.N)).sum())


CLAIMS = (
    Claim(
        "trains.local-errors",
        "section 3.3",
        "Local errors vanish in the first round and are never made",
        "Local errors are gone after the first round, and no round makes one.",
        no_local_errors(repaired=False),
        quick={"cases": (("path:2", 5),), "coins": (1,)},
        full={"cases": (("path:2", 5), ("path:2", 8))},
    ),
    Claim(
        "trains.local-errors.repaired",
        "section 3.3, repaired",
        "Local errors vanish in the first two rounds and are never made",
        "Local errors are gone after the second round, and no later round makes one.",
        no_local_errors(repaired=True),
        quick={"cases": (("path:2", 5),), "coins": (1,)},
        full={"cases": (("path:2", 5), ("path:2", 8), ("path:3", 5))},
    ),
    Claim(
        "trains.last-carry",
        "section 3.2.1",
        "The last wagon of a train never has a carry",
        "No round makes a wagon of index N − 1 with a carry.",
        last_wagons(repaired=False),
        quick={"cases": (("path:2", 5),), "coins": (1,)},
        full={"cases": (("path:2", 5), ("path:2", 8))},
    ),
    Claim(
        "trains.last-carry.repaired",
        "section 3.2.1, repaired",
        "The last wagon of a train has no carry from time 2 on",
        "No round after the first leaves a wagon of index N − 1 with a carry.",
        last_wagons(repaired=True),
        quick={"cases": (("path:2", 5),), "coins": (1,)},
        full={"cases": (("path:2", 5), ("path:2", 8), ("path:3", 5))},
    ),
    Claim(
        "trains.lemma4.2",
        "Lemma 4.2",
        "Legitimate configurations are closed",
        "From a legitimate configuration every round leads to a legitimate one with the same leader.",
        closed,
        quick={"tiny": (("path:2", 5), ("path:3", 5), ("complete:3", 6), ("ring:4", 5)), "graphs": (*GRAPHS, LARGEST),
               "trials": 2, "rounds": 40},
        full={"tiny": tuple((graph, N) for graph in ("path:2", "path:3", "complete:3", "path:4", "ring:4", "ring:5")
                            for N in (5, 6, 7)), "graphs": (*GRAPHS, LARGEST), "trials": 40, "rounds": 200},
    ),
    Claim(
        "trains.lemma4.3",
        "Lemma 4.3",
        "A marked train spreads order around its leader",
        "If no wagon is marked, one leader begins a marked train and no other does, then k rounds later the first k "
        "layers around it are as in a legitimate configuration; after 2ε + 1 rounds all is legitimate.",
        growth(repaired=False),
        quick={"lengths": (5,), "graphs": GRAPHS, "trials": 20},
        full={"lengths": (5, 6, 7, 8), "graphs": GRAPHS, "trials": 1000},
    ),
    Claim(
        "trains.lemma4.3.repaired",
        "Lemma 4.3, repaired",
        "A marked train spreads order, unless a train overflows beside its head",
        "If, besides, no non-leader w has Err-Overflow^F at time t + 2·d(w, v*) − 1, then Lemma 4.3 holds as it is "
        "stated.",
        growth(repaired=True),
        quick={"lengths": (5,), "graphs": GRAPHS, "trials": 20, "three": 20_000},
        full={"lengths": (5, 6, 7, 8), "graphs": GRAPHS, "trials": 1000, "three": 200_000},
    ),
    Claim(
        "trains.lemma4.3.late",
        "Lemma 4.3, as Lemma 4.9 uses it",
        "After 2^(N+2) + N rounds without marks a marked train spreads order",
        "If, besides, no leader has emitted a marked wagon for 2^(N+2) + N rounds, then Lemma 4.3 holds.",
        late,
        quick={"tiny": (("path:2", 5), ("complete:3", 6)), "graphs": ("path:7", "ring:8", "lollipop:5,3"), "trials": 3,
               "lengths": (5,)},
        full={"tiny": tuple((graph, N) for graph in ("path:2", "path:3", "complete:3") for N in (5, 6, 7)),
              "graphs": GRAPHS, "trials": 200, "lengths": (5, 6, 7)},
    ),
    Claim(
        "trains.lemma4.5",
        "Lemma 4.5",
        "The values of trains grow",
        "While no leader contains wagons with a flag, the smallest value of the trains with that flag grows by at "
        "least one per round.",
        values_grow(repaired=False),
        quick={"graphs": ("ring:10", *GRAPHS), "trials": 3, "rounds": 12},
        full={"graphs": ("ring:10", *GRAPHS), "trials": 60, "rounds": 40},
    ),
    Claim(
        "trains.lemma4.5.repaired",
        "Lemma 4.5, repaired",
        "The values of trains grow from time 2 on",
        "While no leader contains wagons with a flag, the smallest value of the trains with that flag grows by at "
        "least one in every round after the second, and it is at least 2 then.",
        values_grow(repaired=True),
        quick={"lengths": (5,), "graphs": ("ring:10", "path:7", "lollipop:5,3"), "trials": 3,
               "rounds": 20},
        full={"lengths": (5, 6), "graphs": ("ring:10", *GRAPHS), "trials": 60, "rounds": 40},
    ),
    Claim(
        "trains.lemma4.6",
        "Lemma 4.6",
        "A leader appears within 2^N + N rounds",
        "From every configuration there is a leader after fewer than 2^N + N rounds.",
        leader_comes,
        quick={"lengths": (6,), "cases": (("ring:10", 5), ("ring:14", 7), ("torus:3x6", 6)), "trials": 10},
        full={"lengths": (5, 6, 7, 8),
              "cases": tuple((f"ring:{2 * N}", N) for N in range(5, 17)) + (("torus:3x6", 6), ("grid:6x6", 7)),
              "trials": 60},
    ),
    Claim(
        "trains.lemma4.7",
        "Lemma 4.7",
        "Marked wagons vanish",
        "If leaders emit no marked wagon for 2^N + 2N − 2 rounds, then there is none.",
        marks_vanish,
        quick={"lengths": (6,), "graphs": ("ring:10", *GRAPHS), "trials": 4},
        full={"lengths": (5, 6, 7, 8), "graphs": ("ring:10", *GRAPHS), "trials": 100},
    ),
    Claim(
        "trains.lemma4.8",
        "Lemma 4.8",
        "The favourable event has probability at least e^−16 · 4^−N",
        "With probability at least e^−16 · 4^−N nobody marks a train for 2^(N+2) + N rounds, then a single leader does "
        "within 2^N + 2N rounds, and no other until 2D rounds later.",
        favourable,
        quick={"cases": (("path:2", 5), ("ring:6", 5), ("star:6", 6)),
               "starts": ("random", "all-leaders", "no-leader")},
        full={"cases": (*((graph, N) for graph in ("path:2", "ring:6", "star:6", "grid:3x3") for N in (5, 6, 7)),
                        ("lollipop:5,3", 5), ("complete:12", 5), ("ring:16", 5)),
              "starts": ("random",) * 6 + ("all-leaders", "no-leader", "safe", "corrupted")},
    ),
    Claim(
        "trains.marks",
        "section 3.4",
        "Every train is marked with probability 4^−N",
        "Every N rounds a leader begins a train and marks it with probability 4^−N.",
        marks(repaired=False),
        quick={"lengths": (5, 8)},
        full={"lengths": tuple(range(5, 21))},
    ),
    Claim(
        "trains.marks.repaired",
        "section 3.4, repaired",
        "… and the first train of a new leader with 4^−(N−1)",
        "A leader marks its first train with probability 4^−(N−1), all others with 4^−N.",
        marks(repaired=True),
        quick={"lengths": (5, 8)},
        full={"lengths": tuple(range(5, 21))},
    ),
    Claim(
        "trains.states",
        "section 1.2, after Theorem 1.2",
        "Θ(N) states",
        "A node has Θ(N) states.",
        states(repaired=False),
        quick={"lengths": (5, 10, 20)},
        full={"lengths": (5, 10, 20, 40)},
    ),
    Claim(
        "trains.states.repaired",
        "section 1.2, repaired",
        "4(8N + 1)² states, Θ(N) without a local error",
        "The listed variables have 4(8N + 1)² values, Θ(log N) bits; those without a local error, all that occur "
        "after the first round, are Θ(N).",
        states(repaired=True),
        quick={"lengths": (5, 10, 20)},
        full={"lengths": (5, 10, 20, 40)},
    ),
    Claim(
        "trains.thm1.2",
        "Theorem 1.2",
        "Self-stabilizing election on any graph with O(log log n) bits",
        "Knowing N ≥ max(5, 1 + log n), all connected graphs reach a legitimate configuration from every start in "
        "poly(n) rounds (n³ log n for N = log n + O(1)), with Θ(log N) bits and two random bits per node and round.",
        theorem,
        quick={"graphs": ("path:16", "star:16", "grid:4x4", "regular:16,4"), "trials": 6, "sizes": (8, 16, 32, 64),
               "growth_trials": 16, "updates": 300, "alike": (("ring:6", 40),)},
        full={"graphs": ("path:64", "star:64", "grid:8x8", "regular:64,4", "hypercube:6", "lollipop:20,20"),
              "trials": 30, "sizes": (8, 16, 32, 64, 128, 256, 512, 1024), "growth_trials": 60, "updates": 5000,
              "alike": (("ring:6", 1000), ("path:7", 200), ("star:6", 200))},
    ),
)  # fmt: skip
