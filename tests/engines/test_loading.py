"""`load` changes the configuration and nothing else, for every engine: a fault that changes nothing changes no run.

Where an engine must give up coins that it has drawn ahead (`batch`, `events`), the law is the same: see
`test_interventions`. Another number of agents is taken over where all pairs are alike, and refused everywhere else.
"""

import numpy as np
import pytest

import hegemon as hg
from hegemon import parts
from hegemon.compute.randomness import KERNEL, stream
from hegemon.engines.choice import engine_named as named
from hegemon.engines.choice import scheduled
from hegemon.engines.rounds.daemon import DaemonEngine
from hegemon.errors import InvalidInput
from hegemon.process.schedulers.reading import scheduler_for
from hegemon.process.stopping import never
from hegemon.protocols import CATALOGUE
from hegemon.runs.setting import initial_configuration, topology_for
from tests.engines.test_interventions import COPY

REDRAWN = ("batch", "events")
TIMER, BIASED = hg.Timer(n=5, s=3), CATALOGUE["biased-herman"](n=5)
HERMAN = CATALOGUE["herman"](n=7).counted_in("steps")
CASES = [
    *((name, TIMER, graph, "uniform") for name in ("agents", "plain") for graph in ("complete:5", "path:5")),
    *(
        ("agents", TIMER, "complete:5", name)
        for name in ("permutation", "matching", "round-robin", "edge-markov:1/3,1/2", "moving:4x4")
    ),
    ("stepwise", TIMER, "complete:5", lambda step, agents, below: (step % 5, (step + 1 + below(4)) % 5)),
    *((name, BIASED, None, "synchronous") for name in ("rounds", "plain")),
    *(("daemon", HERMAN, None, name) for name in ("round-robin", "central:uniform", "central:most-enabled")),
    ("daemon", BIASED, None, "distributed:1/3"),
]


def test_every_engine_is_here():
    known = {name for model in ("population", "rounds") for name in parts.BUILT_IN[f"{model} engines"]}
    assert known == {name for name, *_ in CASES} | set(REDRAWN)


def begun(name, protocol, graph, scheduler, kind=None):
    topology = topology_for(protocol, graph)
    law = scheduler_for(scheduler, protocol, topology)
    start, rng = initial_configuration(protocol, "random", 3, 0, topology=topology), stream(3, 0, KERNEL)
    if protocol.model.has_rounds and name != "daemon":
        return (kind or named(name, protocol))(protocol, topology, start, never("never"), rng)
    options = {"scheduler": law} if name == "daemon" else scheduled(named(name, protocol), law)
    return (kind or named(name, protocol))(protocol, topology, start, never("never"), rng, **options)


def course(engine, protocol, at: tuple[int, ...], steps: int = 24) -> list:
    """Every configuration, with the measures; at some steps the engine is given what it has."""
    found = []
    for step in range(steps):
        if step in at:
            engine.load(engine.configuration())
        engine.advance(step + 1)
        found.append(
            (engine.step, protocol.space.encode_array(engine.configuration().agents).tolist(), engine.measures())
        )
    return found


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0]} {case[1].id} {case[3]}"[:40])
def test_a_fault_that_changes_nothing_leaves_the_same_run(case):
    assert course(begun(*case), case[1], ()) == course(begun(*case), case[1], (1, 2, 5, 11, 12))


class Forgetful(DaemonEngine):
    """A twin that begins a new round, and goes round from the first node, after every load."""

    def load(self, configuration, step=None):
        super().load(configuration, step)
        self._memory, self._begun, self._pending = 0, False, set(self.enabled)


@pytest.mark.parametrize("scheduler", ["round-robin", "central:uniform"])
def test_an_engine_that_forgets_is_caught(scheduler):
    case = ("daemon", HERMAN, None, scheduler)
    at = tuple(range(1, 80))
    assert course(begun(*case), HERMAN, (), 80) != course(begun(*case, kind=Forgetful), HERMAN, at, 80)


@pytest.mark.parametrize("name, protocol, graph, scheduler", [
    ("agents", TIMER, "path:5", "uniform"), ("agents", TIMER, "complete:5", "permutation"),
    ("events", TIMER, "path:5", "uniform"), ("plain", TIMER, "path:5", "uniform"),
    ("plain", BIASED, None, "synchronous"), ("rounds", BIASED, None, "synchronous"),
    ("daemon", HERMAN, None, "round-robin"),
])  # fmt: skip
@pytest.mark.parametrize("change", [-1, 1])
def test_another_number_of_agents_is_refused_where_it_means_nothing(name, protocol, graph, scheduler, change):
    engine = begun(name, protocol, graph, scheduler)
    agents = engine.configuration().agents
    other = np.concatenate([agents, agents])[: len(agents) + change]
    with pytest.raises(
        InvalidInput, match=f"moves {len(agents)} agents here and was given a configuration of {len(other)}"
    ):
        engine.load(hg.Configuration(protocol.space, agents=other))


@pytest.mark.parametrize("name", ["agents", "plain", "batch", "events"])
def test_a_snapshot_brings_its_number_of_agents_back(name):
    """After agents have left, an engine goes back to where they were still there, and repeats its run."""
    protocol, topology = COPY.protocol, COPY.topology
    engine = named(name, protocol)(
        protocol, topology, COPY.configuration((0, 1, 2)), never("never"), stream(3, 0, KERNEL)
    )
    engine.advance(2)
    here, expected = engine.snapshot(), []
    for expects in (True, False):
        seen = []
        for step in range(3, 7):
            engine.advance(step)
            seen.append(sorted(protocol.space.encode_array(engine.configuration().agents).tolist()))
        expected = seen if expects else expected
        assert seen == expected
        engine.load(COPY.configuration((0, 1)))
        engine.advance(9)
        assert engine.configuration().n == 2
        engine.restore(here)
        assert engine.configuration().n == 3
