"""The effect of a message budget on an election (Theorem 3)."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from hegemon import doors
from hegemon.analysis.pictures import INK, legend_below, new_figure, save
from hegemon.analysis.statistics import wilson
from hegemon.compute.randomness import generator
from hegemon.errors import InvalidInput
from hegemon.models.expressions import number_or_text, whole_number
from hegemon.protocols import Referees
from hegemon.runs import kinds
from hegemon.runs.option import MOST_AGENTS, seed_of
from hegemon.runs.run import Run
from hegemon.runs.trials import Trials, run_trials

if TYPE_CHECKING:
    from hegemon.runs.option import Seed

Sizes = int | float | str | Sequence[int | float]
EXPONENTS = "0.1:0.95:0.05"
CANDIDATES = "1,2*log(n)"


@kinds.door(
    exponents=doors.text | doors.several(doors.number, fewest=1),
    candidates=doors.text | doors.several(doors.number | doors.text, fewest=1),
)
def lower_bound(
    n: Sizes = (10**4, 10**6, 10**8), *, exponents: str | Sequence[float] = EXPONENTS,
    candidates: str | Sequence[float | str] = CANDIDATES, trials: int = 200, seed: "Seed" = 0,
    workers: int | None = None,
) -> list[dict[str, Any]]:  # fmt: skip
    """Theorem 3 as an experiment: `referees` with n^a messages, and how often it elects one leader; a row per point.

    n           sizes, one or several.
    exponents   the values of a, as a list or as LOW:HIGH:STEP.
    candidates  expected numbers of candidates, such as [1, "2*log(n)"].
    seed        as in `simulate`; every row keeps it.
    """
    powers, wanted = read_exponents(exponents), read_candidates(candidates)
    return list(lower_bound_points(sizes_of(n), powers, wanted, trials, seed_of(seed), workers))


def lower_bound_points(
    sizes: Sequence[int], exponents: Sequence[float], candidates: Sequence[int | float | str], trials: int,
    seed: int = 0, workers: int | None = None,
) -> Iterator[dict[str, Any]]:  # fmt: skip
    """The points of `lower_bound`, one by one."""
    for expected in candidates:
        for n in sizes:
            yield from budget_points(n, exponents, trials, seed, expected, workers)


def sizes_of(n: Sizes) -> tuple[int, ...]:
    given = n.split(",") if isinstance(n, str) else n if isinstance(n, Sequence) else [n]
    return tuple(whole_number(size, "n", 2, MOST_AGENTS) for size in given)


def read_candidates(given: str | Sequence[float | str]) -> list[int | float | str]:
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
) -> Iterator[dict[str, Any]]:  # fmt: skip
    """`referees` with a budget of n^a messages for every exponent a: how often it succeeds, and the clouds.

    The points are made one by one; an interrupt ends the series between two points.
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


def draw_budget(points: list[dict[str, Any]], path: str | Path) -> None:
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


def _all_of(trials: Trials) -> list[Run]:
    """The runs of a complete point; KeyboardInterrupt if the point was interrupted."""
    if trials.interrupted:
        raise KeyboardInterrupt
    return trials.runs


def _fresh(seed: int, *point: int) -> int:
    """A different seed for every point of an experiment, so that the points are independent."""
    return int(generator(seed, *point).integers(2**63))


def _mean(runs: list[Any], name: str) -> float | None:
    values = [run.measures[name] for run in runs]
    return None if None in values else float(np.mean(values))  # clouds are not followed when there are thousands
