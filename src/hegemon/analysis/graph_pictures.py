"""A picture of a graph with the state of every node: leaders, labels and highlighted nodes."""

import inspect
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hegemon.analysis.pictures import COLOURS, INK, new_figure, save
from hegemon.errors import InvalidInput

LARGEST_DRAWN = 1000  # nodes
LEADER, OTHER, HIGHLIGHT = "#f2c14e", "#ffffff", COLOURS[1]

Places = dict[Any, tuple[float, float]]  # of nodes


def check_drawable(topology: Any) -> None:
    if topology.n > LARGEST_DRAWN:
        raise InvalidInput(
            f"--draw can show graphs of at most {LARGEST_DRAWN} nodes, and {topology.name} has {topology.n:,}; "
            "draw a smaller one"
        )


def draw_graph(protocol: Any, topology: Any, configuration: Any, title: str, path: str | Path) -> None:
    """Leaders are filled; nodes that the protocol highlights have a coloured rim; labels are the protocol's."""
    import networkx as nx
    import numpy as np

    graph = topology.to_networkx()
    nodes = configuration.agents.view(np.recarray)
    side = min(16.0, 4 + 0.6 * topology.n**0.5)
    figure, (axis,) = new_figure(1, side, side)
    axis.set_axis_off()
    places = place_nodes(graph, topology.name)
    labelled = hasattr(protocol, "label")
    size = 4200 / max(6, topology.n**0.5) * (side / 7) * (1.5 if labelled else 1)
    output = getattr(protocol, "output", None)
    leads = [output is not None and bool(output(a, protocol.p)) for a in nodes]
    stands_out = [bool(protocol.highlight(a, protocol.p)) if hasattr(protocol, "highlight") else False for a in nodes]
    straight = [edge for edge in graph.edges if not wraps(edge, places, topology.name)]
    bent = [edge for edge in graph.edges if wraps(edge, places, topology.name)]
    style: dict[str, Any] = {"ax": axis, "edge_color": "#bbbbbb", "width": 1.2, "node_size": size}
    nx.draw_networkx_edges(graph, places, straight, **style)
    if bent:  # the edges that close a torus would run through the nodes between their ends
        curved: dict[str, Any] = {"arrows": True, "connectionstyle": "arc3,rad=0.25", "arrowstyle": "-"}
        nx.draw_networkx_edges(graph, places, bent, style="dotted", **style, **curved)
    nx.draw_networkx_nodes(
        graph,
        places,
        ax=axis,
        node_size=size,
        node_color=[LEADER if lead else OTHER for lead in leads],
        edgecolors=[HIGHLIGHT if out else INK for out in stands_out],
        linewidths=[2.8 if out else 0.9 for out in stands_out],
    )
    if labelled:
        labels = {v: protocol.label(a, protocol.p) for v, a in enumerate(nodes)}
        nx.draw_networkx_labels(graph, places, labels, ax=axis, font_size=max(4, min(11, size**0.5 / 3)))
    axis.set_title(title, loc="left")
    key = [f"filled: leader ({sum(leads)})"] if output is not None else []
    key += [f"coloured rim: {reason}"] if any(stands_out) and (reason := first_sentence(protocol.highlight)) else []
    key += [protocol.symbols] if getattr(protocol, "symbols", "") else []
    axis.text(0, -0.02, "; ".join(key), transform=axis.transAxes, fontsize=10, va="top", wrap=True)
    axis.margins(0.08)
    axis.set_aspect("equal")
    save(figure, path)


def first_sentence(function: Callable[..., Any]) -> str:
    """The first sentence of a function's docstring, for use within another sentence."""
    sentence = (inspect.getdoc(function) or "").split("\n")[0].rstrip(".")
    return sentence[:1].lower() + sentence[1:]


def place_nodes(graph: Any, name: str = "") -> Places:
    """Rings in a circle from the top, lattices upright, other graphs by their distances or, if large, by springs."""
    import networkx as nx

    n = len(graph)
    rows, columns = lattice_shape(name)
    if rows * columns == n:
        return {v: (v % columns, -(v // columns)) for v in range(n)}
    if re.match(r"(directed-|oriented-)?ring\b", name):
        angles = {v: math.pi / 2 - 2 * math.pi * v / n for v in range(n)}
        return {v: (math.cos(angle), math.sin(angle)) for v, angle in angles.items()}
    if n <= 150:
        return dict(nx.kamada_kawai_layout(graph))
    return dict(nx.spring_layout(graph, seed=0, iterations=100))


def lattice_shape(name: str) -> tuple[int, int]:
    match = re.fullmatch(r"(?:grid|torus):(\d+)x(\d+)", name)
    return (int(match[1]), int(match[2])) if match else (0, 0)


def wraps(edge: tuple[int, int], places: Places, name: str) -> bool:
    """Whether an edge of a torus goes around it."""
    if not name.startswith("torus"):
        return False
    (x, y), (u, v) = places[edge[0]], places[edge[1]]
    return bool(abs(x - u) + abs(y - v) > 1)
