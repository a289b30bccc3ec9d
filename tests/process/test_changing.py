"""Graphs that change: what runs draw against the exact plan, and runs against exact chains."""

from collections import Counter, defaultdict

import numpy as np
import pytest
from scipy import stats

import hegemon as hg
from hegemon.compute.compilation import specialize
from hegemon.compute.randomness import KERNEL, stream
from hegemon.errors import InvalidInput
from hegemon.graphs.families import complete, path
from hegemon.process.schedulers.scheduler import memoryless
from hegemon.process.schedulers.uniform import UniformScheduler, all_arcs
from tests.process.test_schedulers import named

SAMPLES, LENGTH = 3000, 3
LAWS = [
    ("edge-markov:1/2,1/3", path(4)), ("edge-markov:1/8,3/4", complete(3)), ("edge-markov:1,1", path(3)),
    ("edge-markov:1/3,0", path(3)), ("edge-markov:1,0", path(3)), ("edge-markov:1,1/2", path(4)),
    ("edge-markov:1/2,1", complete(3)),
    ("moving:2x2,near=0", complete(3)), ("moving:3x3,near=1", complete(2)), ("moving:3x4,near=0", complete(2)),
]  # fmt: skip

# ruff: noqa: F821 - `pair` is bound by specialize


def draw_each(memories, n, rng, pairs):
    s0, s1, s2, s3 = rng[0], rng[1], rng[2], rng[3]
    for row in range(len(pairs)):
        for k in range(pairs.shape[1]):
            pairs[row, k, 0], pairs[row, k, 1], s0, s1, s2, s3 = pair(memories[row], n, s0, s1, s2, s3)


def drawn(text: str, topology) -> Counter:
    """The first pairs of many runs."""
    pair, rows = named(text, topology).compiled(topology)
    pairs = np.zeros((SAMPLES, LENGTH, 2), np.int64)
    memories = np.repeat(rows[None], SAMPLES, axis=0)
    specialize(draw_each, pair=pair)(memories, topology.n, stream(3, 0, KERNEL), pairs)
    return Counter(tuple(one.ravel().tolist()) for one in pairs)


def exact(text: str, topology) -> dict:
    """The law of the first pairs, from the plan."""
    plan = named(text, topology).plan(topology)
    law = {((), 0): 1.0}
    for _ in range(LENGTH):
        found: dict = defaultdict(float)
        for (before, memory), share in law.items():
            part = range(plan.places[memory], plan.places[memory + 1])
            total = sum(int(plan.weights[row]) for row in part)
            for row in part:
                found[(*before, *plan.pairs[row].tolist()), int(plan.after[row])] += share * plan.weights[row] / total
        law = found
    sequences: dict = defaultdict(float)
    for (sequence, _), share in law.items():
        sequences[sequence] += share
    return sequences


def p_value(seen: Counter, law: dict) -> float:
    if set(seen) - set(law):
        return 0.0
    common = [one for one, share in law.items() if share * SAMPLES >= 5]
    rest = SAMPLES - sum(seen[one] for one in common), SAMPLES * (1 - sum(law[one] for one in common))
    found, expected = [*(seen[one] for one in common)], [SAMPLES * law[one] for one in common]
    if rest[1] > 1:
        found, expected = [*found, rest[0]], [*expected, rest[1]]
    return float(stats.chisquare(found, np.array(expected) * sum(found) / sum(expected)).pvalue)


@pytest.mark.parametrize(("text", "topology"), LAWS, ids=lambda one: getattr(one, "name", one))
def test_runs_draw_what_the_plan_says(text, topology):
    assert p_value(drawn(text, topology), exact(text, topology)) > 1e-4


def test_other_laws_are_noticed():
    """Broken twins: another probability of appearing, edges that forget, and agents that stay far."""
    seen = drawn("edge-markov:1/8,3/4", complete(3))
    for twin in ("edge-markov:1/4,3/4", "edge-markov:1/8,7/8"):
        assert p_value(seen, exact(twin, complete(3))) < 1e-4
    assert p_value(drawn("moving:2x2,near=0", complete(3)), exact("uniform", complete(3))) < 1e-4


@pytest.mark.parametrize("text", ["edge-markov:1/8,3/4", "moving:2x2,near=0"])
def test_runs_and_the_exact_chain_agree(text):
    start = [{"leader": 1, "timer": 1}, {"leader": 0, "timer": 3}, {"leader": 1, "timer": 0}]
    protocol = hg.Timer(n=3, s=3)
    exact_mean = hg.verify(protocol, start=start, property="time", scheduler=text).hitting.mean
    uniform = hg.verify(protocol, start=start, property="time").hitting.mean
    steps = [run.steps for run in hg.run_trials(protocol, 400, start=start, scheduler=text, workers=1).runs]
    assert stats.ttest_1samp(steps, exact_mean).pvalue > 1e-4
    assert abs(uniform - exact_mean) > 1e-3


@pytest.mark.parametrize("text", ["edge-markov:1,1", "edge-markov:1/3,0", "edge-markov:1,0"])
def test_edges_that_are_always_there_are_the_uniform_law(text):
    """What has probability 0 is no outcome: neither something that can happen, nor one of the cases of a proof."""
    protocol = hg.Timer(n=3, s=2)
    found, uniform = (hg.verify(protocol, graph="path:3", scheduler=one) for one in (text, None))
    assert [one.holds for one in found.findings] == [one.holds for one in uniform.findings]
    assert found.holding.worst == pytest.approx(uniform.holding.worst, rel=1e-9)
    assert found.holding.best == pytest.approx(uniform.holding.best, rel=1e-9)
    assert found.hitting.worst == pytest.approx(uniform.hitting.worst, rel=1e-9)
    assert (named(text, path(3)).plan(path(3)).weights > 0).all()


def test_a_plan_with_outcomes_of_probability_0_is_refused():
    class Careless(UniformScheduler):
        name, even = "careless", False

        def plan(self, topology):
            arcs = all_arcs(topology)
            return memoryless(arcs, np.arange(len(arcs)))

    with pytest.raises(InvalidInput, match="rows of weight 0"):
        hg.verify(hg.Timer(n=3, s=2), scheduler=Careless())


def test_agents_are_where_the_cells_say():
    """After many moves every agent is in the list of its cell and in no other, and pairs that meet are near."""
    topology = complete(30)
    scheduler = named("moving:7x6,near=1", topology)
    pair, rows = scheduler.compiled(topology)
    pairs = np.zeros((1, 1, 2), np.int64)
    rng, draw = stream(5, 0, KERNEL), specialize(draw_each, pair=pair)
    for _ in range(300):
        draw(rows[None], 30, rng, pairs)
        rng[:] = stream(5, int(rows[1:31, 0].sum()) + _, KERNEL)
        places = scheduler.places(rows, 30)
        gaps = abs(places[pairs[0, 0, 0]] - places[pairs[0, 0, 1]])
        assert (np.minimum(gaps, np.array([7, 6]) - gaps) <= 1).all()
    listed = []
    for cell, agent in enumerate(rows[31:, 0].tolist()):
        while agent >= 0:
            assert rows[1 + agent, 0] == cell
            listed.append(agent)
            agent = int(rows[1 + agent, 1])
    assert sorted(listed) == list(range(30))


REFUSED = {
    "edge-markov:0,1/2": "appears with probability",
    "edge-markov:1/2": "not understood",
    "moving:3": "not understood",
    "moving:2x2,near=1": "must fit",
}


@pytest.mark.parametrize(("text", "sentence"), REFUSED.items(), ids=list(REFUSED))
def test_what_is_not_understood(text, sentence):
    with pytest.raises(InvalidInput, match=sentence):
        hg.simulate(hg.Pairwise(n=3), scheduler=text)


def test_what_remembers_too_much_is_refused():
    for text in ("edge-markov:1/2,1/2", "moving:9x9"):
        with pytest.raises(InvalidInput, match="too many"):
            hg.verify(hg.Pairwise(n=5), scheduler=text)
    with pytest.raises(InvalidInput, match="whoever is near"):
        hg.simulate(hg.Pairwise(n=5), graph="ring:5", scheduler="moving:9x9")
