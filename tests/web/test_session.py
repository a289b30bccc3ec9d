"""A watched run is the run that `hegemon run` makes, forwards, backwards and disturbed."""

import json
import math
import time
from multiprocessing import Pipe

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import hegemon as hg
from hegemon.errors import InvalidInput
from hegemon.runs.disturbances import read_disturbances
from hegemon.runs.record import RunRecord
from hegemon.runs.setting import topology_for
from hegemon.runs.stories import Interaction, Round, Trace
from hegemon.web import session as session_module
from hegemon.web.session import Session
from hegemon.web.simulation import Simulation
from hegemon.web.worlds import AgentWorld

from .same_run import again, codes, repeated


@pytest.fixture(autouse=True, scope="module")
def impatient():
    """A search for a change that never comes is given up soon."""
    kept, session_module.PATIENCE = session_module.PATIENCE, 0.2
    yield
    session_module.PATIENCE = kept


@pytest.mark.parametrize("scheduler", ["uniform", "round-robin"])
def test_the_first_step_inside_is_exact_or_not_told(scheduler):
    """A scheduler that remembers goes on from its memory, which a configuration alone does not have."""
    timer = hg.Timer(n=6, s=30)
    world = AgentWorld(timer, topology_for(timer, None), RunRecord(timer, seed=3, engine="agents", scheduler=scheduler))
    trajectory = world.begin()
    trajectory.run(1)
    outside = world.snapshot()
    trajectory.run(500)
    first = hg.simulate(timer, seed=3, engine="agents", scheduler=scheduler, max_steps=500).steps
    assert world.entry(outside, "safe", world.step) == (first if scheduler == "uniform" else None)


@pytest.fixture(scope="module")
def protocol():
    return hg.FischerJiang(n=12)


def test_a_watched_run_is_the_same_run(protocol):
    session = Session(protocol, seed=5)
    for step in (1, 2, 77, 400):
        session.advance(step, tell=step % 2 == 0)
        assert codes(session) == repeated(session)


def test_another_seed_is_another_run(protocol):
    """The negative control of the test above."""
    session = Session(protocol, seed=5)
    session.advance(400)
    assert codes(session) != repeated(session, seed=6)


@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    moves=st.lists(
        st.tuples(
            st.sampled_from(["go", "set", "corrupt", "kill", "change", "rate", "slice", "tell"]), st.integers(0, 300)
        ),
        min_size=1,
        max_size=8,
    ),
    seed=st.integers(0, 3),
)
def test_whatever_is_done_run_repeats_it_exactly(protocol, moves, seed):
    session = Session(protocol, seed=seed)
    for move, number in moves:
        if move == "go":
            session.go_to(number)
        elif move == "set":
            session.set_field(number % 12, "bullet", number % 2)
        elif move == "corrupt":
            session.corrupt(1 + number % 12)
        elif move == "rate":
            session.set_rate(number % 4, 1 + number % 12)
        elif move == "slice":
            session.advance(session.step + number, time.monotonic())
        elif move == "tell":
            session.advance(session.step + number, tell=True)
        elif move == "kill":
            try:
                session.kill_leader()
            except InvalidInput as error:
                assert "no leader" in str(error)
        else:
            session.go_to_change()
    assert codes(session) == repeated(session)


def test_the_command_and_the_file_repeat_it(protocol, tmp_path, monkeypatch):
    session = Session(protocol, seed=2)
    session.advance(50)
    session.corrupt(4)
    session.advance(80)
    session.set_field(3, "leader", 1)
    session.advance(120)
    assert again(session, tmp_path)["leaders"] == session.readings()["values"]["leaders"]
    assert read_disturbances(tmp_path / "disturbances.json") == tuple(session.faults)


def test_back_and_forth_is_the_same(protocol):
    session = Session(protocol, seed=1)
    session.advance(30)
    session.corrupt(5)
    seen = {}
    for step in range(30, 90):
        session.go_to(step)
        seen[step] = codes(session)
    for step in (89, 31, 60, 30, 88):
        session.go_to(step)
        assert codes(session) == seen[step]
    assert len(set(seen.values())) > 3


def test_disturbing_the_past_begins_a_new_future(protocol):
    session = Session(protocol, seed=1)
    session.advance(30)
    session.corrupt(5)
    session.advance(60)
    session.go_to(10)
    session.corrupt(2)
    assert [fault.step for fault in session.faults] == [10]
    session.go_to(60)
    assert codes(session) == repeated(session)


def test_the_recovery_time_is_that_of_run():
    session = Session(hg.Timer(n=10, s=20), start="safe", seed=4)
    session.advance(100)
    session.readings()
    session.corrupt(6)
    for step in range(150, 100_000, 997):
        session.advance(step)
        if "steps" in session.readings()["healing"]:
            break
    healing = session.readings()["healing"]
    run = hg.simulate(
        session.protocol, start="safe", seed=4, engine="agents", faults=(hg.Fault(100, 6),), max_steps=100_000
    )
    assert healing["exact"] and healing["steps"] == run.measures["recovery_steps"] > 0


def test_the_next_change_of_leader_is_the_very_step(protocol):
    session = Session(protocol, seed=3)
    session.readings()
    assert session.go_to_change()
    found = session.step
    first = Session(protocol, seed=3)
    before = [state & 1 for state in outputs(first)]
    for step in range(1, found + 1):
        first.advance(step)
        assert (outputs(first) != before) == (step == found)
    assert session.last["changed"]


def outputs(session):
    return [int(agent["leader"]) for agent in session.world.engine.configuration().agents]


def test_a_told_step_tells_the_lines_that_python_runs(protocol):
    session = Session(protocol, seed=3)
    session.go_to_change()
    told = session.last
    blocks = {name: (first, lines) for name, first, lines in session.world.listing.blocks}
    text = [blocks[name][1][line - blocks[name][0]] for name, line in told["lines"]]
    assert any("leader" in line for line in text) and len(set(told["pair"])) == 2
    assert "leader" in told["text"]


def test_rounds_and_their_coins():
    session = Session(hg.CATALOGUE["bfw"](n=9), seed=2)
    for step in range(1, 12):
        session.advance(step, tell=True)
        told = session.last
        assert codes(session) == repeated(session)
        state = session.world.state(told["node"])
        for part in told["text"].partition(f"node {told['node']}: ")[2].split(", "):
            name, _, change = part.partition(" ")
            if "→" in change and not name.startswith("unchanged"):
                assert str(state[name]) == change.partition("→")[2]
    session.go_to(4)
    assert codes(session) == repeated(session)
    session.corrupt(3)
    session.advance(9)
    assert codes(session) == repeated(session)


def test_messages_are_those_of_engine_nodes():
    session = Session(hg.Referees(n=60), seed=3)
    session.advance(10)
    run = hg.simulate(hg.Referees(n=60), seed=3, engine="nodes")
    values, lamps = session.world.readings()
    assert values["messages"] == run.measures["messages"] > 0 and lamps["finished"]
    session.go_to(1)
    run = hg.simulate(hg.Referees(n=60), seed=3, engine="nodes", max_steps=1)
    assert (
        session.world.readings()[0]["messages"] == run.measures["messages"] == len(session.world.engine.last_messages)
    )
    with pytest.raises(InvalidInput, match="not disturbed"):
        session.corrupt(1)


@pytest.mark.parametrize(("protocol", "engine"), [(hg.FischerJiang(n=12), "agents"), (hg.Pairwise(n=12), "batch")])
def test_preparing_changes_nothing(protocol, engine):
    prepared, plain = (Session(protocol, seed=3, engine=engine) for _ in range(2))
    prepared.world.prepare()
    assert prepared.step == 0
    for session in (prepared, plain):
        session.go_to(40)
    assert prepared.world.readings() == plain.world.readings()
    assert np.array_equal(prepared.world.bands(), plain.world.bands())


def test_a_story_is_followed_step_by_step(tmp_path):
    pairwise = hg.Pairwise(n=3)
    one, nobody = {"leader": 1}, {"leader": 0}
    steps = Interaction(2, 0, (one, one), (one, nobody)), Interaction(1, 2, (one, one), (one, nobody))
    Trace("pairwise", [one] * 3, steps).save(tmp_path / "story.json")
    session = Session(pairwise, start=str(tmp_path / "story.json"))
    session.advance(1)
    assert session.last["pair"] == (2, 0) and outputs(session) == [0, 1, 1]
    session.advance(2)
    assert "responder 2: leader 1→0" in session.last["text"] and outputs(session) == [0, 1, 0]
    session.go_to(1)
    assert outputs(session) == [0, 1, 1]
    here, _there = Pipe()
    simulation = Simulation(here, session)
    simulation.playing, simulation.speed = True, math.inf
    simulation._play(0.1)
    assert session.step == 2 and not simulation.playing and "story ends" in session.note


def test_a_rate_of_faults_is_recorded_and_repeated(protocol):
    session = Session(protocol, seed=8)
    session.set_rate(1.0, 2)
    session.advance(200)
    assert len(session.disturbances()) > 3
    assert codes(session) == repeated(session)
    session.set_rate(0, 1)
    count = len(session.disturbances())
    session.advance(400)
    assert len(session.disturbances()) == count and codes(session) == repeated(session)


def test_the_page_waits_for_faults_as_rates_do(protocol):
    """With probability 1/2 in a step, a fault comes after one step in half of all cases; a rounded exponential time is
    at most 1.5, so one step, in 65 % of them."""
    session = Session(protocol, seed=1)
    session.set_rate(protocol.n / 2, 1)
    session.advance(4000)
    steps = [0, *(fault["step"] for fault in session.disturbances())]
    waits = np.diff(steps)
    assert waits.min() == 1 and abs((waits == 1).mean() - 1 / 2) < 0.06 and abs(waits.mean() - 2) < 0.15


def test_the_next_change_may_be_that_of_a_fault():
    session = Session(hg.Pairwise(n=6), start="safe", seed=1, faults=(hg.Fault(40, 1, {"leader": 1}, {"leader": 0}),))
    assert session.go_to_change() and session.step == 40 and not session.last


def test_counts_beyond_a_million():
    session = Session(hg.Pairwise(n=10**9), seed=3)
    assert session.world.kind == "bands"
    session.advance(5 * 10**8)
    bands = session.world.bands()
    run = hg.simulate(hg.Pairwise(n=10**9), seed=3, engine="batch", until=f"steps:{session.step}")
    assert sum(count for _, count in bands) == 10**9 and dict(bands)[1] == run.leaders
    session.kill_leader()
    assert session.readings()["values"]["leaders"] == 0
    session.go_to(10**8)
    run = hg.simulate(hg.Pairwise(n=10**9), seed=3, engine="batch", until=f"steps:{session.step}")
    assert session.readings()["values"]["leaders"] == run.leaders


@pytest.mark.parametrize("n", [10, 400, 5000])
def test_one_byte_per_agent_tells_leaders_from_followers(n):
    session = Session(hg.TimeOptimal(n=n), start="safe", seed=1)
    picture, look = session.world.picture(), session.world.look
    assert len(picture) == n and picture.dtype == np.uint8
    stride = 1
    for channel in look.channels[1:]:
        stride *= channel.size
    assert np.array_equal(np.flatnonzero(picture // stride), session.world.leaders())


def test_colours_are_one_line_and_checked():
    class Painted(hg.Pairwise):
        colours = {"leader=1": "#112233"}

    channel = Session(Painted(n=4)).world.look.channels[0]
    assert channel.colours[1] == "#112233"
    Painted.colours = {"leader=1": "url(x)"}
    with pytest.raises(InvalidInput, match="#rrggbb"):
        Session(Painted(n=4))


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda s: s.set_field(12, "leader", 1), "numbered 0..11"),
        (lambda s: s.set_field(0, "nose", 1), "no field"),
        (lambda s: s.set_field(0, "leader", 7), "leader"),
        (lambda s: s.corrupt(13), "out of range"),
        (lambda s: s.set_rate(-1, 1), "out of range"),
    ],
)
def test_what_makes_no_sense_is_refused_and_changes_nothing(protocol, call, says):
    session = Session(protocol, seed=1)
    session.advance(20)
    before = codes(session)
    with pytest.raises(InvalidInput, match=says):
        call(session)
    assert codes(session) == before and not session.disturbances()
    session.advance(30)
    assert codes(session) == repeated(session)


def test_a_story_of_rounds_is_followed_too(tmp_path):
    protocol = hg.CATALOGUE["bfw"](n=9)
    session = Session(protocol, seed=2)
    seen = [session.world.engine.configuration().mappings()]
    for step in range(1, 6):
        session.advance(step)
        seen.append(session.world.engine.configuration().mappings())
    rounds = [
        Round(tuple((v, a, b) for v, (a, b) in enumerate(zip(old, new, strict=True)) if a != b))
        for old, new in zip(seen, seen[1:], strict=False)
    ]
    file = tmp_path / "story.json"
    Trace("bfw", seen[0], tuple(rounds), protocol.parameters, session.topology.name).save(file)
    story = Session(protocol, start=str(file), seed=77)  # other coins: only the story leads there
    for step in range(1, 6):
        story.advance(step)
        assert story.world.engine.configuration().mappings() == seen[step]
    story.go_to(2)
    assert story.world.engine.configuration().mappings() == seen[2]
    impossible = json.loads(file.read_text())
    impossible["rounds"][0] = [[0, {"phase": "FROZEN", "leader": 1}]]  # only a node that beeped freezes
    file.write_text(json.dumps(impossible))
    story = Session(protocol, start=str(file))
    with pytest.raises(InvalidInput, match="round 1 cannot be followed: node 0 never becomes phase=FROZEN"):
        story.advance(1)
    assert story.step == 0 and story.world.engine.configuration().mappings() == seen[0]


def test_a_round_in_which_nothing_happens_is_a_round():
    """Also when all messages are delivered: every round can be gone to, and gone back from."""
    session = Session(hg.FloodMax(n=5, diameter=4), graph="ring:5", seed=1)
    for step in (30, 29, 1000, 3, 999, 0, 10**12, 10**12 - 1):
        assert session.go_to(step) and session.step == step
    assert session.readings()["values"]["messages"] > 0
