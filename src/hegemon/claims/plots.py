"""Plots as pictures: drawn in the house style, as text that an HTML page can carry."""

import base64
import io

from hegemon.analysis.pictures import COLOURS, new_figure
from hegemon.claims.registry import Plot


def draw(axis, plot: Plot) -> None:
    for index, series in enumerate(plot.series):
        colour = COLOURS[index % len(COLOURS)]
        if series.kind == "line":
            axis.plot(series.x, series.y, color=colour, linewidth=1.1, linestyle="--", label=series.label)
            continue
        style = "-" if series.kind == "both" else "none"
        axis.plot(series.x, series.y, color=colour, marker="o", markersize=4.5, linestyle=style, linewidth=1.3,
                  label=series.label)  # fmt: skip
        if series.low is not None:
            axis.vlines(series.x, series.low, series.high, color=colour, linewidth=1.1, alpha=0.7)
    if plot.logx:
        axis.set_xscale("log")
    if plot.logy:
        axis.set_yscale("log")
    elif axis.get_ylim()[0] > 0:
        axis.set_ylim(bottom=0)
    axis.set_title(plot.title, loc="left", fontsize=10)
    axis.set_xlabel(plot.xlabel)
    axis.set_ylabel(plot.ylabel)
    axis.legend(frameon=False, fontsize=8.5)


def figure_of(plots: list[Plot]):
    figure, axes = new_figure(len(plots), width=5.4, height=3.5)
    for axis, plot in zip(axes, plots, strict=True):
        draw(axis, plot)
    return figure


def picture(plots: list[Plot]) -> str:
    """The plots side by side as a data address of an SVG picture."""
    import matplotlib.pyplot as plt

    figure = figure_of(plots)
    buffer = io.BytesIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None})
    plt.close(figure)
    return "data:image/svg+xml;base64," + base64.b64encode(buffer.getvalue()).decode()
