"""The output of `hegemon run`: the content of its JSON, its tables, and the files that were asked for."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from hegemon.cli.common import censored_trials, console, counted, facts, figure, instance
from hegemon.cli.output import print_figures
from hegemon.runs.record import RunRecord

if TYPE_CHECKING:  # they load NumPy, which --help does not need
    from rich.console import Console

    from hegemon.graphs.topology import Topology
    from hegemon.models.protocol import Protocol
    from hegemon.runs.run import Run
    from hegemon.runs.trials import Trials

SHOWN_TRIALS = 1000
HISTOGRAM, BINS, BAR = 10, 8, 40  # the fewest trials that are drawn, and how many bars of which length
STATISTICS = {
    "mean": "mean", "mean_at_least": "mean at least", "mean_of_reached": "mean of reached", "ci95": "95 % interval",
    "median": "median", "minimum": "least", "maximum": "most", "censored": "censored",
}  # fmt: skip


def report(record: RunRecord, topology: "Topology", finished: "Trials") -> dict[str, Any]:
    """Everything that is printed, as JSON has it."""
    from hegemon.analysis.statistics import summarize_runs

    protocol = record.protocol
    first = finished.runs[0] if finished.runs else None
    content = {
        "protocol": protocol.id,
        "model": protocol.model.name,
        "n": protocol.n,
        "parameters": protocol.parameters,
        "states": protocol.states if protocol.fields else None,
        "graph": topology.name,
        **report_course(record),
        "engine": first.engine if first else None,
        "reason": first.reason if first else None,
        "seed": record.seed,
        "unit": protocol.time_unit,
        "trials": [one.record() for one in finished.runs],
        "summary": summarize_runs(finished.runs),
        "interrupted": finished.interrupted,
        "wall_seconds": round(finished.wall_seconds, 3),
    }
    if first is not None and first.watched is not None:
        content["history"] = {name: column.tolist() for name, column in first.watched.columns.items()}
    return content


def report_course(record: RunRecord) -> dict[str, Any]:
    """From where to where: a message-passing protocol wakes up, and ends when nothing is left to happen."""
    protocol = record.protocol
    if protocol.model.wakes:
        return surroundings(record) | {"until": "end"}
    if not protocol.model.has_starts:
        return {"until": "end"}
    from hegemon.models.conditions import absence_note

    note = absence_note(str(record.until), protocol)
    where = {"start": str(record.start or protocol.default_start), "until": record.until}
    where |= {"loss": str(record.loss), "one_sided": str(record.one_sided)} if record.loss or record.one_sided else {}
    return where | ({"note": note} if note else {})


def surroundings(record: RunRecord) -> dict[str, Any]:
    """What is said about a run of message passing: how it begins, and what is not as usual."""
    from hegemon.process.messages.surroundings import surroundings_of

    protocol: Any = record.protocol
    named = {"identifiers": record.identifiers} if protocol.has_identifiers else {}
    return {"wake": record.wake} | named | surroundings_of(record, protocol).departures


def print_report(content: dict[str, Any], each: bool = False) -> None:
    """The course, what many trials say together, and every trial if asked for; one trial is one line."""
    screen = console()
    begin = content.get("start") or ("wake" in content and f"wake {content['wake']}")
    heading = {
        "protocol": instance(content),
        "states": content["states"] and figure(content["states"]),
        "graph": content["graph"],
        "start → until": f"{begin} → {content['until']}" if begin else None,
        **{name: content.get(name) for name in ("identifiers", "delay", "order", "duplicate", "crash")},
        "lost messages" if "wake" in content else "lost interactions": content.get("loss"),
        "one-sided ones": content.get("one_sided"),
        "engine": content["engine"] and f"{content['engine']} ({content['reason']})",
        "seed": content["seed"],
    }
    heading = {name: value for name, value in heading.items() if value is not None}
    screen.print(facts(heading | ({"note": content["note"]} if "note" in content else {})))
    if not content["trials"]:
        return
    several = len(content["trials"]) > 1
    if several:
        print_summary(screen, content)
    if each or not several:
        print_trials(screen, content["trials"])
    for name, value in common_texts(content["trials"]).items():
        screen.print(f"{name.replace('_', ' ')} in every trial: {value}")
    if content.get("trace") is not None:
        screen.print("\ntrial 0, step by step", style="bold")
        for line in content["trace"] or ["nothing changes"]:
            screen.print(f"  {line}")
    more = "" if each or not several else "; --each shows every trial"
    screen.print(f"\n{content['wall_seconds']:,.3g} s{more}")
    for note in content["notes"]:
        screen.print(f"note: {note}")
    missed = content["summary"]["trials"] - content["summary"]["reached"]
    if missed and not several:
        stop = "exactly one leader" if content["model"] == "messages" else content["until"]
        screen.print(f"the trial did not meet its stop: {stop}")
    elif missed:
        stop = "the stop is exactly one leader; " if content["model"] == "messages" else ""
        screen.print(stop + censored_trials(missed))


def print_summary(screen: "Console", content: dict[str, Any]) -> None:
    """What the trials say together: how often, how long with a histogram, and what message passing measures."""
    summary, trials = content["summary"], content["summary"]["trials"]
    shares = [f"{summary['reached']:,} of {counted(trials, 'trial')} met the stop"]
    if "one_leader" in summary:
        shares.append(f"exactly one leader in {summary['one_leader']:,} (95 %: {figure(summary['one_leader_ci95'])})")
    shares += [f"{cause} in {number:,}" for cause, number in summary.get("causes", {}).items()]
    screen.print(f"\n{'; '.join(shares)}\n")
    quantities = {content["unit"]: summary} | {name: found for name, found in summary.items() if "mean" in _keys(found)}
    columns = [name for name in STATISTICS if any(found.get(name) for found in quantities.values())]
    rows = [[what, *(_statistic(found, name) for name in columns)] for what, found in quantities.items()]
    print_figures(screen, ["", *(STATISTICS[name] for name in columns)], rows, left=("",))
    if summary.get("messages_per_scale") is not None and content["graph"].startswith("complete"):
        screen.print(f"messages / (√n ln^(3/2) n): {figure(summary['messages_per_scale'])}")
    met = [row[content["unit"]] for row in content["trials"] if row["reached"]]
    for line in histogram(met, content["unit"], "trials" if len(met) == trials else "trials that met the stop"):
        screen.print(line)


def _keys(found: dict[str, Any]) -> set[str]:
    return set(found) if isinstance(found, dict) else set()


def _statistic(found: dict[str, Any], name: str) -> str:
    """An interval of equal values would claim a certainty that a few trials do not give."""
    value = found.get(name)
    return "–" if value is None or (name == "ci95" and not found["standard_error"]) else figure(value)


def histogram(times: list[int], unit: str, what: str) -> list[str]:
    """How many trials took how long, a bar for each of a few equal ranges; nothing where little would be seen."""
    low, high = min(times, default=0), max(times, default=0)
    if len(times) < HISTOGRAM or low == high:
        return []
    width = -(-(high - low + 1) // BINS)
    counts = [0] * -(-(high - low + 1) // width)
    for time in times:
        counts[(time - low) // width] += 1
    ranges = [(low + k * width, min(low + (k + 1) * width - 1, high)) for k in range(len(counts))]
    names = [f"{a:,}" if a == b else f"{a:,} … {b:,}" for a, b in ranges]
    room = max(map(len, (*names, unit)))
    bars = ("█" * (-(-count * BAR // max(counts))) for count in counts)
    lines = [f"{name:>{room}}  {bar} {count:,}" for name, bar, count in zip(names, bars, counts, strict=True)]
    return ["", f"{unit:>{room}}  {what}", *lines]


def interruption(done: int, trials: int, protocol: str, checkpoint: str | None, keepable: bool = True) -> str:
    """How far an interrupted command came, where that is kept, and how to go on."""
    if checkpoint:
        named = f"{protocol} " if ".py" in protocol else ""
        return f"interrupted; the run is kept in {checkpoint}: `hegemon run {named}--resume {checkpoint}` continues it"
    keeping = "--checkpoint FILE keeps a long run" if trials == 1 else "`hegemon sweep` keeps every finished trial"
    if trials == 1 and not keepable:
        keeping = "--checkpoint cannot keep events of a --rate, records or prescribed steps"
    shown = ", as printed" if done else ""
    return f"interrupted after {done:,} of {trials:,} trials{shown}; nothing else is kept: {keeping}"


def print_trials(screen: "Console", rows: list[dict[str, Any]]) -> None:
    if not rows:
        return
    columns = [name for name in dict.fromkeys(name for row in rows for name in row) if name not in common_texts(rows)]
    screen.print()
    print_figures(screen, columns, [[figure(row.get(name)) for name in columns] for row in rows[:SHOWN_TRIALS]])
    if len(rows) > SHOWN_TRIALS:
        screen.print(f"… and {len(rows) - SHOWN_TRIALS:,} more trials (--json prints all)")


def common_texts(rows: list[dict[str, Any]]) -> dict[str, str]:
    """What every trial says in the same words, such as that a guarantee is void: said once, below all figures."""
    return {
        name: value
        for name, value in rows[0].items()
        if isinstance(value, str) and all(row.get(name) == value for row in rows)
    }


def drawn_title(protocol: "Protocol", topology: "Topology", run: "Run") -> str:
    """What a drawn graph is of; a protocol that elects nobody has no leaders to be counted."""
    led = "" if run.leaders is None else f"; leaders: {run.leaders}"
    return f"{protocol.id} on {topology.name} after {run.steps:,} {run.unit}{led}"


def writers(
    protocol: "Protocol", topology: "Topology", finished: "Trials", *, plot: str | None, history: str | None,
    final: str | None, draw: str | None,
) -> dict[str | None, Callable[[Any], Any]]:  # fmt: skip
    """How each output file that was asked for is written."""
    if not finished.runs:
        return {}
    from hegemon.analysis.graph_pictures import draw_graph
    from hegemon.files import publish

    first: Any = finished.runs[0]  # with its configuration and history, if they were asked for
    title = drawn_title(protocol, topology, first)

    def write_history(place: str) -> None:
        with publish(place) as file:
            first.history.to_csv(file, index=False)

    def write_plot(place: str) -> None:
        finished.plot().save(place)

    return {
        plot: write_plot,
        history: write_history,
        final: lambda place: first.configuration.save(place),
        draw: lambda place: draw_graph(protocol, topology, first.configuration, title, place),
    }
