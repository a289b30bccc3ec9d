"""The survey's three protocols: a predicate, the simplest election, and election by timeout."""

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from hegemon.analysis.scaling import LINEAR, N_LOG
from hegemon.claims.checks import (
    always,
    brief,
    exponential_at_least,
    follows,
    mean_is,
    number_at_least,
    number_is,
    share_at_least,
)
from hegemon.claims.drawing import laws, means, over_n, sizes_table
from hegemon.claims.laboratory import Cases, Definition, Laboratory, Sample, counted
from hegemon.claims.registry import Check, Claim, Outcome, Plot, Series, Table
from hegemon.claims.settling import followed
from hegemon.discovery.discover import discover
from hegemon.exact.verification import verify
from hegemon.experiments.holding.proved import log10_holding_of_timer
from hegemon.protocols.pairwise import Pairwise
from hegemon.protocols.threshold import Threshold
from hegemon.protocols.timer import Timer

RUNS = 16  # plain runs to make


def impossibility(lab: Laboratory, *, states: Sequence[int], sizes: str, stabilizing: bool = True) -> Outcome:
    """All protocols with a few states: none elects a leader from every configuration of all these sizes."""
    checks = []
    for number in states:
        lab.report(f"all protocols with {number} states")
        found = discover("leader-election", states=number, n=sizes, self_stabilizing=stabilizing)
        lab.note(states=number, n=sizes, protocols=found.tables, right=found.satisfying)
        what = (
            f"{number} states, n = {sizes}: protocols that elect a leader from every configuration, of {found.tables:,}"
        )
        checks.append(number_is(what, found.satisfying, 0))
    return Outcome(checks, f"none of all protocols with {states[-1]} states is right for n = {sizes} at once")


BIRDS = 1000  # the survey's example: is anyone of at least ten birds in a thousand ill?


def threshold(
    lab: Laboratory, protocol: Definition = Threshold, *, exact: Cases, n: int, trials: int, watched: int = 1,
    birds: int = 0,
) -> Outcome:  # fmt: skip
    checks = []
    for small_n, k in exact:
        answer = verify(protocol(n=small_n, k=k), property="predicate")
        right = sum(finding.holds for finding in answer.findings)
        lab.note(protocol=protocol.id, n=small_n, k=k, inputs=len(answer.findings), computed=right)
        what = f"n = {small_n}, k = {k}: the right answer is reached and kept (exact, every input)"
        checks.append(always(what, right, len(answer.findings), "from every input"))
    times = []
    for marked in range(n + 1):
        times.append(lab.times(protocol(n=n, marked=marked), trials, max_steps=200 * n * n))
    good, made = counted(times)
    what = f"n = {n}, k = 10: simulated runs end with every agent right"
    checks.append(always(what, good, made, "from every input"))
    k = protocol(n=n).k
    kept, made_again = 0, 0
    for marked in range(0, n + 1, watched):
        lost = f"count(x == {k}) <= {n - 1}" if marked >= k else f"count(x == {k}) >= 1"
        rows = followed(lab, protocol(n=n, marked=marked), ["inputs"], limit=200 * n * n, watch=20 * n * n, lost=lost)
        kept, made_again = kept + sum(row.get("kept", False) for row in rows), made_again + len(rows)
    what = f"n = {n}, k = {k}: every agent stays right in the next {20 * n * n:,} steps"
    checks.append(always(what, kept, made_again, "from every input"))
    if birds:
        flock = [lab.times(protocol(n=BIRDS, marked=ill), birds, max_steps=100 * BIRDS**2) for ill in (k - 1, k)]
        what = f"a thousand birds, {k - 1} or {k} of them ill: runs that end with every agent right"
        checks.append(always(what, *counted(flock), "from every input"))
    plot = Plot(
        f"Until every agent knows whether at least k = {k} of {n} are marked",
        "marked agents",
        "steps",
        [means("measured", range(n + 1), times)],
    )
    headline = f"right from all {len(exact)} sets of inputs (exact) and in {good:,} of {made:,} runs"
    notes = "At exactly k marked agents every single mark has to be collected by one agent: hence the peak."
    return Outcome(checks, headline, [plot], notes=notes)


def pairwise(
    lab: Laboratory, protocol: Definition = Pairwise, *, exact: Sequence[int], sizes: Sequence[int], trials: int,
    most: int, relative: float,
) -> Outcome:  # fmt: skip
    checks = []
    for n in exact:
        hitting = verify(protocol(n=n), property="time").hitting
        assert hitting is not None  # asked for
        expected = hitting.from_starts["all-leaders"]
        lab.note(protocol=protocol.id, n=n, expected_steps=expected)
        checks.append(number_is(f"n = {n}: expected steps of the exact chain", expected, (n - 1) ** 2))
    samples = []
    for n in sizes:
        options: dict[str, Any] = {"relative": relative, "max_steps": 100 * n * n}
        samples.append(lab.times(protocol(n=n), trials, most=most, **options))
        checks.append(mean_is(f"n = {n:,}: mean steps", samples[-1], (n - 1) ** 2, first=trials))
    n = sizes[-1]
    rows = followed(lab, protocol(n=n), ["all-leaders"] * 4, limit=100 * n * n, watch=10 * n * n)
    what = f"n = {n}: the last leader stays in the next {10 * n * n:,} steps"
    checks.append(always(what, sum(row.get("kept", False) for row in rows), len(rows), "one leader is left"))
    ratios = [sample.scaled((n - 1) ** -2) for n, sample in zip(sizes, samples, strict=True)]
    plot = Plot(
        "Steps to one leader, over (n − 1)²",
        "n",
        "steps / (n − 1)²",
        [means("measured", sizes, ratios, "points"), Series("claimed", [sizes[0], sizes[-1]], [1, 1], kind="line")],
        logx=True,
    )
    table = sizes_table("Steps from all leaders", "n", sizes, samples, [(n - 1) ** 2 for n in sizes])
    low, high = exact[0], exact[-1]
    headline = f"(n − 1)² to the last digit for n = {low}…{high}; {brief(ratios[-1].mean)} of it at n = {sizes[-1]:,}"
    return Outcome(checks, headline, [plot], [table])


def timer(
    lab: Laboratory, protocol: Definition = Timer, *, sizes: Sequence[int], trials: int, holding: Sequence[int],
    holding_trials: int, patience: int, exact_holding: Sequence[int], published: Sequence[int], waited: Sequence[int],
) -> Outcome:  # fmt: skip
    starts = ("random", "all-leaders", "no-leader")
    checks: list[Check] = []
    samples: dict[str, list[Sample]] = {start: [] for start in starts}
    for start in starts:
        for n in sizes:
            sample = lab.times(protocol(n=n), trials, start=start, max_steps=40 * 96 * n * n)
            samples[start].append(sample.scaled(1 / n))
    good, made = counted(sample for group in samples.values() for sample in group)
    checks.append(always("from any start the safe set is reached", good, made, "always"))
    what = "parallel time from no-leader, the slowest start known, N = n"
    checks.append(follows(what, sizes, samples["no-leader"], LINEAR, N_LOG))
    held: dict[str, list[Sample]] = {"s = N": [], "s = N/2": []}
    for n in holding:
        for label, s in (("s = N", n), ("s = N/2", n // 2)):
            options: dict[str, Any] = {"start": "barely-safe", "until": "broken", "max_steps": patience}
            held[label].append(lab.times(protocol(n=n, s=s), holding_trials, **options).scaled(1 / n))
    what = "parallel holding time from barely-safe, with the small timer s = N"
    checks.append(exponential_at_least(what, holding, held["s = N"], 1, "Ω(e^N) consistent"))
    exact = {factor: [exact_worst_holding(lab, protocol, n, factor * n) for n in exact_holding] for factor in (1, 2)}
    longer = sum(two > one for one, two in zip(exact[1], exact[2], strict=True))
    what = f"exact, n = {', '.join(map(str, exact_holding))}: s = 2N holds longer than s = N from the worst safe start"
    checks.append(always(what, longer, len(exact_holding), "longer timers hold longer"))
    slowest = min((b / a for a, b in itertools.pairwise(exact[2])), default=math.nan)
    what = "exact, s = 2N, worst safe start: growth of holding from N to N + 1, least"
    checks.append(number_at_least(what, slowest, math.e, "at least ×e"))
    for n in waited:
        steps = 2 * n * math.ceil(math.exp(n))
        rows = lab.trials(protocol(n=n), RUNS, start="barely-safe", until="broken", max_steps=steps)
        what = f"s = 96N, N = n = {n}: runs from barely-safe that keep the leader for 2·e^N parallel time"
        claimed = "at least 1/2, so that the mean is at least e^N"
        checks.append(share_at_least(what, sum(not row["reached"] for row in rows), RUNS, 1 / 2, claimed))
    proved = [log10_holding_of_timer(n, protocol(n=n).s) for n in published]
    margin = min(log10 - n * math.log10(math.e) for n, log10 in zip(published, proved, strict=True))
    what = f"proved, s = 96N from safe, N = {published[0]}…{published[-1]}: powers of ten by which holding exceeds e^N"
    checks.append(number_at_least(what, margin, 0))
    plots = [
        over_n(
            "Convergence of timer, N = n",
            "parallel time",
            [means(start, sizes, samples[start]) for start in starts]
            + laws(sizes, samples["no-leader"], LINEAR, N_LOG),
        ),
        Plot(
            "Holding with deliberately small timers",
            "n = N",
            "parallel time until the leader is lost",
            [
                *(means(f"{label}, barely-safe", holding, group) for label, group in held.items()),
                Series("s = N, worst safe start, exact", list(exact_holding), exact[1], kind="points"),
                Series("s = 2N, worst safe start, exact", list(exact_holding), exact[2], kind="points"),
                Series("e^N", list(holding), [float(np.exp(n)) for n in holding], kind="line"),
            ],
            logy=True,
        ),
    ]
    rate = next(brief(check.figure) for check in checks if check.what.startswith("parallel holding"))
    headline = f"{good:,} of {made:,} runs reach one leader; holding grows like e^({rate}·N) at s = N"
    table = Table("Read off the definition, not measured", ["N", "states, 2(s + 1)"], [
        [f"{n}", f"{protocol(n=n).states:,}"] for n in sizes
    ])  # fmt: skip
    notes = (
        "With the published timer s = 96N no loss of a leader can be waited for, nor found by guided walkers. Tested "
        "instead: s = N from the lowest timers that are safe, where e^N is already reached, and, exactly and from "
        "the worst of all safe configurations of small populations, that twice the timer holds longer and grows "
        "faster. Proved for s = 96N: since a follower's timer is at least its start's lowest, t, minus the number of "
        "its meetings since it met the leader, a timeout needs a follower whose last t meetings all missed the "
        "leader: at most q = ((n − 2)/(n − 1))^t in every step, so the leader is kept for at least 1/(2q) expected "
        "steps. That is beyond e^N up to N = 90; for larger N it is the paper's proof alone. The number of states is "
        "that of the definition."
    )
    return Outcome(checks, headline, plots, [table], notes)


def exact_worst_holding(lab: Laboratory, protocol: Definition, n: int, s: int) -> float:
    """The least expected parallel time for which any safe configuration keeps its leader."""
    lab.report(f"exact holding of n = {n}, s = {s}")
    holding = verify(protocol(n=n, s=s), start="all", property="holding").holding
    assert holding is not None  # asked for
    worst = holding.worst
    lab.note(protocol=protocol.id, n=n, s=s, worst_expected_holding_steps=worst)
    return worst / n


def timer_states(factor: int, more: int) -> Callable[..., Outcome]:
    """The number of states of the timer protocol as factor · N + more."""

    def experiment(lab: Laboratory, protocol: Definition = Timer, *, sizes: Sequence[int]) -> Outcome:
        checks = []
        for n in sizes:
            found = protocol(n=n).states
            lab.note(protocol=protocol.id, n=n, states=found)
            checks.append(number_is(f"N = {n}: states", found, factor * n + more))
        return Outcome(checks, "2(s + 1) = 192N + 2 states: timers take the values 0 … s")

    return experiment


CLAIMS = (
    Claim(
        "survey.threshold",
        "section 2",
        "Threshold predicate",
        "Agents that add up their marks, with k spreading once it is reached, decide from every input whether at "
        "least k agents are marked.",
        threshold,
        quick={"exact": [(4, 2), (5, 3), (6, 4)], "n": 20, "trials": 40, "watched": 5, "birds": 2},
        full={"exact": [(n, k) for n in (2, 4, 6, 8, 10) for k in (2, 3, 5, 10)], "n": 40, "trials": 400, "birds": 40},
    ),
    Claim(
        "survey.impossibility",
        "section 4, impossibility",
        "No self-stabilizing election without knowing n",
        "No protocol elects a leader in a self-stabilizing way for several n at once.",
        impossibility,
        quick={"states": (2, 3), "sizes": "2,3"},
        full={"states": (2, 3), "sizes": "2,3"},
    ),
    Claim(
        "survey.pairwise",
        "section 3",
        "Pairwise elimination takes (n − 1)² steps",
        "If all agents start as leaders and of two leaders that meet one yields, one leader is left after exactly "
        "(n − 1)² steps in expectation.",
        pairwise,
        quick={"exact": (2, 3, 5, 10, 20), "sizes": (10, 200), "trials": 500, "most": 1500, "relative": 0.04},
        full={"exact": (2, 3, 5, 10, 20, 50), "sizes": (10, 100, 1000), "trials": 1000,
              "most": 4000, "relative": 0.02},
    ),
    Claim(
        "survey.timer",
        "section 4",
        "Election by timeout: fast to converge, exponentially long to hold",
        "With timers of s = 96N, N ≥ n known, every start leads to a single leader in O(N log n) parallel time "
        "(later proved: O(N)), with 2(s + 1) states; the leader is then kept for Ω(e^N) parallel time.",
        timer,
        quick={"sizes": (8, 16, 32, 64), "trials": 20, "holding": (4, 6, 8), "holding_trials": 200,
               "patience": 10**7, "exact_holding": (3, 4, 5), "published": (8, 16, 32, 64), "waited": (10,)},
        full={"sizes": (8, 16, 32, 64, 128, 256, 512), "trials": 40, "holding": (4, 6, 8, 10, 12),
              "holding_trials": 100, "patience": 10**9, "exact_holding": (3, 4, 5, 6), "published": (8, 16, 32, 64),
              "waited": (10, 13, 16)},
    ),
    Claim(
        "survey.states",
        "section 4",
        "192N states",
        "Election by timeout with s = 96N has 192N states.",
        timer_states(192, 0),
        quick={"sizes": (2, 10, 100)},
        full={"sizes": (2, 10, 100, 1000)},
    ),
    Claim(
        "survey.states.repaired",
        "section 4, repaired",
        "192N + 2 states",
        "Election by timeout with s = 96N has 2(s + 1) = 192N + 2 states.",
        timer_states(192, 2),
        quick={"sizes": (2, 10, 100)},
        full={"sizes": (2, 10, 100, 1000)},
    ),
)  # fmt: skip
