"""Series for plots: measured means with their intervals, and the laws they are compared with."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from hegemon.analysis.scaling import Law
from hegemon.analysis.statistics import mean_interval
from hegemon.claims.checks import CONFIDENCE, brief, finished
from hegemon.claims.registry import Check, Plot, Series, Table


def means(label: str, sizes: Sequence[Any], samples: Sequence[Any], kind: str = "both") -> Series:
    """The mean at every size; sizes at which nothing was measured are left out."""
    pairs = [(size, finished(sample)[0]) for size, sample in zip(sizes, samples, strict=True)]
    kept = [(size, values) for size, values in pairs if len(values)]
    intervals = [mean_interval(values, CONFIDENCE) or (float(values[0]),) * 2 for _, values in kept]
    return Series(
        label,
        [float(size) for size, _ in kept],
        [float(values.mean()) for _, values in kept],
        [low for low, _ in intervals],
        [high for _, high in intervals],
        kind,
    )


def shares(label: str, sizes: Sequence[Any], checks: Sequence[Check]) -> Series:
    """The share that each check measured, with its interval."""
    bars = [check.interval for check in checks if check.interval is not None]
    return Series(
        label,
        list(sizes),
        [check.figure for check in checks],
        [low for low, _ in bars],
        [high for _, high in bars],
        "both",
    )


def law_line(label: str, law: Law, sizes: Any, samples: Sequence[Any]) -> Series:
    """The law, scaled to pass through the middle of the measured means."""
    sizes = np.asarray(sizes, float)
    pairs = [(size, finished(sample)[0]) for size, sample in zip(sizes, samples, strict=True)]
    ratios = [np.mean(values) / law.of(size) for size, values in pairs if len(values)]
    ratio = np.exp(np.mean(np.log(ratios))) if ratios else 1.0
    grid = np.geomspace(sizes.min(), sizes.max(), 50)
    return Series(label, grid.tolist(), (ratio * law.of(grid)).tolist(), kind="line")


def laws(sizes: Sequence[Any], samples: Sequence[Any], law: Law, rival: Law) -> list[Series]:
    """The claimed law and its rival, to be drawn with the measurements."""
    return [
        law_line(f"∝ {law.name} (claimed)", law, sizes, samples),
        law_line(f"∝ {rival.name} (rival)", rival, sizes, samples),
    ]


def over_n(title: str, quantity: str, series: list[Series]) -> Plot:
    """A quantity over n, both axes logarithmic: a power is a line."""
    return Plot(title, "n", quantity, series, logx=True, logy=True)


def sizes_table(
    title: str, heading: str, sizes: Sequence[Any], samples: Sequence[Any], exact: Sequence[float] | None = None
) -> Table:
    """Size, trials, mean, interval and, where there is one, the exact value."""
    columns = [heading, "trials", "mean", "95 % interval"] + (["exact"] if exact is not None else [])
    rows = []
    for k, (size, sample) in enumerate(zip(sizes, samples, strict=True)):
        values, _ = finished(sample)
        if len(values):
            interval = mean_interval(values, CONFIDENCE)
            shown = "–" if interval is None else f"{brief(interval[0])} … {brief(interval[1])}"
            row = [brief(size), f"{len(values):,}", brief(float(np.mean(values))), shown]
        else:
            row = [brief(size), "0", "–", "–"]
        rows.append(row + ([brief(exact[k])] if exact is not None else []))
    return Table(title, columns, rows)
