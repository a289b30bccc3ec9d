"""Whether the functions of a protocol can be trusted: by analysis of their code and by trial, before anything runs.

A transition is tried on a few hundred situations, each more than once: it must end, return nothing, leave whole
numbers within their ranges, give the same result when it is called again in another order, and not depend on fields
that a state does not have. Conditions, outputs and observables are tried on states.
"""

import dis
import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import FrameType, SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from hegemon.errors import InvalidInput
from hegemon.models.absent_fields import fields_read_where_absent, reachable, values_to_try
from hegemon.models.authors import authored, kind, where
from hegemon.models.purity import require_pure
from hegemon.models.shared import shared_by
from hegemon.models.variants import WrongField
from hegemon.models.words import checked

if TYPE_CHECKING:
    from hegemon.models.protocol import Protocol
    from hegemon.models.state import StateSpace

LONGEST_CALL = 100_000  # lines of Python that one call of a transition may take
TRIED_ANSWERS = 200  # states on which a condition is tried
TRIED_NEIGHBOURHOODS = 200  # on which an observable of a node and its neighbours is tried
TRIED_CONFIGURATIONS = 8  # on which a function of all agents is tried
LARGEST_TRIED = 64  # agents in such a configuration

_lock = threading.Lock()


def require_sound(protocol: "Protocol") -> None:
    """Check a protocol's functions, once for all equal protocols, in the thread that calls first."""
    with _lock:
        shared = shared_by(protocol)
        if not shared.is_sound:
            protocol.check_sound()
            shared.is_sound = True


class Endless(BaseException):
    """Raised inside a call that has run for too long; no `except Exception` of the author stops it."""


@contextmanager
def bounded(what: str, limit: int = LONGEST_CALL) -> Iterator[None]:
    """Refuse a call that executes more lines than any transition needs."""
    lines = 0

    def trace(frame: FrameType, event: str, argument: Any) -> Callable[..., Any]:
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
    protocol: "Protocol",
    name: str,
    situations: Iterable[tuple[Any, ...]],
    states_of: Callable[..., Any],
    call: Callable[..., Any],
    shown: Callable[..., Any],
) -> None:
    """Try a transition on situations. `states_of(situation)` makes fresh states, `call(states, situation)` runs the
    author's function on them and returns the codes of those it may change."""
    what = f"{protocol.id}: {name}"
    tried = [(situation, _outcome(protocol, name, situation, states_of, call, shown)) for situation in situations]
    for situation, expected in reversed(tried):
        again = _outcome(protocol, name, situation, states_of, call, shown)
        if again != expected:
            raise InvalidInput(
                f"{what} returns something else at a second call ({shown(situation)}); it may only depend on its "
                "arguments: no randomness, no time, nothing that it remembers"
            )
    if any(field.domain.condition for field in protocol.fields):
        for situation, expected in tried:
            _refuse_absent_readings(protocol, name, situation, expected, states_of, call, shown)


def _outcome(
    protocol: "Protocol",
    name: str,
    situation: tuple[Any, ...],
    states_of: Callable[..., Any],
    call: Callable[..., Any],
    shown: Callable[..., Any],
) -> Any:
    what = f"{protocol.id}: {name}"
    states = states_of(situation)
    try:
        with authored(what), bounded(what):
            answer = call(states, situation)
        if answer is not None:
            raise InvalidInput(
                f"{what} returns {kind(answer)}; it must change the states that it is given and return nothing "
                f"({where(getattr(protocol, name))})"
            )
        for state in states:
            if surplus := sorted(set(vars(state)) - set(protocol.space.names)):
                sentence = f"{what} writes {surplus[0]!r}, which is not a field; declare it in `class State:`"
                raise WrongField(sentence, surplus[0])
        for old, new in zip(states_of(situation) if protocol.inputs else (), states, strict=False):
            if changed := [field for field in protocol.inputs if getattr(old, field) != getattr(new, field)]:
                raise InvalidInput(f"{what} changes {changed[0]}, which is an input; an input never changes")
        return [protocol.space.code(state) for state in states]
    except InvalidInput as error:
        function, line = getattr(protocol, name), None
        if field := getattr(error, "field", ""):
            line = _line_that_writes(protocol, field, states_of(situation), situation, call)
        told = f"{error} ({where(function, line)})" if line else with_place(error, function)
        raise InvalidInput(f"{told} ({shown(situation)})") from None


def _line_that_writes(
    protocol: "Protocol", field: str, states: list[Any], situation: tuple[Any, ...], call: Callable[..., Any]
) -> int | None:
    """The first line that wrote a value outside the field's range, found by a call on states that record it."""
    low, high = protocol.space.bounds.get(field, (1, 0))  # no value is valid for a name that is not a field
    lines: list[int] = []

    kind: type = protocol.space.namespace_class

    class Watched(kind):  # type: ignore[misc]
        def __setattr__(self, name: str, value: Any) -> None:
            object.__setattr__(self, name, value)
            if name == field and not (isinstance(value, int | np.integer) and low <= value <= high):
                frame: Any = sys._getframe(1)
                lines.append((frame.f_back if "[" in name else frame).f_lineno)  # an element is written by its array

    call([Watched(**vars(state)) for state in states], situation)
    return lines[0] if lines else None


def with_place(error: InvalidInput, function: Callable[..., Any]) -> str:
    """The sentence of an error, with the lines of the author's file that write the field it is about."""
    lines = [
        step.positions.lineno
        for reached in reachable(function)
        for step in dis.get_instructions(reached.__code__)
        if step.opname == "STORE_ATTR" and step.argval == getattr(error, "field", "") and step.positions
    ]
    found = sorted({line for line in lines if line})
    if not found:
        return str(error)
    file = os.path.basename(function.__code__.co_filename)
    return f"{error} ({file}, line{'s'[: len(found) > 1]} {', '.join(map(str, found))})"


def _refuse_absent_readings(
    protocol: "Protocol",
    function: str,
    situation: tuple[Any, ...],
    expected: Any,
    states_of: Callable[..., Any],
    call: Callable[..., Any],
    shown: Callable[..., Any],
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


def functions_of_one_state(protocol: "Protocol") -> Iterator[tuple[str, Callable[..., Any]]]:
    """Every function `(a, p)` of a protocol besides its transition, with what it belongs to."""
    for name in ("output", "label", "highlight"):
        if getattr(protocol, name, None):
            yield name, getattr(protocol, name)
    for name, chosen in protocol.sets.items():
        for count in chosen.counts:
            yield f"the set {name}", count.condition
    for name, observable in protocol.observables.items():
        if observable.reads_one:
            yield f"the observable {name}", observable.value


def check_functions(protocol: "Protocol") -> None:
    """Refuse conditions, outputs and observables that fail, do not return a number, or read absent fields."""
    _check_functions_of_one_state(protocol)
    _check_functions_of_neighbours(protocol)
    _check_functions_of_all(protocol)


def _check_functions_of_one_state(protocol: "Protocol") -> None:
    space, rng = protocol.space, np.random.default_rng(0)
    few = space.size <= TRIED_ANSWERS
    codes = range(space.size) if few else space.random_codes(rng, TRIED_ANSWERS).tolist()
    states = [space.namespace(code) for code in codes]
    for owner, function in functions_of_one_state(protocol):
        what = f"{protocol.id}: the function of {owner}" if " " in owner else f"{protocol.id}: {owner}"
        require_pure(function, what, "it may only depend on the state and the parameters")
        allowed = str if owner == "label" else int | float | np.generic
        for state in states:
            with authored(what):
                answer = function(checked(state), protocol.checked_p)
            if not isinstance(answer, allowed):
                wanted = "a text" if owner == "label" else "True, False or a number"
                shown = f"returns {kind(answer)} for {space.mapping(state)}"
                raise InvalidInput(f"{what} ({where(function)}) {shown}; it must return {wanted}")
        if owner == "label":
            continue  # labels in pictures may read absent fields
        with authored(what):
            found = sorted(fields_read_where_absent(function, protocol))
        if found:
            raise InvalidInput(
                f"{what} ({where(function)}) reads {', '.join(found)} in states that do not have it; ask first whether "
                f"it exists ({found[0]} does for {space.domains[found[0]].existence})"
            )


def _check_functions_of_neighbours(protocol: "Protocol") -> None:
    """The same for observables `(me, neighbours, p)`, tried on a few hundred neighbourhoods."""
    space, rng = protocol.space, np.random.default_rng(0)
    for name, observable in protocol.observables.items():
        function = observable.value
        if observable.reduce == "overall" or function.__code__.co_argcount == 2:
            continue
        what = f"{protocol.id}: the function of the observable {name}"
        require_pure(function, what, "it may only depend on the state, the neighbours' states and the parameters")
        for _ in range(TRIED_NEIGHBOURHOODS):
            codes = space.telling_states(rng, 2 + int(rng.integers(4)) if protocol.n > 1 else 1)
            with authored(what):
                me, *near = (space.namespace(code) for code in codes)
                answer = function(me, near, protocol.p)
                me, *near = (_disguised(space, code) for code in codes)
                disguised = function(me, near, protocol.p)
            _require_answer(what, function, answer, disguised)


def _require_answer(what: str, function: Callable[..., Any], answer: object, disguised: object) -> None:
    """Refuse a result that is not a number, or that depends on absent fields."""
    if not isinstance(answer, int | float | np.generic):
        raise InvalidInput(f"{what} ({where(function)}) returns {kind(answer)}; it must return True or a number")
    if answer != disguised:
        raise InvalidInput(f"{what} ({where(function)}) reads a field in states that do not have it; ask first")


def functions_of_all(protocol: "Protocol") -> Iterator[tuple[str, Callable[..., Any]]]:
    """Every function of all agents at once, with what it belongs to."""
    for name, chosen in protocol.sets.items():
        for predicate in chosen.whole:
            yield f"the set {name}", predicate
    for name, observable in protocol.observables.items():
        if observable.reduce == "overall":
            yield f"the observable {name}", observable.value


def _check_functions_of_all(protocol: Any) -> None:
    """The same for functions of all agents, tried on a few small configurations (on a ring, where there is a graph)."""
    space, rng = protocol.space, np.random.default_rng(0)
    for owner, function in functions_of_all(protocol):
        what = f"{protocol.id}: the function of {owner}"
        require_pure(function, what, "it may only depend on the agents, the graph and the parameters")
        for _ in range(TRIED_CONFIGURATIONS if protocol.n <= LARGEST_TRIED else 0):
            codes = space.telling_states(rng, protocol.n)
            graph: tuple[Any, ...] = _ring(protocol.n) if protocol.reads_graph else ()
            if protocol.reads_graph and protocol.degree_fitting.names:  # states that nodes of a ring can have
                if (degrees := np.diff(graph[0])).max() > protocol.degree_fitting.largest:
                    break
                agents = protocol.degree_fitting.redrawn(space.decode_array(codes), degrees, rng)
                codes = space.encode_array(agents).tolist()
            with authored(what):
                answer = function([space.namespace(code) for code in codes], *graph, protocol.p)
                disguised = function([_disguised(space, code) for code in codes], *graph, protocol.p)
            _require_answer(what, function, answer, disguised)


def _disguised(space: "StateSpace", code: int) -> SimpleNamespace:
    """A state whose absent fields hold the highest values of their ranges."""
    state = space.namespace(code)
    for name in set(space.names) - space.present(vars(state)):
        setattr(state, name, space.bounds[name][1])
    return state


def _ring(n: int) -> tuple[np.ndarray, np.ndarray]:
    """The rows of a ring of n nodes (one edge for two, none for one)."""
    rows = [sorted({(v - 1) % n, (v + 1) % n} - {v}) for v in range(n)]
    offsets = np.cumsum([0, *map(len, rows)]).astype(np.int64)
    return offsets, np.array([u for row in rows for u in row], np.int32)
