"""What several commands share: reading protocols and parameters, and printing tables or JSON."""

import json
import math
import sys

from rich.console import Console
from rich.table import Table

from hegemon.compute.randomness import GRAPH, generator
from hegemon.errors import InvalidInput
from hegemon.graphs.families import parse
from hegemon.models.expressions import whole_number
from hegemon.protocols.loading import find_protocol
from hegemon.runs.setting import topology_for


def assignments(texts) -> dict:
    """`--set key=value` options as a dictionary; numbers become numbers, other texts stay."""
    values = {}
    for text in texts or ():
        key, equals, value = text.partition("=")
        if not equals or not key.strip() or not value.strip():
            raise InvalidInput(f"--set {text!r} is not understood; write --set name=value, for example --set tau=2")
        if key.strip() in values:
            raise InvalidInput(f"--set gives {key.strip()} twice; give it once")
        values[key.strip()] = number(value.strip())
    return values


def number(text: str):
    for kind in (int, float):
        try:
            value = kind(text)
        except ValueError:
            continue
        return value if math.isfinite(value) else text
    return text


def build(name: str, n, graph, settings, seed: int):
    """The protocol and the topology that a command's arguments describe. The graph may say what n is."""
    protocol_class = find_protocol(name)
    size = None if n is None else whole_number(n, "n", low=1)
    topology = None
    if graph:
        topology = parse(graph, size, generator(seed, 0, GRAPH))
        size = topology.n
    if size is None:
        raise InvalidInput("how many agents? Give --n N, or a --graph with a size such as ring:64")
    protocol = protocol_class(n=size, **assignments(settings))
    return protocol, topology_for(protocol, topology, seed)


def print_json(content) -> None:
    json.dump(content, sys.stdout, indent=2, allow_nan=False)
    print()


def console() -> Console:
    """Tables as wide as they need to be when nobody looks at a terminal."""
    return Console(highlight=False, width=None if sys.stdout.isatty() else 160)


def facts(rows: dict) -> Table:
    """A two-column table of names and values."""
    table = Table(show_header=False, box=None, pad_edge=False)
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    for name, value in rows.items():
        table.add_row(name, str(value))
    return table


def figure(value) -> str:
    """A number as people read it."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.0f}" if value >= 10_000 else f"{value:,.4g}"
    if isinstance(value, list | tuple):
        return " … ".join(figure(item) for item in value)
    return str(value)
