"""Functions on records that are written by the program: they read the fields and bounds of one state space.

Their text depends on the fields alone, and the numbers are in a layout, so that one compiled function serves every
choice of parameters.
"""

from collections import namedtuple
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any, Protocol

import numpy as np

from hegemon.compute.compilation import lean


class Written(Protocol):
    """Provides the text of two functions that read and write words, and the numbers that these functions read."""

    def source(self) -> tuple[str, Sequence[int]]: ...


class Fields(Written, Protocol):
    """The part of a state space that is used here: `compute` does not import the models."""

    names: tuple[str, ...]

    @property
    def layout(self) -> Sequence[int]: ...

    def existence_test(self, name: str) -> str: ...

    def require_codes(self, why: str) -> None: ...


def widened(dtype: np.dtype) -> np.dtype:
    """The same fields in 64 bits: they hold what a transition writes unchanged, before it is stored in fewer bits."""
    fields = {name: dtype[name] for name in dtype.names or ()}
    plain = [name for name, kind in fields.items() if not kind.shape]
    place = {dtype.fields[name][1]: 8 * number for number, name in enumerate(plain)}  # type: ignore[index]
    layout: Any = {
        "names": list(fields),
        "formats": [(np.int64, kind.shape) if kind.shape else np.int64 for kind in fields.values()],
        "offsets": [place[dtype.fields[name][1]] for name in fields],  # type: ignore[index]
        "itemsize": 8 * len(plain),
    }
    return np.dtype(layout)


def layout_of(space: Fields) -> np.ndarray:
    """The numbers that `settle` and `clear` read; those of `codec` begin with them."""
    return np.array(space.layout, dtype=np.int64)


def codec(space: Fields) -> tuple[Callable[..., Any], Callable[..., Any], np.ndarray]:
    """`encode(a, layout)` and `decode(code, a, layout)` to bind in kernels, and the layout to pass them."""
    space.require_codes("this cannot number them; use engine agents or events, or a shorter array")
    text, layout = space.source()
    encode, decode = _functions(text, "encode", "decode")
    return encode, decode, np.array(layout, dtype=np.int64)


def record_functions(space: Fields) -> tuple[Any, ...]:
    """`copy(a, b)`, which writes the fields of a into b, and `same(a, b)`."""
    copy = "".join(f"\n    b.{name} = a.{name}" for name in space.names)
    same = "(" + " | ".join(f"(a.{name} ^ b.{name})" for name in space.names) + ") == 0"  # without branches
    return _functions(f"def copy(a, b):{copy}\ndef same(a, b):\n    return {same}\n", "copy", "same")


def settler(space: Fields) -> Callable[..., Any]:
    """`settle(a, layout)`, with the layout of `codec`: whether every field that the state has is in its range.

    A field that the state does not have gets its lowest value: nothing is left there from another class of
    agents, and equal states are equal records.
    """
    lines = ["def settle(a, layout):"]
    for slot, name in enumerate(space.names):
        test = space.existence_test(name)
        value, low = f"a.{name} - layout[{2 * slot}]", f"layout[{2 * slot}]"
        indent = "    "
        if test:
            lines += [f"    if not ({test}):", f"        a.{name} = {low}", "    else:"]
            indent += "    "
        lines += [f"{indent}if {value} < 0 or {value} >= layout[{2 * slot + 1}]:", f"{indent}    return False"]
    return _functions("\n".join([*lines, "    return True"]), "settle")[0]


def clearer(space: Fields, words: int = 2) -> Callable[..., Any]:
    """`clear(a, layout)`: fields that the state does not have get their lowest value.

    `words` is how many numbers of the layout belong to a field: 2 in that of `codec`, 4 in that of `packer`.
    """
    lines = ["def clear(a, layout):"]
    for slot, name in enumerate(space.names):
        test = space.existence_test(name)
        if test:
            lines += [f"    if not ({test}):", f"        a.{name} = layout[{words * slot}]"]
    return _functions("\n".join([*lines, "    return"]), "clear")[0]


def packer(packing: Written) -> tuple[Callable[..., Any], Callable[..., Any], np.ndarray]:
    """`pack(a, layout)` and `unpack(word, a, layout)` to bind in kernels, and the layout to pass them."""
    text, layout = packing.source()
    pack, unpack = _functions(text, "pack", "unpack")
    return pack, unpack, np.array(layout, dtype=np.int64)


def fitter(text: str) -> Callable[..., Any]:
    """`fits(a, degree, limits)` of a protocol whose ranges depend on the degree, to bind in kernels."""
    return _functions(text, "fits")[0]


def copier(names: Iterable[str]) -> Callable[..., Any]:
    """`show(a, face)`, which copies the named fields of a state, to bind in kernels."""
    (show,) = _functions("\n".join(["def show(a, face):", *(f"    face.{name} = a.{name}" for name in names)]), "show")
    return show


@cache
def _functions(text: str, *names: str) -> tuple[Any, ...]:
    """Functions defined by generated text: the same text gives the same functions."""
    scope: dict[str, Any] = {}
    exec(compile(text, "<hegemon>", "exec"), scope)
    return tuple(scope[name] for name in names)


@cache
def marker(conditions: tuple[Any, ...]) -> Callable[..., Any]:
    """`note(a, p, mark, place)`: from this place on, writes for every condition whether the agent satisfies it,
    1 or 0; returns the place behind."""
    lines = ["def note(a, p, mark, place):"]
    lines += [f"    mark[place + {k}] = condition{k}(a, p) != 0" for k in range(len(conditions))]
    return _about(conditions, [*lines, f"    return place + {len(conditions)}"], "note")


@cache
def recounter(conditions: tuple[Any, ...], fields: tuple[str, ...] = ()) -> Callable[..., Any]:
    """`recount(a, b, c, d, p, goal)`: two agents in the states a and b are now in c and d. Updates the goal's counts;
    true if this meets the counted part of the stop, after a change of a count or of one of these fields. Without
    branches, since each adds a nested call."""
    lines = ["def recount(a, b, c, d, p, goal):", "    moved = watched = False"]
    for k in range(len(conditions)):
        lines += [f"    before_a, after_a = condition{k}(a, p) != 0, condition{k}(c, p) != 0"]
        lines += [f"    before_b, after_b = condition{k}(b, p) != 0, condition{k}(d, p) != 0"]
        lines += ["    changed = (before_a != after_a) | (before_b != after_b)", "    moved = moved | changed"]
        lines += [f"    goal.counts[{k}] += int(after_a) + int(after_b) - int(before_a) - int(before_b)"]
        lines += ["    watched = changed & (goal.watch != 0)"] if k == 0 else []
    lines += [f"    moved = moved | (a.{name} != c.{name}) | (b.{name} != d.{name})" for name in fields]
    lines += ["    if watched or not moved:", "        return watched"]
    return _about(conditions, [*lines, "    return within(goal.counts, goal.low, goal.high)"], "recount")


def _about(conditions: tuple[Any, ...], lines: list[str], name: str) -> Callable[..., Any]:
    """A function of generated lines that call the conditions by number."""
    scope = {"within": within, **{f"condition{k}": condition for k, condition in enumerate(conditions)}}
    exec(compile("\n".join(lines), "<hegemon>", "exec"), scope)
    return scope[name]


@lean
def within(counts, low, high):  # type: ignore[no-untyped-def]
    """Whether every count is within its bounds, in one row of them at least."""
    for row in range(low.shape[0]):
        inside = True
        for k in range(len(counts)):
            inside = inside and low[row, k] <= counts[k] <= high[row, k]
        if inside:
            return True
    return False


@cache
def all_of(functions: tuple[Any, ...], arguments: str) -> Callable[..., Any]:
    """One function that returns whether all of these hold for its arguments."""
    called = " and ".join(f"condition{k}({arguments})" for k in range(len(functions)))
    return _about(functions, [f"def predicate({arguments}):", f"    return {called}"], "predicate")


@cache
def one_of(functions: tuple[Any, ...], arguments: str) -> Callable[..., Any]:
    """One function that calls the function number `which` and writes the result to `result[place]`."""
    lines = [f"def value(which, {arguments}, result, place):"]
    for k in range(len(functions)):
        lines += [f"    if which == {k}:", f"        result[place] = value{k}({arguments})"]
    scope = {f"value{k}": function for k, function in enumerate(functions)}
    exec(compile("\n".join(lines), "<hegemon>", "exec"), scope)
    return scope["value"]


def _tossed(coins: tuple[str, ...], biased: tuple[str, ...]) -> tuple[list[str], str]:
    """Lines that take the number `coin` apart, and the coins that they draw: the bounds are among the parameters, and a
    biased coin shows 1 for values below 0."""
    lines = []
    for name in coins:
        lines += [f"    drawn_{name} = p._low_{name} + coin % p._size_{name}", f"    coin //= p._size_{name}"]
        if name in biased:
            lines += [f"    drawn_{name} = 1 if drawn_{name} < 0 else 0"]
    return lines, f"Coins({', '.join(f'drawn_{name}' for name in coins)})"


@cache
def meeting(interact: Callable[..., Any], coins: tuple[str, ...], biased: tuple[str, ...] = ()) -> Callable[..., Any]:
    """`meet(a, b, p, coin)`: the author's `interact`, given the number of what its coins show.

    Without coins the number is not used.
    """
    lines, drawn = _tossed(coins, biased)
    scope: dict[str, Any] = {"interact": interact, "Coins": namedtuple("Coins", coins)}
    call = f"    interact(a, b, p{f', {drawn}' if coins else ''})"
    text = "\n".join(["def meet(a, b, p, coin):", *lines, call])
    exec(compile(text, "<hegemon>", "exec"), scope)
    return scope["meet"]


@cache
def updating(update: Callable[..., Any], coins: tuple[str, ...], biased: tuple[str, ...] = ()) -> Callable[..., Any]:
    """`update(me, neighbours, coin, p)`: the author's, given the number of what its coins show."""
    if not coins:
        return update  # it reads the number itself
    lines, drawn = _tossed(coins, biased)
    scope: dict[str, Any] = {"author": update, "Coins": namedtuple("Coins", coins)}
    call = f"    author(me, neighbours, {drawn}, p)"
    text = "\n".join(["def update(me, neighbours, coin, p):", *lines, call])
    exec(compile(text, "<hegemon>", "exec"), scope)
    return scope["update"]
