"""Whether the functions of a protocol can be trusted: by analysis of their code and by trial, before anything runs.

A transition is tried on a few hundred situations, each more than once: it must end, answer nothing, leave whole
numbers within their ranges, give the same result when it is asked again in another order, and not depend on fields
that a state does not have. Conditions, outputs and observables are tried on states.
"""

import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any
from weakref import WeakSet

import numpy as np

from hegemon.errors import InvalidInput
from hegemon.models.authors import authored, kind, where
from hegemon.models.purity import require_pure
from hegemon.models.readings import fields_read_where_absent, values_to_try

LONGEST_CALL = 100_000  # lines of Python that one call of a transition may take
TRIED_ANSWERS = 200  # states on which a condition must answer

_sound: WeakSet = WeakSet()
_lock = threading.Lock()


def require_sound(protocol: Any) -> None:
    """Check a protocol's functions, once per instance, whichever thread asks first."""
    with _lock:
        if protocol not in _sound:
            protocol.check_sound()
            _sound.add(protocol)


class Endless(BaseException):
    """Raised inside a call that has run for too long; no `except Exception` of the author stops it."""


@contextmanager
def bounded(what: str, limit: int = LONGEST_CALL) -> Iterator[None]:
    """Refuse a call that executes more lines than any transition needs."""
    lines = 0

    def trace(frame: Any, event: str, argument: Any) -> Any:
        nonlocal lines
        lines += 1
        if lines > limit:
            raise Endless(f"line {frame.f_lineno}")
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        yield
    except Endless as error:
        raise InvalidInput(f"{what} does not end ({error} was still running after {limit} lines)") from None
    finally:
        sys.settrace(before)


def check_transition(
    protocol: Any, name: str, situations: Iterable[tuple], states_of: Callable, call: Callable, shown: Callable
) -> None:
    """Try a transition on situations. `states_of(situation)` makes fresh states, `call(states, situation)` runs the
    author's function on them and answers the codes of those it may change."""
    what = f"{protocol.id}: {name}"
    tried = [(situation, _outcome(protocol, name, situation, states_of, call, shown)) for situation in situations]
    for situation, expected in reversed(tried):
        again = _outcome(protocol, name, situation, states_of, call, shown)
        if again != expected:
            raise InvalidInput(
                f"{what} answers differently when it is asked again ({shown(situation)}); it may only depend on its "
                "arguments: no randomness, no time, nothing that it remembers"
            )
    if any(field.domain.condition for field in protocol.fields):
        for situation, expected in tried:
            _refuse_absent_readings(protocol, name, situation, expected, states_of, call, shown)


def _outcome(protocol: Any, name: str, situation: tuple, states_of: Callable, call: Callable, shown: Callable) -> Any:
    what = f"{protocol.id}: {name}"
    states = states_of(situation)
    try:
        with authored(what), bounded(what):
            answer = call(states, situation)
        if answer is not None:
            raise InvalidInput(
                f"{what} answers {kind(answer)}; it changes the states that it is given and returns nothing"
            )
        for state in states:
            if surplus := sorted(set(vars(state)) - set(protocol.space.names)):
                raise InvalidInput(f"{what} writes {surplus[0]!r}, which is not a field; declare it in `class State:`")
        return [protocol.space.code(state) for state in states]
    except InvalidInput as error:
        raise InvalidInput(f"{error} ({shown(situation)})") from None


def _refuse_absent_readings(
    protocol: Any, function: str, situation: tuple, expected: Any, states_of: Callable, call: Callable, shown: Callable
) -> None:
    what = f"{protocol.id}: {function}"
    space, states = protocol.space, states_of(situation)
    absent = [set(space.names) - space.present(vars(state)) for state in states]
    for state, names in zip(states, absent, strict=True):
        for name in names:
            delattr(state, name)
    try:
        call(states, situation)
        return
    except AttributeError as error:
        if not any(error.name in names for names in absent):
            raise
    for place, names in enumerate(absent):
        for name in sorted(names):
            for value in values_to_try(protocol, name, getattr(protocol, function)):
                changed = states_of(situation)
                setattr(changed[place], name, value)
                call(changed, situation)
                if [space.code(state) for state in changed] != expected:
                    raise InvalidInput(
                        f"{what} reads a field that the state does not have: {name} ({shown(situation)})"
                    )


# -- conditions, outputs, observables --------------------------------------------------------------------------


def functions_of_one_state(protocol: Any) -> Iterator[tuple[str, Callable]]:
    """Every function `(a, p)` of a protocol besides its transition, with what it belongs to."""
    if getattr(protocol, "output", None):
        yield "output", protocol.output
    for name, chosen in protocol.sets.items():
        for count in chosen.counts:
            yield f"the set {name}", count.condition
    for name, observable in protocol.observables.items():
        if observable.reduce != "overall" and observable.value.__code__.co_argcount == 2:
            yield f"the observable {name}", observable.value


def check_functions(protocol: Any) -> None:
    """Refuse conditions, outputs and observables that fail, answer no number or read what a state does not have."""
    space, rng = protocol.space, np.random.default_rng(0)
    few = space.size <= TRIED_ANSWERS
    codes = range(space.size) if few else rng.integers(space.size, size=TRIED_ANSWERS).tolist()
    states = [space.namespace(code) for code in codes]
    for owner, function in functions_of_one_state(protocol):
        what = f"{protocol.id}: the function of {owner}" if owner != "output" else f"{protocol.id}: output"
        require_pure(function, what, "it may only depend on the state and the parameters")
        for state in states:
            with authored(what):
                answer = function(SimpleNamespace(**vars(state)), protocol.p)
            if not isinstance(answer, int | float | np.generic):
                raise InvalidInput(
                    f"{what} ({where(function)}) answers {kind(answer)} for {space.mapping(state)}; it must answer "
                    "True, False or a number"
                )
        with authored(what):
            found = sorted(fields_read_where_absent(function, protocol))
        if found:
            raise InvalidInput(
                f"{what} ({where(function)}) reads {', '.join(found)} in states that do not have it; ask first whether "
                f"it exists ({found[0]} does for {space.domains[found[0]].existence})"
            )
