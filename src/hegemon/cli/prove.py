"""`hegemon prove`: statements for every n, with certificates."""

from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.text import Text

from hegemon.cli import failures, options
from hegemon.cli.common import console, counted, deliver, facts, figure, listed, outputs, print_json
from hegemon.cli.options import integer, option, path
from hegemon.cli.output import new_table
from hegemon.cli.progress import Progress
from hegemon.kept import write_kept

QUESTIONS = "closed, leader, reached"
STYLES = {"proved": "green", "refuted": "red", "not found": "yellow"}


def prove_protocol(
    protocol: options.Protocol,
    set_: options.Set = None,
    property_: Annotated[
        str | None,
        option("--property", help=f"a set, a question ({QUESTIONS}), or both as QUESTION:SET", metavar="PROPERTY"),
    ] = None,
    start: Annotated[
        str | None,
        option("--start", help='a named start, all, or conditions: "count(leader == 1) >= 1"', metavar="START"),
    ] = None,
    graphs: Annotated[
        str, option("--graphs", help="complete, or connected for `reached` on every connected graph", metavar="GRAPHS")
    ] = "complete",
    largest: Annotated[int, integer("--largest", "look for counterexamples up to this n", low=0, high=100)] = 5,
    certificate: Annotated[str | None, path("--certificate", "write the proof (.json)")] = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Prove statements for every n at once, where states do not grow with n."""
    outputs(certificate=(certificate, (".json",)))
    with Progress(quiet=quiet) as shown:
        from hegemon.exact.proofs.certificates import KIND
        from hegemon.exact.proofs.prover import prove
        from hegemon.models.expressions import assignments
        from hegemon.protocols.loading import find_protocol

        proof = prove(
            find_protocol(protocol), property=property_, start=start, graphs=graphs, largest=largest,
            parameters=assignments(set_), progress=shown.show,
        )  # fmt: skip
    content = proof.record() | {"files": [certificate] if certificate else []}
    files = {certificate: lambda place: write_kept(place, KIND, proof.certificate, indent=1)} if certificate else {}
    deliver(lambda: print_json(content) if json else print_report(content), files)
    raise typer.Exit(failures.YES if proof.ok else failures.NO)


def print_report(content: dict[str, Any]) -> None:
    screen = console()
    fixed = listed(content["parameters"])
    heads = {
        "protocol": content["protocol"] + (f"  ({fixed})" if fixed else ""),
        "states": figure(content["states"]),
        "sizes": content["sizes"],
        "graphs": content["graphs"],
        "start": content["start"],
    }
    screen.print(facts(heads))
    cases = any(row["case"] for row in content["statements"])
    headings = (["inputs"] if cases else []) + ["set", "question", "status", "because"]
    table = new_table(*((heading, {"overflow": "fold"}) for heading in headings))
    for row in content["statements"]:
        status = Text(row["status"], style=STYLES[row["status"]])
        texts = [escape(row[key]) for key in ("set", "question", "sentence")]
        table.add_row(*([row["case"]] if cases else []), *texts[:2], status, texts[2])
    screen.print()
    screen.print(table)
    for row in content["statements"]:
        if row["counterexample"]:
            screen.print(f"\n{row['question']} {row['set']}: a counterexample", style="bold")
            for line in row["counterexample"]["story"]:
                screen.print(f"  {line}")
    screen.print()
    for place in content["files"]:
        screen.print(f"written: {place}")
    checked = content["checked"]
    solvers = " and ".join(checked["solvers"])
    verdict = "all statements are proved" if content["ok"] else "not all statements are proved"
    work = f"{counted(checked['obligations'], 'obligation')} checked again by {solvers}, {content['seconds']:.2f} s"
    screen.print(f"{verdict} ({work})", style="bold green" if content["ok"] else "bold red")
