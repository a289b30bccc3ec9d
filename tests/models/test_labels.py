"""Names of the values of a Choice, in plain Python and in machine code."""

import pytest

from hegemon.errors import InvalidInput
from hegemon.models import (
    Bit,
    Choice,
    Parameter,
    PopulationProtocol,
    Range,
    RoundsProtocol,
    count,
    everywhere,
    exactly,
    nowhere,
)
from hegemon.protocols import StableRanking, stable_ranking
from hegemon.runs.simulate import simulate
from tests.models.population_protocols import conditional


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
    with pytest.raises(InvalidInput, match=part + r" \(test_labels.py, line \d+\)"):
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


class Yielding(PopulationProtocol):
    """Of two leaders one yields; a word says which."""

    who = Parameter("responder", choices=("responder", "initiator"))

    class State:
        leader: Bit = 1

    def interact(a, b, p):
        if a.leader == 1 and b.leader == 1:
            if p.who == "initiator":
                a.leader = 0
            else:
                b.leader = 0

    def label(a, p):
        return "first" if p.who == "initiator" else "second"

    safe = exactly(1, lambda a, p: a.leader == 1)


class Fading(RoundsProtocol):
    """Every node follows; a word says when."""

    when = Parameter("now", choices=("never", "now"))

    class State:
        leader: Bit = 1

    def update(me, neighbours, coins, p):
        if p.when in ("now", "never") and p.when != "never":
            me.leader = 0

    safe = nowhere(lambda a, p: a.leader == 1)


@pytest.mark.parametrize("engine", ["agents", "events", "batch"])
@pytest.mark.parametrize("who", ["responder", "initiator"])
def test_engines_read_a_parameter_that_is_a_word(engine, who):
    """Two agents, one step: agent by agent the right one yields, and every engine ends with one leader."""
    protocol = Yielding(n=2, who=who)
    after = protocol.transition({"leader": 1}, {"leader": 1})
    assert [state["leader"] for state in after] == ([0, 1] if who == "initiator" else [1, 0])
    run = simulate(protocol, engine=engine, seed=1)
    assert run.steps == 1 and run.leaders == 1
    assert protocol.label(None, protocol.p) == ("first" if who == "initiator" else "second")


def test_rounds_read_a_parameter_that_is_a_word():
    assert simulate(Fading(n=4), seed=1).steps == 1
    assert not simulate(Fading(n=4, when="never"), seed=1, max_steps=5).reached


def test_a_helper_with_names_that_a_module_hides_is_refused():
    """Called as `module.helper`, it would compare its names with integers, and every comparison would be false."""

    class Hidden(StableRanking):
        id = "hidden"

        def interact(u, v, p):
            stable_ranking.trigger(u, p)

    with pytest.raises(InvalidInput, match="stable_ranking.trigger has names.*write from .* import trigger"):
        Hidden(n=3)
    assert StableRanking(n=3).transition({"kind": "RANKED", "rank": 1}, {"kind": "RANKED", "rank": 1})[0]["reset"] == 8


def test_words_that_cannot_be_told_from_numbers_are_refused():
    class Misspelt(Yielding):
        def interact(a, b, p):
            if p.who == "intiator":
                a.leader = 0

    with pytest.raises(InvalidInput, match="who has no value 'intiator'.*responder, initiator"):
        Misspelt(n=3)
    with pytest.raises(InvalidInput, match="takes words and numbers"):

        class Both(Yielding):
            who = Parameter("auto", low=1, choices=("auto",))
