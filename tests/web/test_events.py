"""Rates on the page: the watched run is the run that `hegemon run --rate` makes, forwards and backwards."""

import json
from multiprocessing import Pipe

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import hegemon as hg
from hegemon.errors import InvalidInput
from hegemon.runs.record import RunRecord
from hegemon.web.frames import frame, greeting
from hegemon.web.repeating import command_of
from hegemon.web.session import Session
from hegemon.web.setup import changed, shown
from hegemon.web.simulation import Simulation
from hegemon.web.watched_events import WatchedEvents

CORRUPT, CHURN = ("corrupt=1/20",), ("join=1/15,leader=1", "leave=1/15")
SETTINGS = [(hg.Timer(n=9, s=20), CORRUPT, "agents"), (hg.Pairwise(n=8), CHURN, "agents")]
SETTINGS += [(hg.Pairwise(n=8), CHURN, "batch"), (hg.Pairwise(n=8), ("corrupt=1/9",), "batch")]


def seen(session) -> tuple:
    """How many agents are in which state, and the events so far."""
    codes, counts = session.world.engine.occupancy()
    return dict(zip(codes.tolist(), counts.tolist(), strict=True)), session.events.measures()


def made(session) -> tuple:
    asked = session.record
    until = f"steps:{session.step}"
    run = hg.simulate(asked.protocol, seed=asked.seed, engine=asked.engine, rates=asked.rates, until=until)
    codes, counts = run.configuration.multiset
    return dict(zip(codes.tolist(), counts.tolist(), strict=True)), run.measures


def parted(protocol, rates, engine, seed, targets) -> bool:
    """Whether the page was ever elsewhere than the run."""
    session = Session(protocol, rates=rates, engine=engine, seed=seed)
    for target in targets:
        session.go_to(target)
        states, measures = made(session)
        if seen(session) != (states, {name: measures[name] for name in session.events.measures()}):
            return True
    return False


@pytest.mark.parametrize(("protocol", "rates", "engine"), SETTINGS)
@given(seed=st.integers(0, 1000), targets=st.lists(st.integers(0, 120), min_size=1, max_size=4))
@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_it_is_the_same_run(protocol, rates, engine, seed, targets):
    assert not parted(protocol, rates, engine, seed, targets)


def test_events_that_do_not_go_back_are_noticed(monkeypatch):
    monkeypatch.setattr(WatchedEvents, "restore", lambda self, state: None)
    assert any(parted(*SETTINGS[0], seed, (100, 20, 60)) for seed in range(4))


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
    while simulation._jump is not None:  # on a busy machine one slice of time may not be enough
        simulation._jump_on()
    assert simulation.session.step == 50 and simulation.session.events.measures()["events"] > 0
