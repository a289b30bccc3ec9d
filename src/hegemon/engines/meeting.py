"""One protocol's interaction as a machine address: kernels that serve every protocol call it.

A kernel compiled once and for all cannot contain the author's `interact`; it calls it through a pointer,
rarely, since it remembers what it has learnt. So a new protocol compiles one small function, not an engine.
"""

from functools import cache, partial

import numpy as np
from llvmlite import ir
from numba import carray, from_dtype, types
from numba.core.errors import NumbaError
from numba.extending import intrinsic

from hegemon.compute.compilation import callback, part, specialize
from hegemon.compute.records import codec, marker, meeting, widened
from hegemon.engines.refusal import refuse_compilation

DONE, FAILED = 0, -1  # what a meeting answers; nothing is ever raised through C
# A gate: five addresses, six words for its owner, and what the last meeting told: both codes, the coins, and from MARKS
# on which of the stop's conditions each agent satisfies.
ADDRESSES, OWN = 5, 6
TOLD = ADDRESSES + OWN
MARKS = TOLD + 3

# ruff: noqa: F821 - `interact`, `encode`, `decode` and `note` are bound by part, `react` by callback


def meet(first, second, coin, parameters, layout, scratch, told):
    """Two codes meet, their coins showing the value with this number: `told` gets their codes and marks afterwards,
    or, if that fails, the two codes themselves and the coins."""
    answer = carray(told, 3)  # and the marks behind, of whose length nobody asks
    answer[0], answer[1], answer[2] = first, second, coin
    return attempt(react, carray(scratch, 2), carray(parameters, 1), carray(layout, 1 << 16), answer)


@intrinsic
def attempt(typing_context, function, scratch, parameters, layout, told):
    """What the function answers, or FAILED if it raises. Not `try`, which Numba looks after at every step."""
    found = function.get_call_type(typing_context, (scratch, parameters, layout, told), {})

    def generate(context, builder, signature, arguments):
        made = function.dispatcher.get_compile_result(found)
        context.add_linking_libs([made.library])
        status, answer = context.call_internal_no_propagate(builder, made.fndesc, found, arguments[1:])
        return builder.select(status.is_ok, answer, answer.type(FAILED))

    return found.return_type(function, *found.args), generate


def react(scratch, parameters, layout, told):
    a, b, p = scratch[0], scratch[1], parameters[0]
    decode(told[0], a, layout)
    decode(told[1], b, layout)
    interact(a, b, p, told[2])
    first, second = encode(a, layout), encode(b, layout)
    if first < 0 or second < 0:
        return FAILED
    decode(first, a, layout)  # nothing is seen that was left in a field which the new state does not have
    decode(second, b, layout)
    note(b, p, told, note(a, p, told, 3))
    told[0], told[1] = first, second
    return DONE


@intrinsic
def call_meeting(typing_context, gate, first, second, coin):
    """Call the function at address gate[0] with both codes, the coins and the addresses gate[1..4]; it answers into
    gate[TOLD..]. The gate is an array, or its address."""

    def generate(context, builder, signature, arguments):
        word = ir.IntType(64)
        first_word = arguments[0]
        if isinstance(gate, types.Array):
            first_word = context.make_array(gate)(context, builder, first_word).data
        addresses = [builder.load(builder.gep(first_word, [ir.IntType(32)(k)])) for k in range(5)]
        kind = ir.FunctionType(word, [word] * 7)
        function = builder.inttoptr(addresses[0], kind.as_pointer())
        return builder.call(function, [*arguments[1:], *addresses[1:]])

    return types.int64(gate, types.int64, types.int64, types.int64), generate


@cache
def signature_of_meet(state: np.dtype, parameters: np.dtype):
    word, words = types.int64, types.CPointer(types.int64)
    given, room = types.CPointer(from_dtype(parameters)), types.CPointer(from_dtype(state))
    return word(word, word, word, given, words, room, words)


class Meeting:
    """The address of `meet` for one protocol and stop, and everything behind it that must stay alive."""

    def __init__(self, protocol, stop):
        encode, decode, self._layout = codec(protocol.space)
        self.protocol, self._parameters = protocol, protocol.compiled_p
        self._scratch = np.zeros(2, widened(protocol.space.dtype))
        signature = signature_of_meet(self._scratch.dtype, protocol.compiled_p.dtype)
        interact = meeting(protocol.interact, protocol.coins.names)
        bound = {"interact": interact, "encode": encode, "decode": decode, "note": marker(stop.conditions)}
        self._told = MARKS + 2 * len(stop.conditions)
        reaction = part(react, protocol.record_types, **bound)
        self._aloud = partial(specialize, react, protocol.record_types, **bound)
        try:
            self._function = callback(meet, signature, protocol.record_types, react=reaction)
        except NumbaError as error:
            refuse_compilation(protocol, "interact", error)

    def failure(self, first: int, second: int, coin: int) -> Exception | None:
        """What a meeting raises that has failed."""
        told = np.array([first, second, coin, *[0] * (self._told - MARKS)], np.int64)
        try:
            self._aloud()(self._scratch, self._parameters, self._layout, told)
        except Exception as error:
            return error
        return None

    def gate(self) -> np.ndarray:
        """A new gate with the addresses that `call_meeting` needs; its owner keeps it alive."""
        gate = np.zeros(self._told, np.int64)
        arrays = (self._parameters, self._layout, self._scratch, gate[TOLD:])
        gate[:ADDRESSES] = [self._function.address, *(array.ctypes.data for array in arrays)]
        return gate
