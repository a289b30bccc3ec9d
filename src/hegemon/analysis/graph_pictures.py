"""A picture of a graph with the state of every node: who leads, what it carries, what stands out."""

from hegemon.analysis.pictures import COLOURS, INK, new_figure, save
from hegemon.errors import InvalidInput

LARGEST_DRAWN = 1000  # nodes
LEADER, OTHER, HIGHLIGHT = "#f2c14e", "#ffffff", COLOURS[1]


def check_drawable(topology) -> None:
    if topology.n > LARGEST_DRAWN:
        raise InvalidInput(
            f"--draw can show graphs of at most {LARGEST_DRAWN} nodes, and {topology.name} has {topology.n:,}; "
            "draw a smaller one"
        )


def draw_graph(protocol, topology, configuration, title: str, path) -> None:
    """Leaders are filled; nodes that the protocol highlights have a coloured rim; labels are the protocol's."""
    import networkx as nx
    import numpy as np

    graph = topology.to_networkx()
    nodes = configuration.agents.view(np.recarray)
    side = min(16.0, 4 + 0.6 * topology.n**0.5)
    figure, (axis,) = new_figure(1, side, side)
    axis.set_axis_off()
    places = place_nodes(graph)
    size = 4200 / max(6, topology.n**0.5) * (side / 7)
    output = getattr(protocol, "output", None)
    leads = [output is not None and output(a, protocol.p) == 1 for a in nodes]
    stands_out = [bool(protocol.highlight(a, protocol.p)) if hasattr(protocol, "highlight") else False for a in nodes]
    nx.draw_networkx_edges(graph, places, ax=axis, edge_color="#bbbbbb", width=1.2, node_size=size)
    nx.draw_networkx_nodes(
        graph,
        places,
        ax=axis,
        node_size=size,
        node_color=[LEADER if lead else OTHER for lead in leads],
        edgecolors=[HIGHLIGHT if out else INK for out in stands_out],
        linewidths=[2.4 if out else 0.9 for out in stands_out],
    )
    if hasattr(protocol, "label"):
        labels = {v: protocol.label(a, protocol.p) for v, a in enumerate(nodes)}
        nx.draw_networkx_labels(graph, places, labels, ax=axis, font_size=max(3.5, min(9, size**0.5 / 3.2)))
    axis.set_title(title, loc="left", fontsize=10)
    save(figure, path)


def place_nodes(graph) -> dict:
    """Small graphs by their distances, which unrolls rings and grids; large ones by springs."""
    import networkx as nx

    if len(graph) <= 150:
        return nx.kamada_kawai_layout(graph)
    return nx.spring_layout(graph, seed=0, iterations=100)
