"""Plots as pictures in the house style, as text for embedding in an HTML page."""

import base64
import io
import textwrap
from typing import Any

from hegemon.analysis.pictures import COLOURS, LINES, MARKERS, legend_below, logarithmic, new_figure, settle
from hegemon.claims.registry import Plot

TITLE, SIDE = 44, 26  # letters of a line that fit above a picture, and beside it


def draw(axis: Any, plot: Plot) -> None:
    """Draw measurements with markers, in the colours of the style, and laws and bounds as dashed lines."""
    lines = 0
    for index, series in enumerate(plot.series):
        colour = COLOURS[index % len(COLOURS)]
        if series.kind == "line":
            lines += 1
            style = LINES[1 + (lines - 1) % (len(LINES) - 1)]
            axis.plot(series.x, series.y, color=colour, linewidth=1.5, linestyle=style, label=series.label)
            continue
        style = "-" if series.kind == "both" else "none"
        axis.plot(series.x, series.y, color=colour, marker=MARKERS[index % len(MARKERS)], markersize=6, linestyle=style,
                  linewidth=1.6, label=series.label)  # fmt: skip
        if series.low is not None:
            axis.vlines(series.x, series.low, series.high, color=colour, linewidth=1.6, alpha=0.7)
    if plot.logx:
        logarithmic(axis, "x")
    if plot.logy:
        logarithmic(axis, "y")
    elif axis.get_ylim()[0] > 0:
        axis.set_ylim(bottom=0)
    axis.set_title("\n".join(textwrap.wrap(plot.title, TITLE)), loc="left")
    axis.set_xlabel(plot.xlabel)
    axis.set_ylabel("\n".join(textwrap.wrap(plot.ylabel, SIDE)))
    legend_below(axis, columns=2)


_drawn: dict[str, str] = {}


def picture(plot: Plot) -> str:
    """One plot as the data URL of an SVG picture, drawn once; narrow screens show panels one below the other."""
    if repr(plot) not in _drawn:
        _drawn[repr(plot)] = _picture(plot)
    return _drawn[repr(plot)]


def _picture(plot: Plot) -> str:
    figure, (axis,) = new_figure(1, width=5.4, height=4.4)
    draw(axis, plot)
    settle(figure)
    buffer = io.BytesIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None})
    return "data:image/svg+xml;base64," + base64.b64encode(buffer.getvalue()).decode()
