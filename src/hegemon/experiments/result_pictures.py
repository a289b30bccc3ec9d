"""The picture of a study: a measure over n (or another axis), one line per series, with bands and the fitted law."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from hegemon.analysis.pictures import COLOURS, INK, LINES, legend_below, logarithmic, new_figure, save
from hegemon.analysis.scaling import Law
from hegemon.errors import InvalidInput
from hegemon.experiments.results import StudyResults


def draw_results(found: StudyResults, path: str | Path, curves: Sequence[Law] = ()) -> None:
    """The x axis is the first numeric axis. A light band contains 80 % of the trials, a dark one is the mean's
    interval; a dashed line is the law that is nearest; `curves` over n are drawn as they are."""
    rows, by, fits = found.rows, found.by, found.fits
    across = next((name for name in by if _is_number(rows, name)), None)
    if across is None:
        raise InvalidInput(f"--plot needs an axis of numbers in --by, and {', '.join(by)} have none; add n")
    if curves and across not in ("n", "n_given"):
        raise InvalidInput(f"--curve is a function of n, and the picture is drawn over {across}; group by n first")
    others = [name for name in by if name != across]
    figure, (axis,) = new_figure(1, 8.5, 5.2)
    series: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in rows:
        series.setdefault(tuple(row[name] for name in others), []).append(row)
    for number, (values, points) in enumerate(series.items()):
        colour = COLOURS[number % len(COLOURS)]
        marker = "os^Dv"[number // len(COLOURS) % 5]
        points = sorted((row for row in points if row["mean"] is not None), key=lambda row: row[across])
        if not points:
            continue
        x = [row[across] for row in points]
        label = ", ".join(f"{name} = {value}" for name, value in zip(others, values, strict=True)) or None
        axis.plot(
            x, [row["mean"] for row in points], marker=marker, markersize=4, linewidth=1.4, color=colour, label=label
        )
        middle = [[np.nan if row[name] is None else row[name] for row in points] for name in ("q10", "q90")]
        axis.fill_between(x, *middle, color=colour, alpha=0.10, linewidth=0)
        intervals = [_interval(row) for row in points]
        if all(intervals):
            axis.fill_between(x, *zip(*intervals, strict=True), color=colour, alpha=0.30, linewidth=0)
        fit = next((fit for fit in fits if across == "n" and tuple(fit.series.values()) == values), None)
        if fit:
            law = next(law for law in found.laws if law.name == fit.law)
            fine = np.geomspace(x[0], x[-1], 100)
            axis.plot(fine, fit.constant * law.of(fine), linestyle="--", linewidth=0.9, color=INK)
    sizes = sorted({row[across] for row in rows})
    for number, curve in enumerate(curves):
        fine = np.unique(np.rint(np.geomspace(sizes[0], sizes[-1], 200)))
        line, label = LINES[2 + number % 2], f"{curve.name} (given)"
        axis.plot(fine, curve.of(fine), line, linewidth=1.2, color=INK, label=label)
    if all(row[across] > 0 for row in rows) and max(row[across] for row in rows) > 8 * min(row[across] for row in rows):
        logarithmic(axis, "x")
    means = [row["mean"] for row in rows if row["mean"] is not None]
    if means and min(means) > 0 and max(means) > 8 * min(means):
        logarithmic(axis, "y")
    axis.set_xlabel(across)
    axis.set_ylabel(f"{found.of.replace('_', ' ')} (mean, its 95 % interval, and 8 of 10 trials)")
    laws = dict.fromkeys(fit.law + " (does not fit)" * (not fit.fits) for fit in fits)
    note = f"; broken lines: constant · {' or '.join(laws)}" if laws and across == "n" else ""
    if count := sum(bool(row["censored"]) for row in rows):
        note += f"; {count:,} of {len(rows):,} points have censored trials and no mean"
    title = f"{', '.join(found.protocols)}: {sum(row['trials'] for row in rows):,} trials"
    axis.set_title(title + note, loc="left", fontsize=10)
    if len(series) > 1 or curves:
        legend_below(axis)
    save(figure, path)


def _is_number(rows: list[dict[str, Any]], name: str) -> bool:
    values = {row[name] for row in rows}
    return len(values) > 1 and all(isinstance(value, int | float) and not isinstance(value, bool) for value in values)


def _interval(row: dict[str, Any]) -> Any:
    found = row.get("ci95") or next((row[name] for name in row if name == "mean_sequence95"), None)
    return tuple(found) if found and None not in found else None
