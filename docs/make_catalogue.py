"""Writes docs/catalogue/: one page per protocol, from its definition. Part of `make docs`."""

import inspect
from pathlib import Path

from hegemon.claims.registry import all_claims
from hegemon.cli.catalogue import describe
from hegemon.protocols import CATALOGUE
from hegemon.protocols.cited import CITED, GRADES

FOLDER = Path(__file__).parent / "catalogue"
RULES = {"population": ("interact",), "rounds": ("update",), "message": ("begin", "round"), "objects": ("interact",)}
SIZE = 101  # odd, so that every protocol takes it


def table(rows: list[dict], columns: tuple[str, ...]) -> list[str]:
    lines = ["| " + " | ".join(columns) + " |", "|" + " --- |" * len(columns)]
    cells = [[str(row[column]).replace("|", "\\|") for column in columns] for row in rows]
    return [*lines, *("| " + " | ".join(row) + " |" for row in cells), ""]


def claims_about(protocol) -> list:
    """The claims whose experiment runs this protocol."""
    found = []
    for claim in all_claims().values():
        defaults = [parameter.default for parameter in inspect.signature(claim.experiment).parameters.values()]
        if protocol in defaults:
            found.append(claim)
    return found


def page(name: str, protocol) -> str:
    content = describe(protocol(n=SIZE))
    lines = [f"# {name}", "", content["summary"], ""]
    lines += [f"*{content['model']} model, grade {content['grade']}.* {content['reference']}.", ""]
    story = inspect.getdoc(inspect.getmodule(protocol))
    lines += [story, ""] if story else []
    lines += ["```sh", f"hegemon show {name}", f"hegemon run {name} --n {SIZE}", "```", ""]
    lines += ["## Rules", ""]
    for function in RULES[protocol.model]:
        lines += ["```python", inspect.cleandoc(inspect.getsource(getattr(protocol, function))), "```", ""]
    for heading, columns in (
        ("fields", ("name", "domain", "in")),
        ("parameters", ("name", "value", "allowed", "help")),
        ("starts", ("name", "help")),
        ("sets", ("name", "closed", "help")),
        ("observables", ("name", "help")),
    ):
        if content[heading]:
            title = f"{heading.capitalize()} at n = {SIZE}" if heading == "parameters" else heading.capitalize()
            lines += [f"## {title}", "", *table(content[heading], columns)]
    if content["states"]:
        lines += [f"States of one agent at n = {SIZE}: {content['states']:,}.", ""]
    claims = claims_about(protocol)
    if claims:
        lines += ["## Claims", ""]
        lines += [f"- {claim.statement} ({claim.place}; `hegemon reproduce --only {claim.id}`)" for claim in claims]
        lines += [""]
    return "\n".join(lines)


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    rows = []
    for name, protocol in CATALOGUE.items():
        (FOLDER / f"{name}.md").write_text(page(name, protocol))
        link = f"[{name}]({name}.md)"
        rows.append({"id": link, "model": protocol.model, "grade": protocol.grade, "": protocol.summary()})
    cited = [{"id": row.id, "model": "–", "grade": "cited", "": row.summary} for row in CITED]
    lines = ["# The catalogue", "", *table(rows + cited, ("id", "model", "grade", "")), GRADES, ""]
    (FOLDER / "index.md").write_text("\n".join(lines))


if __name__ == "__main__":
    main()
