"""What an author may write and what is refused, each in one sentence that names the place."""

import asyncio
import datetime
import math
import random
import time
from random import randrange

import numpy as np
import pytest
from numpy.random import randint

from hegemon.errors import InvalidInput
from hegemon.models import (
    Bit,
    Choice,
    Group,
    Parameter,
    PopulationProtocol,
    Range,
    RoundsProtocol,
    count,
    everywhere,
    exactly,
    mean,
    whole,
)
from hegemon.models.purity import impurities
from hegemon.runs.simulate import simulate

TABLE = (0, 1, 1)
FROZEN = np.array([0, 1])
FROZEN.flags.writeable = False
memory = [0]
counter = 0
generator = np.random.default_rng(0)
lookup = {0: 1}


def helper(a):
    a.x = randrange(2)


def pure_helper(a, p):
    return max(a.x, TABLE[1]) % 2 + int(FROZEN[0]) + math.floor(0.5)


# -- nothing besides the arguments -----------------------------------------------------------------------------


def calls_random(a, b, p):
    a.x = random.randrange(2)


def calls_numpy(a, b, p):
    a.x = np.random.randint(2)


def calls_imported(a, b, p):
    a.x = randint(2)


def calls_helper(a, b, p):
    if a.x == 1:
        helper(b)


def calls_generator(a, b, p):
    a.x = generator.integers(2)


def calls_time(a, b, p):
    a.x = int(time.time()) % 2


def calls_date(a, b, p):
    a.x = datetime.datetime.now().second % 2


def writes_global(a, b, p):
    global counter
    counter += 1
    a.x = counter % 2


def writes_list(a, b, p):
    memory[0] += 1
    a.x = memory[0] % 2


def reads_dictionary(a, b, p):
    a.x = lookup[0]


def writes_attribute(a, b, p):
    helper.calls = 1
    a.x = 1


def reads_identity(a, b, p):
    a.x = id(a) % 2


def imports(a, b, p):
    import secrets

    a.x = secrets.randbelow(2)


def in_a_lambda(a, b, p):
    a.x = (lambda: random.randrange(2))()


def around():
    calls = 0

    def closes(a, b, p):
        nonlocal calls
        calls += 1
        a.x = calls % 2

    return closes


def pure(a, b, p):
    a.x = pure_helper(b, p)


IMPURE = [
    (calls_random, "calls random.randrange"),
    (calls_numpy, "calls np.random.randint"),
    (calls_imported, "calls randint"),
    (calls_helper, "calls randrange"),
    (calls_generator, "calls generator"),
    (calls_time, "calls time.time"),
    (calls_date, "calls datetime.datetime.now"),
    (writes_global, "changes the global variable counter"),
    (writes_list, "reads memory, an object that can change"),
    (reads_dictionary, "reads lookup"),
    (writes_attribute, "changes helper.calls"),
    (reads_identity, "calls id"),
    (imports, "imports secrets"),
    (in_a_lambda, "calls random.randrange"),
    (around(), "changes calls, a variable"),
]


def own(body, **members):
    class Own(PopulationProtocol):
        class State:
            x: Bit

        interact = body

    return type("Own", (Own,), {"interact": body, **members})


@pytest.mark.parametrize(("body", "part"), IMPURE, ids=lambda value: getattr(value, "__name__", None))
def test_what_reads_more_than_its_arguments_is_refused_with_its_line(body, part):
    with pytest.raises(InvalidInput, match=part + r".*\(test_soundness.py, line \d+\)"):
        own(body)(n=4).require_sound()


def test_calculating_is_allowed():
    assert list(impurities(pure)) == []
    own(pure)(n=4).require_sound()


def test_what_hides_from_analysis_is_found_by_trial():
    class Hidden:  # an attribute of an argument: nothing in the code says where it leads
        def __init__(self):
            self.state = 0

        def __call__(self):
            self.state += 1
            return self.state % 2

    def hides(a, b, p):
        a.x = p.draw()

    assert list(impurities(hides)) == []
    protocol = own(hides)(n=4)
    protocol.__dict__["p"] = type("P", (), {"draw": Hidden()})()
    with pytest.raises(InvalidInput, match="answers differently when it is asked again"):
        protocol.require_sound()


# -- the form of a transition ----------------------------------------------------------------------------------


def endless(a, b, p):
    while a.x == 1:
        pass


def returns(a, b, p):
    return a.x


def halves(a, b, p):
    a.x = b.x / 2


def invents(a, b, p):
    a.y = 1


def deletes(a, b, p):
    del a.x


def fails(a, b, p):
    a.x = 1 // b.x


def stops(a, b, p):
    raise SystemExit(3)


@pytest.mark.parametrize(
    ("body", "part"),
    [
        (endless, "interact does not end"),
        (returns, "interact answers .*returns nothing"),
        (halves, "wrote x = 0.0, which is not a whole number; // divides"),
        (invents, "writes 'y', which is not a field"),
        (deletes, "wrote x = None"),
        (fails, r"interact fails \(test_soundness.py, line \d+\): ZeroDivisionError"),
        (stops, "SystemExit: 3"),
    ],
)
def test_transitions_of_another_form_are_refused(body, part):
    with pytest.raises(InvalidInput, match=part + ".*interaction of"):
        own(body)(n=4).require_sound()


async def asynchronous(a, b, p):
    await asyncio.sleep(0)


def generates(a, b, p):
    yield a


@pytest.mark.parametrize(
    "body",
    [asynchronous, generates, lambda a, b: None, lambda a, b, p, q: None, 3],
    ids=["async", "yield", "2", "4", "3"],
)
def test_functions_of_another_form_are_refused_when_the_class_is_defined(body):
    with pytest.raises(InvalidInput, match=r"interact .*write def interact\(a, b, p\)"):
        own(body)


# -- reserved names --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("members", "part"),
    [
        ({"start_all": lambda self, rng: []}, "a start cannot be named 'all'"),
        ({"broken": everywhere(lambda a, p: a.x == 1)}, "a set cannot be named 'broken'"),
        ({"steps": everywhere(lambda a, p: a.x == 1)}, "a set cannot be named 'steps'"),
        ({"step": count(lambda a, p: a.x == 1)}, "an? observable cannot be named 'step'"),
        ({"n": Parameter(1)}, "'n' already has a meaning"),
        ({"space": Parameter(1)}, "'space' already has a meaning"),
        ({"sets": count(lambda a, p: a.x == 1)}, "'sets' already has a meaning"),
        ({"_k": Parameter(1)}, "'_k' already has a meaning"),
        ({"start_odd": lambda self: []}, r"write def start_odd\(self, rng\)"),
        ({"safe": everywhere(lambda a: a.x == 1)}, "a condition of the set safe takes other arguments"),
        ({"safe": whole(lambda agents: True)}, "a predicate of the set safe"),
        ({"seen": count(lambda a: a.x == 1)}, "the observable seen"),
        ({"output": lambda a: a.x}, r"write def output\(a, p\)"),
    ],
)
def test_names_and_forms_are_refused_when_the_class_is_defined(members, part):
    with pytest.raises(InvalidInput, match=part):
        own(pure, **members)


@pytest.mark.parametrize("name", ["n", "count", "size", "T", "_x", "dtype"])
def test_fields_that_records_could_not_have_are_refused(name):
    with pytest.raises(InvalidInput, match=f"a field cannot be named '{name}'"):
        type("Own", (PopulationProtocol,), {"State": type("State", (), {"__annotations__": {name: Bit}})})


# -- what starts, sets, outputs and observables answer ---------------------------------------------------------


def fail(*arguments):
    raise KeyError("nothing")


@pytest.mark.parametrize(
    ("answer", "part"),
    [
        (None, "answers None"),
        (3, "answers 3"),
        ({"x": 1}, "answers {'x': 1}"),
        ([], r"answers \[\]"),
        ([{"x": 1}] * 4, "answers"),
        ([Group(3, {"x": 1})], "describes 3 agents but n = 4"),
        ([Group(5, {"x": 1})], "describes at least 5 agents but n = 4"),
        ([Group(-1, {"x": 1}), Group(5, {"x": 0})], "Group of -1 agents"),
        ([Group(4.0, {"x": 1})], "Group of 4.0 agents"),
        ([Group(4, None)], "with the values None"),
        ([Group(4, {"x": 2})], "x = 2 is out of range"),
        ([Group(4, {"y": 2})], "no field 'y'"),
        ([Group(4, {})], "no value for x"),
        ([Group(4, {"x": 9}, random=True)], "x = 9 is out of range"),
        (np.zeros(4), "array of float64"),
        (np.zeros(3, [("x", np.int8)]), "describes 3 agents"),
        (np.zeros((2, 2), [("x", np.int8)]), "2 dimension"),
        (np.full(4, 7, [("x", np.int8)]), "agent 0 has x = 7, outside 0..1"),
        (np.zeros(4, [("x", np.int64)]), "array of"),
    ],
)
def test_starts_are_checked_before_an_engine_sees_them(answer, part):
    protocol = own(pure, start_odd=lambda self, rng: answer)(n=4)
    with pytest.raises(InvalidInput, match="the start odd.*" + part):
        protocol.initial("odd", np.random.default_rng(0))


def test_a_start_that_fails_says_where():
    protocol = own(pure, start_odd=lambda self, rng: fail())(n=4)
    with pytest.raises(InvalidInput, match=r"the start odd fails \(test_soundness.py, line \d+\): KeyError: 'nothing'"):
        protocol.initial("odd", np.random.default_rng(0))


def test_a_validate_that_answers_is_refused():
    with pytest.raises(InvalidInput, match="validate answers False"):
        own(pure, validate=lambda self: False)(n=4)


@pytest.mark.parametrize(
    ("low", "high", "part"),
    [
        (0, float("nan"), "nan is no bound"),
        (0, float("inf"), "inf is no bound"),
        (0, None, "None is no bound"),
        (0, "9**9**9", "digits"),
        (0, "k", "no parameter 'k'"),
        (0, 2**70, "states per agent"),
        (3, 2, "empty range"),
    ],
)
def test_ranges_that_are_none_are_named(low, high, part):
    state = type("State", (), {"__annotations__": {"x": Range(low, high)}})
    with pytest.raises(InvalidInput, match=part):
        _ = type("Own", (PopulationProtocol,), {"State": state, "interact": pure})(n=4).space.dtype


def test_a_state_that_is_no_class_is_named():
    with pytest.raises(InvalidInput, match="State is 3, which is not a class"):
        type("Own", (PopulationProtocol,), {"State": 3})


def test_a_validate_that_fails_says_where():
    with pytest.raises(InvalidInput, match=r"validate fails \(test_soundness.py, line \d+\): KeyError"):
        own(pure, validate=lambda self: fail())(n=4)


@pytest.mark.parametrize(
    ("members", "part"),
    [
        ({"safe": everywhere(lambda a, p: None)}, "of the set safe .*answers None"),
        ({"safe": exactly(1, lambda a, p: fail())}, "the set safe fails .*KeyError"),
        ({"safe": exactly(1, lambda a, p: {})}, "answers {}"),
        ({"safe": exactly(1, lambda a, p: random.random() < 0.5)}, "the set safe calls random.random"),
        ({"seen": count(lambda a, p: "many")}, "the observable seen .*answers 'many'"),
        ({"output": lambda a, p: None}, "output .*answers None"),
        ({"safe": whole(lambda agents, p: None)}, "the set safe .*answers None"),
        ({"safe": whole(lambda agents, p: agents[99].x)}, "the set safe fails .*IndexError"),
        ({"safe": whole(lambda agents, p: random.random() < 0.5)}, "the set safe calls random.random"),
    ],
)
def test_functions_of_a_state_are_tried(members, part):
    with pytest.raises(InvalidInput, match=part):
        own(pure, **members)(n=4).require_sound()


# -- fields that a state does not have -------------------------------------------------------------------------


def conditional(**members):
    class Own(PopulationProtocol):
        class State:
            kind: Choice("idle", "busy")
            timer: Range(0, 500).when(kind="busy")

        def interact(a, b, p):
            if a.kind == "busy" and a.timer > 0:
                a.timer -= 1
            elif b.kind == "idle":
                b.kind = "busy"
                b.timer = 500

    return type("Own", (Own,), members)(n=4)


@pytest.mark.parametrize(
    "condition",
    [lambda a, p: a.timer >= 1, lambda a, p: a.timer == 77, lambda a, p: a.kind == "idle" or not a.timer < 3],
)
def test_a_condition_that_reads_what_a_state_lacks(condition):
    if "idle" in condition.__code__.co_consts:  # reads it only where it is
        conditional(safe=everywhere(condition)).require_sound()
        return
    with pytest.raises(InvalidInput, match=r"the set safe \(test_soundness.py, line \d+\) reads timer in states"):
        conditional(safe=everywhere(condition)).require_sound()
    with pytest.raises(InvalidInput, match="the observable seen .* reads timer"):
        conditional(seen=count(condition)).require_sound()


def test_a_predicate_of_all_agents_that_reads_what_a_state_lacks():
    with pytest.raises(InvalidInput, match="the set safe .* reads a field in states that do not have it"):
        conditional(safe=whole(lambda agents, p: max([a.timer for a in agents]) < 400)).require_sound()
    conditional(safe=whole(lambda agents, p: sum([a.timer for a in agents if a.kind == "busy"]) < 9)).require_sound()


def test_a_transition_that_reads_what_a_state_lacks():
    def reads(a, b, p):
        if a.timer == 123:
            b.kind = 0

    with pytest.raises(InvalidInput, match="reads a field that the state does not have: timer"):
        conditional(interact=reads).require_sound()


# -- names of a Choice -----------------------------------------------------------------------------------------


def rests(a):
    return a.kind == "idle"


def test_names_of_values_work_in_plain_python():
    protocol = conditional(
        safe=everywhere(lambda a, p: rests(a)),
        seen=count(lambda a, p: a.kind in ("busy", "idle") and "busy" == a.kind),  # noqa: SIM300
    )
    protocol.require_sound()
    assert protocol.transition({"kind": "idle"}, {"kind": "idle"}) == ({"kind": "idle"}, {"kind": "busy", "timer": 500})
    idle, busy = protocol.space.parse({"kind": "idle"}), protocol.space.parse({"kind": "busy", "timer": 1})
    assert protocol.sets["safe"].contains([idle] * 4, protocol.p, protocol.values)
    assert not protocol.sets["safe"].contains([idle] * 3 + [busy], protocol.p, protocol.values)
    assert [protocol.observables["seen"].value(a, protocol.p) for a in (idle, busy)] == [False, True]


@pytest.mark.parametrize(
    ("body", "part"),
    [
        (lambda a, b, p: setattr(a, "kind", 0) if a.kind == "lazy" else None, "kind has no value 'lazy'"),
        (lambda a, b, p: None if b.kind in ("idle", "lazy") else None, "kind has no value 'lazy'"),
    ],
)
def test_names_that_no_value_has_are_refused(body, part):
    with pytest.raises(InvalidInput, match=part + r" \(test_soundness.py, line \d+\)"):
        conditional(interact=body)


def test_a_name_with_two_meanings_is_told_by_its_field_or_refused():
    class Own(PopulationProtocol):
        class State:
            first: Choice("A", "B")
            second: Choice("B", "C")

        def interact(a, b, p):
            if a.first == "A":
                b.second = "C"

    Own(n=3).require_sound()
    with pytest.raises(InvalidInput, match="'B' is the name of several values"):
        type("Unclear", (Own,), {"interact": lambda a, b, p: setattr(a, "first", "B")})(n=3)
    with pytest.raises(InvalidInput, match="first has no value 'C'"):
        type("Wrong", (Own,), {"interact": lambda a, b, p: None if a.first == "C" else None})(n=3)


def test_names_of_values_work_in_machine_code():
    class Numbers(PopulationProtocol):
        class State:
            kind: Choice("idle", "busy")
            timer: Range(0, 500).when(kind="busy")

        def interact(a, b, p):
            if a.kind == 1 and a.timer > 0:
                a.timer -= 1
            elif b.kind == 0:
                b.kind = 1
                b.timer = 500

    runs = [
        simulate(protocol, start="random", until="steps:200", engine="agents", seed=3)
        for protocol in (conditional(), Numbers(n=4))
    ]
    assert runs[0].configuration.mappings() == runs[1].configuration.mappings()


def counts_beyond(me, neighbours, p):
    return neighbours[7].leader


def says_nothing(me, neighbours, p):
    pass


@pytest.mark.parametrize(
    ("function", "part"),
    [(counts_beyond, "IndexError"), (says_nothing, "answers None"), (lambda a, b, p: a.leader, "")],
)
def test_observables_of_neighbours_are_tried_before_a_run(function, part):
    class Watched(RoundsProtocol):
        class State:
            leader: Bit = 1

        seen = mean(function)

        def update(me, neighbours, coins, p):
            pass

    if not part:
        Watched(n=4).require_sound()
        return
    with pytest.raises(InvalidInput, match=f"the observable seen.*{part}"):
        Watched(n=4).require_sound()
