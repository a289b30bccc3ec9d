"""The output of `hegemon run`: the content of its JSON, its tables, and the files that were asked for."""

from hegemon.cli.common import censored_trials, console, facts, figure
from hegemon.cli.output import print_figures

SHOWN_TRIALS = 20


def report(record, topology, finished) -> dict:
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
        "trials": [one.record() for one in finished.runs],
        "summary": summarize_runs(finished.runs),
        "interrupted": finished.interrupted,
        "wall_seconds": round(finished.wall_seconds, 3),
    }
    if first is not None and first.watched is not None:
        content["history"] = {name: column.tolist() for name, column in first.watched.columns.items()}
    return content


def report_course(record) -> dict:
    """From where to where: a message-passing protocol wakes up, and ends when nothing is left to happen."""
    protocol = record.protocol
    if protocol.model.wakes:
        return {"wake": record.wake, "until": "end"}
    from hegemon.models.conditions import absence_note

    note = absence_note(record.until, protocol)
    where = {"start": str(record.start or protocol.default_start), "until": record.until}
    where |= {"loss": str(record.loss), "one_sided": str(record.one_sided)} if record.loss or record.one_sided else {}
    return where | ({"note": note} if note else {})


def print_report(content: dict) -> None:
    screen = console()
    parameters = "".join(f", {name} = {value}" for name, value in content["parameters"].items())
    heading = {
        "protocol": f"{content['protocol']}  (n = {content['n']:,}{parameters})",
        "states": figure(content["states"]),
        "graph": content["graph"],
        "start → until": f"{content.get('start') or 'wake ' + content['wake']} → {content['until']}",
        "lost interactions": content.get("loss"),
        "one-sided ones": content.get("one_sided"),
        "engine": content["engine"] and f"{content['engine']} ({content['reason']})",
        "seed": content["seed"],
    }
    heading = {name: value for name, value in heading.items() if value is not None}
    screen.print(facts(heading | ({"note": content["note"]} if "note" in content else {})))
    if not content["trials"]:
        return
    print_trials(screen, content["trials"])
    if content.get("trace") is not None:
        screen.print("\ntrial 0, step by step", style="bold")
        for line in content["trace"] or ["nothing changes"]:
            screen.print(f"  {line}")
    summary: dict[str, str] = {}
    for name, value in content["summary"].items():
        inner = value if isinstance(value, dict) else {"": value}
        inner = {
            key: item for key, item in inner.items() if item is not None and (key or name, item) != ("censored", 0)
        }
        summary |= {f"{name} {key}".replace("_", " ").strip(): figure(item) for key, item in inner.items()}
    screen.print()
    screen.print(facts({**summary, "wall seconds": content["wall_seconds"]}))
    for note in content["notes"]:
        screen.print(f"note: {note}")
    missed = content["summary"]["trials"] - content["summary"]["reached"]
    if missed:
        stop = "the stop is exactly one leader; " if content["model"] == "messages" else ""
        screen.print(stop + censored_trials(missed))


def interruption(done: int, trials: int, protocol: str, checkpoint: str | None) -> str:
    """How far an interrupted command came, where that is kept, and how to go on."""
    if checkpoint:
        named = f"{protocol} " if ".py" in protocol else ""
        return f"interrupted; the run is kept in {checkpoint}: `hegemon run {named}--resume {checkpoint}` continues it"
    keeping = "--checkpoint FILE keeps a long run" if trials == 1 else "`hegemon sweep` keeps every finished trial"
    shown = ", as printed" if done else ""
    return f"interrupted after {done:,} of {trials:,} trials{shown}; nothing else is kept: {keeping}"


def print_trials(screen, rows: list[dict]) -> None:
    if not rows:
        return
    columns = list(dict.fromkeys(name for row in rows for name in row))
    common = {name: rows[0].get(name) for name in columns if len({row.get(name) for row in rows}) == 1}
    common = {name: value for name, value in common.items() if isinstance(value, str)}  # said once, below
    columns = [name for name in columns if name not in common]
    screen.print()
    print_figures(screen, columns, [[figure(row.get(name)) for name in columns] for row in rows[:SHOWN_TRIALS]])
    for name, value in common.items():
        screen.print(f"{name.replace('_', ' ')} in every trial: {value}")
    if len(rows) > SHOWN_TRIALS:
        screen.print(f"… and {len(rows) - SHOWN_TRIALS:,} more trials (--json prints all)")


def drawn_title(protocol, topology, run) -> str:
    """What a drawn graph is of; a protocol that elects nobody has no leaders to be counted."""
    led = "" if run.leaders is None else f"; leaders: {run.leaders}"
    return f"{protocol.id} on {topology.name} after {run.steps:,} {run.unit}{led}"


def writers(protocol, topology, finished, *, plot, history, final, draw) -> dict:
    """How each output file that was asked for is written."""
    if not finished.runs:
        return {}
    from hegemon.analysis.graph_pictures import draw_graph
    from hegemon.files import publish

    first = finished.runs[0]
    title = drawn_title(protocol, topology, first)

    def write_history(place) -> None:
        with publish(place) as file:
            first.history.to_csv(file, index=False)

    def write_plot(place) -> None:
        finished.plot().save(place)

    return {
        plot: write_plot,
        history: write_history,
        final: lambda place: first.configuration.save(place),
        draw: lambda place: draw_graph(protocol, topology, first.configuration, title, place),
    }
