"""`check`: a protocol tried as the engines will use it: all pairs, ranges, starts, closed sets, compilation."""

from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, cast

from hegemon import display
from hegemon.errors import InvalidInput, pass_interrupt, sentence
from hegemon.graphs.topology import Topology
from hegemon.models.authors import authored, declared
from hegemon.models.protocol import Protocol
from hegemon.runs import kinds
from hegemon.runs.setting import Graph, topology_for

ALL_PAIRS = 40_000  # pairs of states: all are tried up to this number, else this many at random
STEPS = {"steps": 300, "rounds": 20}  # length of the runs that try the engines


class NotDecided(Exception):
    """A check that neither passes nor fails; the text says why."""


@kinds.door()
@display.with_progress
def check(protocol: Protocol, *, graph: Graph = None, progress: display.Show | None = None) -> dict[str, Any]:
    """Try a protocol as the engines will, and return what was found, as `hegemon check --json` prints it.

    protocol  a small instance, such as MyProtocol(n=5).
    graph     a topology or its name; without it, the protocol's own.

    `ok` says whether nothing is wrong, `undecided` how many checks neither pass nor fail, and `checks` lists them, each
    with `what`, `ok` (None: not decided) and the sentence `found`.
    """
    topology = topology_for(protocol, graph)
    rows: list[dict[str, Any]] = []
    startless = False  # whether no run can be tried
    for what, attempt in attempts(protocol, topology):
        if startless and what.startswith("engine "):
            break  # it would fail for the same reason
        if progress:
            progress(f"trying {what}", len(rows), None)
        rows.append(tried(what, attempt))
        startless |= what in (f"start {protocol.default_start}", "decisions") and not rows[-1]["ok"]
        if what == "functions" and not rows[-1]["ok"]:
            break  # no other check is meaningful then
    return {
        "protocol": protocol.id,
        "model": protocol.model.name,
        "n": protocol.n,
        "ok": all(row["ok"] is not False for row in rows),
        "undecided": sum(row["ok"] is None for row in rows),
        "checks": rows,
    }


def tried(what: str, attempt: Callable[[], str]) -> dict[str, Any]:
    """One check as a row: what it found, or the sentence of its error. `ok` is None if nothing is decided."""
    try:
        return {"what": what, "ok": True, "found": attempt()}
    except NotDecided as why:
        return {"what": what, "ok": None, "found": str(why)}
    except BaseException as error:  # the user's code may raise anything
        pass_interrupt(error)
        return {"what": what, "ok": False, "found": sentence(error) or f"{type(error).__name__}: {error}"}


def attempts(protocol: Protocol, topology: Topology) -> Iterator[tuple[str, Callable[[], str]]]:
    """The checks, each after those that it depends on."""
    yield "functions", lambda: check_functions(protocol)
    if protocol.model.has_interactions:
        yield "all pairs", lambda: check_pairs(protocol)
    if protocol.model.has_configurations:
        for name in dict.fromkeys([*protocol.starts, *filter(None, [protocol.default_start])]):
            yield f"start {name}", partial(check_start, protocol, topology, name)
        for name, chosen in protocol.sets.items():
            if chosen.closed:
                yield f"set {name}", partial(check_closure, protocol, topology, name)
    if protocol.model.has_starts:
        yield "safe", lambda: require_safe(protocol)
    if protocol.model.wakes:
        yield "decisions", lambda: check_decisions(protocol, topology)
    for engine in engines(protocol, topology):
        yield f"engine {engine}", partial(check_engine, protocol, topology, engine)


def check_functions(protocol: Protocol) -> str:
    protocol.require_sound()
    states = f"; {protocol.states:,} states" if protocol.fields else ""
    return f"pure, and in range where they were tried{states}"


def check_pairs(protocol: Any) -> str:
    """Every ordered pair of states with every value of the coins, or very many of them."""
    import numpy as np

    from hegemon.models.soundness import with_place

    size, values = protocol.space.size, protocol.coins.size
    every = size**2 * values
    if every <= ALL_PAIRS:
        meetings = [(a, b, coin) for a in range(size) for b in range(size) for coin in range(values)]
    else:
        meetings = np.random.default_rng(0).integers((size, size, values), size=(ALL_PAIRS, 3)).tolist()
    for first, second, coin in meetings:
        try:
            protocol.transition_codes(first, second, coin)
        except InvalidInput as error:
            raise InvalidInput(with_place(error, protocol.interact)) from None
    kind = "all" if every <= ALL_PAIRS else f"of {every:,}"
    tossed = f" with {values:,} values of their coins" if values > 1 else ""
    return f"{len(meetings):,} pairs of states{tossed} ({kind}) stay in range"


def check_start(protocol: Protocol, topology: Topology, name: str) -> str:
    from hegemon.process.membership import Watcher
    from hegemon.runs.setting import initial_configuration

    configuration = initial_configuration(protocol, name, 0, 0, topology=topology)
    seen = Watcher(protocol, protocol.watched(), topology).measure(configuration)
    return ", ".join(f"{key}: {value:g}" for key, value in list(seen.items())[:4]) or "a configuration"


def check_closure(protocol: Protocol, topology: Topology, name: str) -> str:
    """Exactly where the chain is small, otherwise along runs, which decide nothing unless they leave the set.

    The claim is about the starts that the protocol is made for, as `verify` takes it.
    """
    from hegemon.exact.verification import verify

    start = "all" if protocol.arbitrary_start else protocol.default_start
    try:
        answer: Any = verify(protocol, graph=topology, start=start, property=f"closed:{name}", memory=0.05)
    except InvalidInput as error:  # too many configurations, or a random start
        claim = f"claims to be closed, not proved here ({str(error).partition(';')[0]})"
        if not protocol.model.has_interactions:
            raise NotDecided(claim) from None
        import numpy as np

        from hegemon.runs.closure import check_closed

        seen = check_closed(protocol, name, topology, np.random.default_rng(0))
        raise NotDecided(f"{claim}; none of {seen:,} steps from inside left it") from None
    finding = answer.finding("closed", name)
    if not finding.holds:
        steps = finding.counterexample.interactions if finding.counterexample else ()
        how = f", for instance by {steps[-1].sentence()}" if steps else ""
        place = declared(type(protocol), name)
        raise InvalidInput(f"{name} claims to be closed, but {finding.sentence}{how}{place}")
    return f"closed: {finding.sentence}"


def require_safe(protocol: Protocol) -> str:
    if "safe" not in protocol.sets:
        raise InvalidInput(f"{protocol.id} has no set called safe, where runs end; write `safe = {a_set(protocol)}`")
    if protocol.model.has_objects:  # no other check evaluates the set
        import numpy as np

        agents = cast(Any, protocol).agents_of(protocol.default_start, np.random.default_rng(0))
        with authored(f"{protocol.id}: the set safe, on the agents of the start,"):
            cast(Any, protocol).holds(protocol.sets["safe"], agents)
    return "runs end there unless --until says otherwise"


def a_set(protocol: Protocol) -> str:
    """A set as its class would declare it: of fields that it has, or of the agents where states are objects."""
    if not protocol.fields:
        return "whole(lambda agents, p: …)"
    names = [field.name for field in protocol.fields]
    if protocol.elects_leader and "leader" in names:
        return "exactly(1, lambda a, p: a.leader == 1)"
    return "exactly(1, output)" if protocol.elects_leader else f"everywhere(lambda a, p: a.{names[0]} == …)"


def check_decisions(protocol: Any, topology: Topology) -> str:
    """A node decides by being ELECTED or NON_ELECTED: any other value elects no leader."""
    from hegemon.engines.messages.nodes import Nodes
    from hegemon.models.messages import ELECTED, NON_ELECTED
    from hegemon.process.messages.surroundings import Surroundings

    adapted = protocol.adapt(topology)
    engine = Nodes(adapted, topology, Surroundings(adapted), 0, 0)
    engine.run(STEPS["rounds"])
    found = Counter(node.status for node in engine.nodes.values())
    for status in found:
        if status not in (None, ELECTED, NON_ELECTED):
            raise InvalidInput(f"{protocol.id}: a node has the status {status!r}; write ELECTED or NON_ELECTED")
    return f"{found[ELECTED]:,} ELECTED, {found[NON_ELECTED]:,} NON-ELECTED, {found[None]:,} undecided"


def engines(protocol: Protocol, topology: Topology) -> list[str]:
    from hegemon.engines.inside import outside

    if not protocol.model.has_interactions or outside(protocol):
        return ["auto"]
    counts = topology.is_complete and protocol.space.has_codes
    return ["agents", "events", "batch"] if counts else ["agents", "events"]


def check_engine(protocol: Protocol, topology: Topology, engine: str) -> str:
    """A short run, which compiles what its steps need.

    What skips rounds is left out: it is compiled from the same functions, for longer than everything else.
    """
    from hegemon.runs.simulate import simulate

    course: dict[str, Any] = {"max_steps": STEPS["rounds"]}
    if protocol.model.has_starts:
        course = {"until": f"{protocol.time_unit}:{STEPS[protocol.time_unit]}"}
    if protocol.model.has_rounds:
        course["fast_forward"] = False
    run = simulate(protocol, graph=topology, engine=engine, **course)
    led = "" if run.leaders is None else f", {run.leaders:,} leader{'' if run.leaders == 1 else 's'}"
    from hegemon.engines.inside import outside

    plain = "in plain Python, which is slow: " + outside(protocol) if run.engine == "plain" else ""
    how = f"runs {plain}" if plain else "compiles and runs"
    return f"{how}: {run.steps:,} {run.unit}{led}"
