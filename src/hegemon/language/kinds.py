"""What a value of the form may be: the kinds that machine code can hold, and how two ways of a program join."""

from typing import Any, TypeAlias

import numpy as np

from hegemon.language.values import Value


class Number(Value):
    """A whole number, a truth value, a real number; or an element of an array of truth values, with which NumPy
    calculates otherwise than Python with True."""

    name: str


WHOLE, TRUTH, REAL, ELEMENT = Number("whole number"), Number("truth value"), Number("real number"), Number("bool_")


class Nothing(Value):
    """What a function returns that returns nothing."""


NOTHING = Nothing()


class Record(Value):
    """A state, parameters or coins: fields by name."""

    name: str
    members: tuple[tuple[str, "Kind"], ...]

    def field(self, name: str) -> "Kind | None":
        return dict(self.members).get(name)


class Row(Value):
    """An array; in Python a `list` of states, an `array` of NumPy, or the `elements` of a field."""

    element: "Kind"
    made_as: str


class Parts(Value):
    """A tuple."""

    kinds: tuple["Kind", ...]


class Numbers(Value):
    """A range."""


class Mixed(Value):
    """One thing on one way of the program and another on another, which machine code has no place for."""

    one: "Kind"
    other: "Kind"


Kind: TypeAlias = Number | Nothing | Record | Row | Parts | Numbers | Mixed


def joined(one: Kind, other: Kind) -> Kind:
    """What a value is that is one of two kinds. A truth value is a whole number, as in Python."""
    if one == other:
        return one
    if {one, other} == {WHOLE, TRUTH}:
        return WHOLE
    if {one, other} == {ELEMENT, TRUTH}:
        return ELEMENT
    if isinstance(one, Parts) and isinstance(other, Parts) and len(one.kinds) == len(other.kinds):
        return Parts(tuple(map(joined, one.kinds, other.kinds)))
    return one if isinstance(one, Mixed) else Mixed(one, other)


def is_number(kind: Kind) -> bool:
    return kind in (WHOLE, TRUTH, REAL)


def said(kind: Kind) -> str:
    """A kind in words, with its article."""
    if isinstance(kind, Number):
        return f"a {kind.name}"
    if isinstance(kind, Record):
        return kind.name
    if isinstance(kind, Mixed):
        return f"{said(kind.one)} or {said(kind.other)}"
    return {Nothing: "nothing", Row: "a row", Parts: "a tuple", Numbers: "a range"}[type(kind)]


def kind_of_value(value: Any) -> Kind:
    """What a constant is."""
    if isinstance(value, bool):
        return TRUTH
    if isinstance(value, tuple):
        return Parts(tuple(map(kind_of_value, value)))
    return REAL if isinstance(value, float) else WHOLE


def kind_of_type(dtype: np.dtype, name: str) -> Kind:
    """What the records of an array, or its numbers, are."""
    if dtype.names:
        return Record(name, tuple((one, kind_of_type(dtype[one], name)) for one in dtype.names))
    if dtype.subdtype:
        return Row(WHOLE, "elements")
    return {"f": REAL, "b": ELEMENT}.get(dtype.kind, WHOLE)
