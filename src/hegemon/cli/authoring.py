"""`hegemon new`: a protocol to begin with. `hegemon check`: a protocol tried as the engines will use it."""

import keyword
import re
from pathlib import Path
from typing import Annotated

import typer

from hegemon.cli import failures, options
from hegemon.cli.common import console, counted, facts, maker, new_table, print_json
from hegemon.cli.options import integer, option
from hegemon.cli.progress import Progress
from hegemon.errors import InvalidInput, meant
from hegemon.files import reserve, write_text
from hegemon.models.model import MODELS

TEMPLATES = [name for name, one in MODELS.items() if one.has_template]
MARKS = {True: "✓", False: "✗", None: "?"}


def new_protocol(
    file: Annotated[str, options.argument("FILE", "the file to write, such as my_protocol.py")],
    model: Annotated[str, option("--model", help=f"{', '.join(TEMPLATES)}", metavar="MODEL")] = "population",
):
    """Write a commented protocol of your own, which runs, verifies and plots at once."""
    if model not in TEMPLATES:
        raise InvalidInput(f"--model {model} is not known; choose {', '.join(TEMPLATES)}{meant(model, TEMPLATES)}")
    place = Path(file)
    if place.suffix != ".py":
        raise InvalidInput(f"{file} must end in .py, such as my_protocol.py")
    reserve(place)  # first: a name may be too long to be asked about
    if place.exists():
        raise InvalidInput(f"{file} is there already, and is not overwritten; give the name of a new file")
    name = "".join(part[:1].upper() + part[1:] for part in re.split(r"[^0-9A-Za-z]+", place.stem))
    if not name.isidentifier() or keyword.iskeyword(name):
        raise InvalidInput(f"{place.stem} does not make the name of a class; take letters, as in my_protocol.py")
    text = (Path(__file__).parent / "templates" / f"{model}.py").read_text(encoding="utf-8")
    write_text(place, text.replace("class MyProtocol(", f"class {name}(").replace("FILE", str(place)))
    commands = [line.strip() for line in text.replace("FILE", str(place)).splitlines() if line.startswith("hegemon ")]
    console().print(f"{place} defines the {model} protocol {name}. Try:")
    for command in commands:
        console().print(f"  {command}")


def check_protocol(
    protocol: options.Protocol,
    n: Annotated[int, integer("--n", "number of agents to try it with", low=1, high=64)] = 5,
    set_: options.Set = None,
    graph: options.Graph = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
):
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
