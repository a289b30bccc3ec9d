"""Elections with few messages: Algorithms 1 and 2, their variants, and the lower bound."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from hegemon.analysis.scaling import LINEAR, N_LOG, Law
from hegemon.claims.checks import always, brief, follows, number_at_most, share_at_least, share_at_most
from hegemon.claims.drawing import laws, means, over_n, shares
from hegemon.claims.laboratory import Cases, Definition, Laboratory
from hegemon.claims.papers.sublinear_lemmas import (
    equation5,
    equation5_repaired,
    lemma1,
    lemma1_repaired,
    message_size,
    mixing,
    several_rounds,
)
from hegemon.claims.papers.trains_lemmas import nodes_of
from hegemon.claims.registry import Check, Claim, Outcome, Plot, Series, Table
from hegemon.protocols.referees import Referees
from hegemon.protocols.walks import Walks
from hegemon.runs.setting import topology_for

SCALE = Law("√n ln^(3/2) n", lambda n: np.sqrt(n) * np.log(n) ** 1.5)
FASTER = Law("√n ln^(5/2) n", lambda n: np.sqrt(n) * np.log(n) ** 2.5)
LARGE = 1000  # from here on success cannot be decided to within 1/n by the runs that are made
MOST = 28  # 7 ln n candidates, 2√(n ln n) referees each, a question and an answer: the proof of Theorem 1
MOST_OF_WALKS = 28  # 7 ln n candidates, 2√(n ln n) tokens each, τ steps there and τ back: the proof of Theorem 2


def column(rows: list[dict[str, Any]], name: str) -> np.ndarray:
    return np.array([row[name] for row in rows], float)


def success_check(what: str, rows: list[dict[str, Any]], n: int) -> Check:
    good = sum(row["leaders"] == 1 for row in rows)
    return share_at_least(what, good, len(rows), 1 - 1 / n, f"probability ≥ 1 − 1/n = {1 - 1 / n:.5g}")


def election(
    lab: Laboratory, protocol: Definition, sizes: Sequence[int], trials: int, success: Cases, **given: Any
) -> tuple[dict[int, list[dict[str, Any]]], list[Check], int]:
    """Runs at all sizes; the checks of success, on the sizes small enough to decide it, and of messages."""
    wake = given.pop("wake", "all")
    rows = {n: lab.trials(protocol(n=n, **given), trials, wake=wake) for n in sizes}
    checks = []
    for n, number in success:
        checks.append(success_check(f"n = {n:,}: exactly one leader", lab.trials(protocol(n=n, **given), number,
                                                                                wake=wake), n))  # fmt: skip
    good = sum(row["leaders"] == 1 for n in sizes for row in rows[n])
    large = [row for n in sizes if n >= LARGE for row in rows[n]]
    elected = sum(row["leaders"] == 1 for row in large)
    what = f"n = {LARGE:,} … {max(sizes):,}: exactly one leader (too few runs for 1 − 1/n)"
    checks.append(share_at_least(what, elected, len(large), 0.9, "probability ≥ 0.9"))
    return rows, checks, good


def theorem1(
    lab: Laboratory, protocol: Definition = Referees, *, sizes: Sequence[int], trials: int, success: Cases
) -> Outcome:
    rows, checks, good = election(lab, protocol, sizes, trials, success)
    messages = [column(rows[n], "messages") for n in sizes]
    rounds = max(row["rounds"] for n in sizes for row in rows[n])
    checks.append(number_at_most("rounds, at every n", rounds, 3, "O(1): the same few at every n"))
    checks.append(follows("messages", sizes, messages, SCALE, FASTER))
    ratios = [values / SCALE.of(n) for n, values in zip(sizes, messages, strict=True)]
    largest = max(float(values.max()) for values in ratios)
    checks.append(number_at_most(f"most messages of any run / ({SCALE.name})", largest, MOST, f"at most {MOST} w.h.p."))
    told = [lab.trials(protocol(n=n, variant="explicit"), trials) for n in sizes]
    explicit = [column(rows, "messages") for rows in told]
    informed = [
        row["informed"] == n for n, group in zip(sizes, told, strict=True) for row in group if row["leaders"] == 1
    ]
    checks.append(
        always("explicit variant: every node is informed, where one is elected", sum(informed), len(informed))
    )
    slowest = max(row["rounds"] for group in told for row in group)
    checks.append(number_at_most("explicit variant: rounds, at every n", slowest, 4, "O(1): the same few at every n"))
    checks.append(follows("explicit variant: messages", sizes, explicit, LINEAR, N_LOG))
    plot = over_n(
        "Messages on complete graphs",
        "messages",
        [
            means("implicit", sizes, messages),
            means("explicit", sizes, explicit),
            *laws(sizes, messages, SCALE, FASTER),
            Series("n", list(sizes), list(sizes), kind="line"),
        ],
    )
    constant = float(np.mean(ratios[-1]))
    headline = (
        f"{good:,} of {len(sizes) * trials:,} runs elect one; {rounds} rounds; {constant:.1f}·√n ln^1.5 n messages, "
        f"{brief(float(messages[-1].mean()))} at n = {sizes[-1]:,.0f}"
    )
    return Outcome(checks, headline, [plot])


def corollary1(
    lab: Laboratory, protocol: Definition = Referees, *, sizes: Sequence[int], trials: int, success: Cases
) -> Outcome:
    checks, series, total = [], [], 0
    for wake in ("random", "one-by-one"):
        rows, found, good = election(lab, protocol, sizes, trials, success, variant="wakeup", wake=wake)
        total += good
        messages = [column(rows[n], "messages") for n in sizes]
        found.append(follows("messages", sizes, messages, SCALE, FASTER))
        checks += [type(c)(**{**vars(c), "what": f"woken {wake}, {c.what}"}) for c in found]
        ratios = [values / SCALE.of(n) for n, values in zip(sizes, messages, strict=True)]
        series.append(means(f"woken {wake}", sizes, ratios))
    plot = Plot("Messages when an adversary wakes the nodes", "n", "messages / (√n ln^(3/2) n)", series, logx=True)
    headline = f"{total:,} of {2 * len(sizes) * trials:,} runs elect exactly one leader, however the nodes are woken"
    return Outcome(checks, headline, [plot])


def theorem2(
    lab: Laboratory, protocol: Definition = Walks, *, graphs: Sequence[str], trials: int,
    families: dict[str, Sequence[str]], growth_trials: int, success: Cases,
) -> Outcome:  # fmt: skip
    checks, table = [], []
    for graph, number in success:
        case = protocol(n=nodes_of(graph))
        rows = lab.trials(case, number, graph=topology_for(case, graph, lab.seed), label="success")
        checks.append(success_check(f"{graph}: exactly one leader", rows, case.n))
    for graph in graphs:
        case = protocol(n=nodes_of(graph))
        rows = lab.trials(case, trials, graph=topology_for(case, graph, lab.seed))
        n, tau = case.n, rows[0]["mixing_time"]
        scaled = column(rows, "messages") / (tau * SCALE.of(n))
        rounds = max(row["rounds"] for row in rows)
        good = sum(row["leaders"] == 1 for row in rows)
        checks.append(number_at_most(f"{graph}: rounds / τ", rounds / tau, 4, "O(τ)"))
        what = f"{graph}: most messages of any run / (τ √n ln^(3/2) n)"
        checks.append(number_at_most(what, float(scaled.max()), MOST_OF_WALKS, "at most 28, as its proof adds up"))
        figures = [graph, f"{tau:,}", f"{good} of {len(rows)}", f"{rounds:,}", brief(column(rows, "messages").mean())]
        table.append([*figures, f"{scaled.mean():.2f}"])
    curves, largest, elected, tried = [], [], 0, 0
    for family, chosen in families.items():
        sizes, per_round = [nodes_of(graph) for graph in chosen], []
        for graph, n in zip(chosen, sizes, strict=True):
            case = protocol(n=n)
            rows = lab.trials(case, growth_trials, graph=topology_for(case, graph, lab.seed))
            per_round.append(column(rows, "messages") / rows[0]["mixing_time"])
            elected, tried = elected + sum(row["leaders"] == 1 for row in rows), tried + len(rows)
        checks.append(follows(f"{family}: messages / τ", sizes, per_round, SCALE, FASTER))
        curves.append(means(family, sizes, per_round))
        largest += sizes
    what = f"{', '.join(families)}: exactly one leader (too few runs for 1 − 1/n)"
    checks.append(share_at_least(what, elected, tried, 0.9, "probability ≥ 0.9"))
    ends = [min(largest), max(largest)]
    curves.append(Series("√n ln^(3/2) n (claimed)", ends, [float(SCALE.of(n)) for n in ends], kind="line"))
    curves.append(Series("√n ln^(5/2) n (rival)", ends, [float(FASTER.of(n)) for n in ends], kind="line"))
    plot = over_n("Walks on graphs of several families", "messages / τ", curves)
    columns = ["graph", "τ", "one leader", "rounds", "messages", "messages / (τ √n ln^(3/2) n)"]
    names = ", ".join(families)
    headline = f"one leader in 2τ rounds on {len(graphs)} kinds of graph; messages / τ within the bound on {names}"
    notes = (
        "Any connected graph is claimed; tested are the families above. Success with probability 1 − 1/n is decided "
        "on small graphs, where enough runs can be made; the growth of messages on families with short and with "
        "long mixing times. τ is the exact mixing time, which the nodes know."
    )
    return Outcome(checks, headline, [plot], [Table("Walks, graph by graph", columns, table)], notes)


FEW_MESSAGES = 0.4  # up to this power of n, success is judged


def theorem3(
    lab: Laboratory, protocol: Definition = Referees, *, n: int, exponents: Sequence[float], trials: int
) -> Outcome:
    checks: list[Check] = []
    success: dict[str, list[Check]] = {}
    disjoint: dict[str, list[float]] = {}
    for label, candidates in (("2 ln n candidates", None), ("1 candidate expected", 1)):
        success[label], disjoint[label] = [], []
        for exponent in exponents:
            judged = exponent <= FEW_MESSAGES  # the rest is only for the picture
            close = judged and candidates  # a single candidate comes close to the bound, many hardly ever succeed
            number = trials if close else trials // 12 if judged else trials // 30
            rows = lab.trials(protocol(n=n, messages=float(n) ** exponent, candidates=candidates), number)
            good = sum(row["leaders"] == 1 for row in rows)
            apart = sum(bool(row["disjoint_clouds"]) for row in rows)
            what = f"n = {n:,.0f}, n^{exponent:g} messages, {label}: exactly one leader"
            check = share_at_most(what, good, len(rows), 1 / math.e + 0.05, "probability ≤ 1/e + o(1)")
            success[label].append(check)
            disjoint[label].append(apart / len(rows))
            if judged:
                checks.append(check)
                what = f"n = {n:,.0f}, n^{exponent:g} messages, {label}: influence clouds are disjoint"
                checks.append(share_at_least(what, apart, len(rows), 0.9, "probability 1 − o(1) (here ≥ 0.9)"))
    series = [shares(label, exponents, curve) for label, curve in success.items()]
    best = series[0].y[-1]
    low = max(one.y[0] for one in series)
    series.append(Series("1/e", [exponents[0], exponents[-1]], [1 / math.e] * 2, kind="line"))
    clouds = [Series(label, list(exponents), points, kind="both") for label, points in disjoint.items()]
    plots = [
        Plot(f"Success with n^a messages, n = {n:,.0f}", "exponent a", "share of runs with one leader", series),
        Plot("Influence clouds that do not meet", "exponent a", "share of runs", clouds),
    ]
    headline = f"at most {low:.2f} at n^{exponents[0]:g} messages; {best:.2f} at n^{exponents[-1]:g}"
    notes = (
        "A lower bound is about all algorithms; what can be watched is one of them running out of messages. With a "
        "budget below √n the candidates' influence clouds do not meet, so no candidate learns of another, and one "
        "leader comes out with probability at most 1/e, which a single expected candidate attains."
    )
    return Outcome(checks, headline, plots, notes=notes)


EXPANDERS = ("random 6-regular graphs", tuple(f"regular:{n},6" for n in (50, 100, 200)), "log", "log²")
CUBES = ("hypercubes, lazy", tuple(f"hypercube:{d}" for d in (4, 5, 6, 7, 8)), "log loglog", "log²")

CLAIMS = (
    Claim(
        "sub.thm1",
        "Theorem 1",
        "Referees: O(√n log^(3/2) n) messages, O(1) rounds",
        "On complete graphs Algorithm 1 elects exactly one leader with probability at least 1 − 1/n, in O(1) rounds "
        "and with O(√n log^(3/2) n) messages; telling everyone takes O(n) more.",
        theorem1,
        quick={"sizes": (100, 1000, 10_000, 100_000, 1_000_000), "trials": 40, "success": ((50, 600), (100, 1200))},
        full={"sizes": tuple(10**k for k in range(2, 10)), "trials": 30,
              "success": ((50, 4000), (100, 8000), (1000, 20_000))},
    ),
    Claim(
        "sub.cor1",
        "Corollary 1",
        "Referees when an adversary wakes the nodes",
        "Nodes may be woken at any time: one leader is still elected with high probability with "
        "O(√n log^(3/2) n) messages, if a referee answers only in the first round in which it is asked.",
        corollary1,
        quick={"sizes": (100, 1000, 10_000), "trials": 120, "success": ((50, 600),)},
        full={"sizes": (100, 1000, 10_000, 100_000), "trials": 100, "success": ((50, 4000), (200, 8000))},
    ),
    Claim(
        "sub.thm2",
        "Theorem 2",
        "Random walks on any connected graph",
        "On a graph with mixing time τ, Algorithm 2 elects one leader with high probability in O(τ) rounds with "
        "O(τ √n log^(3/2) n) messages (bipartite graphs walk lazily).",
        theorem2,
        quick={"graphs": ("complete:200", "hypercube:7", "torus:9x9", "regular:200,4", "lollipop:20,10"),
               "trials": 20, "growth_trials": 20, "success": (("regular:50,6", 800), ("torus:5x5", 600)),
               "families": {"random 6-regular graphs": ("regular:100,6", "regular:300,6", "regular:1000,6"),
                            "tori": ("torus:7x7", "torus:11x11", "torus:17x17"),
                            "hypercubes": ("hypercube:5", "hypercube:7", "hypercube:9")}},
        full={"graphs": ("complete:1000", "hypercube:10", "torus:17x17", "regular:1000,4", "gnp:500,0.03",
                         "lollipop:30,15", "ring:101"),
              "trials": 60, "growth_trials": 60,
              "success": (("regular:100,6", 8000), ("torus:7x7", 3000), ("hypercube:6", 3000), ("ring:15", 2000)),
              "families": {"random 6-regular graphs": tuple(f"regular:{n},6" for n in (100, 300, 1000, 3000)),
                           "tori": tuple(f"torus:{k}x{k}" for k in (7, 11, 17, 25)),
                           "hypercubes": tuple(f"hypercube:{d}" for d in (5, 7, 9, 11)),
                           "rings": ("ring:15", "ring:31", "ring:63")}},
    ),
    Claim(
        "sub.thm3",
        "Theorem 3",
        "Below √n messages election fails",
        "An algorithm that elects a leader in O(1) rounds with high probability on complete graphs sends Ω(√n) "
        "messages: with fewer, influence clouds stay disjoint and success is at most 1/e + o(1).",
        theorem3,
        quick={"n": 1_000_000, "exponents": (0.2, 0.35, 0.5, 0.6, 0.8, 0.9), "trials": 3000},
        full={"n": 10_000_000, "trials": 6000,
              "exponents": (0.2, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.9)},
    ),
    Claim(
        "sub.thm3.rounds",
        "Theorem 3, any number of rounds",
        "Below n^(1/3) messages election fails, however many rounds it takes",
        "An algorithm that elects a leader with high probability on complete graphs sends Ω(n^(1/3)) messages: with "
        "fewer, success is at most 1/e + o(1).",
        several_rounds,
        quick={"n": 20_000, "exponents": (0.3,), "trials": 3000},
        full={"n": 1_000_000, "exponents": (0.15, 0.2, 0.25, 0.3, 0.33), "trials": 6000},
    ),
    Claim(
        "sub.lemma1",
        "Lemma 1",
        "The uniform distribution collides least",
        "Of two candidates that place ρ balls each into n bins, the probability that no bin holds balls of both is "
        "largest for the uniform distribution.",
        lemma1,
        quick={"cases": ((3, 4, 5), (3, 5, 5), (3, 10, 12), (4, 14, 12), (4, 15, 12))},
        full={"cases": ((3, 4, 24), (3, 5, 24), (3, 10, 24), (4, 14, 24), (4, 15, 24), (5, 15, 12), (5, 30, 12))},
    ),
    Claim(
        "sub.lemma1.repaired",
        "Lemma 1, repaired",
        "A bound on missing each other for every distribution",
        "For every distribution that probability is at most (2e^(−ρ/n) − e^(−2ρ/n))^n ≤ exp(−ρ²/(n + ρ)), which is "
        "what Theorem 2 needs.",
        lemma1_repaired,
        quick={"cases": ((2, (1, 2, 3, 5, 8, 13), 6), (3, (1, 2, 3, 5, 8, 13), 6), (4, (1, 2, 5, 10), 6)),
               "own": ((3, 9), (4, 8), (5, 7))},
        full={"cases": tuple((n, (1, 2, 3, 5, 8, 13, 21, 34), 8) for n in (2, 3, 4, 5)),
              "own": ((3, 24), (4, 16), (5, 12), (6, 12), (8, 10))},
    ),
    Claim(
        "sub.eq5",
        "equation (5)",
        "c clouds elect one leader with probability at most 1/e",
        "The success probability c p (1 − p)^(c−1) is at most 1/e for any number c of clouds and any p.",
        equation5,
        quick={"largest": 1000},
        full={"largest": 100_000},
    ),
    Claim(
        "sub.eq5.repaired",
        "equation (5), repaired",
        "… at most 1/e + O(1/c)",
        "The success probability is at most (1 + 1/(c − 1))/e, and there are c ≥ n − f(n) clouds.",
        equation5_repaired,
        quick={"largest": 1000},
        full={"largest": 100_000},
    ),
    Claim(
        "sub.tau",
        "section 3, after equation (1)",
        "The mixing time of a complete graph is 1",
        "By equation (1) τ is 1 on complete graphs.",
        mixing,
        quick={"complete": (3, 10, 100), "families": ()},
        full={"complete": (3, 10, 100, 1000), "families": ()},
    ),
    Claim(
        "sub.tau.growth",
        "section 1.1",
        "Mixing times of expanders and hypercubes",
        "τ is O(log n) on expanders and O(log n log log n) on hypercubes.",
        mixing,
        quick={"complete": (), "families": (EXPANDERS, CUBES)},
        full={"complete": (), "families": (
            (EXPANDERS[0], tuple(f"regular:{n},6" for n in (50, 100, 200, 400, 800, 1600)), "log", "log²"),
            (CUBES[0], tuple(f"hypercube:{d}" for d in range(4, 12)), "log loglog", "log²"))},
    ),
    Claim(
        "sub.message-size",
        "section 1.1 (CONGEST)",
        "Messages of O(log n) bits",
        "Both algorithms send messages of O(log n) bits.",
        message_size,
        quick={"sizes": (10, 1000, 10**6, 10**9), "most": 8},
        full={"sizes": tuple(10**k for k in range(1, 13)), "most": 8},
    ),
)  # fmt: skip
