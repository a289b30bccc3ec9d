"""Whole numbers of 64 bits: an author's function means the same in plain Python and in machine code, or is refused."""

import random

import numpy as np
import pytest

import hegemon as hg
from hegemon.compute.compilation import specialize
from hegemon.engines.population import codes
from hegemon.errors import InvalidInput
from hegemon.models import PopulationProtocol, Range, RoundsProtocol, at_least, maximum
from hegemon.models.words import Word
from hegemon.process import membership

LINE = r"leaves 64 bits \(test_overflow.py, line \d+\)"


def arithmetic(which, x, y):
    if which == 0:
        return x + y
    if which == 1:
        return x - y
    if which == 2:
        return x * y
    if which == 3:
        return x // y
    if which == 4:
        return x % y
    if which == 5:
        return x << y
    if which == 6:
        return x >> y
    if which == 7:
        return x**y
    if which == 8:
        return -x
    if which == 9:
        return abs(x)
    if which == 10:
        return int(x / y)
    x += y
    x *= 3
    x -= y
    return x


def tabulate(which, xs, ys, results):  # bound below
    for k in range(len(xs)):
        results[k] = function(which, xs[k], ys[k])  # noqa: F821


ENDS = [0, 1, -1, 2, -3, 7, 62, 63, 64, -64]
ENDS += [sign * (2**power + step) for power in (31, 32, 53, 62) for step in (-1, 0, 1) for sign in (1, -1)]
ENDS += [2**63 - 1, -(2**63), -(2**63) + 1]


def answer(function, *arguments):
    """What a function returns, or that it refuses."""
    try:
        return int(function(*arguments))
    except (InvalidInput, ZeroDivisionError, ValueError):
        return "refused"


def test_machine_code_calculates_like_plain_python_or_refuses():
    rng = random.Random(1)
    numbers = ENDS + [rng.randrange(-(2**63), 2**63) >> rng.randrange(63) for _ in range(10)]
    kernel = specialize(tabulate, function=arithmetic)

    def compiled(which, x, y):
        result = np.zeros(1, np.int64)
        kernel(which, np.array([x]), np.array([y]), result)
        return result[0]

    refused = exact = 0
    for which in range(12):
        for x in numbers:
            for y in numbers:
                if (which, x, y) == (4, -(2**63), -1):
                    continue  # the remainder is 0, and the processor's instruction fails: refused by machine code alone
                told = answer(compiled, which, x, y)
                assert told == answer(arithmetic, which, Word(x), Word(y)), (which, x, y)
                if told == "refused":
                    refused += 1
                else:
                    exact += 1
                    assert told == arithmetic(which, x, y)
    assert refused > 1000 and exact > 5000


class Hashing(PopulationProtocol):
    """Agents take a random-looking value of both, by a product that is too large for 64 bits."""

    class State:
        x: Range(0, 49) = 1

    def interact(a, b, p):
        h = (a.x * 1000 + b.x + 1) * 6364136223846793005 + 1442695040888963407
        b.x = (h >> 33) % 50


class Rare(PopulationProtocol):
    """Only the last of many states leaves 64 bits: trials do not find it, a run does."""

    class State:
        x: Range(0, 60_000) = 0

    def interact(a, b, p):
        b.x = min(60_000, max(a.x, b.x) + 1)
        if b.x == 30_011 and a.x % 2 == 0:
            b.x = (b.x * 2**50) % 7


@pytest.mark.parametrize("engine", ["agents", "events", "batch", "auto"])
def test_a_transition_that_leaves_64_bits_is_refused_before_the_run(engine):
    with pytest.raises(InvalidInput, match=LINE):
        hg.simulate(Hashing(n=4), until="steps:10", engine=engine)


@pytest.mark.parametrize("engine", ["agents", "batch"])
def test_a_transition_that_leaves_64_bits_in_a_rare_state_is_refused_by_the_run(engine, monkeypatch):
    start = [{"x": 30_000}, {"x": 30_000}]
    with pytest.raises(InvalidInput, match=LINE):
        hg.simulate(Rare(n=2), start=start, until="steps:1000", engine=engine)


def large(a, p):
    return (a.x + 9) * 2**60 % 11 > 5


class Asked(PopulationProtocol):
    class State:
        x: Range(0, 60_000) = 0

    def interact(a, b, p):
        b.x = a.x

    some = at_least(1, large)
    top = maximum(lambda a, p: a.x * 2**50)


def test_a_condition_is_refused_whoever_answers(monkeypatch):
    protocol = Asked(n=3)
    monkeypatch.setattr(Asked, "check_sound", lambda self: None)
    for few in (4096, -1):  # plain Python, and the kernel
        membership._asked.clear()
        monkeypatch.setattr(membership, "FEW_AGENTS", few)
        with pytest.raises(InvalidInput, match=LINE):
            hg.simulate(protocol, start=[{"x": 9}] * 3, until="some", max_steps=10)


def test_what_is_asked_of_all_states_is_refused_by_check():
    with pytest.raises(InvalidInput, match=LINE):
        Asked(n=3).require_sound()


class Powers(RoundsProtocol):
    topology, smallest_n = "ring", 3

    class State:
        x: Range(0, 70) = 0

    def update(me, neighbours, coins, p):
        me.x = min(70, me.x + 1) if 2**me.x % 3 > 0 else 0


def test_an_update_that_leaves_64_bits_is_refused(monkeypatch):
    with pytest.raises(InvalidInput, match=LINE):
        hg.simulate(Powers(n=4), until="rounds:80")
    monkeypatch.setattr(Powers, "check_sound", lambda self: None)
    assert hg.simulate(Powers(n=4), until="rounds:62").steps == 62
    with pytest.raises(InvalidInput, match=LINE):
        hg.simulate(Powers(n=4), until="rounds:80")


class Halves(PopulationProtocol):
    """Writes a real number, seldom."""

    class State:
        x: Range(0, 60_000) = 0

    def interact(a, b, p):
        b.x = min(60_000, a.x + 1)
        if b.x == 31_234:
            b.x = b.x / 2


def test_a_real_number_in_a_field_is_refused_by_machine_code_too(monkeypatch):
    monkeypatch.setattr(codes, "LARGEST_TABLE", 0)
    with pytest.raises(InvalidInput, match="line"):
        hg.simulate(Halves(n=2), start=[{"x": 31_230}] * 2, until="steps:100", engine="agents")
