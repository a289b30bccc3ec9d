"""Who acts next: the uniform law in all its forms, a scheduler of one's own, and what an engine says it just did."""

import numpy as np
import pytest
from scipy import stats

import hegemon as hg
from hegemon.compute.compilation import specialize
from hegemon.compute.randomness import KERNEL, generator, stream
from hegemon.engines.engine import Engine
from hegemon.engines.population.agents import Agents
from hegemon.engines.schedulers.scheduler import Scheduler
from hegemon.engines.schedulers.uniform import UNIFORM, UniformScheduler, pair_arcs
from hegemon.engines.stopping import never
from hegemon.graphs.families import complete, path
from hegemon.models.unreliable import unreliable
from hegemon.runs.record import RunRecord
from hegemon.runs.setting import initial_configuration, topology_for
from hegemon.web.session import Session

DRAWS = 40_000
# ruff: noqa: F821 - `pair` is bound by specialize


def draw_many(rows, n, rng, pairs):
    s0, s1, s2, s3 = rng[0], rng[1], rng[2], rng[3]
    for k in range(len(pairs)):
        pairs[k, 0], pairs[k, 1], s0, s1, s2, s3 = pair(rows, n, s0, s1, s2, s3)


def drawn(scheduler: Scheduler, topology) -> np.ndarray:
    """Pairs that compiled code draws."""
    pair, rows = scheduler.compiled(topology)
    pairs = np.zeros((DRAWS, 2), np.int64)
    specialize(draw_many, pair=pair)(rows, topology.n, stream(3, 0, KERNEL), pairs)
    return pairs


def met(scheduler: Scheduler, topology) -> np.ndarray:
    """Pairs that plain Python draws."""
    rng = generator(3, 0, KERNEL)
    return np.array([scheduler.meet(topology, lambda k: int(rng.integers(k))) for _ in range(DRAWS)])


def p_value(pairs: np.ndarray, rows: np.ndarray) -> float:
    """How likely these pairs are if every row is equally likely; 0 if one of them is no row."""
    counts = {tuple(row): 0 for row in rows.tolist()}
    for one in map(tuple, pairs.tolist()):
        if one not in counts:
            return 0.0
        counts[one] += 1
    return float(stats.chisquare(list(counts.values())).pvalue)


class Biased(UniformScheduler):
    """A wrong twin: on complete graphs the last agent is never a responder."""

    def meet(self, topology, below):
        i = below(topology.n)
        return i, (i + 1 + below(topology.n - 2)) % topology.n


@pytest.mark.parametrize("topology", [complete(5), path(4)], ids=lambda topology: topology.name)
def test_the_forms_of_the_law_agree(topology):
    rows = UNIFORM.rows(topology)
    assert len(rows) == topology.arcs == len(np.unique(rows, axis=0))
    assert p_value(drawn(UNIFORM, topology), rows) > 1e-4 and p_value(met(UNIFORM, topology), rows) > 1e-4


def test_another_law_is_noticed():
    assert p_value(met(Biased(), complete(5)), UNIFORM.rows(complete(5))) < 1e-9


class FromFirst(Scheduler):
    """Agent 0 always initiates."""

    name = "from-first"

    def rows(self, topology):
        return np.array([[0, agent] for agent in range(1, topology.n)], np.int32)

    def compiled(self, topology):
        return pair_arcs, self.rows(topology)

    def meet(self, topology, below):
        return 0, 1 + below(topology.n - 1)


def test_a_scheduler_of_ones_own_is_followed_exactly_or_refused():
    protocol, own = hg.Pairwise(n=30), FromFirst()
    run = hg.simulate(protocol, scheduler=own, seed=1)
    assert run.engine == "agents" and "from-first" in run.reason
    leaders = [
        hg.simulate(protocol, scheduler=chosen, seed=4).configuration.agents["leader"] for chosen in (own, UNIFORM)
    ]
    assert leaders[0].argmax() == 0 and leaders[1].argmax() != 0
    times = [hg.simulate(hg.Pairwise(n=4), scheduler=own, trial=k).steps for k in range(600)]
    assert stats.ttest_1samp(times, 3 * (1 + 1 / 2 + 1 / 3)).pvalue > 1e-4  # the collector of three coupons
    for engine in ("batch", "events"):
        with pytest.raises(hg.InvalidInput, match=f"engine {engine} is exact only for schedulers that are even"):
            hg.simulate(protocol, scheduler=own, engine=engine)
    with pytest.raises(hg.InvalidInput, match="did you mean uniform"):
        hg.simulate(protocol, scheduler="unifrom")
    with pytest.raises(hg.InvalidInput, match="choose synchronous"):
        hg.simulate(hg.Trains(n=4), scheduler="uniform")
    with pytest.raises(hg.InvalidInput, match="scheduler means nothing to flood-max"):
        hg.simulate(hg.CATALOGUE["flood-max"](n=4), scheduler=own)


def test_the_usual_scheduler_by_name_is_the_same_run():
    """In every instrument: its record, a page, an exact answer."""
    for protocol in (hg.Timer(n=4, s=4), hg.CATALOGUE["herman"](5)):
        usual = protocol.model.scheduler
        assert RunRecord(protocol, scheduler=usual) == RunRecord(protocol)
        assert Session(protocol, scheduler=usual, seed=1).record.scheduler is None
        answers = [hg.verify(protocol, property="time", scheduler=one).hitting.mean for one in (None, usual)]
        assert answers[0] == answers[1]


def test_an_engine_relies_on_everything_unless_it_says_otherwise():
    assert set(Engine.honours) > set(Agents.honours) and all(getattr(UNIFORM, trait) for trait in Engine.honours)


CASES = {
    "a table": hg.Timer(n=12),
    "coins": unreliable(hg.Pairwise(n=12), "1/3", "1/4"),
    "records": hg.TimeOptimal(n=12),
}


@pytest.mark.parametrize("protocol", CASES.values(), ids=CASES)
def test_an_engine_says_what_it_just_did(protocol):
    """The pair and the coins that it names make the next configuration of the one before, and nobody else changes."""
    space, topology = protocol.space, topology_for(protocol)
    engines = [
        Agents(protocol, topology, initial_configuration(protocol, None, 5, 0), never("never"), stream(5, 0, KERNEL))
        for _ in range(2)
    ]
    assert engines[0].last_meeting() is None
    for goal in range(1, 120):
        before = space.encode_array(engines[0].configuration().agents)
        engines[0].advance(goal)
        first, second, coin = engines[0].last_meeting()
        before[[first, second]] = protocol.transition_codes(*before[[first, second]], coin)
        assert np.array_equal(before, space.encode_array(engines[0].configuration().agents))
    while engines[1].step < 119:  # many steps in one call end with the same
        engines[1].advance(119)
    assert engines[1].last_meeting() == engines[0].last_meeting()
    engines[1].load(engines[1].configuration())
    assert engines[1].last_meeting() is None
