"""What an author may write and what is refused, each in one sentence that names the place."""

import random
from dataclasses import dataclass

import numpy as np
import pytest

import hegemon as hg
from hegemon.errors import InvalidInput
from hegemon.models import (
    Bit,
    Group,
    MessageProtocol,
    Parameter,
    PopulationProtocol,
    Range,
    RoundsProtocol,
    count,
    everywhere,
    exactly,
    mean,
    whole,
)  # fmt: skip
from tests.models.population_protocols import conditional, copies, own

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
        (returns, "interact returns .*return nothing"),
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


# -- what starts, sets, outputs and observables answer ---------------------------------------------------------


def fail(*arguments):
    raise KeyError("nothing")


@pytest.mark.parametrize(
    ("answer", "part"),
    [
        (None, "returns None"),
        (3, "returns 3"),
        ({"x": 1}, "returns {'x': 1}"),
        ([], r"returns \[\]"),
        ([{"x": 1}] * 4, "returns"),
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
    protocol = own(copies, start_odd=lambda self, rng: answer)(n=4)
    with pytest.raises(InvalidInput, match="the start odd.*" + part):
        protocol.initial("odd", np.random.default_rng(0))


def test_a_start_that_fails_says_where():
    protocol = own(copies, start_odd=lambda self, rng: fail())(n=4)
    with pytest.raises(InvalidInput, match=r"the start odd fails \(test_soundness.py, line \d+\): KeyError: 'nothing'"):
        protocol.initial("odd", np.random.default_rng(0))


def test_a_validate_that_returns_something_is_refused():
    with pytest.raises(InvalidInput, match="validate returns False"):
        own(copies, validate=lambda self: False)(n=4)


def test_a_validate_that_fails_says_where():
    with pytest.raises(InvalidInput, match=r"validate fails \(test_soundness.py, line \d+\): KeyError"):
        own(copies, validate=lambda self: fail())(n=4)


@pytest.mark.parametrize(
    ("members", "part"),
    [
        ({"safe": everywhere(lambda a, p: None)}, "of the set safe .*returns None"),
        ({"safe": exactly(1, lambda a, p: fail())}, "the set safe fails .*KeyError"),
        ({"safe": exactly(1, lambda a, p: {})}, "returns {}"),
        ({"safe": exactly(1, lambda a, p: random.random() < 0.5)}, "the set safe calls random.random"),
        ({"seen": count(lambda a, p: "many")}, "the observable seen .*returns 'many'"),
        ({"output": lambda a, p: None}, "output .*returns None"),
        ({"safe": whole(lambda agents, p: None)}, "the set safe .*returns None"),
        ({"safe": whole(lambda agents, p: agents[99].x)}, "the set safe fails .*IndexError"),
        ({"safe": whole(lambda agents, p: random.random() < 0.5)}, "the set safe calls random.random"),
    ],
)
def test_functions_of_a_state_are_tried(members, part):
    with pytest.raises(InvalidInput, match=part):
        own(copies, **members)(n=4).require_sound()


# -- fields that a state does not have -------------------------------------------------------------------------


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


def counts_beyond(me, neighbours, p):
    return neighbours[7].leader


def says_nothing(me, neighbours, p):
    pass


@pytest.mark.parametrize(
    ("function", "part"),
    [(counts_beyond, "IndexError"), (says_nothing, "returns None"), (lambda a, b, p: a.leader, "")],
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


class Selfish(PopulationProtocol):
    """Its starts change the protocol that all trials share, each in another way."""

    size = Parameter(2, low=1)

    class State:
        leader: Bit = 1

    def start_number(self, rng):
        self.n = 3
        return [Group(3, {"leader": 1})]

    def start_counter(self, rng):
        self.calls = getattr(self, "calls", 0) + 1
        return [Group(self.n, {"leader": 1})]

    def start_table(self, rng):
        self.values["size"] = 3
        return [Group(self.n, {"leader": 1})]

    def start_hidden(self, rng):
        vars(self)["n"] = 3
        return [Group(3, {"leader": 1})]

    def interact(a, b, p):
        if a.leader == 1 and b.leader == 1:
            b.leader = 0

    safe = exactly(1, lambda a, p: a.leader == 1)


@pytest.mark.parametrize("start", ["number", "counter", "table", "hidden"])
def test_a_start_that_changes_its_protocol_is_refused(start):
    """A run of nine agents once reported three."""
    with pytest.raises(InvalidInput, match="all trials share it"):
        hg.simulate(Selfish(n=9), start=start)


def test_a_node_that_keeps_something_in_the_protocol_is_refused():
    class Talkative(MessageProtocol):
        class Message:
            rank: Range(0, 1)

        def begin(self, node, rng):
            self.heard = node
            return {}

        def round(self, node, inbox, rng):
            return {}

    with pytest.raises(InvalidInput, match="all trials share it"):
        hg.simulate(Talkative(n=2))
    with pytest.raises(InvalidInput, match="may only change itself"):
        hg.verify(Talkative(n=2))


@pytest.mark.parametrize("decorate", [dataclass, dataclass(eq=False)])
def test_a_protocol_is_no_dataclass(decorate):
    @decorate
    class Two(PopulationProtocol):
        class State:
            leader: Bit = 1

        def interact(a, b, p):
            b.leader = 0

    with pytest.raises(InvalidInput, match=r"Two \(test_soundness.py, line \d+\): a protocol is no dataclass"):
        Two(n=5)
