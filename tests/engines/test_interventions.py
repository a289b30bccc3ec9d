"""Every way to reach into a run leaves its law exact, on every engine; and coins that are used twice are caught."""

from collections import Counter
from functools import cache

import numpy as np
import pytest
from scipy import stats

import hegemon as hg
from hegemon.compute.randomness import KERNEL, stream
from hegemon.engines.batch.batch import Batch
from hegemon.engines.population import adaptive_complete, codes
from hegemon.engines.population.adaptive import Adaptive
from hegemon.engines.population.agents import Agents
from hegemon.engines.population.events import Events
from hegemon.models import Configuration, PopulationProtocol, Range
from hegemon.process.stopping import never, parse_stop
from hegemon.runs.setting import topology_for
from tests.compute.agreement import chi_square
from tests.engines.interventions import WAYS, Play, Setting, answer, law
from tests.engines.random_protocols import ABSENT, Drawn

SMALLEST = 1e-5


class Copy(PopulationProtocol):
    """The responder becomes what the initiator is."""

    class State:
        x: Range(0, 2)

    def interact(a, b, p):
        b.x = a.x


COPY = Setting(Copy(n=3), topology_for(Copy(n=3)), (0, 1, 2))


@cache
def drawn(key: int, graph: str) -> Setting:
    protocol = Drawn(n=3, key=key, rate=60)
    return Setting(protocol, topology_for(protocol, graph), (3, 7, 11))


@pytest.fixture(autouse=True)
def eager(monkeypatch):
    """`auto` on a complete graph changes to engine batch after a few steps."""
    monkeypatch.setattr(adaptive_complete, "BRIEF", 3)
    monkeypatch.setattr(adaptive_complete, "REVIEW", 1)
    monkeypatch.setattr(adaptive_complete, "cost_of_agents", lambda n: 1e9)


ENGINES = {
    "agents": Agents,
    "records": Agents,
    "events": Events,
    "batch": Batch,
    "auto": adaptive_complete.AdaptiveSmall,
    "sparse": Adaptive,
}


def p_value(setting: Setting, engine: type, way: str, trials: int, until: str | None = None) -> float:
    """Of runs that are reached into; if they have a stop, nobody waits for it."""
    protocol = setting.protocol
    stop = never("never") if until is None else parse_stop(until, protocol)

    def make(configuration, rng):
        return engine(protocol, setting.topology, configuration, stop, rng)

    expected = law(setting, WAYS[way])
    counts = Counter(answer(Play(setting, make, trial), WAYS[way]) for trial in range(trials))
    if any(expected.get(seen, 0) <= 0 for seen in counts):
        return 0.0
    order = sorted(expected, key=lambda one: -expected[one])
    return chi_square([counts[one] for one in order], [expected[one] * trials for one in order])


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("engine", ["agents", "batch", "auto"])
def test_reaching_in_leaves_the_law_exact(engine, way):
    until = "none(x == 1)" if way in ("reloads", "damages", "replays") else None
    assert p_value(COPY, ENGINES[engine], way, 100, until) > SMALLEST


def in_random_protocols(engine: str, key: int, ways, trials: int, untils) -> dict:
    sparse = engine == "sparse" or engine == "events" and key % 2
    setting, ways = (
        drawn(key, "path:3" if sparse else "complete:3"),
        [one for one in ways if one != "churns" or not sparse],
    )
    with pytest.MonkeyPatch.context() as patch:
        if engine == "records":
            patch.setattr(codes, "LARGEST_TABLE", 0)
        values = {(way, u): p_value(setting, ENGINES[engine], way, trials, u) for way in ways for u in untils}
    return values


@pytest.mark.parametrize("engine", ["records", "events", "sparse"])
def test_reaching_into_random_protocols_leaves_the_law_exact(engine):
    values = in_random_protocols(engine, 7, ("reloads", "thaws"), 80, [ABSENT])
    assert min(values.values()) > SMALLEST, values


@pytest.mark.full
@pytest.mark.parametrize("key", range(3))  # other keys than above; half a minute each
@pytest.mark.parametrize("engine", ENGINES)
def test_reaching_into_many_random_protocols_leaves_the_law_exact(engine, key):
    values = in_random_protocols(engine, key, WAYS, 1000, [None, ABSENT])
    assert min(values.values()) > 1e-7, values


def test_agents_that_come_and_go_leave_the_law_exact():
    """On engine `events`, whose arcs are those of the agents that are there; the other engines are among the above."""
    assert p_value(COPY, Events, "churns", 200) > SMALLEST
    assert p_value(COPY, Events, "churns", 200, "none(x == 1)") > SMALLEST


class Repeating(Batch):
    """After a load, the coins of the epoch that had begun are drawn again."""

    def load(self, configuration, step=None):
        self._base, self._ahead = self.step, 0
        super().load(configuration, step)


class Rewinding(Agents):
    """After a load, the last coins are drawn again."""

    def advance(self, limit):
        self._last = self.rng.copy()
        return super().advance(limit)

    def load(self, configuration, step=None):
        if hasattr(self, "_last"):
            self.rng[:] = self._last
        super().load(configuration, step)


class Unwound(Agents):
    """Comes back from a snapshot with the coins of the future."""

    def restore(self, snapshot):
        rng = self.rng.copy()
        super().restore(snapshot)
        self.rng[:] = rng


@pytest.mark.parametrize("twin", [Repeating, Rewinding])
@pytest.mark.parametrize("way", ["reloads", "prescribes"])
def test_coins_that_are_used_twice_are_caught(twin, way):
    assert p_value(COPY, twin, way, 100) < SMALLEST


def test_a_snapshot_without_its_coins_is_caught():
    with pytest.raises(AssertionError):
        p_value(COPY, Unwound, "replays", 100)


@pytest.mark.parametrize("engine", ["agents", "batch", "auto"])
def test_a_fault_inside_an_epoch(engine):
    """0 and 1 meet, a random one is made 2, and they meet again: no 1 is left in three cases of four."""
    runs = hg.run_trials(
        Copy(n=2), 150, seed=3, start=[{"x": 0}, {"x": 1}], until="none(x == 1)", max_steps=2, engine=engine,
        faults=(hg.Fault(1, 1, {"x": 2}),), workers=1,
    ).runs  # fmt: skip
    assert stats.binomtest(sum(run.reached for run in runs), len(runs), 0.75).pvalue > SMALLEST


LARGE, APART, STRUCK = 70_000, 46, 40


def spread(engine: type, trials: int) -> float:
    """The p-value of the variance of a count in a large population that is reached into again and again.

    Half of the agents have x = 0, half x = 1: an interaction moves the count up or down with probability 1/4 each.
    """
    protocol = Copy(n=LARGE)
    topology, half = topology_for(protocol), LARGE // 2
    found = []
    for trial in range(trials):
        rng = stream(9, trial, KERNEL)
        begin = Configuration(protocol.space, codes=np.array([0, 1]), counts=np.array([half, half]))
        running = engine(protocol, topology, begin, never("never"), rng)
        for k in range(1, STRUCK + 1):
            while running.step < k * APART:
                running.advance(k * APART)
            running.load(running.configuration())
        found.append(running.configuration().multiset[1][0] - half)
    share = sum(deviation**2 for deviation in found) / (STRUCK * APART / 2)
    return 2 * min(stats.chi2.cdf(share, trials), stats.chi2.sf(share, trials))


@pytest.mark.parametrize("engine", [Batch, adaptive_complete.AdaptiveComplete])
def test_the_spread_of_a_count_in_a_large_population(engine):
    assert spread(engine, 20) > SMALLEST


@pytest.mark.full
def test_the_spread_of_a_count_in_many_large_populations():
    assert spread(Batch, 2000) > SMALLEST


def test_a_spread_that_is_too_wide_is_caught():
    assert spread(Repeating, 20) < 1e-20
