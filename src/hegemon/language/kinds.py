"""What a value of the form may be: the kinds that machine code can hold, and how two ways of a program join."""

from typing import Any, TypeAlias

import numpy as np

from hegemon.language.values import Value


class NumberKind(Value):
    """A whole number, a truth value, a real number; or an element of an array of truth values, with which NumPy
    calculates otherwise than Python with True."""

    name: str


WHOLE, TRUTH, REAL, ELEMENT = (
    NumberKind("whole number"),
    NumberKind("truth value"),
    NumberKind("real number"),
    NumberKind("bool_"),
)


class Nothing(Value):
    """What a function returns that returns nothing."""


NOTHING = Nothing()


class Record(Value):
    """A state, parameters or coins: fields by name."""

    name: str
    members: tuple[tuple[str, "Kind"], ...]

    def field(self, name: str) -> "Kind | None":
        return dict(self.members).get(name)


class RowKind(Value):
    """An array; in Python a `list` of states, an `array` of NumPy, or the `elements` of a field."""

    element: "Kind"
    made_as: str


class TupleKind(Value):
    """A tuple."""

    kinds: tuple["Kind", ...]


class Numbers(Value):
    """A range."""


class Mixed(Value):
    """One thing on one way of the program and another on another, which machine code has no place for."""

    one: "Kind"
    other: "Kind"


Kind: TypeAlias = NumberKind | Nothing | Record | RowKind | TupleKind | Numbers | Mixed


def joined(one: Kind, other: Kind) -> Kind:
    """What a value is that is one of two kinds. A truth value is a whole number, as in Python."""
    if one == other:
        return one
    if {one, other} == {WHOLE, TRUTH}:
        return WHOLE
    if {one, other} == {ELEMENT, TRUTH}:
        return ELEMENT
    if isinstance(one, TupleKind) and isinstance(other, TupleKind) and len(one.kinds) == len(other.kinds):
        return TupleKind(tuple(map(joined, one.kinds, other.kinds)))
    return one if isinstance(one, Mixed) else Mixed(one, other)


def is_number(kind: Kind) -> bool:
    return kind in (WHOLE, TRUTH, REAL)


def said(kind: Kind) -> str:
    """A kind in words, with its article."""
    if isinstance(kind, NumberKind):
        return f"a {kind.name}"
    if isinstance(kind, Record):
        return kind.name
    if isinstance(kind, Mixed):
        return f"{said(kind.one)} or {said(kind.other)}"
    return {Nothing: "nothing", RowKind: "a row", TupleKind: "a tuple", Numbers: "a range"}[type(kind)]


def kind_of_value(value: Any) -> Kind:
    """What a constant is."""
    if isinstance(value, bool):
        return TRUTH
    if isinstance(value, tuple):
        return TupleKind(tuple(map(kind_of_value, value)))
    return REAL if isinstance(value, float) else WHOLE


def kind_of_type(dtype: np.dtype, name: str) -> Kind:
    """What the records of an array, or its numbers, are."""
    if dtype.names:
        return Record(name, tuple((one, kind_of_type(dtype[one], name)) for one in dtype.names))
    if dtype.subdtype:
        return RowKind(WHOLE, "elements")
    return {"f": REAL, "b": ELEMENT}.get(dtype.kind, WHOLE)
