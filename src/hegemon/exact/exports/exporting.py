"""`hg.export`: a protocol, or its chain, in one of several formats."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from hegemon import doors, files
from hegemon.display import Show
from hegemon.errors import InvalidInput
from hegemon.models.protocol import Protocol
from hegemon.runs import kinds
from hegemon.runs.capabilities import supporting
from hegemon.runs.setting import Graph, Start

if TYPE_CHECKING:
    from hegemon.process.schedulers.scheduler import Scheduler

# what each format is; those of the chain have every configuration, the others the protocol
FORMATS = {
    "latex": "pseudo-code, parameters and transitions as a LaTeX document",
    "dot": "the states of an agent, for Graphviz",
    "svg": "the same, drawn",
    "prism": "the language of PRISM and Storm",
    "drn": "the chain, for Storm",
    "tra": "the chain as PRISM's explicit files (.tra, .sta, .lab, .rew)",
    "chain": "the chain, for Graphviz",
}
SUPPORTS = {
    "latex": supporting("export to latex", ""),
    "dot": supporting("export to dot", "start"),
    "svg": supporting("export to svg", "start"),
    "prism": supporting("export to prism", "graph start scheduler"),
    "drn": supporting("export to drn", "graph start scheduler memory"),
    "tra": supporting("export to tra", "graph start scheduler memory"),
    "chain": supporting("export to chain", "graph start scheduler memory"),
}
MEMORY = 4.0  # GiB
ENDINGS = {"latex": ".tex", "svg": ".svg", "chain": ".dot"}


@kinds.door(to=doors.one_of(*FORMATS), out=doors.path)
def export(
    protocol: Protocol, to: str, out: str | Path, *, graph: Graph = None, start: Start = None,
    scheduler: "str | Scheduler | None" = None, memory: float = MEMORY, progress: Show | None = None,
) -> list[Path]:  # fmt: skip
    """Write a protocol for a paper or for another tool; returns the files that were written.

    to     latex, dot, svg, prism, drn, tra or chain.
    out    the file; its ending is that of the format.
    start  for dot, svg and prism: what can occur is what follows from here. Default: the protocol's own start.
    scheduler  for chains: a daemon gives the decision process of all its schedules (drn).
    """
    chosen = {"graph": graph is not None, "start": start is not None, "scheduler": scheduler is not None}
    SUPPORTS[to].require(name for name, is_given in {**chosen, "memory": memory != MEMORY}.items() if is_given)
    if not Path(out).name:
        raise InvalidInput(f"{out} is a folder; give the name of a file")
    place = files.reserve(Path(out).with_suffix(ENDINGS.get(to, f".{to}")))
    if to == "latex":
        from hegemon.exact.exports.latex import latex

        files.write_text(place, latex(protocol))
    elif to in ("dot", "svg"):
        from hegemon.exact.exports.diagram import diagram, dot, picture

        drawn = diagram(protocol, start)
        files.write_text(place, dot(drawn)) if to == "dot" else picture(drawn).save(place)
    elif to == "prism":
        from hegemon.exact.exports.prism import prism

        files.write_text(place, prism(protocol, graph, start, scheduler))
    else:
        return _chain(protocol, to, place, graph, start, scheduler, memory, progress)
    return [place]


def _chain(
    protocol: Protocol,
    to: str,
    place: Path,
    graph: Any,
    start: Any,
    scheduler: "str | Scheduler | None",
    memory: float,
    progress: Show | None,
) -> list[Path]:
    from hegemon.exact.containment import members
    from hegemon.exact.exports.chains import write_chain
    from hegemon.exact.instance import Instance
    from hegemon.exact.recomputed import RecomputedChain
    from hegemon.exact.schedules import parse_daemon

    daemon = parse_daemon(scheduler, protocol)
    law = {"scheduler": scheduler} if daemon is None else {"daemon": daemon[0]}
    case = Instance(protocol, graph, start, daemon is None, memory, progress, **law)
    chain = case.chain
    if isinstance(chain, RecomputedChain):
        raise InvalidInput("the chain must be stored to be exported; raise --memory, or take smaller parameters")
    sets = {name: members(chain, chosen) for name, chosen in protocol.sets.items()}
    return write_chain(chain, to, place, sets, protocol.reaches, case.decisions)
