"""`hegemon list` and `hegemon show`."""

import inspect
from typing import Annotated

import typer
from rich.table import Table

from hegemon.cli.common import assignments, console, facts, figure, print_json
from hegemon.models.expressions import whole_number
from hegemon.protocols import CATALOGUE
from hegemon.protocols.cited import CITED, GRADES
from hegemon.protocols.loading import find_protocol


def list_protocols(json: Annotated[bool, typer.Option("--json", help="print JSON")] = False):
    """The catalogue: every protocol with its model, what it does and where it was published."""
    rows = [
        {
            "id": name,
            "model": protocol.model,
            "grade": protocol.grade,
            "summary": protocol.summary(),
            "reference": protocol.reference,
        }
        for name, protocol in CATALOGUE.items()
    ]
    rows += [
        {"id": row.id, "model": None, "grade": "cited", "summary": row.summary, "reference": row.reference}
        for row in CITED
    ]
    if json:
        print_json(rows)
        return
    table = Table(box=None, pad_edge=False)
    for heading in ("id", "model", "grade", "what it does"):
        table.add_column(heading, no_wrap=heading != "what it does", style="bold" if heading == "id" else None)
    for row in rows:
        table.add_row(row["id"], row["model"] or "–", row["grade"], row["summary"])
    screen = console()
    screen.print(table)
    screen.print(f"\n{GRADES}")


def show_protocol(
    protocol: Annotated[str, typer.Argument(help="an id of `hegemon list`, or your_file.py:YourClass")],
    n: Annotated[str, typer.Option("--n", help="number of agents")] = "100",
    set_: Annotated[list[str] | None, typer.Option("--set", help="parameter as name=value; repeatable")] = None,
    json: Annotated[bool, typer.Option("--json", help="print JSON")] = False,
):
    """One protocol: reference, parameters, fields, number of states, starts, sets, observables."""
    chosen = find_protocol(protocol)
    instance = chosen(n=whole_number(n, "n", low=1), **assignments(set_))
    content = describe(instance)
    if json:
        print_json(content)
        return
    screen = console()
    screen.print(
        facts(
            {
                "protocol": content["protocol"],
                "model": content["model"],
                "summary": content["summary"],
                "reference": content["reference"],
                "grade": content["grade"] or "–",
                "n": figure(content["n"]),
                "states": figure(content["states"]),
                "topology": content["topology"],
                "outputs": ", ".join(content["outputs"]) or "–",
            }
        )
    )
    for heading, columns in (
        ("parameters", ("name", "value", "allowed", "help")),
        ("fields", ("name", "domain", "in")),
        ("starts", ("name", "help")),
        ("sets", ("name", "closed", "help")),
        ("observables", ("name", "help")),
    ):
        if content[heading]:
            table = Table(title=heading, title_justify="left", title_style="bold", box=None, pad_edge=False)
            for column in columns:
                table.add_column(column, overflow="fold")
            for row in content[heading]:
                table.add_row(*(figure(row[column]) for column in columns))
            screen.print()
            screen.print(table)


def describe(protocol) -> dict:
    """Everything that `show` prints."""
    return {
        "protocol": protocol.id,
        "model": protocol.model,
        "summary": protocol.summary(),
        "reference": protocol.reference,
        "grade": protocol.grade,
        "n": protocol.n,
        "states": protocol.states if protocol.fields else None,
        "topology": protocol.topology,
        "outputs": list(protocol.outputs),
        "parameters": [
            {
                "name": name,
                "value": protocol.values[name],
                "allowed": declaration.allowed(protocol.values),
                "help": declaration.help,
            }
            for name, declaration in protocol.parameter_declarations.items()
        ],
        "fields": [
            {
                "name": field.name,
                "domain": field.domain.describe(protocol.values),
                "in": field.domain.existence,
            }
            for field in protocol.fields
        ],
        "starts": [
            {
                "name": name,
                "help": (inspect.getdoc(function) or "").split("\n")[0],
                "default": name == protocol.default_start,
            }
            for name, function in protocol.starts.items()
        ],
        "sets": [{"name": name, "closed": chosen.closed, "help": chosen.doc} for name, chosen in protocol.sets.items()],
        "observables": [{"name": name, "help": chosen.doc} for name, chosen in protocol.observables.items()],
    }
