"""Stops that are not closed: whole predicates are looked at where something they read has changed, and bounds of counts
joined by `or` and `not` are counted along. Both end a run at the very step at which looking after every step does."""

import math
import random
import types

import numpy as np
import pytest

import hegemon as hg
from hegemon.compute.fingerprints import names_read
from hegemon.engines import watching
from hegemon.engines.engine import Engine
from hegemon.engines.population.adaptive import Adaptive
from hegemon.engines.population.adaptive_complete import AdaptiveComplete
from hegemon.engines.population.agents import Agents
from hegemon.engines.population.events import Events
from hegemon.errors import InvalidInput
from hegemon.models import Array, Bit, PopulationProtocol, Range, whole
from hegemon.models.counting import counting_predicate
from hegemon.models.expressions import parse
from hegemon.models.sets import ConfigurationSet
from hegemon.models.soundness import LARGEST_TRIED
from hegemon.process import stopping


def heights_alternate(agents, p):
    for i in range(1, len(agents)):
        if (agents[i].height > agents[i - 1].height) == (i % 2 == 0):
            return False
    return True


def evenly_lit(agents, p):
    total = 0
    for a in agents:
        total += a.lamp
    return total % 3 == p.n % 3


def marks_agree(agents, p):
    return agents[0].marks[1] + agents[1].marks[1] == agents[-1].marks[0] + 3


def fails_on_the_ground(agents, p):
    return 1 // agents[0].height > 1


class Climbing(PopulationProtocol):
    """Heights change at nearly every step, lamps rarely, ticks always."""

    class State:
        height: Range(0, 5)
        lamp: Bit
        tick: Range(0, 3)
        marks: Array(2, Range(0, 3))

    def interact(a, b, p):
        a.tick = (a.tick + 1) % 4
        b.marks[a.lamp] = (b.marks[a.lamp] + 1) % 4
        if a.tick == 0:
            a.lamp, b.lamp = b.lamp, 1 - a.lamp
        if a.height <= b.height:
            a.height = (a.height + 1) % 6
        else:
            b.height = (b.height + b.lamp) % 6

    alternating = whole(heights_alternate).described("heights go up and down")
    lit = whole(evenly_lit).described("some number of lamps")
    agreeing = whole(marks_agree).described("some marks agree")


class Falling(Climbing):
    low = whole(fails_on_the_ground).described("fails on the ground")


CASES = [("agents", "complete"), ("auto", "ring:7")]  # every kernel is compiled for every stop
STOPS = ("alternating and not lit", "lit and count(lamp == 1) == 2")


def first_steps(engine: str, graph: str) -> list[int]:
    return [
        hg.simulate(
            Climbing(n=7), seed=seed, start="random", until=stop, engine=engine, graph=graph, max_steps=3000
        ).steps
        for stop in STOPS
        for seed in range(6)
    ]


def look_after_every_step(monkeypatch) -> None:
    for kind in (Adaptive, AdaptiveComplete, Agents, Events):
        monkeypatch.setattr(kind, "watches", Engine.watches)


@pytest.mark.parametrize(("engine", "graph"), CASES)
def test_a_run_ends_where_looking_after_every_step_ends_it(engine, graph, monkeypatch):
    found = first_steps(engine, graph)
    assert len(set(found)) > 5
    look_after_every_step(monkeypatch)
    assert first_steps(engine, graph) == found


@pytest.mark.parametrize(("engine", "graph"), CASES)
def test_a_field_that_is_not_watched_is_noticed(engine, graph, monkeypatch):
    found = first_steps(engine, graph)
    monkeypatch.setattr(watching, "names_read", lambda functions: names_read(functions) - {"height"})
    assert first_steps(engine, graph) != found


def test_a_predicate_that_fails_says_so_wherever_it_is_looked_at(monkeypatch):
    def refused() -> str:
        with pytest.raises(Exception) as caught:
            protocol = Falling(n=LARGEST_TRIED + 1)  # so many that it is not tried before
            hg.simulate(protocol, seed=2, until="low", start="random", graph="complete", max_steps=10**6)
        return str(caught.value)

    inside = refused()
    look_after_every_step(monkeypatch)
    assert inside == refused() and "division" in inside


HEIGHT = "height"
named = {"agents": 0}


def test_what_a_predicate_reads():
    assert names_read([heights_alternate]) >= {"height"} and not names_read([heights_alternate]) & {"lamp", "tick"}
    assert "lamp" in names_read([lambda agents, p: evenly_lit(agents, p)])
    assert "height" in names_read([lambda agents, p: agents[HEIGHT].sum() > 3])
    for hidden in (
        lambda agents, p: agents.view(np.int8)[0] > 0,
        lambda agents, p: named["agents"] == 0,  # what else is in there is not known
        types.FunctionType((lambda agents, p, x: x).__code__, {}, argdefs=("height",)),
    ):
        assert names_read([hidden]) is None


# -- rows of bounds --------------------------------------------------------------------------------------------

ATOMS = ("all(height > 1)", "none(lamp == 1)", "count(lamp == 1) == 2", "count(height == 0) != 1",
         "1 < count(tick == 0) <= 3", "count(lamp == 1) > n / 2", "count(height < 3) >= 4")  # fmt: skip


def formula(rng: random.Random, depth: int) -> str:
    if depth == 0 or rng.random() < 0.2:
        return rng.choice(ATOMS)
    kind = rng.choice(("and", "or", "not"))
    if kind == "not":
        return f"not ({formula(rng, depth - 1)})"
    return f"({formula(rng, depth - 1)}) {kind} ({formula(rng, depth - 1)})"


def disagreements() -> int:
    """How often the rows of a text and the text itself, evaluated in plain Python, differ."""
    rng, protocol, wrong, judged = random.Random(4), Climbing(n=6), 0, set()
    for _ in range(150):
        text = formula(rng, 3)
        stop = stopping.parse_stop(text, protocol)
        if stop.whole:
            continue
        whole_text = counting_predicate(parse(text), protocol)
        for _ in range(8):
            states = [protocol.space.namespace(rng.randrange(protocol.space.size)) for _ in range(6)]
            counts = [sum(bool(holds(a, protocol.p)) for a in states) for holds in stop.conditions]
            expected = whole_text(states, protocol.p)
            judged.add((len(stop.low) > 1, bool(expected)))
            wrong += stop.holds(counts) != bool(expected)
    assert len(judged) == 4
    return wrong


def test_rows_of_bounds_mean_what_the_text_means(monkeypatch):
    assert disagreements() == 0
    every = ConfigurationSet.bounds
    monkeypatch.setattr(ConfigurationSet, "bounds", lambda *given: every(*given)[:-1] or every(*given))
    assert disagreements() > 0


@pytest.mark.parametrize("engine", ["agents", "batch"])
def test_or_ends_a_run_at_the_first_of_both(engine):
    one, other = "count(lamp == 1) == 5", "count(height == 2) == 4"

    def ends(stop: str, seed: int) -> int:
        given = {"seed": seed, "engine": engine, "graph": "complete", "start": "random", "max_steps": 10**4}
        run = hg.simulate(Climbing(n=6), until=stop, **given)
        return run.steps if run.reached else 10**9

    for seed in range(8):
        assert ends(f"{one} or {other}", seed) == min(ends(one, seed), ends(other, seed))


def test_texts_with_too_many_rows_are_predicates():
    text = " and ".join(f"(count(height == {k % 6}) == {k} or count(lamp == 1) == {k})" for k in range(7))
    assert stopping.parse_stop(text, Climbing(n=8)).whole
    assert math.prod(stopping.parse_stop("all(lamp == 1) or none(lamp == 1)", Climbing(n=8)).low.shape) == 2


def test_what_is_not_understood_is_refused():
    with pytest.raises(InvalidInput, match="is not understood"):
        stopping.parse_stop("all(lamp == 1) or nowhere", Climbing(n=8))
