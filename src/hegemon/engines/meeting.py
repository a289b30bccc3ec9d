"""One protocol's interaction as a machine address: kernels that serve every protocol call it.

A kernel compiled once and for all cannot contain the author's `interact`; it calls it through a pointer,
rarely, since it remembers what it has learnt. So a new protocol compiles one small function, not an engine.
"""

import numpy as np
from llvmlite import ir
from numba import carray, from_dtype, types
from numba.core.errors import NumbaError
from numba.extending import intrinsic

from hegemon.compute.compilation import callback
from hegemon.compute.records import codec, marks, meeting, settler, widened
from hegemon.engines.refusal import refuse_compilation

DONE, FAILED = 0, -1  # what a meeting answers; nothing is ever raised through C
TOLD = 5  # in a gate: behind five addresses, the codes and marks that the last meeting told

# ruff: noqa: F821 - `interact`, `settle`, `encode`, `decode` and `marks_of` are bound by callback


def meet(first, second, coin, parameters, layout, scratch, told):
    """Two codes meet, their coins showing the value with this number: `told` gets their codes and marks afterwards,
    or, if that fails, the two codes themselves and the coins."""
    p, a, b = carray(parameters, 1)[0], carray(scratch, 2)[0], carray(scratch, 2)[1]
    numbers = carray(layout, 1 << 16)
    answer = carray(told, 4)
    decode(first, a, numbers)
    decode(second, b, numbers)
    answer[0], answer[1], answer[2] = first, second, coin
    try:
        interact(a, b, p, coin)
        if not settle(a, numbers) or not settle(b, numbers):
            return FAILED
        answer[2], answer[3] = marks_of(a, p), marks_of(b, p)
    except Exception:
        return FAILED
    answer[0], answer[1] = encode(a, numbers), encode(b, numbers)
    return DONE


@intrinsic
def call_meeting(typing_context, gate, first, second, coin):
    """Call the function at address gate[0] with both codes, the coins and the addresses gate[1..4]; it answers into
    gate[TOLD..]."""

    def generate(context, builder, signature, arguments):
        word = ir.IntType(64)
        gate_value = context.make_array(signature.args[0])(context, builder, arguments[0])
        addresses = [builder.load(builder.gep(gate_value.data, [ir.IntType(32)(k)])) for k in range(5)]
        kind = ir.FunctionType(word, [word] * 7)
        function = builder.inttoptr(addresses[0], kind.as_pointer())
        return builder.call(function, [*arguments[1:], *addresses[1:]])

    return types.int64(gate, types.int64, types.int64, types.int64), generate


class Meeting:
    """The address of `meet` for one protocol and stop, and everything behind it that must stay alive."""

    def __init__(self, protocol, stop):
        encode, decode, self._layout = codec(protocol.space)
        self.protocol, self._parameters = protocol, protocol.compiled_p
        self._scratch = np.zeros(2, widened(protocol.space.dtype))
        pointer = types.CPointer
        state, parameters = from_dtype(self._scratch.dtype), from_dtype(protocol.compiled_p.dtype)
        word = types.int64
        signature = word(word, word, word, pointer(parameters), pointer(word), pointer(state), pointer(word))
        interact = meeting(protocol.interact, protocol.coins.names)
        bound = {"interact": interact, "settle": settler(protocol.space), "encode": encode, "decode": decode}
        try:
            self._function = callback(meet, signature, protocol.record_types, marks_of=marks(stop.conditions), **bound)
        except NumbaError as error:
            refuse_compilation(protocol, "interact", error)

    def open(self, gate) -> None:
        """Write the addresses that `call_meeting` needs into a gate, which its owner keeps alive."""
        arrays = (self._parameters, self._layout, self._scratch, gate[TOLD:])
        gate[:TOLD] = [self._function.address, *(array.ctypes.data for array in arrays)]
