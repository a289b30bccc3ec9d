"""Pictures of runs, in one style that is readable on a slide and on a phone.

Colours are those of Okabe and Ito, which colour-blind readers can distinguish; lines differ in style or marker, too. A
legend stands below its axes, never on the data. Matplotlib is imported where it is used: it takes longer to load
than most runs.
"""

import base64
import io
import logging
import math
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from hegemon.analysis.statistics import summarize_times
from hegemon.errors import InvalidInput
from hegemon.files import reserve, write_with

if TYPE_CHECKING:
    from matplotlib.figure import Figure


logging.getLogger("matplotlib").setLevel(logging.ERROR)  # no warning about a read-only home

FORMATS = (".png", ".svg", ".pdf")
RESOLUTION = 150  # dots per inch
INK, GRID = "#222222", "#dddddd"
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#7A5195")
LINES = ("-", "--", "-.", ":")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
BAND = (0.1, 0.9)  # a band lies between these quantiles over trials
POINTS = 400  # points of a curve
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def check_picture_path(path: str | os.PathLike[str]) -> Path:
    """Refuse a bad path before the work is done, not after."""
    place = Path(path)
    if place.suffix.lower() not in FORMATS:
        raise InvalidInput(f"the picture {path} must end in {', '.join(FORMATS)}")
    return reserve(place)


class Picture:
    """A figure with a display in notebooks, which can be saved; `figure` is Matplotlib's, for changes."""

    def __init__(self, figure: "Figure"):
        self.figure = figure

    def save(self, path: str | os.PathLike[str]) -> None:
        """As .png, .svg or .pdf."""
        save(self.figure, check_picture_path(path))

    def _repr_png_(self) -> bytes:
        content = io.BytesIO()
        settle(self.figure)
        self.figure.savefig(content, format="png", dpi=RESOLUTION / 2)
        return content.getvalue()


def as_html(picture: Picture) -> str:
    """The picture as HTML, embedded in its page."""
    content = base64.b64encode(picture._repr_png_()).decode()
    return f'<img src="data:image/png;base64,{content}" style="max-width:100%" alt="a picture of the run">'


def new_figure(panels: int, width: float = 6.4, height: float = 4.4) -> "tuple[Figure, list[Any]]":
    """A figure in the house style and its axes: side by side, from three on in rows of two.

    Nothing outside the figure is changed, neither the caller's settings nor its backend.
    """
    import matplotlib

    with _undocumented():
        from matplotlib.figure import Figure

    columns = min(panels, 2)
    rows = -(-panels // columns)
    with matplotlib.rc_context({"font.size": 12, "axes.titlesize": 12}):
        figure = Figure(figsize=(width * columns, height * rows), layout="constrained")
        axes = figure.subplots(rows, columns, squeeze=False)
    for axis in axes.flat[panels:]:
        axis.remove()
    for axis in axes.flat[:panels]:
        axis.spines[["top", "right"]].set_visible(False)
        axis.spines[["left", "bottom"]].set_color(INK)
        axis.tick_params(labelsize=12)
        axis.grid(True, color=GRID, linewidth=0.6)
        axis.set_axisbelow(True)
        axis.set_prop_cycle(color=COLOURS)
    return figure, list(axes.flat[:panels])


@contextmanager
def _undocumented() -> Iterator[None]:
    """For a command, Matplotlib loads without writing the documentation of its classes, which takes half of it."""
    import matplotlib.artist

    module: Any = matplotlib.artist
    write = module.kwdoc
    if "hegemon.cli.main" in sys.modules:
        module.kwdoc = lambda kind: ""
    try:
        yield
    finally:
        module.kwdoc = write


def legend_below(axis: Any, columns: int = 3, note: str = "") -> None:
    """A legend beside the data: under the axis and its label."""
    handles, labels = axis.get_legend_handles_labels()
    if labels or note:
        widest = max(map(len, labels), default=1)
        columns = max(1, min(columns, len(labels), 60 // (widest + 4)))
        place = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.17), "frameon": False}
        axis.legend(
            handles, labels, ncols=columns, title=note, title_fontsize=10, fontsize=11, columnspacing=1.2, **place
        )


def plain_ticks(axis: Any) -> None:
    """Large numbers in full: no power of ten at the end of the axis."""
    axis.set_major_formatter(lambda value, _: f"{value:,.0f}" if abs(value) >= 1000 else f"{value:g}")


def powers_of_ten(axis: Any) -> None:
    """The same for a logarithmic scale; without formulas, which take a third as long to set as a run takes to start."""

    def written(value: float, _: int) -> str:
        power = round(math.log10(abs(value))) if value else 0
        if -4 < power < 4:
            return f"{value:,.10g}"
        return f"{'−' if value < 0 else ''}10{str(power).translate(RAISED)}"

    axis.set_major_formatter(written)


def whole_ticks(axis: Any, most: int = 5) -> None:
    """Ticks at whole numbers, for counts of trials and messages."""
    from matplotlib.ticker import MaxNLocator

    axis.set_major_locator(MaxNLocator(most, integer=True, min_n_ticks=1, steps=[1, 2, 5, 10]))
    plain_ticks(axis)


def logarithmic(axis: Any, direction: str) -> None:
    """A scale whose numbers do not overlap: powers of ten, or 10, 20, 50 if there are few powers.

    Called when everything is drawn, since it depends on the data.
    """
    from matplotlib.ticker import LogLocator, NullFormatter

    getattr(axis, f"set_{direction}scale")("log")
    line = axis.xaxis if direction == "x" else axis.yaxis
    low, high = line.get_view_interval()
    line.set_minor_formatter(NullFormatter())
    powers_of_ten(line)
    if high < 100 * low:
        line.set_major_locator(LogLocator(subs=(1, 2, 5)))
        plain_ticks(line)


def settle(figure: "Figure") -> None:
    """Lay out the figure once more: a legend makes its axes smaller, and their numbers may then be wider than in the
    first layout."""
    figure.draw_without_rendering()


def save(figure: "Figure", path: str | Path) -> None:
    """Write the picture next to its place and move it there, so that half a picture is never left."""
    import matplotlib

    settle(figure)
    with matplotlib.rc_context({"svg.hashsalt": "hegemon"}):
        write_with(path, lambda place: figure.savefig(place, dpi=RESOLUTION, metadata=_undated(place)))


def _undated(place: Path) -> dict[str, Any]:
    """Metadata without a date, so that the same picture is always the same file."""
    return {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}.get(place.suffix.lower(), {})


def picture_of_runs(runs: Sequence[Any], title: str, ax: Any = None) -> Picture:
    """What was recorded, with one panel per unit: the median over the trials and a band around it; and, for several
    trials, the share that met the stop by each time. With `ax`, the first of these panels is drawn there."""
    seen = [run for run in runs if run.watched is not None and run.watched.columns]  # others ended before a sample
    panels = split_by_unit(seen)
    moving = {unit: names for unit, names in panels.items() if any(moves(seen, name) for name in names)}
    shown = moving or dict(list(panels.items())[:1])
    still = [name for unit, names in panels.items() if unit not in shown for name in names]
    with_times = len(runs) > 1 and not (ax is not None and shown)
    figure, axes = new_figure(max(1, len(shown) + with_times)) if ax is None else (ax.figure, [ax])
    for axis, (unit, names) in zip(axes, shown.items(), strict=False):
        draw_history(axis, seen, names, unit, still if axis is axes[0] else [])
    over = f": median and {BAND[0]:.0%}–{BAND[1]:.0%} of {len(seen):,} trials" if len(seen) > 1 else ""
    if with_times:
        draw_times(axes[-1], runs)
    if shown:
        axes[0].set_title(title + over, loc="left")
    else:  # nothing was recorded: only the lengths of the trials are known
        axes[0].set_title(f"{title}: {axes[0].get_title(loc='left')}", loc="left")
    return Picture(figure)


def split_by_unit(runs: Sequence[Any]) -> dict[str, list[str]]:
    """The recorded columns, grouped by unit: a number of agents and a distance never share an axis."""
    panels: dict[str, list[str]] = {}
    if not runs:
        return panels
    columns, units = runs[0].watched.columns, runs[0].watched.units
    for name in [column for column in columns if column not in ("step", "parallel_time")]:
        panels.setdefault(units.get(name, "value"), []).append(name)
    return panels


def moves(runs: Sequence[Any], name: str) -> bool:
    """Whether the column is not constant over all runs."""
    values = np.concatenate([run.watched.columns[name] for run in runs])
    return bool((values != values[0]).any())


def draw_history(axis: Any, runs: Sequence[Any], names: Sequence[str], unit: str, besides: Sequence[str] = ()) -> None:
    """The curves of one unit; what never changes is listed below instead, `besides` too, unless nothing changes."""
    time = "parallel_time" if runs[0].unit == "steps" else "step"
    moving = [name for name in names if moves(runs, name)] or list(names)
    largest = 0.0
    for k, name in enumerate(moving):
        grid, low, middle, high = curve(runs, time, name)
        style = {"color": COLOURS[k % len(COLOURS)], "linestyle": LINES[k // len(COLOURS) % len(LINES)]}
        axis.plot(grid, middle, label=name.replace("_", " "), linewidth=1.8, **style)
        if len(runs) > 1:
            axis.fill_between(grid, low, high, color=style["color"], alpha=0.18, linewidth=0)
        largest = max(largest, float(np.max(high)))
    lowest = min((run.watched.columns[name].min() for run in runs for name in moving), default=0)
    axis.set_ylim(bottom=min(0, lowest))
    if largest > 200:
        axis.set_yscale("symlog", linthresh=1)
        powers_of_ten(axis.yaxis)
        if lowest >= 10:  # no empty decade is drawn
            axis.set_ylim(bottom=10 ** math.floor(math.log10(lowest)))
    elif all(run.watched.columns[name].dtype.kind in "iu" for run in runs for name in moving):
        whole_ticks(axis.yaxis, 6)
    axis.set_xlabel("parallel time (steps / n)" if runs[0].unit == "steps" else f"time ({runs[0].unit})")
    axis.set_ylabel(unit)
    quiet = [*(name for name in names if name not in moving), *besides]
    still = [f"{name.replace('_', ' ')} {runs[0].watched.columns[name][0]:g}" for name in quiet]
    legend_below(axis, note=f"throughout: {', '.join(still)}" if still else "")


def curve(runs: Sequence[Any], time: str, name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """A recorded number over time: the grid, and the low, middle and high of the trials on it.

    Between two samples a number keeps the value of the first; a run that has ended keeps its last value.
    """
    longest = max(float(run.watched.columns[time][-1]) for run in runs)
    grid = np.linspace(0, longest, POINTS) if len(runs) > 1 else runs[0].watched.columns[time].astype(float)
    values = np.empty((len(runs), len(grid)))
    for row, run in enumerate(runs):
        at = run.watched.columns[time]
        seen = np.clip(np.searchsorted(at, grid, side="right") - 1, 0, None)
        values[row] = run.watched.columns[name][seen]
    return grid, *np.quantile(values, (BAND[0], 0.5, BAND[1]), axis=0)


def draw_times(axis: Any, runs: Sequence[Any]) -> None:
    """The share of trials that met the stop by each time: an unfinished trial never counts as one."""
    times = np.sort([run.steps for run in runs if run.reached])
    unit = runs[0].unit
    shares = np.arange(len(times) + 1) / len(runs)
    axis.step([*times[:1], *times], shares, where="post", linewidth=1.8, label="trials")
    known = summarize_times([run.steps for run in runs], [run.reached for run in runs])
    for name, colour, style in (("mean", COLOURS[1], "--"), ("median", COLOURS[2], "-.")):
        if known[name] is not None:  # with censored trials the mean is unknown
            axis.axvline(known[name], color=colour, linewidth=1.4, linestyle=style, label=f"{name} {known[name]:,.0f}")
    axis.set_ylim(0, 1.02)
    axis.set_xlabel(f"{unit} until the stop")
    axis.set_ylabel("share of trials")
    whole_ticks(axis.xaxis, 4 if len(times) and times[-1] >= 10**6 else 5)
    axis.set_title(f"{len(times):,} of {len(runs):,} trials met the stop", loc="left")
    legend_below(axis)


def picture_of_elections(runs: Sequence[Any], title: str, ax: Any = None) -> Picture:
    """How many messages the trials sent (in `ax`, if that is given), and how many leaders they elected."""
    figure, (left, right) = new_figure(2) if ax is None else (ax.figure, (ax, None))
    left.hist([run.measures["messages"] for run in runs], bins=min(40, max(5, len(runs) // 5)), color=COLOURS[0])
    left.set_xlabel("messages")
    left.set_ylabel("trials")
    left.set_title(title, loc="left")
    whole_ticks(left.xaxis)
    whole_ticks(left.yaxis)
    if right is None:
        return Picture(figure)
    leaders, trials = np.unique([run.leaders for run in runs], return_counts=True)
    right.bar(leaders, trials / len(runs), width=0.6, color=[COLOURS[0] if k == 1 else COLOURS[1] for k in leaders])
    right.set_xticks(leaders)
    right.set_xlim(leaders[0] - 1, leaders[-1] + 1)  # few bars must not be too wide
    right.set_xlabel("leaders elected")
    right.set_ylabel("share of trials")
    right.set_ylim(0, 1.02)
    return Picture(figure)
