"""`hegemon prove`: statements for every n, with certificates."""

import json as json_format
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from hegemon.cli.common import console, facts, figure, print_json
from hegemon.cli.options import assignments
from hegemon.cli.progress import Progress
from hegemon.errors import InvalidInput
from hegemon.exact.proofs.counterexamples import LARGEST
from hegemon.exact.proofs.prover import GRAPHS, QUESTIONS, prove
from hegemon.files import publish, reserve
from hegemon.models.expressions import whole_number
from hegemon.protocols.loading import find_protocol

STYLES = {"proved": "green", "refuted": "red", "not found": "yellow"}


def prove_protocol(
    protocol: Annotated[str, typer.Argument(help="an id of `hegemon list`, or your_file.py:YourClass")],
    set_: Annotated[list[str] | None, typer.Option("--set", help="parameter to fix, as name=value; repeatable")] = None,
    property_: Annotated[
        str | None, typer.Option("--property", help=f"a set, a question ({', '.join(QUESTIONS)}), or QUESTION:SET")
    ] = None,
    start: Annotated[
        str | None, typer.Option("--start", help='a named start, all, or conditions: "count(leader == 1) >= 1"')
    ] = None,
    graphs: Annotated[str, typer.Option("--graphs", help=f"{' or '.join(GRAPHS)}, for `reached`")] = "complete",
    certificate: Annotated[str | None, typer.Option("--certificate", help="write the proof (.json)")] = None,
    largest: Annotated[str, typer.Option("--largest", help="look for counterexamples up to this n")] = str(LARGEST),
    json: Annotated[bool, typer.Option("--json", help="print JSON")] = False,
):
    """Prove for every n at once, where states do not grow with n. Exit code 1: something asked is not proved."""
    chosen, most = find_protocol(protocol), whole_number(largest, "largest", low=0)
    if certificate and not certificate.lower().endswith(".json"):
        raise InvalidInput(f"the file {certificate} must end in .json")
    if certificate:
        reserve(certificate)
    with Progress() as bar:
        proof = prove(
            chosen, property=property_, start=start, graphs=graphs, parameters=assignments(set_), largest=most,
            progress=bar.show,
        )  # fmt: skip
    if certificate:
        with publish(certificate) as file:
            json_format.dump(proof.certificate, file, indent=1)
    content = proof.record() | {"files": [certificate] if certificate else []}
    if json:
        print_json(content)
    else:
        print_report(content)
    raise typer.Exit(0 if proof.ok else 1)


def print_report(content: dict) -> None:
    screen = console()
    fixed = ", ".join(f"{name} = {value}" for name, value in content["parameters"].items())
    heads = {
        "protocol": content["protocol"] + (f"  ({fixed})" if fixed else ""),
        "states": figure(content["states"]),
        "sizes": content["sizes"],
        "graphs": content["graphs"],
        "start": content["start"],
    }
    screen.print(facts(heads))
    table = Table(box=None, pad_edge=False)
    cases = any(row["case"] for row in content["statements"])
    for heading in (["inputs"] if cases else []) + ["set", "question", "status", "because"]:
        table.add_column(heading, overflow="fold")
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
    for path in content["files"]:
        screen.print(f"written: {path}")
    checked = content["checked"]
    solvers = " and ".join(checked["solvers"])
    verdict = "everything asked is proved" if content["ok"] else "NOT everything asked is proved"
    work = f"{checked['obligations']} obligations checked again by {solvers}, {content['seconds']:.2f} s"
    screen.print(f"{verdict} ({work})", style="bold green" if content["ok"] else "bold red")
