"""P_RL, section 4.3: how fast leaders fall once C_NI is reached (Lemma 12, and Claim 3 in the proof of Lemma 13)."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from hegemon.analysis.scaling import CUBE, LINEAR, SQUARE, Law
from hegemon.claims.checks import always, follows, mean_at_most, number_at_most
from hegemon.claims.drawing import laws, means
from hegemon.claims.laboratory import Cases, Definition, Laboratory, Sample, counted, pooled
from hegemon.claims.papers.ring_small import small_ring, worst_time
from hegemon.claims.registry import Check, Outcome, Plot
from hegemon.compute.randomness import generator
from hegemon.models.configuration import Configuration
from hegemon.protocols.ring import DUMMY, LIVE, Ring

KINDS = ("calm", "armed", "mixed")
MIXED = 8  # starts


def with_leaders(case: Any, places: list[int], kind: str, rng: np.random.Generator) -> Configuration:
    """A member of C_NI with leaders at these places. `calm`: nothing on the way, nobody shielded. `armed`: every leader
    is shielded and its live bullet is about to reach the next one. `mixed`: each leader's stretch is armed, or has
    signals and dummy bullets at random, and every distL is as small or as large as security and modesty allow."""
    agents = np.zeros(case.n, case.space.dtype)
    for place, following in zip(places, [*places[1:], places[0] + case.n], strict=True):
        stretch = np.arange(place, following) % case.n
        left = np.arange(len(stretch))
        agents["leader"][place] = 1
        agents["distL"][stretch] = left
        armed = kind == "armed" or (kind == "mixed" and rng.integers(2) == 1)
        if kind == "mixed":
            right = len(stretch) - left
            largest = np.minimum(left, case.N - right) if armed else np.minimum(case.N - 1, case.N - right)
            agents["distL"][stretch[1:]] = rng.integers(0, largest[1:] + 1)
        if armed:
            agents["shield"][place] = 1
            agents["bullet"][stretch[-1]] = LIVE
        elif kind == "mixed":
            agents["signal"][stretch] = rng.integers(0, 2, len(stretch))
            agents["bullet"][stretch] = rng.integers(0, 2, len(stretch)) * DUMMY
            agents["shield"][place] = rng.integers(2)
    return Configuration(case.space, agents)


def fall(lab: Laboratory, protocol: Definition, n: int, places: list[int], left: int, kind: str, trials: int) -> Sample:
    """Steps until at most `left` leaders are left; `mixed` starts are drawn anew for every few trials."""
    case = protocol(n=n)
    starts = MIXED if kind == "mixed" else 1
    samples = []
    for number in range(starts):
        rng = generator(lab.seed_for(protocol.id, n, places, kind, number))
        options: dict[str, Any] = {
            "start": with_leaders(case, places, kind, rng),
            "until": f"count(leader == 1) <= {left}",
        }
        label = f"{kind} {number}, leaders {' '.join(map(str, places))}"
        samples.append(lab.times(case, trials // starts, label=label, max_steps=30 * n * n, **options))
    return pooled(samples)


def of_three(
    lab: Laboratory, protocol: Definition = Ring, *, exact: Cases, n: int, gaps: Sequence[int],
    sizes: Sequence[int], gap: int, trials: int,
) -> Outcome:  # fmt: skip
    """Lemma 12: one of three neighbouring leaders yields within O(n(d1 + d2)) expected steps. The proof waits for a
    sequence of 3·d1 + 2·d2 + 1 interactions, which succeeds with probability at least 1/4."""
    checks = [check for case in exact for check in worst_of_all(lab, protocol, *case)]
    curves, by_gaps, made = [], [], []
    for kind in KINDS:
        by_gap = [fall(lab, protocol, n, [0, d, 2 * d], 2, kind, trials) for d in gaps]
        by_size = [fall(lab, protocol, size, [0, gap, 2 * gap], 2, kind, trials) for size in sizes]
        checks.append(follows(f"{kind}: growth with d = d1 = d2 at n = {n:,}", gaps, by_gap, DISTANCE, FAR))
        checks.append(follows(f"{kind}: growth with n at d1 = d2 = {gap}", sizes, by_size, LINEAR, SQUARE))
        for d, sample in zip(gaps, by_gap, strict=True):
            bound = in_the_proof(n, d, d)
            what = f"{kind}: n = {n:,}, d1 = d2 = {d}: mean steps until one of the three yields"
            checks.append(mean_at_most(what, sample, bound, f"at most {bound:,}, as in the proof"))
        by_gaps.append(by_gap)
        made += by_gap + by_size
        curves.append(means(kind, gaps, [sample.scaled(1 / n) for sample in by_gap]))
    checks.append(always("every run gets there", *counted(made)))
    first = [sample.scaled(1 / n) for sample in by_gaps[0]]
    plot = Plot(f"One of three leaders yields, n = {n:,}", "d1 = d2", "steps / n",
                [*curves, *laws(gaps, first, DISTANCE, FAR)], logx=True, logy=True)  # fmt: skip
    slowest = max(sample.mean / (2 * n * d) for row in by_gaps for d, sample in zip(gaps, row, strict=True))
    return Outcome(checks, f"at most {slowest:.2f}·n(d1 + d2) steps on average at n = {n:,}", [plot])


DISTANCE, FAR = Law("n·d", lambda d: d), Law("n·d²", lambda d: d**2)


def in_the_proof(n: int, d1: int, d2: int) -> int:
    """By Lemma 9 a try takes n(3·d1 + 2·d2 + 1) expected steps, and at most four tries are expected."""
    return 4 * n * (3 * d1 + 2 * d2 + 1)


def worst_of_all(lab: Laboratory, protocol: Definition, n: int, N: int) -> list[Check]:
    """On two and three agents any three neighbouring leaders are all the leaders that there are."""
    checks = []
    world = small_ring(protocol, n, N)
    rows = world.every()
    rows = rows[world.inside(rows, "C_NI")]
    for leaders in range(2, n + 1):
        chosen = rows[world.get(rows, "leader").sum(axis=1) == leaders]
        worst, bound = worst_time(world, chosen), in_the_proof(n, 1, 1 if leaders == 3 else n - 1)
        lab.note(protocol=protocol.id, n=n, N=N, leaders=leaders, starts=len(chosen), worst_expected_steps=worst)
        what = f"n = {n}, N = {N}: expected steps until one of {leaders} leaders yields, the worst of all "
        what += f"{len(chosen):,} starts in C_NI (exact)"
        checks.append(number_at_most(what, worst, bound, f"at most {bound}, as in the proof"))
    return checks


SHRINK = 11 / 12  # 1/α
OVER = Law("n²/s", lambda s: 1 / s)
SLOWER = Law("n²/√s", lambda s: s**-0.5)


def by_a_twelfth(
    lab: Laboratory, protocol: Definition = Ring, *, n: int, numbers: Sequence[int], sizes: Sequence[int], few: int,
    trials: int,
) -> Outcome:  # fmt: skip
    """Claim 3: s leaders become at most 11s/12 within O(n²/s) expected steps."""
    checks, curves, made = [], [], []
    for kind in KINDS:
        by_number = [shrunk(lab, protocol, n, s, kind, trials) for s in numbers]
        checks.append(follows(f"{kind}: steps with s leaders at n = {n:,}", numbers, by_number, OVER, SLOWER))
        made += by_number
        if kind != "mixed":  # where the first leader may fall at once, so that means vary too much for a law in n
            by_size = [shrunk(lab, protocol, size, few, kind, trials) for size in sizes]
            checks.append(follows(f"{kind}: growth with n, {few} leaders", sizes, by_size, SQUARE, CUBE))
            made += by_size
        scaled = [sample.scaled(s / n**2) for s, sample in zip(numbers, by_number, strict=True)]
        curves.append(means(kind, numbers, scaled))
    checks.append(always("every run gets there", *counted(made)))
    plot = Plot(f"From s leaders to 11s/12, n = {n:,}", "s", "steps · s / n²", curves, logx=True)
    slowest = max((y for series in curves for y in series.y), default=math.inf)
    return Outcome(checks, f"at most {slowest:.2f}·n²/s steps on average at n = {n:,}", [plot])


def shrunk(lab: Laboratory, protocol: Definition, n: int, leaders: int, kind: str, trials: int) -> Sample:
    """Leaders as far apart as possible: every gap is n/s, rounded."""
    return fall(
        lab, protocol, n, [k * n // leaders for k in range(leaders)], math.floor(leaders * SHRINK), kind, trials
    )
