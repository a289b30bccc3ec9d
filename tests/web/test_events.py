"""Rates and faults on the page: the watched run is the run that `hegemon run` makes, forwards and backwards."""

import json
from dataclasses import replace
from multiprocessing import Pipe
from types import SimpleNamespace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import hegemon as hg
from hegemon.compute.randomness import generator
from hegemon.errors import InvalidInput
from hegemon.runs.disturbances import fault_text, parse_fault
from hegemon.runs.rates import EventProcess
from hegemon.runs.record import RunRecord
from hegemon.web.film import shoot
from hegemon.web.frames import frame, greeting
from hegemon.web.repeating import command_of
from hegemon.web.session import Session
from hegemon.web.setup import changed, shown
from hegemon.web.simulation import Simulation
from tests.web.same_run import again, codes, finish, repeated

CORRUPT, CHURN = ("corrupt=1/20",), ("join=1/15,leader=1", "leave=1/15")
SETTINGS = [(hg.Timer(n=9, s=20), CORRUPT, "agents"), (hg.Pairwise(n=8), CHURN, "agents")]
SETTINGS += [(hg.Pairwise(n=8), CHURN, "batch"), (hg.Pairwise(n=8), ("corrupt=1/9",), "batch")]


def seen(session) -> tuple:
    """How many agents are in which state, and the events so far."""
    codes, counts = session.world.engine.occupancy()
    return dict(zip(codes.tolist(), counts.tolist(), strict=True)), session.readings().get("events", {})


def made(session) -> tuple:
    asked = session.record
    until = f"steps:{session.step}"
    options = {"seed": asked.seed, "engine": asked.engine, "rates": asked.rates, "faults": asked.faults}
    run = hg.simulate(asked.protocol, **options, until=until)
    codes, counts = run.configuration.multiset
    return dict(zip(codes.tolist(), counts.tolist(), strict=True)), run.measures


def parted(protocol, rates, engine, seed, targets, faults=()) -> bool:
    """Whether the page was ever elsewhere than the run."""
    session = Session(protocol, rates=rates, faults=faults, engine=engine, seed=seed)
    for target in targets:
        session.go_to(target)
        states, measures = made(session)
        if seen(session) != (states, {name: measures[name] for name in session.readings().get("events", {})}):
            return True
    return False


@pytest.mark.parametrize(("protocol", "rates", "engine"), SETTINGS)
@given(seed=st.integers(0, 1000), targets=st.lists(st.integers(0, 120), min_size=1, max_size=4))
@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_it_is_the_same_run(protocol, rates, engine, seed, targets):
    assert not parted(protocol, rates, engine, seed, targets)


def test_events_that_do_not_go_back_are_noticed(monkeypatch):
    monkeypatch.setattr(EventProcess, "place", property(lambda self: (0, 0), lambda self, place: None))
    assert any(parted(*SETTINGS[0], seed, (100, 20, 60)) for seed in range(4))


BURSTS = tuple(map(parse_fault, ("step=0,leave=5", "step=30,join=3,leader=1", "step=30,agents=2", "step=90,leave=1")))


@pytest.mark.parametrize("engine", ["agents", "batch"])
@pytest.mark.parametrize("protocol", [hg.Timer(n=9, s=20), hg.Pairwise(n=9)], ids=lambda one: one.id)
@given(seed=st.integers(0, 1000), targets=st.lists(st.sampled_from(range(121)), min_size=1, max_size=5))
@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_bursts_are_those_of_the_run(protocol, engine, seed, targets):
    assert not parted(protocol, (), engine, seed, targets, BURSTS)


def late(record, world, schedule):
    return tuple(replace(fault, step=fault.step + 1) for fault in record.faults)


def test_bursts_that_come_late_or_keep_their_coins_are_noticed(monkeypatch):
    def is_noticed() -> bool:
        return any(parted(hg.Timer(n=9, s=20), (), "agents", seed, (100, 20, 30), BURSTS) for seed in range(4))

    assert not is_noticed()
    with monkeypatch.context() as twin:
        twin.setattr("hegemon.web.session.given_faults", late)
        assert is_noticed()
    with monkeypatch.context() as twin:  # back in time, but not the generator of the faults
        twin.setattr("hegemon.web.session.generator", lambda *key: Stubborn(generator(*key)))
        assert is_noticed()


class Stubborn:
    """A generator that goes on where it is, whatever state it is given."""

    def __init__(self, rng):
        self._rng, self.bit_generator = rng, SimpleNamespace(state=None)

    def __getattr__(self, name):
        return getattr(self._rng, name)


def test_a_burst_on_the_page_and_in_its_command(tmp_path):
    session = Session(hg.Pairwise(n=9), faults=BURSTS, seed=3)
    assert session.readings()["agents"] == 4 and not greeting(session)["canChoose"]
    session.go_to(60)
    assert len(frame(session, **session.readings())[1]) == 7
    words = [word for one in BURSTS for word in ("--fault", fault_text(one))]
    assert " ".join(words) in command_of(session) and codes(session) == repeated(session)
    with pytest.raises(InvalidInput, match="no agent 8 now"):
        session.world.state(8)
    session.corrupt(2)  # by hand; the burst that is to come stays
    session.go_to(100)
    assert "--fault" not in command_of(session) and session.disturbed == 5 and session.readings()["agents"] == 6
    assert codes(session) == repeated(session) and again(session, tmp_path)["agents"] == 6


def test_a_film_goes_on_to_the_last_burst_and_ends_as_the_run():
    asked = {"faults": BURSTS, "seed": 3}
    film = shoot(Session(hg.Pairwise(n=9), **asked), max_steps=5000)
    assert film["end"] == hg.simulate(hg.Pairwise(n=9), **asked, until="safe", engine="agents").steps >= 90
    agents = {head["step"]: head["agents"] for head in film["heads"]}
    assert [len(picture) for picture in film["pictures"]] == [head["agents"] for head in film["heads"]]
    assert [agents[step] for step in (0, 29, 30, 90)] == [4, 4, 7, 6]


def test_the_sets_of_all_n_agents_are_read_while_there_are_n():
    whole = [hg.Fault(5, 2, kind="leave"), hg.Fault(9, 2, kind="join")]
    session = Session(hg.Timer(n=9, s=20), faults=whole)
    for step, is_read in ((4, True), (5, False), (9, True), (7, False)):
        session.go_to(step)
        assert (session.readings()["lamps"]["safe"] is not None) == is_read


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"rates": ("leave=1/9",)}, "cannot be combined with faults"),
        ({"engine": "events"}, "engine agents or batch"),
        ({"graph": "ring:9"}, "complete graphs only"),
        ({"scheduler": "matching"}, "for 9 agents"),
        ({"faults": [hg.Fault(3, 1, kind="join")]}, "at most 9"),
        ({"faults": [hg.Fault(3, 1, {"colour": 1})]}, "colour"),
    ],
)
def test_faults_that_cannot_be_watched_are_refused_at_once(options, sentence):
    with pytest.raises(InvalidInput, match=sentence):
        Session(hg.Pairwise(n=9), **{"faults": BURSTS, **options})


def test_an_event_is_told_and_a_change_of_output_by_one_is_found():
    session = Session(hg.Pairwise(n=6), rates=("corrupt=1/4,leader=1",), seed=2)
    session.go_to(60)  # one leader, and events that make others
    assert session.go_to_change() and "leader" in session.last["text"] and session.last["changed"]
    first = session.step
    session.go_to(60)
    counts = [seen(session)[0].get(1, 0)]
    while session.step < first:
        session.go_to(session.step + 1)
        counts.append(seen(session)[0].get(1, 0))
    assert len(set(counts[:-1])) == 1 and counts[-1] != counts[-2]  # the first change, to the very step


def test_with_rates_nothing_is_disturbed_chosen_or_said_to_heal():
    session = Session(hg.Timer(n=9, s=20), rates=CORRUPT, seed=1)
    greeted = greeting(session)
    assert not greeted["canDisturb"] and not greeted["canChoose"] and greeted["hasEvents"]
    for forbidden in (lambda: session.corrupt(1), lambda: session.set_rate(1, 1), session.kill_leader):
        with pytest.raises(InvalidInput, match="rates or disturbances, not both"):
            forbidden()
    session.go_to(200)
    readings = session.readings()
    assert readings["healing"] == {} and readings["events"]["events"] > 0
    assert "--rate corrupt=1/20" in command_of(session)
    assert len(frame(session, **readings)[1]) == 9


def test_where_agents_come_and_go_no_lamp_speaks_of_all_n():
    churned = Session(hg.Countdown(n=8), rates=("leave=1/5",), seed=1)
    churned.go_to(40)
    assert len(churned.world.picture()) < 8
    assert churned.readings()["lamps"] == dict.fromkeys(churned.protocol.sets, None)
    assert set(Session(hg.Countdown(n=8), rates=("corrupt=1/5",)).readings()["lamps"].values()) <= {True, False}


def test_what_cannot_be_watched_is_refused_in_a_sentence():
    with pytest.raises(InvalidInput, match="complete graphs only"):
        Session(hg.Pairwise(n=6), graph="ring:6", rates=("leave=1/9",))
    with pytest.raises(InvalidInput, match="engine agents or batch"):
        Session(hg.Ring(n=6), engine="events", rates=("corrupt=1/9",))


def test_the_page_gives_rates_as_values():
    record = RunRecord(hg.Timer(n=9, s=20), seed=1)
    given = shown(record)
    new = changed(record, given | {"rates": "corrupt=1/50; corrupt=1/100,leader=0"})
    assert shown(new)["rates"] == "corrupt=1/50; corrupt=1/100,leader=0"
    assert changed(new, shown(new) | {"rates": ""}).rates == ()
    burst = changed(record, given | {"faults": "step=5,leave=2; step=9,join=1,leader=0"})
    assert [one.kind for one in burst.faults] == ["leave", "join"] and changed(
        burst, shown(burst)
    ).faults == burst.faults
    with pytest.raises(InvalidInput, match="must say step=K"):
        changed(record, given | {"faults": "leave=2"})
    for wrong in ("corrupt=2", "corrupt", "open('x')", "leave=1/9,leader=1", "corrupt=1/2; join=1/2"):
        with pytest.raises(InvalidInput):
            changed(record, given | {"rates": wrong})


def test_a_simulation_starts_over_with_rates():
    here, there = Pipe()
    simulation = Simulation(there, Session(hg.Timer(n=9, s=20), seed=1))
    here.recv()
    values = shown(simulation.session.record) | {"rates": "corrupt=1/5"}
    simulation._take(1, json.dumps({"do": "start", "values": values}))
    simulation._take(2, json.dumps({"do": "step", "count": 50}))
    finish(simulation)
    assert simulation.session.step == 50 and simulation.session.readings()["events"]["events"] > 0
