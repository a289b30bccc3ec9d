"""Experiments with message passing: a budget of messages (Theorem 3), and the comparison of algorithms."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from hegemon.analysis.pictures import COLOURS, INK, legend_below, logarithmic, new_figure, save
from hegemon.analysis.statistics import sublinear_scale, wilson
from hegemon.compute.randomness import generator
from hegemon.errors import InvalidInput
from hegemon.models.expressions import number_or_text, whole_number
from hegemon.protocols import AfekGafni, FloodMax, Referees, Walks
from hegemon.runs.option import MOST_AGENTS, seed_of
from hegemon.runs.run import Run
from hegemon.runs.trials import Trials, run_trials

Sizes = int | float | str | Sequence[int | float]
EXPONENTS = "0.1:0.95:0.05"
CANDIDATES = "1,2*log(n)"
COMPARED_SIZES = (100, 300, 10**3, 3000, 10**4, 30_000, 10**5, 10**6, 10**7)


def lower_bound(
    n: Sizes = (10**4, 10**6, 10**8), *, exponents: str | Sequence[float] = EXPONENTS,
    candidates: str | Sequence[float | str] = CANDIDATES, trials: int = 200, seed: Any = 0,
    workers: int | None = None,
) -> list[dict]:  # fmt: skip
    """Theorem 3 as an experiment: `referees` with n^a messages, and how often it elects one leader; a row per point.

    n           sizes, one or several.
    exponents   the values of a, as a list or as LOW:HIGH:STEP.
    candidates  expected numbers of candidates, such as [1, "2*log(n)"].
    seed        as in `simulate`; every row keeps it.
    """
    powers, wanted = read_exponents(exponents), read_candidates(candidates)
    return list(lower_bound_points(sizes_of(n), powers, wanted, trials, seed_of(seed), workers))


def compare_messages(
    n: Sizes = COMPARED_SIZES, *, trials: int = 5, seed: Any = 0, workers: int | None = None
) -> list[dict]:
    """Messages and rounds of the elections on complete graphs, sublinear against classical; a row per point."""
    return list(compared_points(sizes_of(n), trials, seed_of(seed), workers))


def lower_bound_points(
    sizes: Sequence[int], exponents: Sequence[float], candidates: Sequence[str], trials: int, seed: int = 0,
    workers: int | None = None,
) -> Iterator[dict]:  # fmt: skip
    """The points of `lower_bound`, one by one."""
    for expected in candidates:
        for n in sizes:
            yield from budget_points(n, exponents, trials, seed, expected, workers)


def sizes_of(n: Sizes) -> tuple[int, ...]:
    given = n.split(",") if isinstance(n, str) else n if isinstance(n, Sequence) else [n]
    return tuple(whole_number(size, "n", 2, MOST_AGENTS) for size in given)


def read_candidates(given: str | Sequence[float | str]) -> list:
    return [number_or_text(str(one)) for one in (given.split(",") if isinstance(given, str) else given)]


def read_exponents(given: str | Sequence[float]) -> tuple[float, ...]:
    """`0.2:1:0.05` (both ends included) or `0.3,0.5`."""
    text = given if isinstance(given, str) else ",".join(map(str, given))
    try:
        if ":" not in text:
            found = [float(part) for part in text.split(",")]
        else:
            low, high, step = (float(part) for part in text.split(":"))
            if not step > 0 or not low <= high or not (high - low) / step <= 1000:
                raise ValueError
            found = [round(low + k * step, 10) for k in range(int((high - low) / step + 1e-9) + 1)]
        if len(found) > 1001 or not all(0 <= value <= 4 for value in found):
            raise ValueError
        return tuple(found)
    except ValueError:
        raise InvalidInput(
            f"exponents {text!r} is not understood; write LOW:HIGH:STEP or 0.3,0.5, each in 0..4, at most 1001"
        ) from None


def budget_points(
    n: int, exponents: Sequence[float], trials: int, seed: int = 0, candidates: Any = None,
    workers: int | None = None,
) -> Iterator[dict]:  # fmt: skip
    """`referees` with a budget of n^a messages for every exponent a: how often it succeeds, and the clouds.

    Point by point; an interrupt ends it between two of them.
    """
    for place, exponent in enumerate(exponents):
        protocol = Referees(n=n, messages=float(n) ** exponent, candidates=candidates)
        runs = _all_of(run_trials(protocol, trials, seed=_fresh(seed, n, place), workers=workers))
        successes = sum(run.reached for run in runs)
        yield (
            {
                "n": n,
                "exponent": exponent,
                "budget": protocol.messages,
                "expected_candidates": protocol.candidates,
                "referees": protocol.chosen,
                "seed": seed,
                "trials": len(runs),
                "success_rate": successes / len(runs),
                "success_rate_ci95": list(wilson(successes, len(runs))),
                "within_budget": float(np.mean([run.measures["messages"] <= protocol.messages for run in runs])),
                "messages": _mean(runs, "messages"),
                "leaders": float(np.mean([run.leaders for run in runs])),
                "clouds": _mean(runs, "clouds"),
                "mean_cloud": _mean(runs, "mean_cloud"),
                "disjoint": _mean(runs, "disjoint_clouds"),
            }
        )


def draw_budget(points: list[dict], path: str | Path) -> None:
    """The success rate, and how often the clouds are disjoint, against the exponent."""
    figure, (left, right) = new_figure(2, height=5.2)
    for _, sweep in groupby(points, lambda row: (row["n"], row["expected_candidates"])):
        rows = list(sweep)
        exponents = [row["exponent"] for row in rows]
        rate = np.array([row["success_rate"] for row in rows])
        low, high = np.array([row["success_rate_ci95"] for row in rows]).T
        label = f"n = {rows[0]['n']:,}, {rows[0]['expected_candidates']:.3g} candidates expected"
        left.errorbar(
            exponents, rate, yerr=(np.maximum(rate - low, 0), np.maximum(high - rate, 0)),
            marker="o", markersize=3.5, linewidth=1.2, capsize=2, label=label,
        )  # fmt: skip
        right.plot(exponents, [row["disjoint"] for row in rows], marker="o", markersize=3.5, linewidth=1.2)
    left.axhline(np.exp(-1), color=INK, linestyle="--", linewidth=1)
    left.annotate("1/e", (left.get_xlim()[0], np.exp(-1)), xytext=(4, 3), textcoords="offset points", fontsize=9)
    left.set_ylabel("share of trials with exactly one leader")
    right.set_ylabel("share of trials with disjoint influence clouds")
    for axis in (left, right):
        axis.axvline(0.5, color=INK, linestyle=":", linewidth=1)
        axis.set_xlabel("a, where n^a messages may be sent")
        axis.set_ylim(-0.02, 1.02)
    legend_below(left, columns=1)
    left.set_title("referees on a budget: below √n messages no algorithm does better than 1/e", loc="left", fontsize=10)
    save(figure, path)


# The compared algorithms on complete graphs, each with the largest n that a laptop simulates in seconds.
COMPARED = {
    "flood-max": (lambda n: FloodMax(n=n, diameter=1), 1_000),
    "afek-gafni": (lambda n: AfekGafni(n=n), 30_000),
    "referees": (lambda n: Referees(n=n), 10**9),
    "referees, explicit": (lambda n: Referees(n=n, variant="explicit"), 10**9),
    "walks": (lambda n: Walks(n=n), 10**7),
}


def compared_points(sizes: Sequence[int], trials: int, seed: int = 0, workers: int | None = None) -> Iterator[dict]:
    """Messages and rounds of every compared algorithm on complete graphs of the given sizes, point by point."""
    for name, (make, most) in COMPARED.items():
        for n in sizes:
            if n > most:
                continue
            runs = _all_of(run_trials(make(n), trials, seed=_fresh(seed, n), workers=workers))
            messages = float(np.mean([run.measures["messages"] for run in runs]))
            yield (
                {
                    "algorithm": name,
                    "n": n,
                    "seed": seed,
                    "trials": len(runs),
                    "one_leader": sum(run.reached for run in runs),
                    "messages": messages,
                    "rounds": float(np.mean([run.steps for run in runs])),
                    "messages_per_scale": messages / sublinear_scale(n),
                }
            )


def draw_comparison(rows: list[dict], path: str | Path) -> None:
    """Messages and rounds over n, both axes logarithmic."""
    figure, (left, right) = new_figure(2, height=5.2)
    for colour, name in zip(COLOURS, dict.fromkeys(row["algorithm"] for row in rows), strict=False):
        chosen = [row for row in rows if row["algorithm"] == name]
        sizes = [row["n"] for row in chosen]
        for axis, key in ((left, "messages"), (right, "rounds")):
            axis.plot(sizes, [row[key] for row in chosen], marker="o", markersize=4, color=colour, label=name)
    all_sizes = np.array(sorted({row["n"] for row in rows}), float)
    left.plot(all_sizes, all_sizes, color=INK, linestyle=":", linewidth=1, label="n")
    left.plot(
        all_sizes,
        [sublinear_scale(n) for n in all_sizes],
        color=INK,
        linestyle="--",
        linewidth=1,
        label="√n ln^(3/2) n",
    )
    for axis, key in ((left, "messages"), (right, "rounds")):
        logarithmic(axis, "x")
        logarithmic(axis, "y")
        axis.set_xlabel("n (complete graphs)")
        axis.set_ylabel(key)
    legend_below(left)
    save(figure, path)


def _all_of(trials: Trials) -> list[Run]:
    """The runs of a point that is complete: one that an interrupt ended is no point."""
    if trials.interrupted:
        raise KeyboardInterrupt
    return trials.runs


def _fresh(seed: int, *point: int) -> int:
    """Another seed for every point of an experiment, so that the points are independent."""
    return int(generator(seed, *point).integers(2**63))


def _mean(runs: list, name: str) -> float | None:
    values = [run.measures[name] for run in runs]
    return None if None in values else float(np.mean(values))  # clouds are not followed when there are thousands
