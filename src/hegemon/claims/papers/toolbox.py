"""The toolbox of the time-optimal paper: epidemic, countdown, quick elimination (Lemmas 2 to 5)."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from hegemon.analysis.scaling import N_LOG, N_LOG_SQUARED, Law
from hegemon.claims.checks import always, follows, mean_is, number_at_least, share_at_least
from hegemon.claims.drawing import law_line, laws, means, over_n, shares, sizes_table
from hegemon.claims.laboratory import Cases, Definition, Laboratory, Sample
from hegemon.claims.registry import Check, Claim, Outcome, Plot, Series
from hegemon.exact.verification import verify
from hegemon.models.configuration import Configuration, Group
from hegemon.protocols.countdown import Countdown
from hegemon.protocols.epidemic import Epidemic
from hegemon.protocols.quick_elimination import QuickElimination
from hegemon.runs.run import Run


def harmonic(k: int) -> float:
    """1 + 1/2 + … + 1/k."""
    if k < 10_000:
        return float(np.sum(1 / np.arange(1, k + 1)))
    return math.log(k) + np.euler_gamma + 1 / (2 * k) - 1 / (12 * k * k)


def tail_check(what: str, rows: list[dict[str, Any]], limit: float, n: int, k: int) -> Check:
    """With probability at least 1 - n^-k a run ends within the limit."""
    within = sum(row["reached"] and row["steps"] <= limit for row in rows)
    claimed = f"probability ≥ 1 − n^−{k} = {1 - n**-k:.6g}" if k > 1 else f"probability ≥ 1 − 1/n = {1 - 1 / n:.4g}"
    return share_at_least(f"{what} (k = {k})", within, len(rows), 1 - n**-k, claimed)


def epidemic(
    lab: Laboratory, protocol: Definition = Epidemic, *, sizes: Sequence[int], trials: int, most: int,
    tails: Cases,
) -> Outcome:  # fmt: skip
    samples, checks = [], []
    for n in sizes:
        limit = 50 * n * math.ceil(math.log2(n))
        samples.append(lab.times(protocol(n=n), trials, most=most, relative=0.02, max_steps=limit))
        what = f"n = {n:,}: mean steps, against (n−1)·H(n−1)"
        checks.append(mean_is(what, samples[-1], (n - 1) * harmonic(n - 1), 0.05, first=trials))
    checks.append(follows("growth of the mean", sizes, samples, N_LOG, N_LOG_SQUARED))
    for k, n, number in tails:
        limit = (k + 2) * n * math.log(n)
        for start in ("one-source", "random"):
            options: dict[str, Any] = {"start": start, "max_steps": 10 * int(limit), "label": f"{start}, tail"}
            rows = lab.trials(protocol(n=n, top=1 if start == "one-source" else 4), number, **options)
            what = f"n = {n}, {start}: everyone has the maximum within {k + 2} n ln n steps"
            checks.append(tail_check(what, rows, limit, n, k))
    rival = law_line(f"∝ {N_LOG_SQUARED.name} (rival)", N_LOG_SQUARED, sizes, samples)
    plot = Plot(
        "Until everyone has the largest value",
        "n",
        "steps / (n log n)",
        [
            means(
                "measured", sizes, [v.scaled(1 / N_LOG.of(n)) for n, v in zip(sizes, samples, strict=True)], "points"
            ),
            Series(
                "(n−1)·H(n−1), exact",
                list(sizes),
                [(n - 1) * harmonic(n - 1) / float(N_LOG.of(n)) for n in sizes],
                kind="line",
            ),
            Series(
                rival.label,
                rival.x,
                [y / float(N_LOG.of(n)) for n, y in zip(rival.x, rival.y, strict=True)],
                kind="line",
            ),
        ],
        logx=True,
    )
    exact = [(n - 1) * harmonic(n - 1) for n in sizes]
    table = sizes_table("Steps from one source", "n", sizes, samples, exact)
    share = samples[-1].mean / exact[-1]
    return Outcome(checks, f"{share:.4f} of (n−1)·H(n−1) at n = {sizes[-1]:,}", [plot], [table])


def countdown(
    lab: Laboratory, protocol: Definition = Countdown, *, sizes: Sequence[int], trials: int, n_fixed: int,
    falls: Sequence[int], tails: Cases,
) -> Outcome:  # fmt: skip
    def time(n: int, top: int, number: int, **options: Any) -> Sample:
        limit = 50 * n * (top + math.ceil(math.log2(n)))
        return lab.times(protocol(n=n, top=top), number, start="full", max_steps=limit, **options)

    by_size = [time(n, 8 * math.ceil(math.log2(n)), trials) for n in sizes]
    checks = [follows("growth with n while l1 − l2 = 8 log n", sizes, by_size, N_LOG, N_LOG_SQUARED)]
    by_fall = [time(n_fixed, top, trials) for top in falls]
    together = Law("l1−l2 + log n", lambda fall: fall + math.log2(n_fixed))
    faster = Law("(l1−l2) log(l1−l2)", lambda fall: fall * np.log2(fall))
    checks.append(follows(f"growth with l1 − l2 at n = {n_fixed:,}", falls, by_fall, together, faster))
    for k, n, number in tails:
        fall = 8 * math.ceil(math.log2(n))
        for start, bottom in (("full", 0), ("one-full", 0), ("random", fall // 2)):
            limit = 2 * n * (fall - bottom + k * math.log2(n))
            options: dict[str, Any] = {"start": start, "max_steps": 10 * int(limit), "label": f"{start}, tail"}
            rows = lab.trials(protocol(n=n, top=fall, bottom=bottom), number, **options)
            what = f"n = {n}, {start}: from {fall} to {bottom} within 2n(l1−l2 + {k} log n) steps"
            checks.append(tail_check(what, rows, limit, n, k))
    plots = [
        over_n(
            "Falling by 8 log n",
            "steps",
            [means("measured", sizes, by_size), *laws(sizes, by_size, N_LOG, N_LOG_SQUARED)],
        ),
        Plot(
            f"Falling at n = {n_fixed:,}",
            "l1 − l2",
            "steps / n",
            [
                means("measured", falls, [sample.scaled(1 / n_fixed) for sample in by_fall]),
                *laws(falls, [sample.scaled(1 / n_fixed) for sample in by_fall], together, faster),
            ],
        ),
    ]
    speed = by_fall[-1].mean / n_fixed / (falls[-1] + math.log2(n_fixed))
    return Outcome(checks, f"{speed:.2f}·n·(l1−l2 + log n) steps at l1−l2 = {falls[-1]}", plots)


def spread(
    lab: Laboratory,
    protocol: Definition = Countdown,
    *,
    sizes: Sequence[int],
    trials_per_agent: int,
    tails: Cases = (),
    factor: int = 4,
) -> Outcome:
    checks, shares, times = [], [], []
    for k, n, number in tails:
        log = math.ceil(math.log2(n))
        limit, case = factor * k * n * log, protocol(n=n, top=3 * factor * k * log, spread=factor * k * log)
        rows = lab.trials(case, number, start="one-full", until="close", max_steps=limit, label=f"one-full, k = {k}")
        what = f"n = {n}: min ≥ l − {factor}·{k} log n within {factor}·{k} n log n steps"
        checks.append(tail_check(what, rows, limit, n, k))
    for n in sizes:
        log = math.ceil(math.log2(n))
        limit = factor * n * log
        case = protocol(n=n, top=3 * factor * log, spread=factor * log)
        rows = lab.trials(case, trials_per_agent * n, start="one-full", until="close", max_steps=limit)
        good = sum(row["reached"] for row in rows)
        times.append(np.array([row["steps"] for row in rows if row["reached"]], float))
        what = f"n = {n:,}: min ≥ l − {factor} log n within {factor} n log n steps (k = 1)"
        checks.append(share_at_least(what, good, len(rows), 1 - 1 / n, f"probability ≥ 1 − 1/n = {1 - 1 / n:.4g}"))
        shares.append(good / len(rows))
    plot = Plot(
        "Until the lowest value is close to the highest",
        "n",
        "steps / (n log n)",
        [means("measured", sizes, [v / N_LOG.of(n) for n, v in zip(sizes, times, strict=True)], "points")],
        logx=True,
    )
    headline = f"close within {factor} n log n steps in {min(shares):.2%} of the runs or more, at every n"
    return Outcome(checks, headline, [plot])


def winners(run: Run) -> dict[str, int]:
    """How many leaders have the maximum level once every leader has decided."""
    assert run.configuration is not None  # measured runs keep it
    agents, weights = run.configuration.weighted()
    weights = np.ones(len(agents), np.int64) if weights is None else weights
    top = agents["level"].max()
    return {"winners": int(weights[(agents["leader"] == 1) & (agents["level"] == top)].sum())}


def fresh_leaders(case: Any, leaders: int) -> Configuration:
    """The start of the lottery with this many leaders."""
    fresh = {"level": 0, "done": 0}
    groups = [Group(leaders, {"leader": 1, **fresh}), Group(case.n - leaders, {"leader": 0, **fresh})]
    return Configuration.from_groups(case.space, groups, None, as_multiset=True)


def least_success(lab: Laboratory, protocol: Definition, n: int, most: int) -> Check:
    """The exact probability of a unique winner, the least over all numbers of leaders up to `most`. Leaders of equal
    level stay leaders, so there is a unique winner exactly if one leader is left."""
    found = {}
    for leaders in range(2, most + 1):
        lab.report(f"exact lottery of {leaders} leaders among {n}")
        start = fresh_leaders(protocol(n=n), leaders)
        times = verify(protocol(n=n), start=start, property="time:count(leader == 1) == 1").hitting
        assert times is not None  # asked for
        found[leaders] = times.probability
        lab.note(protocol=protocol.id, n=n, leaders=leaders, unique_winner=times.probability)
    worst = min(found, key=lambda leaders: found[leaders])
    what = f"exact, n = {n}, 2 … {most} leaders: least probability of a unique winner, with {worst} leaders"
    return number_at_least(what, found[worst], 1 / 16)


def never_without(lab: Laboratory, protocol: Definition, n: int, most: int) -> Check:
    """A winner stays: no execution of the lottery loses its last leader."""
    lab.report(f"exact lotteries among {n}: a leader is left")
    kept = 0
    for leaders in range(2, most + 1):
        start = fresh_leaders(protocol(n=n), leaders)
        (closed,) = verify(protocol(n=n), start=start, property="closed:count(leader == 1) >= 1").findings
        kept += closed.holds
    return always(f"exact, n = {n}: a leader is left, from 2 … {most} leaders", kept, most - 1, "never none")


def quick_elimination(
    lab: Laboratory, protocol: Definition = QuickElimination, *, sizes: Sequence[int], trials: int,
    exact: Cases = (),
) -> Outcome:  # fmt: skip
    curves: dict[str, list[Check]] = {}
    made = 0
    for label, leaders_of in (("all leaders", lambda n: n), ("√n leaders", math.isqrt), ("2 leaders", lambda n: 2)):
        curves[label] = []
        for n in sizes:
            case, leaders = protocol(n=n), leaders_of(n)
            start = fresh_leaders(case, leaders)
            rows = lab.trials(case, trials, start=start, label=label, measure=winners, max_steps=1000 * n)
            unique = sum(row["reached"] and row["winners"] == 1 for row in rows)
            made += len(rows)
            what = f"n = {n:,}, {label}: exactly one leader has the maximum level"
            curves[label].append(share_at_least(what, unique, len(rows), 1 / 16, "probability ≥ 1/16"))
    checks = [check for curve in curves.values() for check in curve]
    checks += [check(lab, protocol, n, most) for n, most in exact for check in (least_success, never_without)]
    series = [shares(label, sizes, curve) for label, curve in curves.items()]
    lowest = min(share for one in series for share in one.y)
    series.append(Series("claimed at least 1/16", [sizes[0], sizes[-1]], [1 / 16, 1 / 16], kind="line"))
    plot = Plot("A unique winner of the lottery", "n", "share of runs", series, logx=True)
    return Outcome(checks, f"at least {lowest:.3f} at every n and start ({made:,} runs); claimed 0.0625", [plot])


CLAIMS = (
    Claim(
        "to.lemma2",
        "Lemma 2",
        "Epidemic in O(n log n) steps",
        "The largest value reaches every agent within O(kn log n) steps with probability 1 − O(n^−k).",
        epidemic,
        quick={"sizes": (100, 1000, 10_000), "trials": 50, "most": 400,
               "tails": ((1, 100, 1200), (2, 10, 1200), (3, 6, 2600))},
        full={"sizes": (100, 1000, 10_000, 100_000, 1_000_000, 10_000_000, 1_000_000_000), "trials": 60, "most": 300,
              "tails": ((1, 1000, 12_000), (2, 50, 30_000), (3, 16, 50_000))},
    ),
    Claim(
        "to.lemma3",
        "Lemma 3",
        "Countdown falls in O(n(l1 − l2 + k log n)) steps",
        "From a largest value l1 the countdown reaches a largest value of at most l2 within "
        "O(n(l1 − l2 + k log n)) steps with probability 1 − O(n^−k).",
        countdown,
        quick={"sizes": (100, 1000, 10_000), "trials": 20, "n_fixed": 1000, "falls": (16, 64, 256),
               "tails": ((1, 100, 1200), (2, 10, 1200), (3, 6, 2600))},
        full={"sizes": (100, 1000, 10_000, 100_000), "trials": 40, "n_fixed": 1000,
              "falls": (16, 32, 64, 128, 256, 512, 1024),
              "tails": ((1, 300, 4000), (2, 50, 30_000), (3, 16, 50_000))},
    ),
    Claim(
        "to.lemma4",
        "Lemma 4",
        "Countdown keeps all values close together",
        "From a largest value l, within O(kn log n) steps every value is at least l − ck log n, for a constant c, "
        "with probability 1 − O(n^−k).",
        spread,
        quick={"sizes": (16, 64, 128), "trials_per_agent": 10, "tails": ((2, 10, 1200), (3, 6, 2600))},
        full={"sizes": (16, 64, 256, 1024), "trials_per_agent": 12, "tails": ((2, 50, 30_000), (3, 16, 50_000))},
    ),
    Claim(
        "to.lemma5",
        "Lemma 5",
        "Quick elimination leaves one winner with probability at least 1/16",
        "When every leader has decided its level, exactly one leader has the maximum level with probability at "
        "least 1/16, however many leaders there were.",
        quick_elimination,
        quick={"sizes": (4, 16, 128, 1024), "trials": 80, "exact": ((4, 4), (6, 6), (8, 3))},
        full={"sizes": (4, 16, 128, 1024, 10_000), "trials": 2000, "exact": ((4, 4), (6, 6), (8, 8))},
    ),
)  # fmt: skip
