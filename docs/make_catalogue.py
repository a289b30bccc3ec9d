"""Writes docs/catalogue/: one page per protocol, from its definition. MkDocs runs it before every build (`hooks`).

Verdicts are those of the reproduction that lies in the folder, if there is one (`make demo` makes one).
"""

import contextlib
import csv
import inspect
import json
import re
import unicodedata
from pathlib import Path

from hegemon.claims.errata.listing import errata
from hegemon.claims.registry import all_claims
from hegemon.errors import InvalidInput
from hegemon.exact.exports.exporting import export
from hegemon.models.description import describe, rule_functions, source_of
from hegemon.protocols import CATALOGUE
from hegemon.protocols.cited import CITED, GRADES

DOCS = Path(__file__).parent
FOLDER = DOCS / "catalogue"
REPRODUCTIONS = ("reproduction-full", "reproduction-quick")  # the first that is there
MOST_DRAWN = 12  # states of a diagram in which each has its name
SIZES = (101, *range(2, 100))  # the first that a protocol takes; most take an odd one


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


def verdicts() -> dict[str, str]:
    """Claim → what the reproduction in this folder found."""
    for name in REPRODUCTIONS:
        file = DOCS.parent / name / "claims.json"
        if file.exists():
            return {row["id"]: row["verdict"] for row in json.loads(file.read_text())["claims"]}
    return {}


def example(protocol):
    """An instance of the first size at which the protocol's assumptions hold."""
    for n in SIZES:
        with contextlib.suppress(InvalidInput):
            return protocol(n=n)
    raise InvalidInput(f"{protocol.id} takes none of the sizes {SIZES[1]} to {SIZES[0]}")


def page(name: str, protocol, found: dict[str, str]) -> str:
    instance = example(protocol)
    content, size = describe(instance), instance.n
    lines = [f"# {name}", "", content["summary"], ""]
    if (DOCS / "gallery" / f"{name}.gif").exists():
        lines += [f"![{name} as hegemon watch shows it](../gallery/{name}.gif){{ width=260 }}", ""]
    lines += [f"*A protocol {protocol.model.kind}; grade: {content['grade']}.* {content['reference']}.", ""]
    if content["assumes"]:
        lines += [f"Assumes: {'; '.join(content['assumes'])}.", ""]
    for heading in ("inputs", "coins"):
        if content[heading]:
            lines += [f"{heading.capitalize()}: {content[heading]}.", ""]
    story = inspect.getdoc(inspect.getmodule(protocol))
    lines += [story, ""] if story else []
    lines += [
        "```sh",
        f"hegemon show {name}",
        f"hegemon run {name} --n {size}",
        f"hegemon watch {name} --n {size}",
        "```",
        "",
    ]
    lines += ["## Rules", ""]
    for function in rule_functions(protocol):
        lines += ["```python", source_of(function), "```", ""]
    for heading, columns in (
        ("fields", ("name", "domain", "in")),
        ("parameters", ("name", "value", "allowed", "help")),
        ("starts", ("name", "help")),
        ("sets", ("name", "closed", "help")),
        ("observables", ("name", "help")),
    ):
        if content[heading]:
            title = f"{heading.capitalize()} at n = {size}" if heading == "parameters" else heading.capitalize()
            lines += [f"## {title}", "", *table(content[heading], columns)]
    if content["states"]:
        lines += [f"States of one agent at n = {size}: {content['states']:,}.", ""]
    lines += [*states_of(name, protocol), *costs(name)]
    claims = claims_about(protocol)
    if claims:
        lines += ["## Claims", ""]
        lines += ["| statement | where | `hegemon reproduce …` |" + " verdict |" * bool(found)]
        lines += ["|" + " --- |" * (3 + bool(found))]
        for claim in claims:
            cells = [claim.statement, claim.place, f"`--only {claim.id}`"]
            cells += [found.get(claim.id, "–")] if found else []
            lines += ["| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"]
        lines += ["", *errata_of(claims)]
    return "\n".join(lines)


def errata_of(claims: list) -> list[str]:
    """The errata of the paper that concern these claims, with their places on the page of errata."""
    names = {claim.id for claim in claims}
    lines = []
    for one in errata():
        if names & {*one.claims, *one.repaired}:
            lines.append(
                f"- [{one.title}](../errata.md#{anchor(one.title)}), {one.place}: `hegemon reproduce --note {one.claims[0]}`"
            )
    return ["## Errata of the paper", "", *lines, ""] if lines else []


def anchor(title: str) -> str:
    """The anchor that MkDocs gives to a heading."""
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode()
    return re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", plain).strip().lower())


def small(protocol):
    """An instance whose states can be drawn with their names, and whose agents meet; None if there is none."""
    for n in (5, 4, 3, 2, 7):
        with contextlib.suppress(InvalidInput):
            found = protocol(n=n)
            drawn = found.model.has_interactions and found.fields and found.states <= MOST_DRAWN
            return found if drawn else None
    return None


def states_of(name: str, protocol) -> list[str]:
    """The diagram of its states, where they are few."""
    instance = small(protocol)
    if instance is None:
        return []
    about = f"The states of {name} at n = {instance.n}, and what meetings make of them"
    command = f"hegemon export {name} --n {instance.n} --to svg --out {name}"
    return ["## States", "", f"![{about}]({name}.svg)", "", f"{about}: `{command}`.", ""]


def rounded(cell: str) -> str:
    """A cell of the Atlas as people read it."""
    with contextlib.suppress(ValueError):
        return f"{float(cell):,.4g}" if "." in cell else f"{int(cell):,}"
    return cell or "–"


def costs(name: str) -> list[str]:
    """What the Atlas measured."""
    with (DOCS / "atlas.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if row["protocol"] == name]
    if not rows:
        return []
    columns = ("n", "states", "bits", "start", "trials", "mean", "median", "p90", "parallel_time", "holding_kind")
    lines = ["## Costs", "", "From the slowest of its starts, as [the Atlas](../atlas.md) has it:", ""]
    lines += table([{column: rounded(row[column]) for column in columns} for row in rows], columns)
    return [*lines, f"    hegemon compare {name} --n {rows[0]['n']} --trials {rows[0]['trials']}", ""]


def write() -> list[str]:
    """Write all pages; return their names."""
    FOLDER.mkdir(exist_ok=True)
    rows, found = [], verdicts()
    for name, protocol in CATALOGUE.items():
        save(FOLDER / f"{name}.md", page(name, protocol, found))
        if (instance := small(protocol)) and not (FOLDER / f"{name}.svg").exists():
            export(instance, "svg", FOLDER / f"{name}.svg")
        link = f"[{name}]({name}.md)"
        rows.append(
            {"id": link, "what it does": protocol.summary(), "model": protocol.model.name, "grade": protocol.grade}
        )
    cited = [{"id": row.id, "what it does": row.summary, "model": "–", "grade": "cited"} for row in CITED.values()]
    lines = ["# The catalogue", "", GRADES, "", *table(rows + cited, tuple(rows[0]))]
    save(FOLDER / "index.md", "\n".join(lines))
    return list(CATALOGUE)


def save(file: Path, text: str) -> None:
    """Only what changed is written, so that `mkdocs serve` comes to rest."""
    if not file.exists() or file.read_text() != text:
        file.write_text(text)


def on_config(config):
    """MkDocs calls this: the pages are written, and each gets its place in the navigation."""
    pages = [{name: f"catalogue/{name}.md"} for name in write()]
    config.nav.append({"Catalogue": [{"All": "catalogue/index.md"}, *pages]})
    return config


if __name__ == "__main__":
    write()
