"""Arithmetic of an author's function in machine code: what Python would not do is an error with its line.

Python's whole numbers have no end, those of machine code have 64 bits and wrap around; and machine code divides by
zero. `translation` writes an author's operations as calls of these functions: whatever they return, Python would
return the same.
"""

import math
import operator
from collections.abc import Callable
from typing import Any

from llvmlite import ir as llvm
from numba import types
from numba.extending import intrinsic

from hegemon.compute.failures import Undone

WORD = llvm.IntType(64)
LEAST = WORD(-(2**63))
EXACT = 2**53  # beyond, a whole number beside a real one would be rounded
BEYOND = "a whole number leaves 64 bits ({}); keep it between -2^63 and 2^63 - 1, for instance with % at every step"
ROUNDED = "a whole number beyond 2^53 becomes a real one ({}), which would round it; use // or smaller numbers"
ZERO = "ZeroDivisionError: division by zero ({}); test for 0 before"
UNDEFINED = "ValueError: {} of this number is not defined ({}); test before"
REAL = "a real number is written into a field ({}); // divides whole numbers, int(…) rounds"


def _is_whole(kind: Any) -> bool:
    return isinstance(kind, types.Integer | types.Boolean)


def _refuse_where(context: Any, builder: llvm.IRBuilder, wrong: llvm.Value, place: Any, what: str) -> None:
    with builder.if_then(wrong, likely=False):
        context.call_conv.return_user_exc(builder, Undone, (what.format(place.literal_value),))


def _is_large(builder: llvm.IRBuilder, x: llvm.Value) -> llvm.Value:
    """Whether a whole number may be rounded as a real one."""
    return builder.icmp_unsigned(">", builder.add(x, WORD(EXACT)), WORD(2 * EXACT))


# -- operations on two whole numbers of 64 bits: the result, and whether it is wrong ------------------------------


def _with_overflow(name: str) -> Callable[..., Any]:
    def generate(context: Any, builder: llvm.IRBuilder, x: llvm.Value, y: llvm.Value) -> Any:
        both = getattr(builder, name)(x, y)
        return builder.extract_value(both, 0), builder.extract_value(both, 1)

    return generate


def _divided(plain: Callable[..., Any]) -> Callable[..., Any]:
    def generate(context: Any, builder: llvm.IRBuilder, x: llvm.Value, y: llvm.Value) -> Any:
        """The quotient of the least number and -1 is no number, and a remainder would stop the processor."""
        wrong = builder.and_(builder.icmp_signed("==", x, LEAST), builder.icmp_signed("==", y, WORD(-1)))
        y = builder.select(wrong, WORD(1), y)
        return _called(context, builder, plain, types.int64, (types.int64, types.int64), (x, y)), wrong

    return generate


def _shifted_left(context: Any, builder: llvm.IRBuilder, x: llvm.Value, y: llvm.Value) -> tuple[llvm.Value, llvm.Value]:
    far = builder.icmp_unsigned(">=", y, WORD(64))
    by = builder.select(far, WORD(0), y)
    result = builder.shl(x, by)
    lost = builder.icmp_signed("!=", builder.ashr(result, by), x)
    below, something = builder.icmp_signed("<", y, WORD(0)), builder.icmp_signed("!=", x, WORD(0))
    return result, builder.or_(below, builder.or_(lost, builder.and_(far, something)))


def _shifted_right(
    context: Any, builder: llvm.IRBuilder, x: llvm.Value, y: llvm.Value
) -> tuple[llvm.Value, llvm.Value]:
    by = builder.select(builder.icmp_unsigned(">=", y, WORD(64)), WORD(63), y)
    return builder.ashr(x, by), builder.icmp_signed("<", y, WORD(0))


def _fits(x: int, y: int) -> bool:
    """Whether x ** y is a whole number of 64 bits."""
    if y <= 1 or -1 <= x <= 1:
        return y >= 0
    size, most = abs(x), 9223372036854775807
    if size < 0:  # of the least number
        return False
    result = 1
    for _ in range(min(y, 64)):
        if result > most // size:
            return False
        result *= size
    return True


def _raised(x: int, y: int) -> int:
    """x ** y, which fits. Numba's own power takes real numbers where the exponent is large."""
    if x == -1:
        return 1 - 2 * (y & 1)
    if y == 0 or x == 0 or x == 1:
        return 1 if y == 0 else x
    result = 1
    for _ in range(y):
        result *= x
    return result


def _power(context: Any, builder: llvm.IRBuilder, x: llvm.Value, y: llvm.Value) -> tuple[llvm.Value, llvm.Value]:
    pair = types.int64, types.int64
    fits = context.compile_internal(builder, _fits, types.boolean(*pair), (x, y))
    wrong = builder.not_(fits)
    x, y = builder.select(wrong, WORD(1), x), builder.select(wrong, WORD(1), y)
    return context.compile_internal(builder, _raised, types.int64(*pair), (x, y)), wrong


def _called(
    context: Any,
    builder: llvm.IRBuilder,
    plain: Callable[..., Any],
    result: Any,
    kinds: tuple[Any, ...],
    values: tuple[Any, ...],
) -> llvm.Value:
    return context.get_function(plain, result(*kinds))(builder, values)


WHOLE = {
    operator.add: _with_overflow("sadd_with_overflow"),
    operator.sub: _with_overflow("ssub_with_overflow"),
    operator.mul: _with_overflow("smul_with_overflow"),
    operator.floordiv: _divided(operator.floordiv),
    operator.mod: _divided(operator.mod),
    operator.lshift: _shifted_left,
    operator.rshift: _shifted_right,
    operator.pow: _power,
}
MIXED = (operator.truediv, operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge)
DIVISIONS = (operator.truediv, operator.floordiv, operator.mod)


def _is_zero(builder: llvm.IRBuilder, y: llvm.Value) -> llvm.Value:
    return builder.fcmp_ordered("==", y, y.type(0.0)) if _is_real(y) else builder.icmp_signed("==", y, y.type(0))


def _is_real(value: llvm.Value) -> bool:
    return isinstance(value.type, llvm.DoubleType | llvm.FloatType)


def _binary(plain: Callable[..., Any]) -> Callable[..., Any]:
    """The operation `plain` with its guards."""

    @intrinsic(prefer_literal=True)
    def operation(typing_context: Any, x: Any, y: Any, place: Any) -> Any:
        x, y = types.unliteral(x), types.unliteral(y)
        whole = _is_whole(x) and _is_whole(y)
        if whole and plain in WHOLE:

            def generate(context: Any, builder: llvm.IRBuilder, signature: Any, arguments: Any) -> Any:
                if plain in DIVISIONS:
                    _refuse_where(context, builder, _is_zero(builder, arguments[1]), place, ZERO)
                result, wrong = WHOLE[plain](context, builder, *arguments[:2])
                _refuse_where(context, builder, wrong, place, BEYOND)
                return result

            return types.int64(types.int64, types.int64, place), generate
        found = typing_context.resolve_function_type(plain, (x, y), {})
        if found is None:
            return None
        real = plain is operator.truediv or any(isinstance(kind, types.Float) for kind in (x, y))

        def generate_plain(context: Any, builder: llvm.IRBuilder, signature: Any, arguments: Any) -> Any:
            values = [
                context.cast(builder, value, given, wanted)
                for value, given, wanted in zip(arguments, (x, y), found.args, strict=False)
            ]
            if real and plain in MIXED:
                for value, kind in zip(arguments, (x, y), strict=False):
                    if isinstance(kind, types.Integer):
                        word = context.cast(builder, value, kind, types.int64)
                        _refuse_where(context, builder, _is_large(builder, word), place, ROUNDED)
            if plain in DIVISIONS:
                _refuse_where(context, builder, _is_zero(builder, values[1]), place, ZERO)
            return context.get_function(plain, found)(builder, values)

        return found.return_type(x, y, place), generate_plain

    return operation


BINARY = {plain: _binary(plain) for plain in (*WHOLE, *MIXED)}


def _unary(plain: Callable[..., Any]) -> Callable[..., Any]:
    """The operation `plain`, which the least whole number does not have."""

    @intrinsic(prefer_literal=True)
    def operation(typing_context: Any, x: Any, place: Any) -> Any:
        x = types.int64 if _is_whole(types.unliteral(x)) else types.unliteral(x)
        found = typing_context.resolve_function_type(plain, (x,), {})
        if found is None:
            return None

        def generate(context: Any, builder: llvm.IRBuilder, signature: Any, arguments: Any) -> Any:
            if isinstance(x, types.Integer):
                _refuse_where(context, builder, builder.icmp_signed("==", arguments[0], LEAST), place, BEYOND)
            return context.get_function(plain, found)(builder, [context.cast(builder, arguments[0], x, found.args[0])])

        return found.return_type(x, place), generate

    return operation


negative, absolute = _unary(operator.neg), _unary(abs)


@intrinsic(prefer_literal=True)
def truncated(typing_context: Any, x: Any, place: Any) -> Any:
    """`int(x)`."""
    x = types.unliteral(x)
    if _is_whole(x):
        return types.int64(types.int64, place), lambda context, builder, signature, given: given[0]
    if not isinstance(x, types.Float):
        return None

    def generate(context: Any, builder: llvm.IRBuilder, signature: Any, arguments: Any) -> Any:
        value = context.cast(builder, arguments[0], x, types.float64)
        limit = llvm.DoubleType()(2.0**63)
        fits = builder.and_(
            builder.fcmp_ordered("<", value, limit), builder.fcmp_ordered(">=", value, llvm.DoubleType()(-(2.0**63)))
        )
        _refuse_where(context, builder, builder.not_(fits), place, BEYOND)
        return builder.fptosi(value, WORD)

    return types.int64(x, place), generate


@intrinsic(prefer_literal=True)
def stored(typing_context: Any, x: Any, place: Any) -> Any:
    """What is written into a field: a whole number."""
    kind = types.unliteral(x)

    def generate(context: Any, builder: llvm.IRBuilder, signature: Any, arguments: Any) -> Any:
        if isinstance(kind, types.Float):
            _refuse_where(context, builder, llvm.IntType(1)(1), place, REAL)
        return arguments[0]

    return kind(kind, place), generate


@intrinsic(prefer_literal=True)
def held(typing_context: Any, value: Any, has_value: Any, sentence: Any) -> Any:
    """What a name means, where it may have no value; then the sentence is raised."""
    kind = types.unliteral(value)

    def generate(context: Any, builder: llvm.IRBuilder, signature: Any, arguments: Any) -> Any:
        missing = builder.not_(context.cast(builder, arguments[1], types.boolean, types.boolean))
        _refuse_where(context, builder, missing, sentence, "{}")
        context.nrt.incref(builder, kind, arguments[0]) if context.enable_nrt else None
        return arguments[0]

    return kind(kind, types.boolean, sentence), generate


# -- functions of a real number ------------------------------------------------------------------------------------


def _of_real(name: str, wrong: Callable[[llvm.IRBuilder, llvm.Value, llvm.Value], llvm.Value]) -> Callable[..., Any]:
    """A function of `math`, which raises where it is not defined."""
    plain = getattr(math, name)

    @intrinsic(prefer_literal=True)
    def operation(typing_context: Any, x: Any, place: Any) -> Any:
        found = typing_context.resolve_function_type(plain, (types.float64,), {})

        def generate(context: Any, builder: llvm.IRBuilder, signature: Any, arguments: Any) -> Any:
            result = context.get_function(plain, found)(builder, [arguments[0]])
            _refuse_where(context, builder, wrong(builder, arguments[0], result), place, UNDEFINED.format(name, "{}"))
            return result

        return types.float64(types.float64, place), generate

    return operation


def _is_below(least: str) -> Callable[..., llvm.Value]:
    return lambda builder, x, result: builder.fcmp_ordered(least, x, x.type(0.0))


def _is_endless(builder: llvm.IRBuilder, x: llvm.Value, result: llvm.Value) -> llvm.Value:
    infinite = x.type(float("inf"))
    return builder.and_(builder.fcmp_ordered("==", result, infinite), builder.fcmp_ordered("!=", x, infinite))


REAL_FUNCTIONS = {name: _of_real(name, _is_below("<=")) for name in ("log", "log2", "log10")}
REAL_FUNCTIONS |= {"sqrt": _of_real("sqrt", _is_below("<")), "exp": _of_real("exp", _is_endless)}


def _towards(name: str) -> Callable[..., Any]:
    """A real number as a real number without a fraction."""

    @intrinsic
    def operation(typing_context: Any, x: Any) -> Any:
        def generate(context: Any, builder: llvm.IRBuilder, signature: Any, arguments: Any) -> Any:
            return builder.call(builder.module.declare_intrinsic(f"llvm.{name}", [llvm.DoubleType()]), [arguments[0]])

        return types.float64(types.float64), generate

    return operation


TOWARDS = {"floor": _towards("floor"), "ceil": _towards("ceil"), "round": _towards("rint")}  # rint: half to even


FUNCTIONS: dict[str, Any] = {one.__name__: function for one, function in BINARY.items()}
FUNCTIONS |= {"negative": negative, "absolute": absolute, "truncated": truncated, "stored": stored, "held": held}
FUNCTIONS |= REAL_FUNCTIONS | TOWARDS
