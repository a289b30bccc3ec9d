"""What kernels need below the level of Python: prefetching, bundles of addresses, calls through pointers.

Made with Numba's interface for extensions. With stock Numba nothing is prefetched, and exceptions of an author's
function are caught by `try`: the numbers are the same.
"""

from typing import Any

from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic

from hegemon.compute.border import CHECKED, STOCK

FAILED = -1


@intrinsic
def _prefetch(typing_context: Any, array: Any, index: Any) -> Any:
    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        array_value = context.make_array(signature.args[0])(context, builder, arguments[0])
        address = builder.ptrtoint(array_value.data, ir.IntType(64))
        stride = builder.extract_value(array_value.strides, 0)
        if array.ndim == 1:  # a constant for the compiler: saves a multiplication and a register
            stride = ir.IntType(64)(context.get_abi_sizeof(context.get_data_type(array.dtype)))
        offset = builder.mul(arguments[1], stride)
        pointer = builder.inttoptr(builder.add(address, offset), cgutils.voidptr_t)
        integer = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [cgutils.voidptr_t, integer, integer, integer])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        for_write, keep_in_all_caches, data = integer(1), integer(3), integer(1)
        builder.call(function, [pointer, for_write, keep_in_all_caches, data])
        return context.get_dummy_value()

    return types.void(array, types.int64), generate


def _no_prefetch(array, index):  # type: ignore[no-untyped-def]
    pass


prefetch = njit(_no_prefetch) if STOCK else _prefetch
prefetch.__doc__ = "Start loading `array[index]`, a number or a row, for writing; `array` is contiguous."


@intrinsic
def blank(typing_context: Any, like: Any) -> Any:
    """A record with the fields of this array's elements and any content, for one call of the function that makes it.

    The compiler keeps its fields in registers. It cannot do that with an array, which others may read.
    """

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        room = cgutils.alloca_once(builder, context.get_data_type(like.dtype))
        room.align = 8
        return room

    return like.dtype(like), generate


@intrinsic
def require(typing_context: Any, condition: Any) -> tuple[Any, ...]:
    """Raise ValueError where this does not hold. Numba's own `raise` needs its runtime, and lean code has none."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        holds = context.cast(builder, arguments[0], signature.args[0], types.boolean)
        with builder.if_then(builder.not_(holds), likely=False):
            context.call_conv.return_user_exc(builder, ValueError, ("left to plain Python",))
        return context.get_dummy_value()

    return types.void(types.boolean), generate


def opener(group: Any, element_types: list[Any]) -> Any:
    """The function with which a kernel opens the addresses that are passed to it: a tuple `group` of pointers."""
    if CHECKED:
        return njit(lambda arrays: arrays)
    pointers = [types.CPointer(kind) for kind in element_types]

    @intrinsic
    def opened(typing_context: Any, addresses: Any) -> Any:
        kind = types.BaseTuple.from_types(pointers, group)

        def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
            first = context.make_array(addresses)(context, builder, arguments[0]).data
            words = [builder.load(builder.gep(first, [ir.IntType(32)(k)])) for k in range(len(pointers))]
            parts = [
                builder.inttoptr(word, context.get_value_type(pointer))
                for word, pointer in zip(words, pointers, strict=True)
            ]
            return context.make_tuple(builder, kind, parts)

        return kind(addresses), generate

    return opened


@intrinsic
def _attempt(typing_context: Any, function: Any, scratch: Any, parameters: Any, layout: Any, result: Any) -> Any:
    call_type = function.get_call_type(typing_context, (scratch, parameters, layout, result), {})

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        made = function.dispatcher.get_compile_result(call_type)
        context.add_linking_libs([made.library])
        status, answer = context.call_internal_no_propagate(builder, made.fndesc, call_type, arguments[1:])
        return builder.select(status.is_ok, answer, answer.type(FAILED))

    return call_type.return_type(function, *call_type.args), generate


def _attempt_plainly(scratch, parameters, layout, result):  # type: ignore[no-untyped-def]
    try:
        return react(scratch, parameters, layout, result)  # noqa: F821 - bound by part
    except Exception:  # the author's code; the kernel hears that it failed, and is refused with the place
        return FAILED


def _attempt_without_try(scratch, parameters, layout, result):  # type: ignore[no-untyped-def]
    return _attempt(react, scratch, parameters, layout, result)  # noqa: F821 - bound by part


# A template: what the function that is bound to `react` returns, or FAILED if it raises. Only stock
# Numba gets a `try`, which turns one statement into ten.
attempt = _attempt_plainly if STOCK else _attempt_without_try


@intrinsic
def call_meeting(typing_context: Any, gate: Any, first: Any, second: Any, coin: Any) -> Any:
    """Call the function at address gate[0] with both codes, the coins and the addresses gate[1..4]; it writes its
    results behind them. The gate is an array, or its address."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        word = ir.IntType(64)
        first_word = arguments[0]
        if isinstance(gate, types.Array):
            first_word = context.make_array(gate)(context, builder, first_word).data
        addresses = [builder.load(builder.gep(first_word, [ir.IntType(32)(k)])) for k in range(5)]
        kind = ir.FunctionType(word, [word] * 7)
        function = builder.inttoptr(addresses[0], kind.as_pointer())
        return builder.call(function, [*arguments[1:], *addresses[1:]])

    return types.int64(gate, types.int64, types.int64, types.int64), generate
