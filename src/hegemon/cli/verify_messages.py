"""What `hegemon verify` prints about a message-passing protocol."""

from typing import TYPE_CHECKING, Any, NoReturn

import typer

from hegemon.cli import failures
from hegemon.cli.common import console, deliver, facts, figure, instance, new_table, print_json
from hegemon.errors import InvalidInput

if TYPE_CHECKING:  # they load NumPy, which --help does not need
    from hegemon.models.protocol import Protocol

UNUSUAL = ("identifiers", "delay", "order", "loss", "duplicate", "crash")
LONGEST = 40  # characters of a fraction that is printed beside its value


def refuse_files(protocol: "Protocol", **given: Any) -> None:
    for name, value in given.items():
        if value is not None:
            raise InvalidInput(f"--{name} is for chains, and {protocol.id} sends messages; use --json")


def report(answer: Any, json: bool) -> NoReturn:
    """Print it; the exit code is 1 unless exactly one leader is certain."""
    content = answer.record()
    deliver(lambda: print_json(content) if json else print_report(content))
    raise typer.Exit(failures.YES if answer.certain else failures.NO)


def print_report(content: dict[str, Any]) -> None:
    screen = console()
    rows = {
        "protocol": instance(content, **content["facts"]),
        "graph": content["graph"],
        "wake": content["wake"],
        **{name: content[name] for name in UNUSUAL if name in content},
        "covers": "every outcome of every coin "
        f"({figure(content['states'])} states, wide draws {content['wide_draws']})",
    }
    screen.print(facts(rows))
    table = new_table("leaders in the end", "probability", "as a fraction")
    for leaders, chance in content["leaders"].items():
        table.add_row(leaders, value(chance), fraction(chance))
    if not content["exact"]:
        table.add_row("still running", value(content["running"]), fraction(content["running"]))
    screen.print()
    screen.print(table)
    if content["causes"]:
        screen.print("\nhow it ends", style="bold")
        screen.print(facts({cause: both(chance) for cause, chance in content["causes"].items()}))
    screen.print("\nexpected" if content["exact"] else "\nexpected, at least", style="bold")
    named = {name.replace("_", " "): both(number) for name, number in content["expected"].items()}
    screen.print(facts(named | {"largest message": f"{content['largest_message']} bits"}))
    if content["within"]:
        rounds = content["within"]["rounds"]
        screen.print()
        screen.print(facts({f"one leader within {rounds:,} rounds": both(content["within"]["one_leader"])}))
    style = "bold green" if content["certain"] else "bold yellow"
    screen.print(f"\n{content['headline']} ({content['seconds']:.2f} s)", style=style)


def value(number: dict[str, Any]) -> str:
    return f"{number['value']:,.12g}"


def fraction(number: dict[str, Any]) -> str:
    text = number["exact"] or ""
    return text.removesuffix("/1") if 0 < len(text) <= LONGEST else "–"


def both(number: dict[str, Any]) -> str:
    text = fraction(number)
    return value(number) + (f" = {text}" if "/" in text else "")
