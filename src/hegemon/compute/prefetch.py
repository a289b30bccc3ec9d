"""Ask the processor for an array element before it is needed, to hide the latency of main memory."""

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic


@intrinsic
def prefetch(typing_context, array, index):
    """Start loading `array[index]` for writing; `array` is one-dimensional and contiguous."""

    def generate(context, builder, signature, arguments):
        array_value = context.make_array(signature.args[0])(context, builder, arguments[0])
        address = builder.ptrtoint(array_value.data, ir.IntType(64))
        offset = builder.mul(arguments[1], builder.extract_value(array_value.strides, 0))
        pointer = builder.inttoptr(builder.add(address, offset), cgutils.voidptr_t)
        integer = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [cgutils.voidptr_t, integer, integer, integer])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        for_write, keep_in_all_caches, data = integer(1), integer(3), integer(1)
        builder.call(function, [pointer, for_write, keep_in_all_caches, data])
        return context.get_dummy_value()

    return types.void(array, types.int64), generate
