"""Generated calls of the public Python functions: good ones in which one or two values are odd."""

# ruff: noqa: E501 - tables of odd values

import datetime
import decimal
import fractions
import inspect
import math
import random
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import hegemon as hg
from hegemon.runs.rates import Rate


class Unwritable:
    """An object that cannot be shown, compared, counted or read."""

    def __repr__(self) -> str:
        raise RuntimeError("no repr")

    __str__ = __len__ = __iter__ = __bool__ = __index__ = __float__ = __fspath__ = __hash__ = __repr__

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("no comparison")


class Everything:
    """An object that has every attribute."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def __call__(self, *_: Any, **__: Any) -> "Everything":
        return self


class Word(str):
    """A text of another class."""

    __slots__ = ()


def endless() -> Iterator[int]:
    while True:
        yield 1


def within_itself() -> list[Any]:
    made: list[Any] = [1]
    made.append(made)
    return made


def named_within_itself() -> dict[str, Any]:
    made: dict[str, Any] = {"leader": 1}
    made["more"] = made
    return made


# each is made afresh for each call
ODD: dict[str, Callable[[], Any]] = {
    "none": lambda: None, "true": lambda: True, "false": lambda: False, "zero": lambda: 0, "minus": lambda: -1,
    "minus five": lambda: -5, "one": lambda: 1, "two": lambda: 2, "half": lambda: 0.5, "below zero": lambda: -0.5,
    "one real": lambda: 1.0, "one and a half": lambda: 1.5, "two reals": lambda: 2.0, "nan": lambda: math.nan,
    "infinity": lambda: math.inf, "minus infinity": lambda: -math.inf, "tiny": lambda: 5e-324,
    "2^63": lambda: 2**63, "2^64": lambda: 2**64, "-2^63": lambda: -(2**63), "googol": lambda: 10**100,
    "6000 digits": lambda: 10**6000, "1e300": lambda: 1e300, "i": lambda: 1j,
    "empty": lambda: "", "blank": lambda: " ", "x": lambda: "x", "no": lambda: "no", "'1'": lambda: "1", "'-1'": lambda: "-1",
    "'1e400'": lambda: "1e400", "'nan'": lambda: "nan", "nul": lambda: "a\0b", "surrogate": lambda: "\udc80", "line": lambda: "a\nb",
    "long": lambda: "x" * 5000, "brackets": lambda: "(" * 5000, "power": lambda: "9**9**9", "dunder": lambda: "__class__",
    "number word": lambda: Word("x"), "bytes": lambda: b"x", "bytearray": lambda: bytearray(b"3"), "memory": lambda: memoryview(b"3"),
    "list": list, "tuple": lambda: (), "dict": dict, "set": set, "list of 1": lambda: [1], "list of x": lambda: ["x"],
    "list of none": lambda: [None], "list of nan": lambda: [math.nan], "list of 1.5": lambda: [1.5], "list of -1": lambda: [-1],
    "nested": lambda: [[1, [2]]], "pair": lambda: (1, "x"), "{1: 2}": lambda: {1: 2}, "{x: 1}": lambda: {"x": 1},
    "{x: {}}": lambda: {"x": {}}, "[{}]": lambda: [{}], "[{x: 1}]": lambda: [{"x": 1}], "set of 1": lambda: {1},
    "within itself": within_itself, "named within itself": named_within_itself, "endless": endless, "no iterator": lambda: iter([]),
    "range": lambda: range(3), "object": object, "unwritable": Unwritable, "everything": Everything, "class": lambda: int,
    "class of ours": lambda: hg.Pairwise, "protocol": lambda: hg.Pairwise(n=3), "module": lambda: math, "ellipsis": lambda: ...,
    "function": lambda: (lambda *_: None), "no arguments": lambda: (lambda: None),
    "error": lambda: ValueError("x"), "date": lambda: datetime.date(2020, 1, 1), "delta": lambda: datetime.timedelta(3),
    "decimal": lambda: decimal.Decimal("0.5"), "decimal nan": lambda: decimal.Decimal("nan"), "third": lambda: fractions.Fraction(1, 3),
    "numpy -1": lambda: np.int64(-1), "numpy 3": lambda: np.int64(3), "numpy nan": lambda: np.float64("nan"),
    "numpy true": lambda: np.True_, "numpy time": lambda: np.datetime64("2020-01-01"), "numpy empty": lambda: np.array([]),
    "numpy range": lambda: np.arange(3), "numpy scalar": lambda: np.array(5), "numpy objects": lambda: np.array([None, "x"], object),
    "numpy text": lambda: np.str_("x"), "matrix": lambda: np.eye(2), "path": lambda: Path("no/such/file.json"),
    "folder": lambda: Path("."), "device": lambda: "/dev/full", "namespace": lambda: types.SimpleNamespace(x=1),
    "fault": lambda: hg.Fault(1, 1), "set of configurations": lambda: hg.exactly(1, lambda a, p: a.leader == 1),
    "observable": lambda: hg.count(lambda a, p: a.leader == 1), "generator": lambda: np.random.default_rng(0),
    "odd fault": lambda: hg.Fault(1.5, 1), "odd rate": lambda: Rate("corrupt", 0.5),  # type: ignore[arg-type]
}  # fmt: skip


PLAUSIBLE = [
    "none",
    "true",
    "false",
    "zero",
    "one",
    "two",
    "half",
    "one real",
    "two reals",
    "numpy 3",
    "numpy true",
    "third",
    "'1'",
    "range",
]


def table() -> dict[str, tuple[Callable[..., Any], dict[str, Any]]]:
    """Functions by name, with a good call of each that ends at once."""
    pairwise, ring = hg.Pairwise(n=4), hg.Herman(n=5)
    referees = hg.ChangRoberts(n=4)
    short = {"max_steps": 300}
    return {
        "simulate": (hg.simulate, {"protocol": pairwise, **short}),
        "simulate rounds": (hg.simulate, {"protocol": ring, **short}),
        "simulate messages": (hg.simulate, {"protocol": referees, **short}),
        "run_trials": (hg.run_trials, {"protocol": pairwise, "trials": 3, **short}),
        "verify": (hg.verify, {"protocol": hg.Pairwise(n=3)}),
        "verify rounds": (hg.verify, {"protocol": hg.Herman(n=3)}),
        "verify messages": (hg.verify, {"protocol": hg.ChangRoberts(n=3)}),
        "prove": (hg.prove, {"protocol": hg.Pairwise, "property": "closed", "largest": 0}),
        "holding": (hg.holding, {"protocol": hg.Timer(n=3, s=2), "budget": 1000}),
        "availability": (hg.availability, {"protocol": hg.Pairwise(n=3), "rates": ["corrupt=1/10"]}),
        "sweep": (hg.sweep, {"protocol": "pairwise", "n": 4, "trials": 1, "workers": 1}),
        "compare": (hg.compare, {"protocols": ["pairwise"], "n": 4, "trials": 2, "workers": 1, **short}),
        "discover": (hg.discover, {"states": 2, "n": "2", "symmetric": True}),
        "discover_guided": (hg.discover_guided, {"states": 2, "n": "2", "symmetric": True, "walks": 1}),
        "improve": (hg.improve, {"protocol": "timer", "free": "s=2,3", "n": 3}),
        "advise": (hg.advise, {"hold": 1e6, "n": 3}),
        "check": (hg.check, {"protocol": hg.Pairwise(n=3)}),
        "search_worst": (
            hg.search_worst,
            {"protocol": hg.Timer(n=3, s=2), "evaluations": 2, "trials": 3, "final": 4, **short},
        ),
        "lower_bound": (hg.lower_bound, {"n": 100, "exponents": "0.5", "candidates": "1", "trials": 2, "workers": 1}),
        "compare_messages": (hg.compare_messages, {"n": 50, "trials": 1, "workers": 1}),
        "mixing_time": (hg.mixing_time, {"topology": "ring:9"}),
        "export": (hg.export, {"protocol": hg.Pairwise(n=3), "to": "latex", "out": "made.tex"}),
        "results": (hg.results, {"folder": "study"}),
        "reproduce": (hg.reproduce, {"only": "nothing"}),
        "rules": (hg.rules, {"given": {("L", "L"): ("L", "F")}}),
        "live": (hg.live, {"protocol": pairwise}),
        "watch": (hg.watch, {"protocol": pairwise, "film": True, **short}),
        "claim": (
            hg.claim,
            {"name": "a", "statement": "b", "protocol": hg.Pairwise, "mean": "n", "exact": (3,)},
        ),
        "Fault": (hg.Fault, {"step": 1, "agents": 1}),
        "Rate": (Rate, {"kind": "corrupt", "rate": fractions.Fraction(1, 9)}),
        "Pairwise": (hg.Pairwise, {"n": 4}),
        "Timer": (hg.Timer, {"n": 4, "s": 3}),
        "Parameter": (hg.Parameter, {"default": 1}),
        "Assumption": (hg.Assumption, {"says": "n is even"}),
        "Topology": (hg.Topology, {"name": "mine", "n": 4}),
    }  # fmt: skip


MORE = {  # of functions that take other names too
    "sweep": ["n", "graph", "start", "until", "max_steps", "engine", "scheduler", "fault", "rate", "loss", "p.loss", "ghost"],
    "discover_guided": ["graph", "self_stabilizing", "silent", "coin", "daemon", "start", "correct", "ghost"],
    "rules": ["k"],
    "Timer": ["s", "r_max", "ghost"],
}  # fmt: skip
APART = {"cluster", "host", "port", "browser", "each"}  # what opens connections
WRAPPED: dict[str, Callable[[Any], Any]] = {
    "{}": lambda value: value,
    "[{}]": lambda value: [value],
    "({},)": lambda value: (value,),
    "{{'x': {}}}": lambda value: {"x": value},
    "[Fault({}, 1)]": lambda value: [hg.Fault(value, 1)],
    "[Fault(1, {})]": lambda value: [hg.Fault(1, value)],
    "[Fault(1, 1, {})]": lambda value: [hg.Fault(1, 1, value)],
    "[Fault(1, 1, kind={})]": lambda value: [hg.Fault(1, 1, kind=value)],
}


def options(function: Callable[..., Any], name: str) -> list[str]:
    named = inspect.signature(function).parameters.values()
    found = {one.name for one in named if one.kind != one.VAR_KEYWORD}
    return sorted(found.union(MORE.get(name, ())) - APART)


class Call:
    """Call `number` of a seed: always the same."""

    def __init__(self, seed: int, number: int):
        dice = random.Random(f"call {seed} {number}")
        calls = table()
        self.name = list(calls)[number % len(calls)]
        self.function, self.given = calls[self.name]
        self.odd: dict[str, tuple[str, str]] = {}
        for _ in range(dice.choice((1, 1, 1, 2))):
            option = dice.choice(options(self.function, self.name))
            odd = dice.choice(list(ODD) if dice.random() < 0.7 else PLAUSIBLE)
            ways = list(WRAPPED)[4:] if option == "faults" and dice.random() < 0.7 else list(WRAPPED)[:4]
            self.odd[option] = dice.choice([ways[0], *ways]), odd

    def __str__(self) -> str:
        return f"{self.name}: " + ", ".join(f"{name} = {way.format(odd)}" for name, (way, odd) in self.odd.items())

    def perform(self) -> list[str]:
        """Make the call; what it should not have taken, if it returns."""
        given = self.given | {option: WRAPPED[way](ODD[odd]()) for option, (way, odd) in self.odd.items()}
        named = dict(given)
        positional = named.pop("protocols", ()) if self.name == "compare" else ()
        if not isinstance(positional, list | tuple):
            positional = [positional]
        self.function(*positional, **named)
        return [option for option in self.odd if not is_sense(self.name, option, given[option])]


def is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip()) and "\0" not in value and "\udc80" not in value


def is_path(value: Any) -> bool:
    return is_text(value) or isinstance(value, Path)


def is_whole(value: Any, least: int = 0) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer):
        return False
    return math.isfinite(value if isinstance(value, float) else 1) and value == int(value) and value >= least


def is_real(value: Any) -> bool:
    return isinstance(value, int | float | np.number | fractions.Fraction) and value is not True and value is not False


def is_decimal(value: Any) -> bool:
    return isinstance(value, decimal.Decimal) and value.is_finite()


def is_scalar(value: Any) -> bool:
    return is_text(value) or is_real(value) or isinstance(value, bool)


def is_flag(value: Any) -> bool:
    return isinstance(value, bool | np.bool_)


def each(test: Callable[[Any], bool]) -> Callable[[Any], bool]:
    """A list of such values."""
    return lambda value: isinstance(value, list | tuple | range | np.ndarray) and all(map(test, value))


def named(test: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, dict) and all(is_text(name) and test(entry) for name, entry in value.items())


def hashable(value: Any) -> bool:
    try:
        hash(value)
    except Exception:  # an odd object
        return False
    return True


def some(*tests: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: any(test(value) for test in tests)


def at_least_one(value: Any) -> bool:
    return is_whole(value, 1)


def is_none(value: Any) -> bool:
    return value is None


def is_object(value: Any) -> bool:
    """An object of ours, or a function."""
    return isinstance(value, hg.Topology | hg.Configuration) or callable(value) and not isinstance(value, type)


IS_SIZES = some(at_least_one, is_text, each(at_least_one))
IS_AXIS = some(is_none, is_scalar, is_path, is_object)
# What an accepted value of an option may be: said here for its own, not read from what is tested.
SENSE: dict[str, Callable[[Any], bool]] = {
    **dict.fromkeys(
        ["availability", "fast_forward", "keep", "keep_all", "symmetry", "self_stabilizing", "silent", "symmetric", "coin", "certificate", "path", "exact", "extend", "full", "arbitrary_start", "film", "random", "real", "directed", "oriented"], is_flag
    ),
    **dict.fromkeys(["max_steps", "trial", "first", "within", "largest", "step"], is_whole),
    **dict.fromkeys(["trials", "every", "most_rows", "budget", "evaluations", "final", "walks", "most", "states", "jobs", "threads", "workers"], at_least_one),
    **dict.fromkeys(
        ["until", "engine", "order", "property", "start", "of", "delay", "coins", "graphs", "specification", "graph", "daemon", "correct", "free", "importance", "starts", "holding", "where", "laws", "by", "method", "to", "only", "paper", "name", "transition_order", "statement", "closed", "reached", "mean", "at_most", "at_least", "grows", "rival", "probability", "limit", "doc", "says", "holds", "otherwise", "help", "kind", "exponents", "candidates", "topology", "scheduler", "wake", "identifiers", "seed", "rates", "crashes"], is_text
    ),
    **dict.fromkeys(["checkpoint", "out", "store", "file", "folder", "disturbances", "cases"], is_path),
    "n": IS_SIZES, "measure": IS_SIZES, "s": some(is_whole, is_text), "r_max": some(is_whole, is_text), "N": some(is_whole, is_text),
    "loss": some(is_real, is_text, is_decimal), "one_sided": some(is_real, is_text, is_decimal), "duplicate": some(is_real, is_text, is_decimal),
    "relative": some(is_real, is_text, is_decimal), "memory": is_real, "hold": some(is_real, is_text), "risk": is_real,
    "n_at_most": at_least_one, "interactions_per_second": is_real, "quantiles": each(is_real), "low": is_scalar, "high": is_scalar,
    "default": is_scalar, "choices": each(is_text), "length": some(at_least_one, is_text), "count": is_whole,
    "agents": some(is_whole, each(is_whole)), "values": named(lambda value: True), "number": some(is_whole, is_text),
    "rate": lambda value: isinstance(value, fractions.Fraction), "domain": lambda value: False, "lazy": is_flag,
    "at": each(is_whole), "faults": each(lambda value: isinstance(value, hg.Fault)), "parameters": named(is_scalar),
    "given": some(is_text, each(is_text), lambda value: isinstance(value, dict), callable), "leader": hashable, "k": hashable,
    "zip": each(some(is_text, each(is_text))), "rows": lambda value: False, "protocols": some(is_text, each(is_text)),
    "sizes": each(at_least_one),
    **dict.fromkeys(["condition", "value", "predicate", "reason", "test", "progress", "report"], callable),
    "observe": is_flag,
}  # fmt: skip
# where one function takes more than others do under the same name
MORE_SENSE: dict[str, Callable[[Any], bool]] = {
    "start": some(is_path, each(named(is_scalar)), hashable, each(is_text)),
    "seed": some(is_whole, lambda value: isinstance(value, np.random.Generator)),
    "wake": some(is_path, each(is_whole)), "identifiers": some(is_path, each(is_whole)), "graph": some(is_path, is_object),
    "until": is_object, "scheduler": is_object, "delay": is_object, "rates": each(some(is_text, lambda value: isinstance(value, Rate))),
    "crashes": each(is_text), "observe": some(each(is_text), named(is_object), named(lambda value: isinstance(value, type(hg.count(len))))),
    "exponents": each(is_real), "candidates": each(some(is_real, is_text)), "by": each(is_text), "laws": each(is_text),
    "starts": each(is_text), "folder": each(is_path), "probability": is_real, "exact": each(at_least_one), "of": named(some(is_scalar, each(is_scalar))),
    "protocol": lambda value: value is hg.Pairwise or isinstance(value, hg.Pairwise) or is_text(value), "twin": lambda value: False,
    "protocols": lambda value: value is hg.Pairwise or each(lambda one: one is hg.Pairwise)(value), "topology": is_path,
    "values": each(each(is_scalar)), "full": named(lambda value: True), "leader": some(each(hashable), lambda value: isinstance(value, set)), "cases": each(named(IS_AXIS)),
}  # fmt: skip


def is_sense(name: str, option: str, value: Any) -> bool:
    """Whether somebody can mean this value by this option."""
    named_here = inspect.signature(table()[name][0]).parameters.get(option)
    if value is None and (
        named_here is None
        or named_here.default is None
        or option in ("seed", "default", "k", "s", "r_max", "N", "workers")
    ):
        return True
    if named_here is not None and value is named_here.default:
        return True
    if name == "sweep" and (option in MORE["sweep"] or option == "protocol"):
        return some(IS_AXIS, each(IS_AXIS), each(lambda one: isinstance(one, hg.Fault)))(value)
    return bool(SENSE.get(option, lambda _: False)(value)) or bool(MORE_SENSE.get(option, lambda _: False)(value))
