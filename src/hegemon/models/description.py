"""The full description of a protocol, as plain data: for `hegemon show`, the catalogue and notebooks."""

import dis
import inspect
import textwrap
from collections.abc import Iterator
from types import CodeType, FunctionType
from typing import Any

from hegemon import display
from hegemon.graphs.topology import KINDS
from hegemon.models.authors import is_authored
from hegemon.models.inputs import describe_inputs
from hegemon.models.neighbourhoods import NEIGHBOURHOODS
from hegemon.models.protocol import Protocol


def describe(protocol: Protocol) -> dict[str, Any]:
    """Everything that `show` prints."""
    return {
        "protocol": protocol.id,
        "model": protocol.model.name,
        "summary": protocol.summary(),
        "reference": protocol.reference,
        "grade": protocol.grade,
        "n": protocol.n,
        "states": protocol.states if protocol.fields else None,
        "topology": protocol.topology,
        "assumes": list(describe_assumptions(protocol)),
        "inputs": describe_inputs(protocol),
        "coins": describe_coins(protocol),
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
                "domain": field.domain.describe(protocol.range_values),
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


RULES = ("interact", "update", "begin", "round")  # what the rules of a protocol are called, depending on its model


def rule_functions(kind: type) -> list[Any]:
    """The functions that are the rules of a protocol's class, each followed by those of its author that it calls."""
    found: dict[FunctionType, None] = {}  # in order

    def follow(function: Any) -> None:
        plain = getattr(function, "py_func", function)
        if not isinstance(plain, FunctionType) or plain in found or not is_authored(plain.__code__.co_filename):
            return
        found[plain] = None
        for name in names_in_order(plain.__code__):
            follow(plain.__globals__.get(name))

    for name in RULES:
        follow(getattr(kind, name, None))
    return list(found)


def names_in_order(code: CodeType) -> list[str]:
    """The global names that code reads, in the order of its text, also inside its lambdas and comprehensions."""
    inner = [name for item in code.co_consts if isinstance(item, CodeType) for name in names_in_order(item)]
    steps = (step.argval for step in dis.get_instructions(code) if step.opname == "LOAD_GLOBAL")
    return list(dict.fromkeys([*steps, *inner]))


def source_of(function: Any) -> str:
    """Its text without the indentation of its class, decorators and remarks to a linter."""
    lines = textwrap.dedent(inspect.getsource(function)).rstrip().split("\n")
    return "\n".join(line.split("  # noqa")[0] for line in lines if not line.startswith("@"))


def as_html(protocol: Protocol) -> str:
    """The display of a protocol in a notebook."""
    content = describe(protocol)
    about = ("model", "n", "states", "topology", "grade", "reference")
    parts = [display.heading(content["protocol"], content["summary"])]
    known = {name: content[name] for name in about if content[name]} | {"assumes": "; ".join(content["assumes"])}
    parts += [display.facts({name: value for name, value in known.items() if value})]
    for name, columns in (
        ("parameters", ("name", "value", "allowed", "help")),
        ("fields", ("name", "domain", "in")),
        ("starts", ("name", "help")),
        ("sets", ("name", "closed", "help")),
        ("observables", ("name", "help")),
    ):
        parts += [display.table([{column: row[column] for column in columns} for row in content[name]], name, 30)]
    return "".join(parts)


def describe_assumptions(protocol: Protocol) -> Iterator[str]:
    """All assumptions: about the graph, about what agents know, and those that the author adds."""
    graph = protocol.needs_graph or ("oriented-ring" if getattr(protocol, "oriented", False) else "")
    if graph:
        yield f"the graph is {'an' if graph[0] in 'aeiou' else 'a'} {KINDS[graph]}"
    if (seen := getattr(protocol, "neighbourhood", "set")) != "set":
        yield NEIGHBOURHOODS[seen]
    if protocol.needs_exact_n:
        yield "n is known exactly"
    if getattr(protocol, "has_identifiers", False):
        yield "nodes have identifiers 1..n, all different"
    for name, declaration in protocol.parameter_declarations.items():
        if isinstance(declaration.low, str):
            yield f"{name} >= {declaration.low}"
    if protocol.needs_oracle:
        yield "an oracle reports whether there is a leader"
    for assumption in protocol.assumes:
        yield assumption.says


def describe_coins(protocol: Protocol) -> str:
    """What an interaction, or a node in a round, draws."""
    if bits := getattr(protocol, "random_bits", 0):
        return f"{bits} fair bits per node and round"
    fields = getattr(protocol, "coin_fields", ())
    return ", ".join(f"{field.name} in {field.domain.describe(protocol.values)}" for field in fields)
