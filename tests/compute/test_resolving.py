"""What Numba has found out once: remembered for its own operations, and for nothing that depends on more than types."""

import operator

import pytest
from numba.core import ir, types
from numba.core.compiler import run_frontend
from numba.core.registry import cpu_target

from hegemon.compute import resolving


@pytest.fixture
def asked(monkeypatch):
    """Every question that Numba itself has to answer."""
    questions: list = []

    def find(function, *rest):
        questions.append(function.typing_key)
        return found(function, *rest)

    found = resolving._find
    monkeypatch.setattr(resolving, "_find", find)
    monkeypatch.setattr(resolving, "_known", {})
    return questions


def resolve(function, *arguments):
    context = cpu_target.typing_context
    context.refresh()
    return context.resolve_value_type(function).get_call_type(context, arguments, {})


def test_an_operation_is_looked_up_once_for_its_types(asked):
    with resolving.remembered():
        sums = [resolve(operator.add, types.int64, kind) for kind in (types.int64, types.float64, types.int64)]
    assert [found.return_type for found in sums] == [types.int64, types.float64, types.int64]
    assert asked == [operator.add] * 2


def test_what_is_compiled_with_the_options_of_its_caller_is_looked_up_every_time(asked):
    with resolving.remembered():
        for _ in range(2):
            assert resolve(max, types.int64, types.int64).return_type == types.int64
    assert asked.count(max) == 2


def test_others_who_use_numba_meet_it_unchanged(asked):
    before = types.BaseFunction.get_call_type
    with resolving.remembered(), resolving.remembered():
        assert types.BaseFunction.get_call_type is not before
    assert types.BaseFunction.get_call_type is before


def test_the_variables_of_a_statement_are_those_that_numba_finds():
    def mixed(a, b):
        total = 0
        for k, (x, y) in enumerate(zip(a, b)):  # noqa: B905 - Numba knows no `strict`
            total += max(x, y, key=None) if k else a[k:][0]
            b[k] = -total
        return total, [a, b]

    blocks = run_frontend(mixed).blocks.values()
    statements = [statement for block in blocks for statement in block.body]
    statements += [one.value for one in statements if isinstance(one, ir.Assign) and isinstance(one.value, ir.Expr)]
    slow = [statement.list_vars() for statement in statements]
    with resolving.remembered():
        assert [statement.list_vars() for statement in statements] == slow
    assert sum(map(len, slow)) > 50
