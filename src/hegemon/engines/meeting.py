"""One protocol's interaction as a machine address: kernels that serve every protocol call it.

A kernel that is compiled once for all protocols cannot contain the author's `interact`; it calls it through a
pointer, and rarely, since it keeps the results. So a new protocol compiles one small function, not an engine.
"""

from functools import cache, partial
from typing import Any

import numpy as np
from numba import carray, from_dtype, types

from hegemon.compute.border import NumbaError
from hegemon.compute.compilation import callback, part, specialize
from hegemon.compute.intrinsics import FAILED, attempt
from hegemon.compute.records import codec, marker, meeting, widened
from hegemon.engines.refusal import refuse_compilation
from hegemon.models.population import PopulationProtocol
from hegemon.process.stopping import Stop

DONE = 0  # or FAILED: nothing is ever raised through C
# A gate: five addresses, six words for its owner, and the result of the last meeting: both codes, the coins, and from
# MARKS on which of the stop's conditions each agent satisfies.
ADDRESSES, OWN = 5, 6
RESULT = ADDRESSES + OWN
MARKS = RESULT + 3

# ruff: noqa: F821 - `interact`, `encode`, `decode` and `note` are bound by part, `attempted` by callback


def meet(first, second, coin, parameters, layout, scratch, result):  # type: ignore[no-untyped-def]
    """Carry out the interaction of two codes with the coins of this number. Writes to `result` the codes and marks
    after it or, if it fails, the two codes as they were and the coins."""
    answer = carray(result, 1 << 16)  # longer than needed: the number of conditions is not known here
    answer[0], answer[1], answer[2] = first, second, coin
    return attempted(carray(scratch, 2), carray(parameters, 1), carray(layout, 1 << 16), answer)


def react(scratch, parameters, layout, result):  # type: ignore[no-untyped-def]
    a, b, p = scratch[0], scratch[1], parameters[0]
    decode(result[0], a, layout)
    decode(result[1], b, layout)
    interact(a, b, p, result[2])
    first, second = encode(a, layout), encode(b, layout)
    if first < 0 or second < 0:
        return FAILED
    decode(first, a, layout)  # clears the fields that the new state does not have
    decode(second, b, layout)
    note(b, p, result, note(a, p, result, 3))
    result[0], result[1] = first, second
    return DONE


@cache
def signature_of_meet(state: np.dtype, parameters: np.dtype) -> Any:
    word, words = types.int64, types.CPointer(types.int64)
    given, room = types.CPointer(from_dtype(parameters)), types.CPointer(from_dtype(state))
    return word(word, word, word, given, words, room, words)


class Meeting:
    """The address of `meet` for one protocol and stop, and all objects that must stay alive with it. Engines may share
    one: a meeting writes only to the gate."""

    def __init__(self, protocol: PopulationProtocol, stop: Stop):
        encode, decode, self._layout = codec(protocol.space)
        self.protocol, self._parameters = protocol, protocol.compiled_p
        self._state = widened(protocol.space.dtype)
        signature = signature_of_meet(self._state, protocol.compiled_p.dtype)
        interact = meeting(protocol.interact, protocol.coins.names, protocol.coins.biased)
        bound: dict[str, Any] = {
            "interact": interact,
            "encode": encode,
            "decode": decode,
            "note": marker(stop.conditions),
        }
        self._marks = 2 * len(stop.conditions)
        reaction = part(react, protocol.record_types, **bound)
        self._raising = partial(specialize, react, protocol.record_types, **bound)
        try:
            attempted = part(attempt, protocol.record_types, react=reaction)
            self._function = callback(meet, signature, protocol.record_types, attempted=attempted)
        except NumbaError as error:
            refuse_compilation(protocol, "interact", error)
        self._places = self._function.address, self._parameters.ctypes.data, self._layout.ctypes.data

    def failure(self, first: int, second: int, coin: int) -> Exception | None:
        """The exception that this interaction raises, if any."""
        result = np.array([first, second, coin, *[0] * self._marks], np.int64)
        try:
            self._raising()(np.zeros(2, self._state), self._parameters, self._layout, result)
        except Exception as error:  # the author's code may raise anything; its error is the answer
            return error
        return None

    def gate(self) -> np.ndarray:
        """A new gate with the addresses that `call_meeting` needs; its owner keeps it and the Meeting alive."""
        scratch = MARKS + self._marks  # room for two states follows the results
        gate = np.zeros(scratch + 2 * len(self._state.names or ()), np.int64)
        here: int = gate.__array_interface__["data"][0]
        gate[:ADDRESSES] = [*self._places, here + gate.itemsize * scratch, here + gate.itemsize * RESULT]
        return gate


def meeting_of(protocol: PopulationProtocol, stop: Stop) -> Meeting:
    """The meeting that equal protocols share."""
    return protocol.shared.once(("meeting", stop.conditions), lambda: Meeting(protocol, stop))
