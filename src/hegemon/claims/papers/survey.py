"""The survey's three protocols: a predicate, the simplest election, and election by timeout."""

import numpy as np

from hegemon.analysis.scaling import LINEAR, N_LOG, slope
from hegemon.claims.checks import CONFIDENCE, always, brief, follows, mean_is, number_is, span
from hegemon.claims.drawing import law_line, means, sizes_table
from hegemon.claims.registry import HOLDS, UNDECIDED, VIOLATED, Check, Claim, Finding, Plot, Series
from hegemon.exact.verification import verify
from hegemon.protocols.pairwise import Pairwise
from hegemon.protocols.threshold import Threshold
from hegemon.protocols.timer import Timer


def threshold(lab, protocol=Threshold, *, exact, n, trials) -> Finding:
    checks = []
    for small_n, k in exact:
        answer = verify(protocol(n=small_n, k=k), property="predicate")
        good = sum(finding.holds for finding in answer.findings)
        lab.note(protocol=protocol.id, n=small_n, k=k, inputs=len(answer.findings), computed=good)
        what = f"n = {small_n}, k = {k}: the right answer is reached and kept (exact, every input)"
        checks.append(always(what, good, len(answer.findings), "from every input"))
    times = []
    for marked in range(n + 1):
        times.append(lab.times(protocol(n=n, marked=marked), trials, max_steps=200 * n * n))
    finished = sum(len(sample.values) for sample in times)
    missed = sum(sample.missed for sample in times)
    what = f"n = {n}, k = 10: simulated runs end with every agent right"
    checks.append(always(what, finished, finished + missed, "from every input"))
    k = protocol(n=n).k
    plot = Plot(
        f"Until every agent knows whether at least k = {k} of {n} are marked",
        "marked agents",
        "steps",
        [means("measured", range(n + 1), [sample.values for sample in times])],
    )
    headline = f"right from all {len(exact)} sets of inputs (exact) and in {finished:,} of {finished + missed:,} runs"
    notes = "At exactly k marked agents every single mark has to be collected by one agent: hence the peak."
    return Finding(checks, headline, [plot], notes=notes)


def pairwise(lab, protocol=Pairwise, *, exact, sizes, trials, most, relative) -> Finding:
    checks = []
    for n in exact:
        expected = verify(protocol(n=n), property="time").hitting.from_starts["all-leaders"]
        lab.note(protocol=protocol.id, n=n, expected_steps=expected)
        checks.append(number_is(f"n = {n}: expected steps of the exact chain", expected, (n - 1) ** 2))
    samples = []
    for n in sizes:
        options = {"relative": relative, "max_steps": 100 * n * n}
        samples.append(lab.times(protocol(n=n), trials, most=most, **options).values)
        checks.append(mean_is(f"n = {n:,}: mean steps", samples[-1], (n - 1) ** 2))
    ratios = [values / (n - 1) ** 2 for n, values in zip(sizes, samples, strict=True)]
    plot = Plot(
        "Steps to one leader, over (n − 1)²",
        "n",
        "steps / (n − 1)²",
        [means("measured", sizes, ratios, "points"), Series("claimed", [sizes[0], sizes[-1]], [1, 1], kind="line")],
        logx=True,
    )
    table = sizes_table("Steps from all leaders", "n", sizes, samples, [(n - 1) ** 2 for n in sizes])
    low, high = exact[0], exact[-1]
    headline = f"(n − 1)² to the last digit for n = {low}…{high}; {brief(ratios[-1].mean())} of it at n = {sizes[-1]:,}"
    return Finding(checks, headline, [plot], [table])


def timer(lab, protocol=Timer, *, sizes, trials, holding, holding_trials, patience, exact_holding) -> Finding:
    starts = ("random", "all-leaders", "no-leader")
    checks, samples, good, made = [], {start: [] for start in starts}, 0, 0
    for start in starts:
        for n in sizes:
            sample = lab.times(protocol(n=n), trials, start=start, max_steps=40 * 96 * n * n)
            samples[start].append(sample.values / n)
            good, made = good + len(sample.values), made + len(sample.values) + sample.missed
    checks.append(always("from any start the safe set is reached", good, made, "always"))
    what = "parallel convergence time from no leader, N = n"
    checks.append(follows(what, sizes, samples["no-leader"], LINEAR, N_LOG))
    n = sizes[-1]
    checks.append(number_is(f"states at N = {n}", protocol(n=n).states, 2 * (96 * n + 1)))
    held, longer = [], []
    for n in holding:
        sample = lab.times(protocol(n=n, s=n), holding_trials, start="safe", until="broken", max_steps=patience)
        held.append(sample.values / n)
        sample = lab.times(protocol(n=n, s=n // 2), holding_trials, start="safe", until="broken", max_steps=patience)
        longer.append(sample.values / n)
    checks.append(exponential("parallel holding time with the small timer s = N", holding, held))
    exact = []
    for n in exact_holding:
        answer = verify(protocol(n=n, s=n), start="all", property="holding").holding
        exact.append(answer.worst / n)
        lab.note(protocol=protocol.id, n=n, s=n, worst_expected_holding_steps=answer.worst)
    plots = [
        Plot(
            "Convergence of timer, N = n",
            "n",
            "parallel time",
            [means(start, sizes, samples[start]) for start in starts]
            + [law_line("∝ n", LINEAR, sizes, samples["no-leader"])],
            logx=True,
            logy=True,
        ),
        Plot(
            "Holding with deliberately small timers",
            "n = N",
            "parallel time until the leader is lost",
            [
                means("s = N", holding, held),
                means("s = N/2", holding, longer),
                Series("worst safe start, exact (s = N)", list(exact_holding), exact, kind="points"),
                Series("e^N", list(holding), [float(np.exp(n)) for n in holding], kind="line"),
            ],
            logy=True,
        ),
    ]
    rate = brief(checks[-1].figure)
    headline = f"{good:,} of {made:,} runs reach one leader; holding grows like e^({rate}·N) at s = N"
    notes = (
        "With the published timer s = 96N no loss of a leader can be waited for, so holding is measured with "
        "s = N and s = N/2. Timers only grow with s, and so does holding: what holds at s = N holds at 96N."
    )
    return Finding(checks, headline, plots, notes=notes)


def exponential(what: str, sizes, samples) -> Check:
    """The means grow at least like e^N."""
    if any(len(values) < 2 for values in samples):
        return Check(what, "Ω(e^N) consistent", "some sizes have no finished trials", UNDECIDED)
    rate, low, high = slope(sizes, samples, CONFIDENCE)
    verdict = HOLDS if low >= 1 else VIOLATED if high < 1 else UNDECIDED
    measured = f"grows like e^({rate:.2f} N) {span(low, high)}"
    return Check(what, "Ω(e^N) consistent", measured, verdict, rate, (low, high))


CLAIMS = (
    Claim(
        "survey.threshold",
        "survey",
        "section 2",
        "Threshold predicate",
        "Agents that add up their marks, with k spreading once it is reached, decide from every input whether at "
        "least k agents are marked.",
        threshold,
        quick={"exact": [(4, 2), (5, 3), (6, 4)], "n": 20, "trials": 40},
        full={"exact": [(n, k) for n in (2, 4, 6, 8, 10) for k in (2, 3, 5, 10)], "n": 40, "trials": 400},
    ),
    Claim(
        "survey.pairwise",
        "survey",
        "section 3",
        "Pairwise elimination takes (n − 1)² steps",
        "If all agents start as leaders and of two leaders that meet one yields, one leader is left after exactly "
        "(n − 1)² steps in expectation.",
        pairwise,
        quick={"exact": (2, 3, 5, 10, 20), "sizes": (10, 100, 1000), "trials": 400, "most": 800, "relative": 0.05},
        full={"exact": (2, 3, 5, 10, 20, 50), "sizes": (10, 100, 1000), "trials": 1000,
              "most": 4000, "relative": 0.02},
    ),
    Claim(
        "survey.timer",
        "survey",
        "section 4",
        "Election by timeout: fast to converge, exponentially long to hold",
        "With timers of s = 96N, N ≥ n known, every start leads to a single leader in O(N log n) parallel time "
        "(later proved: O(N)), with 2(s + 1) states; the leader is then kept for Ω(e^N) parallel time.",
        timer,
        quick={"sizes": (8, 16, 32, 64, 128), "trials": 20, "holding": (4, 6, 8), "holding_trials": 200,
               "patience": 10**7, "exact_holding": (2, 3, 4, 5)},
        full={"sizes": (8, 16, 32, 64, 128, 256, 512), "trials": 40, "holding": (4, 6, 8, 10, 12),
              "holding_trials": 100, "patience": 10**9, "exact_holding": (2, 3, 4, 5, 6, 7)},
    ),
)  # fmt: skip
