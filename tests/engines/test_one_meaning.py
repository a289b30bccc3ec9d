"""What an author's function means in Python is what every engine does, or refuses with the line."""

import itertools

import numpy as np
import pytest

import hegemon as hg
from hegemon.engines.inside import outside
from hegemon.errors import InvalidInput
from hegemon.graphs.families import path
from hegemon.models import Bit, Choice, PopulationProtocol, Range, RoundsProtocol, at_least

ENGINES = ("agents", "events", "batch")
WIDE = 2**60


class Fields:
    x: Range(0, 9999) = 0
    y: Range(-99, 99) = 0


class Wide:
    x: Range(0, WIDE) = 0
    y: Bit = 0


def drawn(a):
    """Counts how often it was called, as a coin would be drawn."""
    a.y = a.y + 1
    return a.y


def first_of_two(a, b, p):
    b.x = 1 if a.x in (drawn(a), drawn(a)) else 2


def largest(a, b, p):
    b.x = max((k for k in range(a.x)), default=drawn(a))


def without_default(a, b, p):
    b.x = max(k for k in range(a.x))


def remainder(a, b, p):
    b.x, b.y = a.x % -3 + 9, -a.x // 4


def chained(a, b, p):
    b.x = 0 < drawn(a) < 3 != drawn(a)


def kept(a, b, p):
    t = a.x == 9 or (a.y and 5)
    b.x = t + 3


def unbound(a, b, p):
    for t in range(a.x):
        b.y = t
    b.x = t + 1


def gathered(a, b, p):
    if any(k == a.x for k in (1, 2)):
        b.x = sum(k for k in range(9) if k % 2) + sum((1, 2, a.x))


def zero(a, b, p):
    b.x = 50 + 5 // (a.x - 7)


def zero_left_over(a, b, p):
    b.x = 50 + 5 % (a.x - 7)


def zero_share(a, b, p):
    b.x = int(1 / (a.x - 7))


def beyond_the_row(a, b, p):
    row = np.zeros(3, np.int64)
    row[a.x] = 4
    b.x = row[-1] + len(row)


def rounded(a, b, p):
    b.x = round(a.x / 2) + int(a.x / 3) + abs(-a.x)


INSIDE = (
    first_of_two, largest, without_default, remainder, chained, kept, unbound, gathered, zero, zero_left_over,
    zero_share, rounded,
)  # fmt: skip


def of(transition, **named):
    return type("Meant", (PopulationProtocol,), {"State": Fields, "interact": transition, "output": at_zero} | named)(
        n=2
    )


def at_zero(a, p):
    return a.x == 0


def outcome(protocol, engine, start):
    """The states after one step, or that it is refused."""
    try:
        run = hg.simulate(protocol, start=start, until="steps:1", engine=engine, seed=1)
    except InvalidInput as error:
        assert "test_one_meaning.py, line " in str(error), error
        return "refused"
    return run.engine, sorted(protocol.space.encode_array(run.configuration.agents).tolist())


@pytest.mark.parametrize("transition", INSIDE, ids=lambda one: one.__name__)
def test_every_engine_does_what_python_does(transition, monkeypatch):
    protocol = of(transition)
    monkeypatch.setattr(type(protocol), "check_sound", lambda self: None)
    assert not outside(protocol)
    told = set()
    for x, y in itertools.product((0, 1, 2, 4, 7, 9), (0, 1)):
        start = [{"x": x, "y": y}] * 2
        expected = outcome(protocol, "plain", start)
        told.add(expected == "refused")
        for engine in ENGINES[: 3 if x == 7 else 1]:
            found = outcome(protocol, engine, start)
            assert found == expected or found[1] == expected[1], (x, y, engine, found, expected)
    assert False in told


def mixed_name(a, b, p):
    x = 2**53 + 1
    if a.x > 3:
        x = 0.5
    b.x = int(x)


def mixed_maximum(a, b, p):
    b.x = int(max(a.x, 0.5))


def mixed_minimum(a, b, p):
    b.x = int(min(a.x, 1e300))


def mixed_choice(a, b, p):
    b.x = int(a.x if b.x > 1 else 0.5)


def mixed_logic(a, b, p):
    b.x = int(a.x or 0.5)


def in_order(a, b, p):
    b.x = sorted((5, a.x, 1))[1]


def real_power(a, b, p):
    b.x = int(2.5 ** (a.x % 9))


def named_within(a, b, p):
    b.x = (t := a.x % 9) + t


REFUSED = {
    mixed_name: "x is a real number or a whole number here",
    mixed_maximum: r"max\(…\) is a whole number or a real number here",
    mixed_minimum: r"min\(…\) is a whole number or a real number here",
    mixed_choice: "if … else … is a whole number or a real number here",
    mixed_logic: "or … is a whole number or a real number here",
    in_order: "sorted is outside the language",
    named_within: r"t := … is left to Python",
    real_power: r"\*\* of a real number is left to Python",
}


@pytest.mark.parametrize("transition", REFUSED, ids=lambda one: one.__name__)
def test_what_machine_code_cannot_do_is_run_by_python_with_the_reason(transition):
    protocol, line = of(transition, State=Wide), transition.__code__.co_firstlineno
    sentence = rf"{REFUSED[transition]}.*\(test_one_meaning.py, line {line + (4 if transition is mixed_name else 1)}\)"
    for engine in ENGINES:
        with pytest.raises(InvalidInput, match=sentence + "; or use engine plain"):
            hg.simulate(protocol, engine=engine, until="steps:1")
    large = 2**53 + 1
    run = hg.simulate(
        protocol, start=[{"x": large if transition is not real_power else 9, "y": 0}] * 2, until="steps:1"
    )
    assert run.engine == "plain"
    found = {int(one) for one in run.configuration.agents["x"]}
    exact = {
        mixed_name: 0,
        mixed_maximum: large,
        mixed_minimum: large,
        mixed_choice: large,
        mixed_logic: large,
        in_order: 5,
    }
    if transition in exact:
        assert found == {large, exact[transition]}


class Rounds(RoundsProtocol):
    topology, smallest_n = "ring", 3

    class State:
        x: Range(0, 1_000_000) = 0

    def update(me, neighbours, coins, p):
        me.x = 5 // (me.x - 777_777) + 5


class Mixed(RoundsProtocol):
    topology, smallest_n = "ring", 3

    class State:
        x: Range(0, 1_000_000) = 0

    def update(me, neighbours, coins, p):
        me.x = int(max(0.5, me.x))


def test_rounds_do_the_same():
    start = [{"x": 777_777}] * 3
    for engine in ("rounds", "plain"):
        with pytest.raises(InvalidInput, match=r"test_one_meaning.py, line \d+"):
            hg.simulate(Rounds(n=3), start=start, until="rounds:2", engine=engine)
    assert hg.simulate(Mixed(n=3), until="rounds:2").engine == "plain"
    with pytest.raises(InvalidInput, match=r"max\(…\) is a real number or a whole number here"):
        hg.simulate(Mixed(n=3), until="rounds:2", engine="rounds")


# -- what changes between two runs ---------------------------------------------------------------------------------

CONSTANT = 1


class Mode:
    FAST = 1


def deepest(a):
    return a.x + CONSTANT


def helper(a):
    return deepest(a) + Mode.FAST


def defaulted(a, step=1):
    return step


def closed(step):
    def interact(a, b, p):
        b.x = min(9999, helper(a) + defaulted(a) + step)

    return interact  # fmt: skip


def change(name, protocol, monkeypatch):
    if name == "constant":
        monkeypatch.setitem(globals(), "CONSTANT", 11)
    elif name == "class attribute":
        monkeypatch.setattr(Mode, "FAST", 11)
    elif name == "default":
        monkeypatch.setattr(defaulted, "__defaults__", (11,))
    elif name == "helper's helper":
        monkeypatch.setitem(globals(), "deepest", lambda a: a.x + 11)
    else:
        type(protocol).interact.__closure__[0].cell_contents = 11


@pytest.mark.parametrize("engine", ["plain", *ENGINES])
@pytest.mark.parametrize("what", ["constant", "class attribute", "default", "helper's helper", "closure"])
def test_a_run_sees_what_is_true_now(what, engine, monkeypatch):
    kind = type("Now", (PopulationProtocol,), {"State": Fields, "interact": closed(1), "output": at_zero})

    def result():
        run = hg.simulate(kind(n=2), start=[{"x": 0, "y": 0}] * 2, until="steps:1", engine=engine)
        return max(run.configuration.agents["x"])

    assert result() == 4
    change(what, kind(n=2), monkeypatch)
    assert result() == 14


LIMIT = 1


def above(a, p):
    return a.x >= LIMIT


class Counting(PopulationProtocol):
    class State:
        x: Range(0, 5000) = 0
        leader: Bit = 0
        kind: Choice("A", "B") = "A"

    def interact(a, b, p):
        b.x = min(5000, b.x + 1)


@pytest.mark.parametrize("engine", ["plain", *ENGINES])
def test_a_condition_of_the_callers_sees_what_is_true_now(engine, monkeypatch):
    def steps():
        return hg.simulate(Counting(n=2), until=at_least(1, above), engine=engine, max_steps=500, seed=1).steps

    assert steps() == 1
    monkeypatch.setitem(globals(), "LIMIT", 9)
    assert steps() > 8


class CopiesFirst(RoundsProtocol):
    """Reads its first neighbour, which machine code does not look after."""

    class State:
        x: Bit = 0

    def update(me, neighbours, coins, p):
        if me.x == 1 and coins == 1:
            me.x = neighbours[0].x

    def output(a, p):
        return a.x


def test_a_first_neighbour_is_read_in_machine_code_where_every_node_has_one():
    assert "no neighbours" in outside(CopiesFirst(n=1), path(1))
    assert not outside(CopiesFirst(n=3), path(3))
