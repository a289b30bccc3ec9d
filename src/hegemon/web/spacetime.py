"""A film as one picture: agents from left to right, time from top to bottom, in the colours of the page.

Made for rings, paths and rounds, where neighbours stand side by side and signals, bullets and waves become lines.
"""

import numpy as np

from hegemon.analysis.pictures import INK, Picture, new_figure, whole_ticks
from hegemon.errors import InvalidInput
from hegemon.web.colours import rgb, seen

MOST_AGENTS = 2000  # columns that can be distinguished on a large screen
ROWS = 300  # moments
RIM = 1  # the place of the badge that the page draws as a rim


def space_time(film: dict) -> Picture:
    """The diagram of a film; each moment is the last frame that is not later."""
    from matplotlib.patches import Patch

    greeting = film["greeting"]
    if greeting["kind"] == "bands" or greeting.get("downsampled") or greeting["n"] > MOST_AGENTS:
        raise InvalidInput(
            f"a space–time diagram shows at most {MOST_AGENTS:,} agents, and this film has {greeting['n']:,}; "
            "save it as .html or .gif"
        )
    steps = np.array([head["step"] for head in film["heads"]])
    palette = Palette(greeting["channels"])
    looks = np.array([rgb(palette.colour(byte)) for byte in range(256)], np.uint8)
    moments = np.linspace(0, steps[-1], min(ROWS, int(steps[-1]) + 1))
    rows = np.searchsorted(steps, moments, side="right") - 1
    cells = np.stack([looks[np.frombuffer(film["pictures"][row], np.uint8)] for row in rows])
    width = min(10.0, 4.6 + greeting["n"] / 40)
    figure, (axis,) = new_figure(1, width + 1.6, 5.6)
    half = steps[-1] / max(1, len(moments) - 1) / 2
    extent = (-0.5, greeting["n"] - 0.5, steps[-1] + half, -half)
    axis.imshow(cells, extent=extent, aspect="auto", interpolation="nearest")
    axis.grid(False)
    whole_ticks(axis.xaxis, 8)
    axis.set_xlabel("agent")
    axis.set_ylabel(f"time ({greeting['unit']})")
    axis.set_title(f"{greeting['protocol']} on {greeting['graph']}", loc="left")
    handles = [Patch(facecolor=colour, edgecolor=INK, linewidth=0.4, label=said) for colour, said in palette.legend()]
    axis.legend(handles=handles, loc="upper left", bbox_to_anchor=(1.01, 1), frameon=False, fontsize=11)
    return Picture(figure)


class Palette:
    """One colour for a cell: a leader's; or else its class; or else what it carries, and rims only if nothing else."""

    def __init__(self, channels: list[dict]):
        self.channels = channels
        self._has_class = any(channel["part"] == "class" for channel in channels)
        self._carried = [k for k, channel in enumerate(channels) if channel["part"] == "badge"]
        if len(self._carried) > 1:
            del self._carried[RIM]

    def colour(self, byte: int) -> str:
        look = seen(self.channels, byte)
        shown = [badge.colour for badge in look.badges if badge.place != RIM or len(self._carried) < 2]
        return look.fill if look.leader or self._has_class or not shown else shown[0]

    def legend(self) -> list[tuple[str, str]]:
        """What each colour says: that of an agent of which nothing else is to be said."""
        told = []
        for k, channel in enumerate(self.channels):
            labels, last = channel["labels"], len(channel["labels"]) - 1
            if channel["part"] == "shade":
                told += [(self._alone(k, value), f"{channel['name']} {labels[value]}") for value in (0, last)]
            elif channel["part"] != "badge" or (k in self._carried and not self._has_class):
                first = 0 if channel["part"] == "class" else 1
                told += [(self._alone(k, value), labels[value]) for value in range(first, last + 1)]
        return told

    def _alone(self, which: int, value: int) -> str:
        deep = self.channels[which]["part"] == "class"  # a class in its full colour, not in its faintest shade
        byte = 0
        for k, channel in enumerate(self.channels):
            size = len(channel["labels"])
            byte = byte * size + (value if k == which else size - 1 if deep and channel["part"] == "shade" else 0)
        return self.colour(byte)
