"""A film as one picture: agents from left to right, time from top to bottom, in the colours of the page.

Where neighbours stand side by side, signals, bullets and waves become lines: on rings and paths by number, on other
graphs in an order that puts neighbours near each other, or by the distance from a node.
"""

from typing import Any

import numpy as np

from hegemon.analysis.pictures import Picture, new_figure, whole_ticks
from hegemon.errors import InvalidInput
from hegemon.models.expressions import whole_number
from hegemon.web.colours import DARK, LIGHT, Ground, rgb, seen

MOST_AGENTS = 2000  # columns that can be distinguished on a large screen
ROWS = 300  # moments
NO_COLUMNS = "agents come and go in this film, so none has a column of its own; save it as .html or .gif"
RIM = 1  # the index of the badge that the page draws as a rim


def require_columns(n: int) -> None:
    """A diagram has a column for every agent; this is known before any film is made."""
    if n > MOST_AGENTS:
        raise InvalidInput(
            f"a space–time diagram shows at most {MOST_AGENTS:,} agents, and this run has {n:,}; "
            "give --as moment for a picture of its end, or save it as .html or .gif"
        )


def ordered(greeting: dict[str, Any], order: str) -> tuple[np.ndarray, np.ndarray | None]:
    """The agents from left to right, and with `distance:V` the distance of each; `near` and `number` have none."""
    n, kind = greeting["n"], order.partition(":")[0]
    if order == "number":
        return np.arange(n), None
    if kind not in ("near", "distance") or kind == "near" and order != "near":
        raise InvalidInput(f"the order {order!r} is not known; choose number, near or distance:V, where V is a node")
    edges = np.array(greeting["edges"], int).reshape(-1, 2)
    if not len(edges):
        raise InvalidInput(f"{greeting['graph']} has no order but that of the numbers; leave --sorted out")
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import dijkstra, reverse_cuthill_mckee

    graph = coo_array((np.ones(len(edges)), edges.T), shape=(n, n)).tocsr()
    graph = graph + graph.T
    if kind == "near":
        return reverse_cuthill_mckee(graph, symmetric_mode=True), None
    node = whole_number(order.partition(":")[2], "the node of --sorted distance", low=0, high=n - 1)
    away = dijkstra(graph, unweighted=True, indices=node)
    agents = np.argsort(away, kind="stable")
    return agents, away[agents]


def space_time(film: dict[str, Any], order: str = "number", dark: bool = False) -> Picture:
    """The diagram of a film; each moment is the last frame that is not later."""
    from matplotlib.patches import Patch

    greeting = film["greeting"]
    require_columns(greeting["n"])
    if greeting["kind"] == "bands":
        raise InvalidInput("this film has counts of agents, which have no columns; save it as .html or .gif")
    if any(len(picture) != greeting["n"] for picture in film["pictures"]):
        raise InvalidInput(NO_COLUMNS)
    on = DARK if dark else LIGHT
    agents, away = ordered(greeting, order)
    steps = np.array([head["step"] for head in film["heads"]])
    palette = Palette(greeting["channels"], on)
    looks = np.array([rgb(palette.colour(byte)) for byte in range(256)], np.uint8)
    moments = np.linspace(0, steps[-1], min(ROWS, int(steps[-1]) + 1))
    rows = np.searchsorted(steps, moments, side="right") - 1
    cells = np.stack([looks[np.frombuffer(film["pictures"][row], np.uint8)[agents]] for row in rows])
    width = min(10.0, 4.6 + greeting["n"] / 40)
    figure, (axis,) = new_figure(1, width + 1.6, 5.6)
    half = steps[-1] / max(1, len(moments) - 1) / 2
    extent = (-0.5, greeting["n"] - 0.5, steps[-1] + half, -half)
    axis.imshow(cells, extent=extent, aspect="auto", interpolation="nearest")
    axis.grid(False)
    if away is not None:
        layers = np.flatnonzero(np.diff(away, prepend=-1))  # where the next distance begins
        layers = layers[:: -(-len(layers) // 10)]
        axis.set_xticks(layers - 0.5, [f"{away[place]:.0f}" for place in layers])
        axis.set_xlabel(f"agents by their distance from {order.partition(':')[2]}")
    elif order == "near":
        axis.set_xticks([])
        axis.set_xlabel("agents, neighbours near each other")
    else:
        whole_ticks(axis.xaxis, 8)
        axis.set_xlabel("agent")
    whole_ticks(axis.yaxis, 6)
    axis.set_ylabel(f"time ({greeting['unit']})")
    axis.set_title(f"{greeting['protocol']} on {greeting['graph']}", loc="left")
    handles = [
        Patch(facecolor=colour, edgecolor=on.ink, linewidth=0.4, label=said) for colour, said in palette.legend()
    ]
    axis.legend(handles=handles, loc="upper left", bbox_to_anchor=(1.01, 1), frameon=False, fontsize=11,
                labelcolor=on.ink)  # fmt: skip
    if dark:
        darken(figure, axis)
    return Picture(figure)


def darken(figure: Any, axis: Any) -> None:
    """Make letters and lines light on a dark ground."""
    figure.set_facecolor(DARK.ground)
    axis.tick_params(colors=DARK.ink)
    for spine in axis.spines.values():
        spine.set_color(DARK.ink)
    for text in (axis.xaxis.label, axis.yaxis.label):
        text.set_color(DARK.ink)
    axis.set_title(axis.get_title(loc="left"), loc="left", color=DARK.ink)


class Palette:
    """One colour per cell: a leader's, else that of its class, else of its first badge; of the rim only if alone."""

    def __init__(self, channels: list[dict[str, Any]], on: Ground = LIGHT):
        self.channels, self.on = channels, on
        self._has_class = any(channel["part"] == "class" for channel in channels)
        self._carried = [k for k, channel in enumerate(channels) if channel["part"] == "badge"]
        if len(self._carried) > 1:
            del self._carried[RIM]

    def colour(self, byte: int) -> str:
        look = seen(self.channels, byte, self.on)
        shown = [badge.colour for badge in look.badges if badge.place != RIM or len(self._carried) < 2]
        return look.fill if look.leader or self._has_class or not shown else shown[0]

    def legend(self) -> list[tuple[str, str]]:
        """What each colour means: pairs of a colour (of an agent with that value alone) and its label."""
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
