"""The fields that an author declares in `class State:` or `class Message:`, each with its domain and first value."""

import inspect
import keyword
import unicodedata
from dataclasses import dataclass

import numpy as np

from hegemon.errors import InvalidInput, shown
from hegemon.models.domains import Domain


@dataclass(frozen=True)
class Field:
    name: str
    domain: Domain
    default: int | str | None = None


def declared_fields(state_class: type, owner: str, what: str = "State") -> tuple[Field, ...]:
    """The fields of a `class State:` (or `class Message:`) body, in order, each checked."""
    if not inspect.isclass(state_class):
        raise InvalidInput(
            f"{owner}.{what} is {state_class!r}, which is not a class; write `class {what}:` with fields"
        )
    fields: list[Field] = []
    annotated = inspect.get_annotations(state_class, eval_str=True)
    for name, value in vars(state_class).items():
        if isinstance(value, Domain) and name not in annotated:
            raise InvalidInput(
                f"{owner}.{what}.{name} is given with `=`; a field is declared with a colon, `{name}: …`"
            )
        if name not in annotated and not name.startswith("_"):
            raise InvalidInput(
                f"{owner}.{what}.{name} has no values to choose from, so nobody reads it; declare them with a colon: "
                f"`{name}: Bit = …`"
            )
    for name, domain in annotated.items():
        require_name(name, f"{owner}.{what}", "field")
        if not isinstance(domain, Domain):
            written = domain.__name__ if inspect.isfunction(domain) or inspect.isclass(domain) else repr(domain)
            kinds = ["Bit", "Range(low, high)", "Choice(names)"]
            kinds += ["Coin(probability)"] * (what == "Coins") + ["Array(length, Range(low, high))"] * (what == "State")
            raise InvalidInput(
                f"{owner}.{what}.{name} is annotated with {written}; use {', '.join(kinds[:-1])} or {kinds[-1]}"
            )
        if domain.chance is not None and what != "Coins":
            raise InvalidInput(f"{owner}.{what}.{name} is a Coin, which is drawn; declare it in `class Coins:`")
        if domain.length is not None and what != "State":
            raise InvalidInput(f"{owner}.{what}.{name} is an Array, which only `class State:` may have")
        for other, values in domain.condition:
            earlier = {field.name: field for field in fields}.get(other)
            if earlier is None:
                raise InvalidInput(f"{owner}.{what}.{name} depends on {other!r}, which is not an earlier field")
            if earlier.domain.length is not None:
                raise InvalidInput(f"{owner}.{what}.{name} depends on {other!r}, which is an array; use another field")
            for value in values:
                if value not in earlier.domain.names if earlier.domain.names else not isinstance(value, int):
                    raise InvalidInput(f"{owner}.{what}.{name}: {other} has no value {value!r}")
        default = getattr(state_class, name, None)
        if default is not None and not isinstance(default, int | str):
            raise InvalidInput(
                f"{owner}.{what}.{name} = {shown(default)} is no first value; give a whole number or a text"
            )
        fields.append(Field(name, domain, default))
    if not fields:
        raise InvalidInput(f"{owner}.{what} declares no field; write for example `leader: Bit`")
    return tuple(fields)


def declared_variables(node_class: type, owner: str) -> tuple[Field, ...]:
    """The variables of a `class Node:` with a declared domain, `rank: Range(0, "n") = 0`; others may hold anything."""
    found: list[Field] = []
    try:
        annotated = inspect.get_annotations(node_class, eval_str=True)
    except Exception:  # notes for readers: Python does not evaluate them either
        annotated = inspect.get_annotations(node_class)
    for name, domain in annotated.items():
        if not isinstance(domain, Domain):
            continue
        where = f"{owner}.Node.{name}"
        require_name(name, f"{owner}.Node", "variable")
        if domain.condition or domain.chance is not None or domain.length is not None:
            raise InvalidInput(f"{where} may be a Bit, Range(low, high) or Choice(names), without conditions")
        default = getattr(node_class, name, None)
        if default is None or (default not in domain.names if domain.names else not isinstance(default, int)):
            first = repr(domain.names[0]) if domain.names else "0"
            raise InvalidInput(f"{where} needs a first value in its domain, such as `{name}: … = {first}`")
        found.append(Field(name, domain, default))
    return tuple(found)


def require_name(name: object, owner: str, what: str) -> None:
    """Names go into the text of functions that the program writes, so they must be names and nothing else."""
    written = isinstance(name, str) and name.isidentifier() and not keyword.iskeyword(name)
    if not written or unicodedata.normalize("NFKC", str(name)) != name:  # Python reads the name in its normal form
        raise InvalidInput(f"{owner}: a {what} cannot be named {shown(name)}, which is no name of Python; rename it")


def signed_type(low: int, high: int, variable: bool = False) -> type:
    """The narrowest signed integer that holds the range: signed, so that differences cannot wrap around.

    A range that varies with the parameters gets 32 bits at least: kernels are compiled for types, and a protocol
    should not be compiled again because a bound has passed 127 or 32,767.
    """
    for kind in (np.int32, np.int64) if variable else (np.int8, np.int16, np.int32, np.int64):
        if np.iinfo(kind).min <= low and high <= np.iinfo(kind).max:
            return kind
    raise InvalidInput(f"the range {low}..{high} does not fit in 64 bits; use a smaller bound")
