"""An author's function as what kernels call: read once, and translated for every kind of its arguments."""

from collections.abc import Callable
from functools import cached_property
from typing import Any, cast

from numba import types

from hegemon.compute.arithmetic import FUNCTIONS
from hegemon.compute.border import ingredient
from hegemon.compute.translation import OWN, Translated, Translation
from hegemon.language import form
from hegemon.language.kinds import ELEMENT, NOTHING, REAL, TRUTH, WHOLE, Kind, Numbers, Record, RowKind, TupleKind
from hegemon.language.reading import read
from hegemon.language.source import Outside

_ingredients: dict[Any, Any] = {}  # equal texts are compiled once


class Authored:
    """Makes the ingredients of one function for records of one layout; called with the types of its arguments."""

    def __init__(self, function: Callable[..., Any], records: str):
        self._function, self._records = function, records

    @cached_property
    def _form(self) -> form.Function:
        return read(self._function)

    @cached_property
    def _translation(self) -> Translation:
        scope = {f"{OWN}{name}": function for name, function in FUNCTIONS.items()}
        return Translation({"__name__": self._function.__module__} | scope, self._compiled)

    def __call__(self, given: tuple[Any, ...]) -> Any:
        return self._translation.of(self._form, tuple(map(kind_of, given)))[1]

    def _compiled(self, function: form.Function, kinds: tuple[Kind, ...], made: Translated) -> Any:
        called = made.function.__code__.co_names
        scope = tuple(
            (name, id(value)) for name, value in cast(Any, made.function).__globals__.items() if name in called
        )
        key = made.function.__code__, scope, self._records
        if key not in _ingredients:
            options = {"boundscheck": True} if made.indexes else {}
            _ingredients[key] = ingredient(forceinline=True, **options)(made.function)
        return _ingredients[key]


def kind_of(given: Any) -> Kind:
    """What a value of one of Numba's types is."""
    kind: Any = types.unliteral(given)
    if isinstance(kind, types.Boolean):
        return TRUTH
    if isinstance(kind, types.Integer) and kind != types.uint64:
        return WHOLE
    if isinstance(kind, types.Float):
        return REAL
    if isinstance(kind, types.Record):
        return Record("a state", tuple((name, kind_of(field.type)) for name, field in kind.fields.items()))
    if isinstance(kind, types.Array) and kind.ndim == 1:
        made_as = "elements" if isinstance(kind, types.NestedArray) else "array"
        element = ELEMENT if kind.dtype == types.boolean else kind_of(kind.dtype)
        return RowKind(element, "list" if isinstance(element, Record) else made_as)
    if isinstance(kind, types.BaseTuple):
        parts = tuple(map(kind_of, cast(Any, kind)))
        names = getattr(kind, "fields", None)
        return Record("the coins", tuple(zip(names, parts, strict=True))) if names else TupleKind(parts)
    if isinstance(kind, types.RangeType):
        return Numbers()
    if isinstance(kind, types.NoneType):
        return NOTHING
    raise Outside(f"a value of the type {kind} has no place in the language")
