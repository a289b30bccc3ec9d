"""`hegemon verify`: exact answers as tables or JSON, counterexamples, and the chain for other tools."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

from hegemon.cli.common import assignments, build, console, facts, figure, print_json
from hegemon.errors import InvalidInput
from hegemon.exact.chain import MEMORY
from hegemon.exact.closure import closure_everywhere
from hegemon.exact.export import FORMATS, export
from hegemon.exact.hitting import write_distribution
from hegemon.exact.membership import members
from hegemon.exact.verification import QUESTIONS, Verification, verify
from hegemon.models.expressions import whole_number
from hegemon.protocols.loading import find_protocol

MOST_AGENTS = 12  # of a configuration that are printed


def verify_protocol(
    protocol: Annotated[str, typer.Argument(help="an id of `hegemon list`, or your_file.py:YourClass")],
    n: Annotated[str | None, typer.Option("--n", help="number of agents")] = None,
    set_: Annotated[list[str] | None, typer.Option("--set", help="parameter as name=value; repeatable")] = None,
    graph: Annotated[str | None, typer.Option("--graph", help="ring:4, star:5 … or a file")] = None,
    start: Annotated[str | None, typer.Option("--start", help="all, a named start, or a .json or .csv file")] = None,
    property_: Annotated[
        str | None, typer.Option("--property", help=f"a set, a question ({', '.join(QUESTIONS)}), or QUESTION:SET")
    ] = None,
    quantiles: Annotated[str | None, typer.Option("--quantiles", help="of the steps, such as 0.5,0.9")] = None,
    distribution: Annotated[str | None, typer.Option("--distribution", help="write it as CSV")] = None,
    counterexample: Annotated[str | None, typer.Option("--counterexample", help="write the first (.json)")] = None,
    export_: Annotated[str | None, typer.Option("--export", help=f"the chain as {', '.join(FORMATS)}")] = None,
    out: Annotated[str | None, typer.Option("--out", help="where to export it")] = None,
    every_graph: Annotated[
        str | None, typer.Option("--every-graph", help="instead: closed on all connected graphs of up to K nodes?")
    ] = None,
    memory: Annotated[float, typer.Option("--memory", help="GiB that the chain may take")] = MEMORY,
    symmetry: Annotated[bool, typer.Option(help="count configurations up to symmetry")] = True,
    json: Annotated[bool, typer.Option("--json", help="print JSON")] = False,
):  # fmt: skip
    """Exact answers on small instances: what always happens, and expectations. Exit code 1: a claim is refuted."""
    if every_graph is not None:
        check_every_graph(protocol, whole_number(every_graph, "every-graph", low=1), set_, property_ or "safe", json)
    chosen, topology = build(protocol, n, graph, set_, 0)
    check_files(export_, out, distribution, counterexample)
    if not memory > 0:
        raise InvalidInput(f"--memory {memory} is out of range; give a positive number of GiB")
    with Bar() as bar:
        answer = verify(
            chosen, graph=topology, start=start, property=property_, levels=parse_levels(quantiles), memory=memory,
            symmetry=symmetry, progress=bar.show,
        )  # fmt: skip
        files = write_files(answer, export_, out, distribution, counterexample)
    content = answer.record() | {"files": [str(path) for path in files]}
    if json:
        print_json(content)
    else:
        print_report(content)
    raise typer.Exit(0 if answer.ok else 1)


def check_every_graph(protocol: str, most: int, settings, name: str, json: bool) -> None:
    """Closure of a listed set on every connected graph, all coins and all leader positions."""
    with Bar() as bar:
        checked = closure_everywhere(find_protocol(protocol), most, name, bar.show, **assignments(settings))
    broken = [one for one in checked if not one.holds]
    content = {
        "protocol": protocol,
        "set": name,
        "graphs": len(checked),
        "largest": most,
        "configurations": sum(one.configurations for one in checked),
        "successors": sum(one.successors for one in checked),
        "ok": not broken,
        "flaws": [{"graph": one.graph.name, "nodes": one.graph.n, "flaw": one.flaw} for one in broken],
    }
    if json:
        print_json(content)
    else:
        console().print(facts({key: figure(value) for key, value in content.items() if key != "flaws"}))
        for one in broken:
            console().print(f"{one.graph.name} ({one.graph.n} nodes): {one.flaw}")
    raise typer.Exit(1 if broken else 0)


class Bar:
    """Progress on the error stream; where that is no terminal, nothing is shown."""

    def __enter__(self):
        screen = Console(stderr=True)
        columns = TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn()
        self._progress = Progress(*columns, console=screen, transient=True, disable=not screen.is_terminal)
        self._task = self._progress.add_task("", total=None)
        self._progress.start()
        return self

    def __exit__(self, *_):
        self._progress.stop()

    def show(self, stage: str, done: int, total: int | None) -> None:
        self._progress.update(self._task, description=stage, completed=done, total=total or None)


def parse_levels(text: str | None) -> tuple[float, ...]:
    try:
        return tuple(float(part) for part in text.split(",")) if text else ()
    except ValueError:
        raise InvalidInput(f"--quantiles {text!r} is not understood; write numbers such as 0.5,0.9,0.99") from None


def check_files(form, out, distribution, counterexample) -> None:
    """Refuse bad paths before the work is done."""
    if form and form not in FORMATS:
        raise InvalidInput(f"--export {form!r} is not known; choose {', '.join(FORMATS)}")
    if bool(form) != bool(out):
        raise InvalidInput("--export and --out belong together: say in which format and into which file")
    for path, ending in ((distribution, ".csv"), (counterexample, ".json")):
        if path and not path.lower().endswith(ending):
            raise InvalidInput(f"the file {path} must end in {ending}")
    for path in (out, distribution, counterexample):
        if path and not Path(path).absolute().parent.is_dir():
            raise InvalidInput(f"there is no folder {Path(path).parent} to write {path} into; make it first")


def write_files(answer: Verification, form, out, distribution, counterexample) -> list[Path]:
    written = []
    if form:
        sets = {name: members(answer.chain, chosen) for name, chosen in answer.protocol.sets.items()}
        written += export(answer.chain, form, out, sets, "safe")
    if distribution:
        if answer.hitting is None:
            raise InvalidInput("--distribution needs the question `time`; leave --property out or ask time:SET")
        written.append(write_distribution(answer, distribution))
    if counterexample:
        found = [finding.counterexample for finding in answer.findings if finding.counterexample]
        first = next((finding.counterexample for finding in answer.refuted), found[0] if found else None)
        if first:
            first.save(counterexample)
            written.append(Path(counterexample))
    return written


def print_report(content: dict) -> None:
    screen = console()
    parameters = "".join(f", {name} = {value}" for name, value in content["parameters"].items())
    screen.print(
        facts(
            {
                "protocol": f"{content['protocol']}  (n = {content['n']}{parameters})",
                "states": figure(content["states"]),
                "graph": content["graph"],
                "covers": content["covers"],
                "configurations": f"{figure(content['configurations'])} up to symmetry ({content['symmetry']}), "
                f"{figure(content['labelled_configurations'])} in all",
                "transitions": f"{figure(content['transitions'])}, probabilities in 1/{content['denominator']}",
            }
        )
    )
    print_findings(screen, content["findings"])
    if content["expected_steps"]:
        print_expected(screen, content["expected_steps"], content["unit"])
    if content["holding"]:
        print_holding(screen, content["holding"], content["unit"])
    screen.print()
    for path in content["files"]:
        screen.print(f"written: {path}")
    verdict = "every claim holds" if content["ok"] else "REFUTED: a claim does not hold"
    screen.print(f"{verdict} ({content['seconds']:.2f} s)", style="bold green" if content["ok"] else "bold red")


def print_findings(screen, findings: list[dict]) -> None:
    table = Table(box=None, pad_edge=False)
    for heading in ("set", "question", "holds", "claimed", "because"):
        table.add_column(heading, overflow="fold")
    for row in findings:
        table.add_row(row["set"], row["question"], figure(row["holds"]), figure(row["claimed"]), row["sentence"])
    screen.print()
    screen.print(table)
    for row in findings:
        if row["counterexample"]:
            screen.print(f"\n{row['question']} {row['set']}: a shortest counterexample", style="bold")
            for line in row["counterexample"]["story"]:
                screen.print(f"  {line}")


def print_expected(screen, times: dict, unit: str) -> None:
    screen.print(f"\nexpected {unit} to reach {times['set']}", style="bold")
    rows = {"worst": exact(times["worst"]), "mean over the starts": exact(times["mean"])}
    rows |= {f"from {name}": exact(value) for name, value in times["from"].items()}
    rows["relative error at most"] = f"{times['relative_error']:.1g}"
    if times["probability"] < 1:
        rows["probability of reaching it"] = exact(times["probability"])
    for view, levels in times["quantiles"].items():
        rows[f"quantiles, {view}"] = ", ".join(f"{level}: {figure(steps)}" for level, steps in levels.items())
    rows["worst start"] = states(times["worst_start"])
    screen.print(facts(rows))


def print_holding(screen, times: dict, unit: str) -> None:
    screen.print(f"\nexpected {unit} from {times['set']} until the leader is not the same unique one", style="bold")
    rows = {"worst": exact(times["worst"]), "best": exact(times["best"])}
    rows |= {f"from {name}": exact(value) for name, value in times["from"].items()}
    if times["worst"] is not None:
        rows["relative error at most"] = f"{times['relative_error']:.1g}"
        rows["worst start"] = states(times["worst_start"])
        rows["best start"] = states(times["best_start"])
    for place, how in enumerate(times["breaks"]):
        meeting, result = states(how["before"]), states(how["after"])
        rows[f"ends by ({place + 1})"] = f"{meeting} → {result}, probability {exact(how['probability'])}"
    screen.print(facts(rows))
    if times["most_likely_way"]:
        chance = exact(times["most_likely_way_probability"])
        screen.print(f"\nthe most likely way it ends, from the worst start (probability {chance})", style="bold")
        for line in times["most_likely_way"]["story"]:
            screen.print(f"  {line}")


def exact(value: float | None) -> str:
    """All the digits that are known."""
    return "infinite" if value is None else f"{value:,.12g}"


def states(agents: list[dict]) -> str:
    shown = ["(" + " ".join(f"{k}={v}" for k, v in agent.items()) + ")" for agent in agents[:MOST_AGENTS]]
    return " ".join(shown) + (f" … {len(agents)} agents" if len(agents) > MOST_AGENTS else "")
