"""`hegemon list` and `hegemon show`."""

from dataclasses import asdict
from typing import Annotated, Any

from hegemon.cli import options
from hegemon.cli.common import console, facts, figure, first_allowed, maker, new_table, print_json
from hegemon.cli.output import PRINTED

USUAL_SIZES = (*range(100, 110), *range(2, 10))


def list_protocols(json: options.Json = False) -> None:
    """List the catalogue: every protocol with its model, what it does and where it was published."""
    from hegemon.protocols.cited import GRADES
    from hegemon.protocols.listing import rows as listed

    rows = listed()
    if json:
        print_json(rows)
        return
    kept = {"no_wrap": True}
    table = new_table(("id", kept | {"style": "bold"}), ("model", kept), ("grade", kept), "what it does")
    shelf = ""
    for row in rows:
        if row["shelf"] != shelf:
            shelf = row["shelf"]
            table.add_section()
            table.add_row(f"– {shelf or 'cited only'} –", "", "", "")
        table.add_row(row["id"], row["model"] or "–", row["grade"], row["summary"])
    PRINTED[-1] = list(rows[0]), [[row[name] or "" for name in row] for row in rows]  # a file has rows alone
    screen = console()
    screen.print(table)
    screen.print(f"\n{GRADES}")


def show_protocol(
    protocol: options.Protocol,
    n: Annotated[int | None, options.integer("--n", "number of agents", low=1, high=options.MOST_AGENTS)] = None,
    set_: options.Set = None,
    json: options.Json = False,
) -> None:
    """Show one protocol: reference, parameters, fields, number of states, starts, sets, observables."""
    from hegemon.models.description import describe
    from hegemon.protocols.cited import CITED

    if protocol in CITED:
        show_cited(CITED[protocol], json)
        return
    make = maker(protocol, set_)
    content = describe(make(n) if n is not None else first_allowed(make, USUAL_SIZES))
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
                "assumes": "; ".join(content["assumes"]) or "–",
                "inputs": content["inputs"] or "–",
                "coins": content["coins"] or "–",
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
            folding = [(column, {"overflow": "fold"}) for column in columns]
            table = new_table(*folding, title=heading, title_justify="left", title_style="bold")
            for row in content[heading]:
                table.add_row(*(figure(row[column]) for column in columns))
            screen.print()
            screen.print(table)


def show_cited(row: Any, json: bool) -> None:
    """A row that is only quoted: what was published, and why it is not run."""
    content = {"protocol": row.id, "grade": "cited", **asdict(row), "time": row.time.removesuffix(",")}
    del content["id"]
    if json:
        print_json(content)
        return
    console().print(facts({name: str(value) for name, value in content.items()}))
