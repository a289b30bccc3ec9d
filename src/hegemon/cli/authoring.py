"""`hegemon new`: a protocol to begin with. `hegemon import`: rules as a protocol. `hegemon check`: a protocol tried."""

import keyword
import re
from pathlib import Path
from typing import Annotated

import typer

from hegemon.cli import failures, options
from hegemon.cli.common import console, counted, facts, maker, new_table, print_json
from hegemon.cli.options import integer, option, path
from hegemon.cli.progress import Progress
from hegemon.errors import InvalidInput, choose, meant
from hegemon.files import reserve, write_text
from hegemon.models.model import MODELS

TEMPLATES = [name for name, one in MODELS.items() if one.has_template]
MARKS = {True: "✓", False: "✗", None: "?"}


def new_protocol(
    file: Annotated[str, options.argument("FILE", "the file to write, such as my_protocol.py")],
    model: Annotated[str, option("--model", help=f"{', '.join(TEMPLATES)}", metavar="MODEL")] = "population",
    claims: Annotated[bool, option("--claims", help="a paper's claims about it, with a broken twin, as well")] = False,
) -> None:
    """Write a commented protocol of your own, which runs, verifies and plots at once; or a paper's claims."""
    if claims and model != "population":
        raise InvalidInput(f"--claims comes with a population protocol; drop --model {model} and replace the protocol")
    if model not in TEMPLATES:
        raise InvalidInput(f"--model {model} is not known; {choose(TEMPLATES)}{meant(model, TEMPLATES)}")
    place, name = new_file(file)
    name = "MyProtocol" if claims else name  # the file is named after the paper
    chosen = "claims" if claims else model
    text = (Path(__file__).parent / "templates" / f"{chosen}.py").read_text(encoding="utf-8")
    write_text(place, text.replace("class MyProtocol(", f"class {name}(").replace("FILE", str(place)))
    commands = [line.strip() for line in text.replace("FILE", str(place)).splitlines() if line.startswith("hegemon ")]
    stated = " and states claims about it" if claims else ""
    console().print(f"{place} defines the {model} protocol {name}{stated}. Try:")
    for command in commands:
        console().print(f"  {command}")


def new_file(file: str) -> tuple[Path, str]:
    """The place of a Python file that does not exist yet, and the name of the class that it will define."""
    place = Path(file)
    if place.suffix != ".py":
        raise InvalidInput(f"{file} must end in .py, such as my_protocol.py")
    reserve(place)  # first: a name may be too long to be asked about
    if place.exists():
        raise InvalidInput(f"{file} is there already, and is not overwritten; give the name of a new file")
    name = "".join(part[:1].upper() + part[1:] for part in re.split(r"[^0-9A-Za-z]+", place.stem))
    if not name.isidentifier() or keyword.iskeyword(name):
        raise InvalidInput(f"{place.stem} does not make the name of a class; take letters, as in my_protocol.py")
    return place, name


def import_rules(
    file: Annotated[str, options.argument("FILE", "reactions as text, or script.py:NAME for a dictionary or function")],
    out: Annotated[str | None, path("--out", "the Python file to write; default: FILE with the ending .py")] = None,
    start: Annotated[
        str | None,
        option("--start", help="the state of all agents, or A=51,B=49, or a NAME of the script", metavar="START"),
    ] = None,
    leader: Annotated[
        str | None, option("--leader", help="states that lead; default: L, leader", metavar="STATE,…")
    ] = None,
    arbitrary_start: Annotated[bool, option("--arbitrary-start", help="it may start anywhere")] = False,
    asymmetric: Annotated[
        bool, option("--asymmetric", help="a pair without a rule does not take that of the reversed pair")
    ] = False,
    set_: options.Set = None,
) -> None:
    """Write a protocol as a Python file, from reactions or from a rule dictionary or function of ppsim.

    A text has one reaction on a line: L + L -> L + F, or A + B -> 2 U @ 0.5 with a rate.
    """
    from hegemon.experiments.importing import imported

    place, name = new_file(out or str(Path(file.rpartition(":")[0] or file).with_suffix(".py")))
    table, text = imported(file, name, start, leader, arbitrary_start, asymmetric, set_)
    write_text(place, text)
    rules, states = counted(len(table.changes()), "rule"), counted(len(table.states), "state")
    console().print(f"{place} defines {name}: {rules}, {states}. Try:")
    for command in (f"hegemon check {place}", f"hegemon run {place} --n 100", f"hegemon verify {place} --n 5"):
        console().print(f"  {command}")


def check_protocol(
    protocol: options.Protocol,
    n: Annotated[int, integer("--n", "number of agents to try it with", low=1, high=64)] = 5,
    set_: options.Set = None, graph: options.Graph = None, json: options.Json = False, quiet: options.Quiet = False,
) -> None:  # fmt: skip
    """Try a protocol as the engines will: all pairs, ranges, starts, closed sets, compilation.

    The exit code is 1 when something is wrong; the sentence names the line of the file.
    """
    with Progress(quiet=quiet) as shown:
        from hegemon.experiments.checking import check

        content = check(maker(protocol, set_)(n), graph=graph, progress=shown.show)
    ok, undecided = content["ok"], content["undecided"]
    if json:
        print_json(content)
    else:
        table = new_table("", "what", ("found", {"overflow": "fold"}))
        for row in content["checks"]:
            table.add_row(MARKS[row["ok"]], row["what"], row["found"])
        console().print(facts({"protocol": f"{content['protocol']}  ({content['model']} model, n = {n})"}))
        console().print(table)
        well = f"nothing wrong was found; {counted(undecided, 'check')} not decided (?)" if undecided else "all is well"
        console().print(well if ok else "something is wrong: fix the file and check again")
    raise typer.Exit(failures.YES if ok else failures.NO)
