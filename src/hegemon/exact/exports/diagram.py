"""The states of one agent and how meetings change them, as a diagram: DOT for Graphviz, or a picture.

Only states that can occur are drawn: those of the start, and what they become when any two of them meet. Up to
MOST_NODES are drawn one by one, inside the classes of agents that the protocol declares; beyond, states that agree in
some fields are one node, which shows their number.
"""

import math
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from hegemon.analysis.pictures import COLOURS, INK, Picture, new_figure
from hegemon.errors import InvalidInput
from hegemon.exact.configurations import transition_tables
from hegemon.exact.exports.latex import label
from hegemon.exact.instance import fixed_start
from hegemon.models.population import PopulationProtocol
from hegemon.models.protocol import Protocol
from hegemon.runs.setting import Start, topology_for

MOST_STATES = 3000
MOST_NODES = 30
LONGEST_LABEL = 22  # letters on an arrow
LEGEND = "→ 2: as initiator it meets 2, ← 2: as responder, 2: in both roles"
LIGHT = ("#dbe9f6", "#fbe3d3", "#d5f0e6", "#f6e3ee", "#fbf0d0", "#dff2fb", "#e8e8e8", "#e9e0f0")


@dataclass(frozen=True)
class Node:
    name: str
    states: int
    group: str
    starts: bool
    leads: bool


@dataclass
class Diagram:
    """`arrows[a, b]`: which partners a state of node a meets, and in which role, when it becomes one of node b."""

    title: str
    nodes: list[Node]
    arrows: dict[tuple[int, int], str]
    unreachable: int = 0
    merged_by: tuple[str, ...] = ()

    @property
    def caption(self) -> str:
        states = sum(node.states for node in self.nodes)
        sentence = f"{self.title}: {states:,} states"
        sentence += f", {self.unreachable:,} more cannot occur" if self.unreachable else ""
        sentence += f"; a node is all states with the same {', '.join(self.merged_by)}" if self.merged_by else ""
        return sentence


def diagram(protocol: Protocol, start: Start = None) -> Diagram:
    """The diagram of a population protocol."""
    if not hasattr(protocol, "transition_codes"):
        raise InvalidInput(
            f"{protocol.id} has the model {protocol.model}; state diagrams exist for population protocols"
        )
    protocol.require_sound()
    q = protocol.states
    if q > MOST_STATES:
        raise InvalidInput(
            f"{protocol.id} has {q:,} states; a diagram takes at most {MOST_STATES:,}, so take a smaller n"
        )
    population = cast(PopulationProtocol, protocol)
    first, second = (table.reshape(population.coins.size, q, q) for table in transition_tables(population))
    begin = _start_codes(protocol, start)
    occurring = _occurring(first, second, begin)
    node_of, names, groups, merged_by = _nodes(protocol, occurring)
    nodes = []
    for k, name in enumerate(names):
        members = [code for code in occurring if node_of[code] == k]
        leads = bool(protocol.outputs) and all(
            protocol.holds(protocol.output, protocol.space.namespace(code)) for code in members
        )
        starts = any(code in begin for code in members) and len(begin) < q
        nodes.append(Node(name, len(members), groups[k], starts, leads))
    arrows: dict[tuple[int, int], dict[str, set[int]]] = {}
    inside, nodes_of = np.array(occurring), np.array([node_of.get(code, -1) for code in range(q)])
    mine, theirs = np.meshgrid(nodes_of[inside], nodes_of[inside], indexing="ij")
    for tables, role, me, partner in ((first, "→", mine, theirs), (second, "←", theirs, mine)):
        for table in tables:
            after = nodes_of[table[np.ix_(inside, inside)]]
            rows = np.stack([me[me != after], after[me != after], partner[me != after]], axis=1)
            for source, target, met in np.unique(rows, axis=0).tolist():
                arrows.setdefault((source, target), {"→": set(), "←": set()})[role].add(met)
    labelled = {pair: _partners(met, len(nodes)) for pair, met in sorted(arrows.items())}
    return Diagram(f"{protocol.id}, n = {protocol.n}", nodes, labelled, q - len(occurring), merged_by)


def _start_codes(protocol: Protocol, start: Start) -> set[int]:
    start = start if start is not None else protocol.default_start
    if start in ("all", "random") and protocol.starts.get("random") in (None, Protocol.start_random):
        return set(range(protocol.states))
    return {int(code) for code in fixed_start(protocol, start, topology_for(protocol, None))}


def _occurring(first: np.ndarray, second: np.ndarray, begin: set[int]) -> list[int]:
    occurring = set(begin)
    new = set(begin)
    while new:
        old, fresh = sorted(occurring), sorted(new)
        after = [table[:, rows][:, :, columns] for table in (first, second)
                 for rows, columns in ((old, fresh), (fresh, old))]  # fmt: skip
        new = {int(code) for part in after for code in np.unique(part)} - occurring
        occurring |= new
    return sorted(occurring)


def _nodes(protocol: Any, codes: list[int]) -> tuple[dict[int, int], list[str], list[str], tuple[str, ...]]:
    """The node of every state, the names of nodes, their classes, and the fields by which states are merged."""
    space = protocol.space
    states = {code: space.mapping_of(code) for code in codes}
    if len(codes) <= MOST_NODES:
        classes = space.discriminators
        groups = [" ".join(f"{k}={states[code][k]}" for k in classes if k in states[code]) for code in codes]
        return {code: k for k, code in enumerate(codes)}, [label(protocol, code) for code in codes], groups, ()
    sizes = {name: high - low + 1 for name, (low, high) in space.bounds.items()}
    order = [
        *space.discriminators,
        *sorted((k for k in sizes if k not in space.discriminators), key=lambda k: sizes[k]),
    ]
    chosen: tuple[str, ...] = ()
    for name in order:
        tried = (*chosen, name)
        if len({_key(states[code], tried) for code in codes}) <= MOST_NODES:
            chosen = tried
    keys = list(dict.fromkeys(_key(states[code], chosen) for code in codes))
    node_of = {code: keys.index(_key(states[code], chosen)) for code in codes}
    names = [" ".join(f"{k}={v}" for k, v in key if v is not None) or "all states" for key in keys]
    classes = [name for name in space.discriminators if name in chosen]
    groups = [" ".join(f"{k}={v}" for k, v in key if k in classes and v is not None) for key in keys]
    return node_of, names, groups, chosen or ("class",)


def _key(state: dict[str, Any], names: tuple[str, ...]) -> tuple[Any, ...]:
    return tuple((name, state.get(name)) for name in names)


def _partners(met: dict[str, set[int]], count: int) -> str:
    """The numbers of the partners, those met in both roles without an arrow."""
    both = met["→"] & met["←"]
    parts = [_numbers(both, count)] if both else []
    parts += [f"{role} {_numbers(partners - both, count)}" for role, partners in met.items() if partners - both]
    return "; ".join(parts)


def _numbers(nodes: set[int], count: int) -> str:
    """1, 3–5 for a set of nodes, numbered from 1."""
    if len(nodes) == count:
        return "any"
    runs: list[list[int]] = []
    for number in sorted(k + 1 for k in nodes):
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    listed = ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}–{run[-1]}" for run in runs)
    return listed if len(listed) <= LONGEST_LABEL else f"{len(nodes)} nodes"


def dot(drawn: Diagram) -> str:
    """The diagram for Graphviz."""
    heading = f"{drawn.caption}\n{LEGEND}"
    lines = ["digraph states {", f"  label={_quoted(heading)}; labelloc=t; fontname=Helvetica;"]
    lines += ["  node [shape=box, style=rounded, fontname=Helvetica]; edge [fontname=Helvetica, fontsize=10];"]
    for number, group in enumerate(dict.fromkeys(node.group for node in drawn.nodes)):
        inside = [k for k, node in enumerate(drawn.nodes) if node.group == group]
        if group:
            lines += [f"  subgraph cluster_{number} {{", f"    label={_quoted(group)}; color=gray;"]
        for k in inside:
            node = drawn.nodes[k]
            text = f"{k + 1}: {node.name}" + (f"\n{node.states:,} states" if node.states > 1 else "")
            style = ", peripheries=2" if node.starts else ""
            fill = ', style="rounded,filled", fillcolor="#fbe3d3"' if node.leads else ""
            lines.append(f"    {k} [label={_quoted(text)}{style}{fill}];")
        lines += ["  }"] if group else []
    lines += [f"  {a} -> {b} [label={_quoted(partners)}];" for (a, b), partners in drawn.arrows.items()]
    return "\n".join([*lines, "}", ""])


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def picture(drawn: Diagram) -> Picture:
    """The same drawn here: classes around a circle, arrows bent, what they mean below."""
    count = len(drawn.nodes)
    size = 5.0 + 0.22 * count
    figure, (axis,) = new_figure(1, width=size * 1.35, height=size)
    order = sorted(range(count), key=lambda k: (drawn.nodes[k].group, k))
    places = {k: _place(position, count) for position, k in enumerate(order)}
    groups = list(dict.fromkeys(drawn.nodes[k].group for k in order))
    names_shown, boxes = count <= 12, []
    for k, node in enumerate(drawn.nodes):
        text = f"{k + 1}: {node.name}".replace(" ", "\n", -1 if len(node.name) > 8 else 0).replace(":\n", ": ")
        text += f"\n({node.states:,} states)" if node.states > 1 else ""
        colour = LIGHT[groups.index(node.group) % len(LIGHT)]
        box: dict[str, Any] = {"boxstyle": "round,pad=0.4", "facecolor": colour, "edgecolor": COLOURS[k % len(COLOURS)]}
        box["linewidth"] = 3 if node.starts else 1.2
        weight = "bold" if node.leads else "normal"
        style = {"fontsize": 10, "weight": weight, "bbox": box, "zorder": 3, "color": INK}
        boxes.append(axis.text(*places[k], text, ha="center", va="center", **style).get_bbox_patch())
    for number, ((a, b), partners) in enumerate(drawn.arrows.items()):
        ends = {"patchA": boxes[a], "patchB": boxes[b]}
        _arrow(axis, places[a], places[b], ends, partners if names_shown else "", COLOURS[a % len(COLOURS)], number)
    axis.set_xlim(-1.35, 1.35)
    axis.set_ylim(-1.3, 1.3)
    axis.axis("off")
    axis.set_title(drawn.caption, loc="left", fontsize=11, wrap=True)
    legend = f"an arrow says whom it meets; {LEGEND}; thick frame: start; bold: leads"
    unnamed = "whom an agent meets is not written where there are more than 12 nodes: --to dot has it"
    axis.text(0, -1.28, legend if names_shown else unnamed, ha="center", fontsize=9, color=INK)
    return Picture(figure)


def _place(position: int, count: int) -> tuple[float, float]:
    angle = math.pi / 2 - 2 * math.pi * position / count
    return math.cos(angle), math.sin(angle)


def _arrow(axis: Any, begin: Any, end: Any, ends: dict[str, Any], text: str, colour: str, number: int) -> None:
    style = {"arrowstyle": "-|>", "color": colour, "connectionstyle": "arc3,rad=0.15", "mutation_scale": 14, **ends}
    axis.annotate("", xy=end, xytext=begin, arrowprops=style, zorder=1)
    if text:
        share = 0.5 if number % 2 else 0.42
        (x, y), (u, v) = begin, end
        bend = 0.075
        place = (x + (u - x) * share + bend * (v - y), y + (v - y) * share - bend * (u - x))
        box: dict[str, Any] = {"boxstyle": "round,pad=0.1", "facecolor": "white", "edgecolor": "none", "alpha": 0.8}
        axis.text(*place, text, fontsize=8, color=colour, ha="center", va="center", bbox=box, zorder=2)
