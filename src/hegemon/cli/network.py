"""`hegemon network` and `hegemon agent`: the same definition among real processes."""

import os
import select
import statistics
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hegemon.cli import failures, guard, options
from hegemon.cli.common import build, console, counted, facts, figure, print_json
from hegemon.cli.options import MOST_AGENTS, decimal, integer, option, positive
from hegemon.errors import InvalidInput
from hegemon.runs.option import MOST_SEED

if TYPE_CHECKING:  # they load NumPy, which --help does not need
    from hegemon.graphs.topology import Topology
    from hegemon.models.protocol import Protocol
    from hegemon.network.events import NetworkEvents
    from hegemon.network.swarm import Swarm, View

LOOKS_PER_SECOND = 20
UNWATCHED_SECONDS = 20.0  # how long a network runs when nobody is there to stop it
LONGEST_SECONDS = 7 * 86400.0
MOST_RATE = 100_000
KEYS = {"k": "kill", "r": "restart", "p": "pause", "o": "resume", "c": "corrupt", "x": "cut", "h": "heal"}
KEYS |= {"j": "join", "l": "leave"}
MOST_SHOWN = 8  # faults with a line each


def _read_rate(word: str) -> str:
    """A number, or an event with its rate, as it is written."""
    return word if "=" in word else str(positive("--rate", MOST_RATE)(word))


def _pace(words: list[str]) -> float | None:
    """How many interactions a member begins per second, if that is given."""
    given = [float(word) for word in words if "=" not in word]
    if len(given) > 1:
        raise InvalidInput(f"--rate is given {len(given)} numbers; give one, and KIND=R for events")
    return given[0] if given else None


def run_network(
    protocol: options.Protocol,
    n: Annotated[int | None, integer("--n", "number of members, each a process", low=1, high=MOST_AGENTS)] = None,
    set_: options.Set = None,
    graph: Annotated[
        str | None, option("--graph", help="who contacts whom: ring:16, grid:4x4 … or a file", metavar="GRAPH")
    ] = None,
    rate: Annotated[
        list[str] | None,
        option(
            "--rate", metavar="R | KIND=R", read=_read_rate,
            help="interactions that a member begins per second (default 50, at most 2,000 of all together; 10 rounds); "
            "or, with probability R after every interaction, join=R, leave=R, corrupt=R, crash=R; repeatable",
        ),
    ] = None,
    patience: Annotated[float, decimal("--patience", "seconds for which a silent peer is retried", 3600)] = 1.0,
    start: Annotated[
        str | None, option("--start", help="first states: random, or a start of equals", metavar="START")
    ] = None,
    faults: Annotated[
        str, option("--faults", help='a script such as "3 kill leader, 6 leave 10, 9 join 10"', metavar="SCRIPT")
    ] = "",
    seconds: Annotated[float | None, decimal("--for", "stop after that many seconds", LONGEST_SECONDS)] = None,
    seed: Annotated[
        int, integer("--seed", "of the members that faults strike, and of random graphs", high=MOST_SEED)
    ] = 0,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:  # fmt: skip
    """Run a protocol among real processes on this machine, disturb it, and watch it heal.

    In the live view, k kills a member, r restarts, p pauses, o resumes, c corrupts, x cuts off, h heals, l lets one
    leave, j join. Capitals strike the leader; q ends. Members, key and sockets exist as long as the command runs.
    """
    from hegemon.network.faults import parse_faults
    from hegemon.network.swarm import Swarm

    watched = sys.stdin.isatty() and sys.stderr.isatty() and not quiet
    if seconds is None and not watched:
        seconds = UNWATCHED_SECONDS
    chosen, topology = build(protocol, n, graph, set_, seed)
    script = parse_faults(faults, chosen.n, seconds)
    pace, rates = _pace(rate or []), [word for word in rate or [] if "=" in word]
    kinds = [fault.kind for fault in script] + [word.partition("=")[0].strip() for word in rates]
    events = None
    if rates or {"join", "leave"} & set(kinds):
        from hegemon.network.events import NetworkEvents, require_possible

        require_possible(chosen, topology, kinds)
        events = NetworkEvents(rates, seed)
    console()  # loaded now: beside many processes, and after an interrupt, there is no time for that
    swarm = Swarm(protocol, chosen, topology, rate=pace, patience=patience, start=start, seed=seed)
    with swarm:
        try:
            with screen(watched) as view:
                watch(swarm, script, seconds, view, events)
            interrupted = False
        except KeyboardInterrupt:
            guard.answered()
            interrupted = seconds is not None
        content = summary(swarm, chosen, topology)
    if not swarm.came_up and not interrupted:
        raise InvalidInput(
            f"no member came up within {content['seconds']:.1f} s; give a longer --for, or see above why they ended"
        )
    if json:
        print_json(content)
    else:
        print_summary(content)
    if interrupted:
        raise failures.Interrupted(f"interrupted after {content['seconds']:.1f} of {seconds:g} seconds, as printed")


def watch(swarm: "Swarm", script: Any, seconds: float | None, view: Any, events: "NetworkEvents | None" = None) -> None:
    """Observe, inject faults, show, and follow keys, until the time is over or the user quits."""
    from hegemon.network.faults import NetworkFault

    shown = 0.0
    while seconds is None or swarm.seconds < seconds:
        now = swarm.look()
        while script and script[0].seconds <= now.seconds:
            swarm.strike(script.pop(0), now.leaders)
        for event in events.due(now.interactions, now.seconds) if events else ():
            swarm.strike(event, now.leaders)
        if view and now.seconds - shown >= 0.2:
            shown = now.seconds
            view.update(picture(swarm, now))
        if not view:
            time.sleep(1 / LOOKS_PER_SECOND)
            continue
        key = pressed()
        if key == "q":
            return
        if key and key.lower() in KEYS:
            swarm.strike(NetworkFault(now.seconds, KEYS[key.lower()], "leader" if key.isupper() else 1), now.leaders)


@contextmanager
def screen(watched: bool) -> Iterator[Any]:
    """The live view on the error stream, and a terminal that hands over keys at once; nothing when unwatched."""
    if not watched:
        yield None
        return
    import termios
    import tty

    from rich.console import Console
    from rich.live import Live

    before = termios.tcgetattr(sys.stdin)
    try:
        tty.setcbreak(sys.stdin)
        with Live(console=Console(stderr=True, highlight=False), auto_refresh=False, transient=True) as live:
            yield _Refreshing(live)
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)


class _Refreshing:
    def __init__(self, live: Any):
        self.live = live

    def update(self, what: Any) -> None:
        self.live.update(what, refresh=True)


def pressed() -> str:
    """A key, if one is pressed within a twentieth of a second."""
    ready, _, _ = select.select([sys.stdin], [], [], 1 / LOOKS_PER_SECOND)
    return os.read(sys.stdin.fileno(), 1).decode(errors="replace") if ready else ""


def picture(swarm: "Swarm", now: "View") -> Any:
    """The network at a glance: one sign for each member, and what happened."""
    from rich.console import Group
    from rich.text import Text

    signs = Text()
    for member in range(swarm.n):
        if member in swarm.away:
            signs.append("  ")
        elif member in swarm.dead:
            signs.append("· ", "dim")
        elif member in swarm.paused:
            signs.append("‖ ", "yellow")
        elif member in swarm.cut:
            signs.append("x ", "magenta")
        elif member in now.leaders:
            signs.append("★ ", "bold green" if len(now.leaders) == 1 else "bold red")
        else:
            signs.append("o ")
    lines = [
        f"{now.seconds:7.1f} s   {now.members} members   {len(now.leaders)} leaders   "
        f"{now.interactions / max(now.seconds, 0.1):,.0f} interactions/s   {now.elections} elections, "
        + ("none yet" if now.last_election is None else f"the last change at {now.last_election:.1f} s"),
        "k kill  r restart  p pause  o resume  c corrupt  x disconnect  h heal",
        "l leave  j join   (capital: the leader)   q quit",
    ]
    lines += [f"{r.at:7.1f} s   {r.fault.kind} {told(r)}" for r in swarm.recoveries[-8:]]
    return Group(signs, *(Text(line) for line in lines))


def told(recovery: Any) -> str:
    who = ", ".join(map(str, recovery.struck[:8])) + (" …" if len(recovery.struck) > 8 else "")
    return who + (": not one leader yet" if recovery.healed is None else f": one leader after {recovery.healed:.1f} s")


def summary(swarm: "Swarm", protocol: "Protocol", topology: "Topology") -> dict[str, Any]:
    now = swarm.look()
    return {
        "protocol": protocol.id,
        "n": protocol.n,
        "parameters": protocol.parameters,
        "graph": topology.name,
        "seconds": round(now.seconds, 3),
        "members": now.members,
        "leaders": len(now.leaders),
        "interactions": now.interactions,
        "interactions_per_second": round(now.interactions / now.seconds, 1),
        "elections": now.elections,
        "refused": now.refused,
        "dropped": now.dropped,
        "unreachable": now.unreachable,
        "one_leader_share": round(swarm.alone / max(1, swarm.looks), 4),
        "faults": [
            {
                "at": round(r.at, 3),
                "kind": r.fault.kind,
                "members": r.struck,
                "recovery_seconds": None if r.healed is None else round(r.healed, 3),
            }
            for r in swarm.recoveries
        ],
    }


def print_summary(content: dict[str, Any]) -> None:
    rows = {
        "protocol": f"{content['protocol']}, n = {content['n']}, on {content['graph']}",
        "ran": f"{content['seconds']:.1f} s, {figure(content['interactions'])} interactions "
        f"({figure(content['interactions_per_second'])} per second)",
        "now": f"{counted(content['members'], 'member')}, {counted(content['leaders'], 'leader')}",
        "elections": figure(content["elections"]),
        "one leader": f"{100 * content['one_leader_share']:.1f} % of samples",
        "refused, dropped": f"{figure(content['refused'])} exchanges, {figure(content['dropped'])} datagrams",
        "without a reply": f"{figure(content['unreachable'])} messages, to peers that were down, cut off or slow",
    }
    faults = content["faults"]
    for fault in faults if len(faults) <= MOST_SHOWN else ():
        healed = fault["recovery_seconds"]
        rows[f"{fault['at']:.1f} s"] = f"{fault['kind']} of {len(fault['members'])}: " + (
            "not one leader at the end" if healed is None else f"one leader after {healed:.1f} s"
        )
    for kind in dict.fromkeys(fault["kind"] for fault in faults) if len(faults) > MOST_SHOWN else ():
        rows[kind] = of_one_kind([fault["recovery_seconds"] for fault in faults if fault["kind"] == kind])
    console().print(facts(rows))


def of_one_kind(seconds: list[float | None]) -> str:
    """How long it took after many faults until there was one leader."""
    healed = [one for one in seconds if one is not None]
    told = f"{counted(len(seconds), 'time')}: "
    if healed:
        told += f"one leader after {statistics.median(healed):.1f} s (median), {max(healed):.1f} s at most"
    rest = len(seconds) - len(healed)
    return told + (", " * bool(healed and rest)) + (f"{rest} not yet at the end" if rest else "")


def run_agent(context: typer.Context) -> None:
    """Be one member of a network of machines: `hegemon agent PROTOCOL --peers FILE --key FILE --listen HOST:PORT`."""
    from hegemon.cli.agent import main

    raise typer.Exit(main(context.args))
