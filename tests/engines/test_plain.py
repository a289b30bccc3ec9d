"""Engine `plain` makes the steps of the compiled engines, coin by coin, and runs what they cannot."""

from contextlib import suppress

import numpy as np
import pytest

import hegemon as hg
from hegemon.cli.main import main
from hegemon.engines.rounds import plain as plain_rounds
from hegemon.errors import InvalidInput
from hegemon.models import Bit, Parameter, PopulationProtocol, Range, RoundsProtocol, exactly
from hegemon.protocols import CATALOGUE

POPULATIONS = [name for name in CATALOGUE if CATALOGUE[name].model.name == "population"]
ROUNDS = [name for name in CATALOGUE if CATALOGUE[name].model.name == "rounds" and not CATALOGUE[name].daemon]


def final(protocol, engine, **given):
    run = hg.simulate(protocol, engine=engine, **given)
    return run.steps, run.reached, run.engine, protocol.space.encode_array(run.configuration.agents)


def instance(name):
    """The largest of a few sizes that the protocol allows."""
    for n in (9, 7, 5):
        with suppress(InvalidInput):
            return CATALOGUE[name](n=n)
    raise AssertionError(name)


def same(name, seed, **given):
    protocol = instance(name)
    compiled = "agents" if protocol.model.has_interactions else "rounds"
    steps = "until" not in given
    until = given.pop("until", f"{protocol.time_unit}:{given.pop('steps', 60)}")
    given |= {"seed": seed, "until": until, "max_steps": 400}
    every = {"fast_forward": False} if protocol.model.has_rounds else {}  # a jump draws other coins, by the same law
    runs = [final(protocol, compiled, **given, **every), final(protocol, "plain", **given)]
    assert runs[0][:2] == runs[1][:2], (name, runs)
    assert np.array_equal(runs[0][3], runs[1][3]), name
    assert runs[1][2] == "plain" and (not steps or runs[0][0] > 0)


@pytest.mark.parametrize("name", ["pairwise", "time-optimal"])
def test_populations_make_the_same_steps(name):
    for seed in range(3):
        same(name, seed)
        same(name, seed, until="count(leader == 1) == 1")


@pytest.mark.parametrize("name", ["bfw", "odd-ring"])
def test_rounds_are_the_same(name):
    for seed in range(2):
        same(name, seed)


@pytest.mark.full
@pytest.mark.parametrize("name", POPULATIONS + ROUNDS)
def test_the_catalogue_makes_the_same_steps(name):
    for seed in range(3):
        same(name, seed)


def test_a_restored_snapshot_goes_on_alike():
    protocol = hg.Pairwise(n=12)
    course = hg.simulate(protocol, engine="plain", seed=1, until="steps:30", faults=[hg.Fault(11, 3)])
    again = hg.simulate(protocol, engine="agents", seed=1, until="steps:30", faults=[hg.Fault(11, 3)])
    assert np.array_equal(course.configuration.agents, again.configuration.agents)


class Unreadable(PopulationProtocol):
    """What the compiler does not know: a dictionary, a set and sorted()."""

    class State:
        x: Range(0, 5)

    def interact(a, b, p):
        table = {0: 1, 1: 2}
        a.x, b.x = sorted((table.get(a.x, 0), b.x))[:2]

    zero = exactly(0, lambda a, p: a.x in {4, 5})


def test_what_cannot_be_compiled_runs():
    run = hg.simulate(Unreadable(n=6), engine="plain", seed=2, until="zero", max_steps=500)
    assert run.reached


class Divides(PopulationProtocol):
    k = Parameter(0, low=0)

    class State:
        x: Range(0, 5) = 3

    def interact(a, b, p):
        a.x = b.x // p.k


class Leaves(PopulationProtocol):
    class State:
        x: Range(0, 5) = 0

    def interact(a, b, p):
        a.x += 1


@pytest.mark.parametrize(
    "kind, sentence", [(Divides, "ZeroDivisionError"), (Leaves, "outside 0..5")], ids=["divides", "leaves"]
)
def test_failures_are_sentences(kind, sentence):
    kind.check_sound = lambda self: None  # as where a trial of random states misses it
    with pytest.raises(InvalidInput, match=sentence):
        hg.simulate(kind(n=6), engine="plain", start="initial", until="steps:500")


def test_refusals(capsys):
    assert (
        main(["run", "bfw", "--n", "6", "--graph", "ring", "--engine", "plain", "--scheduler", "central:uniform"]) == 2
    )
    assert "engine plain moves all nodes at once" in capsys.readouterr().err
    assert main(["run", "pairwise", "--n", "1e9", "--engine", "plain"]) == 2
    assert "engine plain moves at most" in capsys.readouterr().err


class Copies(RoundsProtocol):
    random_bits = 1

    class State:
        x: Bit

    def update(me, neighbours, coins, p):
        me.x = coins


def test_the_twin_is_caught(monkeypatch):
    def outcome(engine):
        return hg.simulate(
            Copies(n=8), engine=engine, graph="ring:8", seed=5, until="rounds:9"
        ).configuration.agents.tolist()

    assert outcome("plain") == outcome("rounds")
    kind = plain_rounds.PlainRounds
    moved = kind._after  # the twin gives every node other coins
    monkeypatch.setattr(kind, "_after", lambda own, states, v, coins: moved(own, states, v, 1 - coins))
    assert outcome("plain") != outcome("rounds")
