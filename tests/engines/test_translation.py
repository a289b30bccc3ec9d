"""Random programs in machine code do what CPython does, or are refused with the line."""

import operator
import re
from collections import Counter, namedtuple

import numpy as np
import pytest

from hegemon.compute import compilation, translation
from hegemon.compute.compilation import specialize
from hegemon.compute.translation import Translation
from hegemon.errors import InvalidInput
from hegemon.language.kinds import WHOLE, Record, kind_of_type
from hegemon.language.reading import read
from tests.language.programs import FIELDS, Program, arguments, defined, failure_of

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # NumPy's numbers wrap around
STATE = np.dtype({
    "names": [*FIELDS, *(f"row[{k}]" for k in range(4)), "row"], "formats": [np.int64] * 7 + [(np.int64, 4)],
    "offsets": [*range(0, 56, 8), 24], "itemsize": 56,
})  # fmt: skip
PARAMETERS = np.dtype([("n", np.int64), ("k", np.int64)])
Coins = namedtuple("Coins", "heads die")
KINDS = (
    kind_of_type(STATE, "a state"), kind_of_type(STATE, "a state"), kind_of_type(PARAMETERS, "the parameters"),
    Record("the coins", (("heads", WHOLE), ("die", WHOLE))),
)  # fmt: skip


def run(which, states, parameters, heads, die):
    play(which, states[0], states[1], parameters[0], Coins(heads, die))  # noqa: F821 - bound by specialize


def kernel_of(functions):
    """One kernel that runs any of the functions, by its number."""
    lines = ["def play(which, a, b, p, coins):"]
    for number in range(len(functions)):
        lines += [f"    if which == {number}:", f"        f{number}(a, b, p, coins)"]
    scope = {f"f{number}": function for number, function in enumerate(functions)}
    exec(compile("\n".join(lines), "<hegemon>", "exec"), scope)
    return specialize(run, repr(STATE), play=scope["play"])


def inside(numbers):
    """Programs that machine code has, with their numbers."""
    found, refused = [], Counter()
    for number in numbers:
        scope, _ = defined(Program(number))
        try:
            Translation({}, lambda *made: made).of(read(scope["interact"]), KINDS)
            found.append((number, scope["interact"]))
        except InvalidInput as reason:
            refused[re.sub(r"[\w.]+ (has|is|gets|may)|\d+", "…", str(reason).partition("(")[0])] += 1
    return found, refused


def in_python(function, seed):
    _, (a, b, p, coins) = arguments(seed)
    try:
        with np.errstate(divide="raise"):  # NumPy only warns of a division by 0, which ends a run
            function(a, b, p, coins)
    except Exception as error:
        return failure_of(error)
    return [[one._values[name] for name in FIELDS] + list(one._values["row"]) for one in (a, b)]


def in_machine_code(kernel, which, seed):
    _, (a, b, p, coins) = arguments(seed)
    states = np.zeros(2, STATE)
    for state, one in zip(states, (a, b), strict=True):
        for name in FIELDS:
            state[name] = one._values[name]
        state["row"] = one._values["row"]
    try:
        kernel(which, states, np.array([(p.n, p.k)], PARAMETERS), coins.heads, coins.die)
    except Exception as error:
        return str(error)
    return [[int(state[name]) for name in FIELDS] + state["row"].tolist() for state in states]


LIMITS = ("leaves 64 bits", "becomes a real one", "a real number is written")


def compared(numbers, seeds=4):
    """Programs whose outcome differs, and what was seen."""
    programs, _ = inside(numbers)
    kernel = kernel_of([function for _, function in programs])
    wrong, seen = [], Counter()
    for which, (number, function) in enumerate(programs):
        for seed in range(seeds):
            expected, found = in_python(function, seed), in_machine_code(kernel, which, seed)
            if isinstance(found, list):
                same = found == expected
                seen["equal"] += same
            elif isinstance(expected, tuple):  # an error: of this line, where the compiler knows it
                line = re.search(r", line (\d+)\)", found)
                same = line is None or expected[3] in (None, int(line[1])) or any(one in found for one in LIMITS)
                seen[expected[1]] += same
            else:
                same = any(one in found for one in LIMITS)
                seen["refused"] += same
            if not same:
                wrong.append((number, seed, expected, found))
    return wrong, seen


def test_random_programs_do_in_machine_code_what_python_does():
    wrong, seen = compared(range(30))
    assert not wrong
    assert seen["equal"] > 15 and seen["ZeroDivisionError"]


@pytest.mark.parametrize(("operation", "wrong"), [("-", operator.add), ("//", operator.mod)])
def test_a_wrong_rule_is_caught(monkeypatch, operation, wrong):
    monkeypatch.setitem(translation.NUMBERED, operation, wrong)
    monkeypatch.setattr(compilation, "CHECKS", f"{operation} is {wrong.__name__}")  # its kernels are kept apart
    assert compared(range(60, 80))[0]


@pytest.mark.full
@pytest.mark.parametrize("block", range(10))
def test_a_thousand_random_programs_do(block):
    wrong, seen = compared(range(1000 + 250 * block, 1250 + 250 * block))
    assert not wrong and seen["equal"] > 50
