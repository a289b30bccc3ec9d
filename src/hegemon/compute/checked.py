"""Arithmetic of an author's function in machine code: what would leave 64 bits is an error with its line.

Python's whole numbers have no end, those of machine code have 64 bits and wrap around. A pass of the compiler replaces
the operations of an author's function by checked ones: whatever they return, Python would return the same.
"""

import operator
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from llvmlite import ir as llvm
from numba.core import ir, types
from numba.core.compiler_machinery import FunctionPass, register_pass
from numba.extending import intrinsic

from hegemon.errors import InvalidInput

PACKAGE = Path(__file__).parent.parent
WORD = llvm.IntType(64)
LEAST = WORD(-(2**63))
EXACT = 2**53  # beyond, a whole number beside a real one would be rounded
BEYOND = "a whole number leaves 64 bits ({}); keep it between -2^63 and 2^63 - 1, for instance with % at every step"
ROUNDED = "a whole number beyond 2^53 becomes a real one ({}), which would round it; use // or smaller numbers"
REAL = "a real number is written into a field ({}); // divides whole numbers, int(…) rounds"


def is_authored(function: Callable[..., Any]) -> bool:
    """Neither the laboratory's own nor made from a text; the catalogue's protocols count as an author's."""
    file = Path(function.__code__.co_filename)
    if str(file).startswith("<") and not str(file).startswith("<ipython"):
        return False
    return not file.is_relative_to(PACKAGE) or file.is_relative_to(PACKAGE / "protocols")


def _is_whole(kind: Any) -> bool:
    return isinstance(kind, types.Integer | types.Boolean)


def _refuse_where(context: Any, builder: llvm.IRBuilder, wrong: llvm.Value, place: Any, what: str) -> None:
    with builder.if_then(wrong, likely=False):
        context.call_conv.return_user_exc(builder, InvalidInput, (what.format(place.literal_value),))


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
IN_PLACE = {
    operator.iadd: operator.add, operator.isub: operator.sub, operator.imul: operator.mul,
    operator.ifloordiv: operator.floordiv, operator.imod: operator.mod, operator.ilshift: operator.lshift,
    operator.irshift: operator.rshift, operator.ipow: operator.pow, operator.itruediv: operator.truediv,
}  # fmt: skip


def _binary(plain: Callable[..., Any], checked: Callable[..., Any]) -> Callable[..., Any]:
    """The operation `plain`, with the checks of `checked` where both numbers are whole."""

    @intrinsic(prefer_literal=True)
    def operation(typing_context: Any, x: Any, y: Any, place: Any) -> Any:
        x, y = types.unliteral(x), types.unliteral(y)
        whole = _is_whole(x) and _is_whole(y)
        unsigned = [kind == types.uint64 for kind in (x, y)]
        if whole and any(unsigned) and not all(unsigned):  # Numba would make a real number of them

            def refuse(context: Any, builder: llvm.IRBuilder, signature: Any, arguments: Any) -> Any:
                _refuse_where(context, builder, llvm.IntType(1)(1), place, BEYOND)
                return context.get_constant(signature.return_type, 0)

            return (types.int64 if checked in WHOLE else types.boolean)(x, y, place), refuse
        if whole and not any(unsigned) and checked in WHOLE:

            def generate(context: Any, builder: llvm.IRBuilder, signature: Any, arguments: Any) -> Any:
                result, wrong = WHOLE[checked](context, builder, *arguments[:2])
                _refuse_where(context, builder, wrong, place, BEYOND)
                return result

            return types.int64(types.int64, types.int64, place), generate
        found = typing_context.resolve_function_type(plain, (x, y), {})
        if found is None:
            return None
        real = checked is operator.truediv or any(isinstance(kind, types.Float) for kind in (x, y))

        def generate_plain(context: Any, builder: llvm.IRBuilder, signature: Any, arguments: Any) -> Any:
            values = [
                context.cast(builder, value, given, wanted)
                for value, given, wanted in zip(arguments, (x, y), found.args, strict=False)
            ]
            if real and checked in MIXED:
                for value, kind in zip(arguments, (x, y), strict=False):
                    if isinstance(kind, types.Integer):
                        word = context.cast(builder, value, kind, types.int64)
                        _refuse_where(context, builder, _is_large(builder, word), place, ROUNDED)
            return context.get_function(plain, found)(builder, values)

        return found.return_type(x, y, place), generate_plain

    return operation


BINARY = {plain: _binary(plain, plain) for plain in (*WHOLE, *MIXED)}
BINARY |= {plain: _binary(plain, checked) for plain, checked in IN_PLACE.items()}


def _unary(plain: Callable[..., Any]) -> Callable[..., Any]:
    """The operation `plain`, which the least whole number does not have."""

    @intrinsic(prefer_literal=True)
    def operation(typing_context: Any, x: Any, place: Any) -> Any:
        x = types.unliteral(x)
        found = typing_context.resolve_function_type(plain, (x,), {})
        if found is None:
            return None

        def generate(context: Any, builder: llvm.IRBuilder, signature: Any, arguments: Any) -> Any:
            if isinstance(x, types.Integer):
                word = context.cast(builder, arguments[0], x, types.int64)
                _refuse_where(context, builder, builder.icmp_signed("==", word, LEAST), place, BEYOND)
            value = context.cast(builder, arguments[0], x, found.args[0])
            return context.get_function(plain, found)(builder, [value])

        return found.return_type(x, place), generate

    return operation


UNARY = {operator.neg: _unary(operator.neg)}
CALLED: dict[Callable[..., Any], Callable[..., Any]] = {abs: _unary(abs)}


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


CALLED[int] = truncated


@intrinsic(prefer_literal=True)
def stored(typing_context: Any, x: Any, place: Any) -> Any:
    """What is written into a field: a whole number."""
    kind = types.unliteral(x)

    def generate(context: Any, builder: llvm.IRBuilder, signature: Any, arguments: Any) -> Any:
        if isinstance(kind, types.Float):
            _refuse_where(context, builder, llvm.IntType(1)(1), place, REAL)
        elif kind == types.uint64:
            _refuse_where(context, builder, builder.icmp_signed("<", arguments[0], WORD(0)), place, BEYOND)
        return arguments[0]

    return kind(kind, place), generate


@register_pass(mutates_CFG=False, analysis_only=False)
class CheckArithmetic(FunctionPass):
    """Replaces operations by calls of those above, each with its place in the author's file."""

    _name = "check_arithmetic"

    def __init__(self) -> None:
        FunctionPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        functions = {}  # variables that hold one of the functions that are replaced
        for block in state.func_ir.blocks.values():
            for statement in block.find_insts(ir.Assign):
                if isinstance(statement.value, ir.Global | ir.FreeVar) and statement.value.value in (abs, int):
                    functions[statement.target.name] = CALLED[statement.value.value]
        for block in state.func_ir.blocks.values():
            block.body = [made for statement in block.body for made in self._checked(state, statement, functions)]
        return True

    def _checked(self, state: Any, statement: Any, functions: dict[str, Callable[..., Any]]) -> list[Any]:
        value = getattr(statement, "value", None)
        if isinstance(statement, ir.SetAttr):
            before, call = self._call(state, statement, stored, [value])
            held = ir.Var(statement.target.scope, ir_name(state, "held"), statement.loc)
            return [*before, ir.Assign(call, held, statement.loc),
                    ir.SetAttr(statement.target, statement.attr, held, statement.loc)]  # fmt: skip
        if not isinstance(statement, ir.Assign) or not isinstance(value, ir.Expr):
            return [statement]
        function, operands = None, []
        if value.op in ("binop", "inplace_binop") and value.fn in BINARY:
            function, operands = BINARY[value.fn], [value.lhs, value.rhs]
        elif value.op == "unary" and value.fn in UNARY:
            function, operands = UNARY[value.fn], [value.value]
        elif value.op == "call" and value.func.name in functions and len(value.args) == 1 and not value.kws:
            function, operands = functions[value.func.name], list(value.args)
        if function is None:
            return [statement]
        before, call = self._call(state, statement, function, operands)
        return [*before, ir.Assign(call, statement.target, statement.loc)]

    def _call(
        self, state: Any, statement: Any, function: Callable[..., Any], operands: list[Any]
    ) -> tuple[list[Any], Any]:
        scope, loc = statement.target.scope, statement.loc
        called = ir.Var(scope, ir_name(state, "checked"), loc)
        place = ir.Var(scope, ir_name(state, "place"), loc)
        text = f"{os.path.basename(loc.filename)}, line {loc.line}"
        before = [
            ir.Assign(ir.Global("checked", function, loc), called, loc),
            ir.Assign(ir.Const(text, loc), place, loc),
        ]
        return before, ir.Expr.call(called, [*operands, place], (), loc)


def ir_name(state: Any, what: str) -> str:
    """A name that no variable has."""
    state.metadata["checked_names"] = number = state.metadata.get("checked_names", 0) + 1
    return f"${what}_{number}"
