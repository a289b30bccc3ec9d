"""The reference interpreter does what CPython does: values, accesses in order, errors and their lines."""

import operator

import pytest

from hegemon.language import form, interpreter
from hegemon.language.interpreter import run
from hegemon.language.reading import read
from hegemon.language.source import Outside
from tests.language.programs import Program, defined, forget, observed

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # NumPy's numbers wrap around, in both


def differences(numbers, times=2):
    """The programs that do not do the same, and how many were compared."""
    wrong, compared, outcomes = [], 0, set()
    for number in numbers:
        program = Program(number)
        scope, name = defined(program)
        try:
            function = read(scope["interact"])
        except Outside as error:
            assert "is not defined" in str(error), (error, program.text)
            continue
        finally:
            forget(name)
        for seed in range(times):
            expected = observed(scope["interact"], seed)
            if observed(lambda *given, function=function: run(function, *given), seed) != expected:
                wrong.append(number)
            compared += 1
            outcomes.add(expected[0][:2] if expected[0][0] == "error" else "value")
    return wrong, compared, outcomes


def test_random_programs_do_the_same():
    wrong, compared, outcomes = differences(range(400))
    assert not wrong and compared > 700
    assert {
        "value",
        ("error", "ZeroDivisionError"),
        ("error", "UnboundLocalError"),
        ("error", "IndexError"),
    } <= outcomes


@pytest.mark.full
@pytest.mark.parametrize("block", range(10))
def test_ten_thousand_random_programs_do_the_same(block):
    wrong, compared, _ = differences(range(1000 * block, 1000 * block + 1000), 3)
    assert not wrong and compared > 2500


def joined_as_truth(frame, node):
    return bool(interpreter_joined(frame, node))


interpreter_joined = interpreter._Frame._joined


def backwards(frame, node):
    given = {name: frame._value(value) for name, value in reversed(node.arguments)}
    return interpreter._Frame(node.function, given).result()


TWINS = {
    "a remainder has the sign of its first operand": lambda patch: patch.setitem(
        interpreter.BINARY, "%", lambda x, y: operator.mod(abs(x), y)
    ),
    "and, or return a truth value": lambda patch: patch.setattr(interpreter._Frame, "_joined", joined_as_truth),
    "in stops at the first match": lambda patch: patch.setitem(
        interpreter.COMPARISONS, "in", lambda item, items: item == items[0]
    ),
    "x += y reads x last": lambda patch: patch.setitem(interpreter.IN_PLACE, "-", lambda x, y: y - x),
}


@pytest.mark.parametrize("twin", TWINS)
def test_a_wrong_rule_is_caught(monkeypatch, twin):
    TWINS[twin](monkeypatch)
    assert differences(range(150), 1)[0]


def test_a_wrong_line_is_caught(monkeypatch):
    made = interpreter._Frame._made
    monkeypatch.setattr(interpreter._Frame, "_made", lambda frame, line, *rest: made(frame, line + 1, *rest))
    assert differences(range(60), 1)[0]


def test_every_kind_of_node_is_run():
    seen = set()

    def walk(node):
        if isinstance(node, form.Node | form.Function):
            seen.add(type(node))
            for name in node.fields:
                walk(getattr(node, name))
        elif isinstance(node, tuple):
            for item in node:
                walk(item)

    for number in range(120):
        scope, _ = defined(Program(number))
        try:
            walk(read(scope["interact"]))
        except Outside:
            continue
    kinds = {kind for kind in vars(form).values() if isinstance(kind, type) and issubclass(kind, form.Node)}
    assert kinds - {form.Node} <= seen
