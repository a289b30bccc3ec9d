"""Checks of a class body: names with another meaning are refused, and functions of the wrong form.

All of this is known when the class is defined, so it is refused there, before anything is run.
"""

import inspect
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from hegemon.errors import InvalidInput, choose
from hegemon.graphs.topology import KINDS
from hegemon.models.assumptions import Assumption
from hegemon.models.authors import declared, where
from hegemon.models.fields import require_name

if TYPE_CHECKING:
    from hegemon.models.protocol import Protocol

RESERVED_STARTS = {"all": "all configurations"}
RESERVED_SETS = {
    "broken": "the loss of the leader", "steps": "a number of steps", "rounds": "a number of rounds",
    "silent": "that nobody is enabled",
    "all": "a condition on all agents", "none": "a condition on no agent", "count": "a number of agents",
}  # fmt: skip
RESERVED_FIELDS = {"n": "the number of agents", "count": "how many agents have a state", "present": "a question"}
RESERVED_OBSERVABLES = {"step": "the time", "parallel_time": "the time", "trial": "the number of the run"}
RECORD_ATTRIBUTES = set(dir(np.record)) | set(dir(np.recarray))  # what `agents[i].name` would return instead
UNUSUAL = inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR | inspect.CO_GENERATOR


def base_of(cls: "type[Protocol]") -> "type[Protocol]":
    """The class of the laboratory on which a protocol is based, whose names have a meaning for every protocol."""
    return next(parent for parent in cls.__mro__ if parent.__module__.startswith("hegemon.models"))


def check_declaration(cls: "type[Protocol]") -> None:
    """Refuse a protocol class in which a name or a function cannot have its intended meaning."""
    owner = cls.__name__
    if cls.daemon and cls.daemon not in cls.model.daemons:
        known = ", ".join(cls.model.daemons) or "none"
        raise InvalidInput(
            f"{owner}: the daemon {cls.daemon!r} is not one of its model; choose {known}{declared(cls, 'daemon')}"
        )
    for names, reserved, what in (
        (cls.starts, RESERVED_STARTS, "start"),
        (cls.sets, RESERVED_SETS, "set"),
        (cls.observables, RESERVED_OBSERVABLES, "observable"),
    ):
        for name in names:
            if name in reserved:
                raise InvalidInput(
                    f"{owner}: a {what} cannot be named {name!r}, which means {reserved[name]}; rename it"
                    f"{declared(cls, name if what != 'start' else f'start_{name}'.replace('-', '_'))}"
                )
    base = base_of(cls)
    for name in (*cls.parameter_declarations, *cls.sets, *cls.observables):
        require_name(name, owner, "member")
        if name == "n" or name.startswith("_") or hasattr(base, name) or name == "self":
            raise InvalidInput(
                f"{owner}: {name!r} already has a meaning for every protocol; choose another name{declared(cls, name)}"
            )
    for field in cls.fields:
        _check_field(field.name, owner, partial(declared, cls, "State", field.name))
        if field.name in cls.parameter_declarations:
            place = declared(cls, "State", field.name)
            raise InvalidInput(f"{owner}: {field.name} is both a field and a parameter; rename one of them{place}")
    for name, parameter in cls.parameter_declarations.items():
        if cls.fields and parameter.choices and parameter.takes_numbers:
            raise InvalidInput(
                f"{owner}: the parameter {name} takes words and numbers, which machine code cannot tell apart; "
                f"drop choices, or low and high{declared(cls, name)}"
            )
    if not isinstance(cls.assumes, tuple) or not all(isinstance(item, Assumption) for item in cls.assumes):
        raise InvalidInput(f'{owner}: assumes must be a tuple such as (Assumption("n is odd", "n % 2 == 1"),)')
    if cls.needs_graph not in ("", *KINDS):
        raise InvalidInput(f"{owner}: needs_graph = {cls.needs_graph!r} is not known; {choose(KINDS)}")
    check_signatures(cls, owner)


def _check_field(name: str, owner: str, place: Callable[[], str]) -> None:
    if name in RESERVED_FIELDS:
        means = RESERVED_FIELDS[name]
        raise InvalidInput(f"{owner}: a field cannot be named {name!r}, which means {means}; rename it{place()}")
    if name in RECORD_ATTRIBUTES or name.startswith("_"):
        raise InvalidInput(f"{owner}: a field cannot be named {name!r}, which records of NumPy use; rename it{place()}")


def check_signatures(cls: Any, owner: str) -> None:
    for name, expected in cls.functions.items():
        function = getattr(cls, name, None)
        if function is not None:
            require_arguments(function, expected, f"{owner}: {name}", f"def {name}({expected})")
    for name, start in cls.starts.items():
        written = f"def start_{name.replace('-', '_')}"
        arguments = "self, rng, topology" if cls.reads_graph else "self, rng"
        require_arguments(start, arguments, f"{owner}: the start {name}", f"{written}({arguments})")
    graph = "nodes, offsets, targets, p" if cls.reads_graph else "agents, p"
    for name, chosen in cls.sets.items():
        for count in chosen.counts:
            require_arguments(count.condition, "a, p", f"{owner}: a condition of the set {name}", "lambda a, p: …")
        for predicate in chosen.whole:
            require_arguments(predicate, graph, f"{owner}: a predicate of the set {name}", f"def predicate({graph})")
    for name, observable in cls.observables.items():
        forms = ["nodes, offsets, targets, p"] if observable.reduce == "overall" else ["a, p"]
        if cls.reads_graph and observable.reduce != "overall":
            forms.append("me, neighbours, p")
        if not any(accepts(observable.value, form) for form in forms):
            raise _wrong(observable.value, f"{owner}: the observable {name}", f"a function of ({forms[0]})")


def require_arguments(function: Callable[..., Any], expected: str, what: str, instead: str) -> None:
    if not accepts(function, expected):
        raise _wrong(function, what, instead)


def accepts(function: Callable[..., Any], expected: str) -> bool:
    """Whether a plain function can be called with these positional arguments."""
    plain = getattr(function, "py_func", function)
    if not inspect.isfunction(plain):
        return False
    try:
        inspect.signature(plain).bind(*expected.split(", "))
    except TypeError:
        return False
    return not plain.__code__.co_flags & UNUSUAL


def _wrong(function: Callable[..., Any], what: str, instead: str) -> InvalidInput:
    if not inspect.isfunction(function):
        return InvalidInput(f"{what} is {function!r:.60}, which is not a function; write {instead}")
    kind = "is async or has a yield" if function.__code__.co_flags & UNUSUAL else "takes other arguments"
    return InvalidInput(f"{what} {kind} ({where(function)}); write {instead}")
