"""Engine `events` and the automatic choice on sparse graphs sample the same process as `agents`."""

from functools import cache

import numpy as np
import pytest
from scipy import stats

import hegemon as hg
from hegemon.compute.ahead import begin, take, take_index, words_ahead
from hegemon.compute.border import ingredient
from hegemon.compute.randomness import stream
from hegemon.engines.population import active, events
from hegemon.engines.population.adaptive import Adaptive
from hegemon.engines.population.events import Events
from hegemon.models import Group, PopulationProtocol, Range
from hegemon.models.configuration import Configuration
from hegemon.process.stopping import never
from hegemon.runs.setting import topology_for
from tests.compute.agreement import SIGNIFICANCE, same_law

WORK = [
    (hg.Ring(n=7), "directed-ring:7"),
    (hg.Ring(n=5, N=9), "directed-ring:5"),
    (hg.Epidemic(n=9, top=2), "grid:3x3"),
    (hg.Pairwise(n=6), "star:6"),
    (hg.Timer(n=6, s=15), "ring:6"),
    (hg.QuickElimination(n=8), "path:8"),
    (hg.Ring(n=2, N=3), "directed-ring:2"),
    (hg.Threshold(n=9, k=3, marked=4), "grid:3x3"),
    (hg.Countdown(n=8, top=6), "ring:8"),
    (hg.FischerJiang(n=6), "directed-ring:6"),
    (hg.CaiIzumiWada(n=4), "ring:4"),
    (hg.TimeOptimal(n=6), "star:6"),
]
STOPS = {  # where leaders that are no neighbours never meet, nobody elects: stop at something else
    "pairwise": {"until": "count(leader == 1) <= 5"},
    "timer": {"until": "count(timer <= 5) >= 3", "start": "no-leader"},
    "threshold": {"until": "count(x == 0) >= 6"},
    "fischer-jiang": {"until": "settled"},
    "cai-izumi-wada": {"until": "count(rank == 1) >= 2", "start": "all-leaders"},
    "time-optimal": {"until": "count(phase == 1) >= 4", "start": "no-leader"},
}
IDS = [f"{protocol.id}-{graph}" for protocol, graph in WORK]
ENGINES = ["events", "auto"]


@cache
def times(protocol, graph, engine, **options):
    trials = 600 if (protocol, graph) == WORK[1] else 1000
    seed = {"agents": 5, "events": 6, "auto": 7}[engine]
    runs = hg.run_trials(protocol, trials, seed=seed, graph=graph, engine=engine, **options).runs
    return np.array([run.steps for run in runs])


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("protocol", "graph"),
    [pytest.param(*work, marks=[pytest.mark.full] * (work is not WORK[1])) for work in WORK],
    ids=IDS,
)
def test_times_have_the_same_law(protocol, graph, engine):
    options = STOPS.get(protocol.id, {})
    expected = times(protocol, graph, "agents", **options)
    observed = times(protocol, graph, engine, **options)
    assert stats.ks_2samp(expected, observed).pvalue > 1e-3
    assert stats.ks_2samp(expected, observed + np.ceil(0.5 * observed.mean())).pvalue < 1e-4


@pytest.mark.parametrize("engine", ENGINES)
def test_holding_has_the_same_law(engine):
    protocol = hg.Timer(n=5, s=4)
    options = {"start": "safe", "until": "broken"}
    expected = times(protocol, "ring:5", "agents", **options)
    observed = times(protocol, "ring:5", engine, **options)
    assert stats.ks_2samp(expected, observed).pvalue > 1e-3


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("protocol", "graph"),
    [(hg.Ring(n=3), "directed-ring:3"), *(pytest.param(*work, marks=pytest.mark.full) for work in WORK)],
    ids=["ring-directed-ring:3", *IDS],
)
def test_configurations_have_the_same_law(protocol, graph, engine):
    samples = [after_six_steps(protocol, graph, name, seed) for name, seed in (("agents", 9), (engine, 10))]
    assert same_law(*samples) > SIGNIFICANCE


@cache
def after_six_steps(protocol, graph, engine, seed):
    start = "no-leader" if "no-leader" in protocol.starts else protocol.default_start
    options = {"until": "steps:6", "start": start, "keep_all": True}
    runs = hg.run_trials(protocol, 2500, seed=seed, graph=graph, engine=engine, **options).runs
    return [tuple(protocol.space.encode_array(run.configuration.agents).tolist()) for run in runs]


@pytest.mark.parametrize("engine", ENGINES)
def test_recording_and_stops_change_nothing(engine):
    protocol = hg.Ring(n=40)
    plain = hg.simulate(protocol, seed=3, engine=engine)
    recorded = hg.simulate(protocol, seed=3, engine=engine, observe=True, every=50)
    assert plain.steps == recorded.steps
    assert plain.configuration.mappings() == recorded.configuration.mappings()
    assert recorded.history["step"].tolist()[:-1] == list(range(0, plain.steps, 50))
    before = hg.simulate(protocol, seed=3, engine=engine, until=f"steps:{plain.steps - 1}")
    again = hg.simulate(protocol, seed=3, engine=engine, until=f"steps:{plain.steps}")
    assert again.configuration.mappings() == plain.configuration.mappings() != before.configuration.mappings()


def test_the_active_arcs_are_those_that_change_something():
    """After many events, the list kept up to date equals one made from scratch."""
    protocol = hg.Ring(n=30)
    topology = topology_for(protocol)
    start = protocol.initial("random", np.random.default_rng(1))
    engine = Events(protocol, topology, start, never("none"), stream(4, 0))
    for limit in (10, 100, 1000, 5000):
        while engine.step < limit:
            engine.advance(limit)
        kept = sorted(engine._arcs.active[: engine._clock[2]])
        engine.load(engine.configuration())
        assert sorted(engine._arcs.active[: engine._clock[2]]) == kept
        codes = protocol.space.encode_array(engine.configuration().agents)
        changing = [
            arc
            for arc, (i, j) in enumerate(zip(topology.sources, topology.targets, strict=True))
            if protocol.transition_codes(codes[i], codes[j]) != (codes[i], codes[j])
        ]
        assert kept == changing


def test_the_automatic_choice_changes_engines_and_says_so():
    run = hg.simulate(hg.Ring(n=2000), seed=1, until="steps:400000")
    assert run.engine == "agents and events"
    assert hg.simulate(hg.Timer(n=50, s=300), graph="ring:50", until="steps:2000").engine == "agents"
    assert hg.simulate(hg.Pairwise(n=50)).engine == "agents"


def test_snapshots_bring_back_either_engine():
    protocol = hg.Ring(n=500)
    start = protocol.initial("random", np.random.default_rng(2))
    engine = Adaptive(protocol, topology_for(protocol), start, never("none"), stream(6, 0))

    def to(step):
        while engine.step < step:
            engine.advance(step)
        return protocol.space.encode_array(engine.configuration().agents)

    early = engine.snapshot()
    assert engine.name == "agents"
    first = to(60_000)
    assert engine.name == "agents and events"
    middle = engine.snapshot()
    second = to(90_000)
    engine.restore(early)
    assert (to(60_000) == first).all()
    engine.restore(middle)
    assert (to(90_000) == second).all()


def test_a_silent_configuration_ends_the_run():
    run = hg.simulate(hg.Pairwise(n=5), graph="path:5", start="no-leader")
    assert not run.reached and run.leaders == 0 and run.steps == 0
    limited = hg.simulate(hg.Pairwise(n=5), graph="path:5", start="no-leader", max_steps=10**15)
    assert limited.steps == 10**15


def test_waiting_times_add_up():
    """One informed end of a long path: the waiting time for each arc is geometric with mean m."""
    protocol = hg.Epidemic(n=2000)
    run = hg.simulate(protocol, graph="path:2000", seed=1)
    assert run.reached
    assert run.steps == pytest.approx(1999 * 1999, rel=0.1)


@pytest.mark.parametrize(
    ("kind", "n", "graph"),
    [
        (hg.Ring, 12, None),
        (hg.QuickElimination, 8, "star:8"),
        (hg.FischerJiang, 7, None),
    ],
)
def test_plain_python_and_the_kernel_find_the_same_active_arcs(kind, n, graph, monkeypatch):
    protocol = kind(n=n)
    topology = topology_for(protocol, graph)
    shares = set()
    for seed in range(5):
        configuration = protocol.initial("random", np.random.default_rng(seed), topology=topology)
        found = []
        for few in (-1, events.FEW_ARCS):
            monkeypatch.setattr(events, "FEW_ARCS", few)
            events._asked.clear()
            engine = Events(protocol, topology, configuration, never(protocol), stream(1))
            arcs, number = engine._arcs, int(engine._clock[active.ACTIVE])
            assert sum(events._asked.values()) == (0 if few < 0 else len(arcs.rows))
            found.append((number, arcs.active[:number].tolist(), arcs.rows.tolist()))
        assert found[0] == found[1]
        shares.add(engine.active_share)
    assert len(shares) > 1


@ingredient()
def foretold_and_drawn(arcs, ahead, rng, stride, number, found):
    at = begin(ahead, rng)
    for distance in range(len(found)):
        found[distance, 0] = active.soon(arcs, ahead.words, at + distance * stride + 1, number)
    for distance in range(len(found)):
        for _ in range(stride - 1):
            _, at = take(ahead, rng, at)
        index, at = take_index(ahead, rng, at, number)
        found[distance, 1] = arcs.active[index]


def test_the_arcs_that_memory_is_asked_for_are_those_that_are_drawn():
    """Without coins, while the number of active arcs stays the same."""
    protocol = hg.Ring(n=500)
    start = protocol.initial("random", np.random.default_rng(1))
    engine = Events(protocol, topology_for(protocol), start, never("none"), stream(1))
    found = np.zeros((active.FAR + 1, 2), np.int64)
    foretold_and_drawn(engine._arcs, words_ahead(), stream(2), 2, int(engine._clock[active.ACTIVE]), found)
    assert (found[:, 0] == found[:, 1]).all() and len(set(found[:, 0])) > 5


def test_a_snapshot_brings_back_the_places_of_the_active_arcs():
    protocol = hg.Ring(n=60)
    start = protocol.initial("random", np.random.default_rng(1))
    engine = Events(protocol, topology_for(protocol), start, never("none"), stream(4, 0))
    early, rows = engine.snapshot(), engine._arcs.rows.copy()
    while engine.step < 5000:
        engine.advance(5000)
    late, later_rows = engine.snapshot(), engine._arcs.rows.copy()
    for snapshot, expected in ((early, rows), (late, later_rows), (early, rows)):
        engine.restore(snapshot)
        assert (engine._arcs.rows == expected).all()
    assert len(early[-1]) != len(late[-1])


class Fragile(PopulationProtocol):
    """Ones spread; where a one meets a two, the author's arithmetic overflows."""

    arbitrary_start = False
    default_start = "few"

    class State:
        x: Range(0, 3)

    def interact(a, b, p):
        if a.x + b.x == 3 and a.x * b.x == 2:
            z = a.x * b.x * 4_000_000_000_000_000_000
            a.x = z * 4
        elif a.x == 1 and b.x == 0:
            b.x = 1

    def start_few(self, rng):
        return [Group(self.n, {"x": 0})]


def test_a_snapshot_leads_back_behind_a_refusal():
    """Arcs that became active in the refused call are forgotten, and nothing leads on from there."""
    protocol, topology = Fragile(n=40), topology_for(Fragile(n=40), "grid:5x8")
    codes = np.array([0] * 18 + [1] + [0] * 20 + [2])

    def engine(seed):
        start = Configuration(protocol.space, agents=protocol.space.decode_array(codes))
        return Events(protocol, topology, start, never("nothing"), stream(seed))

    for seed in range(5):
        torn, fresh = engine(seed), engine(seed)
        before, last = torn.snapshot(), 0
        for _ in range(2):
            with pytest.raises(hg.InvalidInput, match="64 bits"):
                torn.advance(10**6)
        with pytest.raises(hg.InvalidInput, match="64 bits"):
            while True:
                fresh.advance(fresh.step + 1)
                last = fresh.step
        fresh = engine(seed)
        torn.restore(before)
        fresh.advance(last)
        torn.advance(last)
        assert np.array_equal(torn.configuration().agents, fresh.configuration().agents)
