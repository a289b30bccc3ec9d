"""Whole predicates inside a compiled loop: an engine evaluates them after every step that changes what they read.

A predicate is a function of its arguments (`models/purity`), so its value stays while no field that it mentions
changes. A kernel calls it through a pointer, as `meeting` calls an interaction.
"""

from functools import cache
from typing import Any

import numpy as np
from numba import carray, from_dtype, types

from hegemon.compute.border import NumbaError
from hegemon.compute.compilation import callback, lean, part
from hegemon.compute.fingerprints import names_read
from hegemon.compute.intrinsics import attempt, call_meeting
from hegemon.compute.records import all_of
from hegemon.engines.refusal import refuse_compilation
from hegemon.models.population import PopulationProtocol
from hegemon.process.stopping import Stop

ADDRESS, PARAMETERS, AGENTS = 0, 1, 3  # in a gate of five words
WORDS = 5

# ruff: noqa: F821 - `predicate` is bound by part, `attempted` by callback


def look(number, unused, unused_too, parameters, nothing, agents, nothing_more):  # type: ignore[no-untyped-def]
    """Whether the predicates hold for this number of agents, 1 or 0, or FAILED."""
    p = carray(parameters, 1)
    return attempted(carray(agents, number), p, p, p)


def answer(agents, parameters, unused, unused_too):  # type: ignore[no-untyped-def]
    return 1 if predicate(agents, parameters[0]) else 0


@cache
def _signature(state: np.dtype, parameters: np.dtype) -> Any:
    word, words = types.int64, types.CPointer(types.int64)
    return word(
        word, word, word, types.CPointer(from_dtype(parameters)), words, types.CPointer(from_dtype(state)), words
    )


@lean
def holds_now(gate, number):  # type: ignore[no-untyped-def]
    """Whether a kernel is to return: the predicates hold, or fail, or there are none."""
    return gate[ADDRESS] == 0 or call_meeting(gate, np.int64(number), np.int64(0), np.int64(0)) != 0


class Watch:
    """The address of a stop's predicates for one protocol, and what they read."""

    def __init__(self, protocol: PopulationProtocol, stop: Stop):
        self.gate = np.zeros(WORDS, np.int64)
        self.fields: tuple[str, ...] = ()
        if not stop.whole:
            return
        read, space = names_read(stop.whole), protocol.space
        declared = [field.name for field in space.declared if read is None or field.name in read]
        elements = {element for name in declared for element in space.elements(name)}
        self.fields = tuple(name for name in space.names if name in elements or name in (read or ()))
        self._parameters = protocol.compiled_p  # kept alive
        signature = _signature(space.dtype, protocol.compiled_p.dtype)
        try:
            answered = part(answer, protocol.record_types, predicate=all_of(stop.whole, "agents, p"))
            attempted = part(attempt, protocol.record_types, react=answered)
            self._function = callback(look, signature, protocol.record_types, attempted=attempted)
        except NumbaError as error:
            refuse_compilation(protocol, f"a function of {stop.name}", error)
        self.gate[ADDRESS], self.gate[PARAMETERS] = self._function.address, self._parameters.ctypes.data

    def at(self, population: np.ndarray) -> None:
        """Evaluate the predicates on this array from now on."""
        self.gate[AGENTS] = population.ctypes.data
