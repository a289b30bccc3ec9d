"""A verb: a function with typed parameters, as Typer reads them. Its docstring is its help."""

from collections import Counter

from hegemon import InvalidInput
from hegemon.graphs.families import parse


def degrees(graph: str) -> None:
    """Show how many nodes of a graph have each degree: `hegemon degrees wheel:8`."""
    topology = parse(graph, None, None)
    if topology.is_complete:
        raise InvalidInput(f"every node of {graph} has degree n - 1; give another graph")
    counts = Counter(topology.degrees.tolist())
    for degree, nodes in sorted(counts.items()):
        print(f"{nodes:>6,} nodes of degree {degree}")
