"""Inexact knowledge: N ≥ n, m ≥ log n and τ are bounds or estimates, and statements cover all of them."""

import math
from collections.abc import Sequence

import numpy as np

from hegemon.analysis.scaling import LINEAR, LOG, N_LOG, Law
from hegemon.claims.checks import always, brief, follows, number_at_least, number_at_most, share_at_least
from hegemon.claims.drawing import means, over_n, shares
from hegemon.claims.laboratory import Definition, Laboratory, Sample, counted
from hegemon.claims.papers.trains_lemmas import nodes_of
from hegemon.claims.registry import Check, Claim, Outcome, Plot, Table
from hegemon.exact.verification import verify
from hegemon.experiments.holding.proved import log10_holding_of_timer
from hegemon.graphs.mixing import mixing_time
from hegemon.protocols.time_optimal import TimeOptimal
from hegemon.protocols.timer import Timer
from hegemon.protocols.trains.protocol import Trains
from hegemon.protocols.walks import Walks
from hegemon.runs.setting import topology_for

LOG_CUBED = Law("log³ n", lambda n: np.log2(n) ** 3)
LOOSE_LOG = 2000  # n log n after which a run of P_TO is stopped


def loose_m(
    lab: Laboratory, protocol: Definition = TimeOptimal, *, sizes: Sequence[int], factors: Sequence[float], trials: int,
    starts: Sequence[str],
) -> Outcome:  # fmt: skip
    """P_TO with m = 2 log n and more: the same law, with all times in proportion to m."""
    checks, curves, rows, everything = [], [], [], []
    for factor in factors:
        for start in starts:
            samples = []
            for n in sizes:
                m = factor * math.ceil(math.log2(n))
                limit = LOOSE_LOG * n * m
                samples.append(lab.times(protocol(n=n, m=m), trials, start=start, max_steps=limit).scaled(1 / n))
            everything += samples
            what = f"m = {factor} log n, {start}: parallel time"
            checks.append(follows(what, sizes, samples, LOG, LOG_CUBED))
            curves.append(means(f"m = {factor} log n, {start}", sizes, samples))
            ratios = [f"{one.mean / math.log2(n):.1f}" for n, one in zip(sizes, samples, strict=True)]
            rows.append([f"{factor}", start, *ratios])
    checks.append(always(f"one leader from {', '.join(starts)}", *counted(everything)))
    plot = Plot("P_TO that overestimates log n", "n", "parallel time", curves, logx=True)
    table = Table("Parallel time / log n", ["m / log n", "start", *(f"n = {n:,}" for n in sizes)], rows)
    last = everything[-1].mean / math.log2(sizes[-1])
    return Outcome(checks, f"{last:.0f}·log n parallel time with m = {factors[-1]} log n", [plot], [table])


def loose_timer(
    lab: Laboratory, protocol: Definition = Timer, *, ratio: int, sizes: Sequence[int], trials: int,
    exact: Sequence[int], proved: Sequence[int],
) -> Outcome:  # fmt: skip
    """Election by timeout with N = 4n: convergence follows N, and holding is that of the longer timers."""
    samples: dict[str, list[Sample]] = {}
    for start in ("no-leader", "random", "all-leaders"):
        samples[start] = []
        for n in sizes:
            case = protocol(n=n, N=ratio * n)
            limit = 40 * 96 * n * case.N
            samples[start].append(lab.times(case, trials, start=start, max_steps=limit).scaled(1 / n))
    checks = [always("one leader from every start", *counted(one for group in samples.values() for one in group))]
    what = f"no-leader: parallel time with N = {ratio}n"
    checks.append(follows(what, sizes, samples["no-leader"], LINEAR, N_LOG))
    for n in exact:
        held = []
        for N in (n, ratio * n):
            answer = verify(protocol(n=n, N=N, s=N), start="all", property="holding").holding
            assert answer is not None  # asked for
            held.append(answer.worst)
            lab.note(protocol=protocol.id, n=n, N=N, s=N, worst_expected_holding_steps=answer.worst)
        what = f"exact, n = {n}, s = N: holding with N = {ratio}n over holding with N = n, worst safe start"
        checks.append(number_at_least(what, held[1] / held[0], 1, "no shorter"))
    margin = min(log10_holding_of_timer(n, 96 * ratio * n) - ratio * n * math.log10(math.e) for n in proved)
    what = f"proved, s = 96N, N = {ratio}n, n = {', '.join(map(str, proved))}: powers of ten beyond e^N"
    checks.append(number_at_least(what, margin, 0))
    plot = over_n(
        f"Election by timeout with N = {ratio}n",
        "parallel time",
        [means(start, sizes, group) for start, group in samples.items()],
    )
    last = samples["no-leader"][-1].mean / (ratio * sizes[-1])
    return Outcome(checks, f"{last:.0f}·N parallel time with N = {ratio}n, as with N = n", [plot])


def long_trains(
    lab: Laboratory, protocol: Definition = Trains, *, graphs: Sequence[str], lengths: Sequence[int], trials: int
) -> Outcome:
    """Trains longer than 1 + log n: legitimate from every start, in O(2^3N log n) rounds."""
    law, rival = Law("8^N", lambda N: 8.0**N), Law("16^N", lambda N: 16.0**N)
    checks, curves, everything = [], [], []
    for graph in graphs:
        for start in ("no-leader", "random"):
            samples = []
            for N in lengths:
                case = protocol(n=nodes_of(graph), N=N)
                topology = topology_for(case, graph, lab.seed)
                options = {"graph": topology, "start": start, "max_steps": 4 * 2 ** (3 * N)}
                samples.append(lab.times(case, trials, **options))
            everything += samples
            checks.append(follows(f"{graph} from {start}: rounds as N grows", lengths, samples, law, rival))
            curves.append(means(f"{graph}, {start}", lengths, samples))
    checks.append(always("every run becomes legitimate", *counted(everything)))
    plot = Plot("Trains longer than needed", "N", "rounds", curves, logy=True)
    growth = (everything[-1].mean / everything[-len(lengths)].mean) ** (1 / (lengths[-1] - lengths[0]))
    return Outcome(checks, f"every run becomes legitimate; rounds grow by ×{growth:.1f} with each wagon", [plot])


def estimated_tau(
    lab: Laboratory, protocol: Definition = Walks, *, graphs: Sequence[str], factors: Sequence[float], trials: int
) -> Outcome:
    """Walks that are longer or shorter than the mixing time: success, rounds and messages."""
    checks: list[Check] = []
    rows, curves = [], []
    for graph in graphs:
        n = nodes_of(graph)
        plain = protocol(n=n)
        topology = topology_for(plain, graph, lab.seed)
        true = mixing_time(topology, topology.is_bipartite, "exact").high
        found = []
        for factor in factors:
            tau = max(1, math.ceil(factor * true))
            made = lab.trials(protocol(n=n, mixing_time=tau), trials, graph=topology)
            good = sum(row["leaders"] == 1 for row in made)
            messages = float(np.mean([row["messages"] for row in made]))
            rounds = max(row["rounds"] for row in made)
            what = f"{graph}, τ taken as {tau} for {true}: exactly one leader (too few runs for 1 − 1/n)"
            found.append(share_at_least(what, good, len(made), 0.9, "probability ≥ 0.9"))
            rows.append([graph, f"{true}", f"{tau}", f"{good} of {len(made)}", f"{rounds}", brief(messages)])
            if factor >= 1:
                bound = 28 * tau * math.sqrt(n) * math.log(n) ** 1.5
                checks.append(found[-1])
                checks.append(number_at_most(f"{graph}, τ taken as {tau}: rounds / τ", rounds / tau, 4, "O(τ)"))
                what = f"{graph}, τ taken as {tau}: mean messages / (τ √n ln^(3/2) n)"
                checks.append(number_at_most(what, 28 * messages / bound, 28, "at most 28, as its proof adds up"))
        curves.append(shares(graph, factors, found))
    plot = Plot("Walks of the wrong length", "length / τ", "share of runs with one leader", curves, logx=True)
    table = Table("What an estimate of τ costs", ["graph", "τ", "taken as", "one leader", "rounds", "messages"], rows)
    short = [row for row in rows if int(row[2]) < int(row[1])]
    worst = min((int(row[3].split()[0]) / trials for row in short), default=1.0)
    notes = (
        "Theorem 2 assumes that τ is known. Walks that are too long are still right and cost messages in proportion. "
        "Walks that are too short are outside the theorem, and no verdict is given: the table shows what happens."
    )
    headline = f"too long: right, and dearer; too short (down to ×{factors[0]:g}): one leader in {worst:.0%} of runs"
    return Outcome(checks, headline, [plot], [table], notes)


CLAIMS = (
    Claim(
        "survey.timer.slack",
        "section 4, N > n",
        "Election by timeout that overestimates n",
        "With N = 4n the convergence is O(N) parallel time, and a leader is held no shorter than with N = n.",
        loose_timer,
        quick={"ratio": 4, "sizes": (8, 16, 32), "trials": 6, "exact": (3,), "proved": (8, 16)},
        full={"ratio": 4, "sizes": (8, 16, 32, 64, 128), "trials": 40, "exact": (3, 4), "proved": (8, 16)},
    ),
    Claim(
        "to.thm17.slack",
        "Theorem 17, m > log n",
        "P_TO that overestimates log n",
        "With any m = Θ(log n), m ≥ log n, convergence takes O(τ n log n) expected steps.",
        loose_m,
        quick={"sizes": (32, 128, 512), "factors": (2,), "trials": 20, "starts": ("false-detection",)},
        full={"sizes": (32, 128, 512, 2048, 8192), "factors": (2, 4), "trials": 60,
              "starts": ("false-detection", "random", "all-leaders")},
    ),
    Claim(
        "trains.thm1.2.slack",
        "Theorem 1.2, N > 1 + log n",
        "Trains longer than 1 + log n",
        "For every N ≥ max(5, 1 + log n) every start leads to a legitimate configuration in O(2^3N log n) rounds.",
        long_trains,
        quick={"graphs": ("path:4",), "lengths": (5, 6, 7, 8), "trials": 16},
        full={"graphs": ("path:4", "ring:6", "star:8", "grid:3x4"), "lengths": (5, 6, 7, 8, 9, 10), "trials": 60},
    ),
    Claim(
        "sub.thm2.slack",
        "Theorem 2, estimated τ",
        "Walks of an estimated length",
        "Walks of any length of at least τ elect one leader with high probability; rounds and messages grow in "
        "proportion.",
        estimated_tau,
        quick={"graphs": ("regular:50,6", "torus:9x9"), "factors": (0.05, 0.25, 1, 4), "trials": 110},
        full={"graphs": ("regular:100,6", "torus:9x9", "hypercube:6", "ring:15"), "factors": (0.05, 0.25, 0.5, 1, 2, 4),
              "trials": 400},
    ),
)  # fmt: skip
