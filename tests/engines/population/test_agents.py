"""Engine `agents`: exact process, exact first step, reproducible from its seed."""

import itertools

import numpy as np
import pytest
from scipy import stats

import hegemon as hg
from hegemon.compute.randomness import next_index, stream
from hegemon.engines.pacing import Pace
from hegemon.engines.population import codes
from hegemon.engines.population.agents import Agents, few_states
from hegemon.process.membership import Membership
from hegemon.process.stopping import parse_stop
from hegemon.runs.setting import topology_for
from tests.compute.pairs import next_pair

PROTOCOLS = [
    hg.Threshold(n=12, k=4, marked=6),
    hg.Pairwise(n=12),
    hg.Timer(n=8, s=12),
    hg.Epidemic(n=12, top=3),
    hg.Countdown(n=12, top=9),
    hg.QuickElimination(n=12),
    hg.TimeOptimal(n=12),
    hg.Ring(n=8, N=10),
]
IDS = [protocol.id for protocol in PROTOCOLS]


@pytest.mark.parametrize(
    "protocol",
    [p if p.id in ("ring", "time-optimal") else pytest.param(p, marks=pytest.mark.full) for p in PROTOCOLS],
    ids=IDS,
)
def test_table_and_records_make_the_same_run(protocol, monkeypatch):
    """Both forms draw the same pairs, so with one seed they must agree in every detail."""
    with_table = hg.simulate(protocol, seed=5, until="steps:2000", observe=True)
    safe_with_table = hg.simulate(protocol, seed=6)
    monkeypatch.setattr(codes, "LARGEST_TABLE", 0)
    with_records = hg.simulate(protocol, seed=5, until="steps:2000", observe=True)
    safe_with_records = hg.simulate(protocol, seed=6)
    assert with_table.configuration.mappings() == with_records.configuration.mappings()
    assert with_table.history.equals(with_records.history)
    assert safe_with_table.steps == safe_with_records.steps


def test_what_one_stop_counts_is_not_taken_for_what_another_counts():
    """The table of pairs is shared by the trials of a protocol, and says what the stop counts."""
    stops = ["safe", "count(leader == 0) >= 3", "count(leader == 1) <= 2", "steps:50"]
    expected = [hg.simulate(hg.Pairwise(n=12), seed=4, until=stop).steps for stop in stops]
    protocol = hg.Pairwise(n=12)
    for _ in range(2):
        assert [hg.simulate(protocol, seed=4, until=stop).steps for stop in stops] == expected


def test_blocks_of_work_that_are_cut_to_whole_ones_still_grow():
    """A pause of the machine made the slices of a run short, and they stayed so."""
    pace = Pace(1 << 18)
    pace.amount = 16_383
    pace.start()
    pace.done(16_352)
    assert pace.amount == 2 * 16_383


@pytest.mark.parametrize("states", [1, 5, 6, 40])
@pytest.mark.parametrize("n", [2, 39, 40, 41, 319, 1000, 5003])
def test_few_states_are_counted_however_they_lie(n, states):
    """Samples only ever show that there are more: rare states are counted as well."""
    space, rng = hg.Timer(n=60, s=30).space, np.random.default_rng(n * states)
    codes = np.zeros(n, np.int64)
    codes[rng.choice(n, min(n, states), replace=False)] = np.arange(min(n, states))  # all but one of them once
    expected = np.unique(codes, return_counts=True)
    found = few_states(space, space.decode_array(codes), most=5)
    assert (found is None) == (len(expected[0]) > 5)
    assert found is None or all(map(np.array_equal, found, expected))


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=IDS)
def test_the_first_step_inside_is_exact(protocol):
    """Replay the run step by step and ask the plain-Python definition of the set at each of them."""
    chosen = protocol.sets["safe"]
    for trial in range(3):
        run = hg.simulate(protocol, seed=11, trial=trial)
        replayed = replay(protocol, seed=11, trial=trial)
        for step, configuration in zip(range(run.steps + 1), replayed, strict=False):
            inside = chosen.contains(configuration, protocol.p, protocol.values)
            assert inside == (step == run.steps), step


def replay(protocol, seed, trial):
    """The configurations of a run one by one, by an engine without a stop."""
    from hegemon.compute.randomness import KERNEL
    from hegemon.runs.setting import initial_configuration

    start = initial_configuration(protocol, None, seed, trial)
    engine = Agents(
        protocol, topology_for(protocol), start, parse_stop("steps:0", protocol), stream(seed, trial, KERNEL)
    )
    while True:
        yield engine.configuration().agents.view(np.recarray)
        engine.advance(engine.step + 1)


def test_holding_ends_when_the_leader_changes():
    protocol = hg.Timer(n=4, s=3)
    for trial in range(5):
        run = hg.simulate(protocol, start="safe", until="broken", seed=3, trial=trial)
        before = hg.simulate(protocol, start="safe", until=f"steps:{run.steps - 1}", seed=3, trial=trial)
        leader = [agent["leader"] for agent in before.configuration.mappings()]
        after = [agent["leader"] for agent in run.configuration.mappings()]
        assert leader == [1, 0, 0, 0] and after != leader


def test_a_closed_set_is_left_by_nobody_and_open_sets_are_looked_at_every_step():
    protocol = hg.Ring(n=6)
    closed = hg.simulate(protocol, seed=2)
    open_set = protocol.sets["safe"].described("the same, not known to be closed", closed=False)
    assert hg.simulate(protocol, seed=2, until=open_set).steps == closed.steps


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=IDS)
def test_recording_and_workers_change_nothing(protocol):
    alone = hg.run_trials(protocol, 6, seed=9, workers=1).runs
    together = hg.run_trials(protocol, 6, seed=9, workers=3, observe=True, every=7).runs
    assert [run.steps for run in alone] == [run.steps for run in together]
    assert [run.trial for run in together] == list(range(6))
    assert len({run.steps for run in alone}) > 1 or protocol.id == "pairwise"
    assert hg.simulate(protocol, seed=9, trial=4).steps == alone[4].steps


def exact_distribution(protocol, start, steps):
    """The law of the configuration after some steps, over all agents, by the plain-Python transition."""
    law = {tuple(start): 1.0}
    pairs = list(itertools.permutations(range(protocol.n), 2))
    for _ in range(steps):
        following = {}
        for configuration, probability in law.items():
            for i, j in pairs:
                after = list(configuration)
                after[i], after[j] = protocol.transition_codes(after[i], after[j])
                key = tuple(after)
                following[key] = following.get(key, 0.0) + probability / len(pairs)
        law = following
    return law


@pytest.mark.parametrize(
    "protocol",
    [hg.Timer(n=3, s=4), hg.TimeOptimal(n=3, m=2, r_max=3, r_mid=2, b_max=2), hg.QuickElimination(n=4)],
    ids=lambda protocol: protocol.id,
)
def test_configurations_have_the_exact_law(protocol):
    steps, trials = 6, 3000
    start = protocol.initial("all-leaders", None).agents
    law = exact_distribution(protocol, protocol.space.encode_array(start).tolist(), steps)
    observed = {}
    for run in hg.run_trials(
        protocol, trials, seed=21, start="all-leaders", until=f"steps:{steps}", keep_all=True
    ).runs:
        key = tuple(protocol.space.encode_array(run.configuration.agents).tolist())
        observed[key] = observed.get(key, 0) + 1
    assert set(observed) <= set(law)
    assert chi_square(observed, law, trials) > 1e-3
    biased = {key: probability * (2.0 if key[0] > key[1] else 1.0) for key, probability in law.items()}
    total = sum(biased.values())
    assert chi_square(observed, {key: value / total for key, value in biased.items()}, trials) < 1e-6


def chi_square(observed, law, trials):
    """The p-value, rare outcomes pooled so that each class expects at least five."""
    rare = [key for key, probability in law.items() if probability * trials < 5]
    common = [key for key in law if key not in set(rare)]
    counts = [observed.get(key, 0) for key in common] + [sum(observed.get(key, 0) for key in rare)]
    expected = [law[key] * trials for key in common] + [sum(law[key] for key in rare) * trials]
    if expected[-1] < 5:
        counts, expected = counts[:-1], expected[:-1]
    expected = np.array(expected) * sum(counts) / sum(expected)
    return stats.chisquare(counts, expected).pvalue


@pytest.mark.parametrize("n", [2, 3, 7, 10])
def test_pairs_are_uniform(n):
    state = stream(3, n)
    counts = np.zeros((n, n))
    for _ in range(30_000):
        counts[next_pair(state, n)] += 1
    assert counts.trace() == 0
    assert stats.chisquare(counts[~np.eye(n, dtype=bool)]).pvalue > 1e-3


def test_indices_are_uniform_below_bounds_that_are_no_power_of_two():
    state = stream(5, 0)
    bound = 3 * 2**30  # half of all 32-bit products must be redrawn correctly to stay uniform in thirds
    thirds = np.bincount([next_index(state, bound) >> 30 for _ in range(30_000)], minlength=3)
    assert stats.chisquare(thirds).pvalue > 1e-3


@pytest.mark.parametrize("graph", ["path:4", "star:5", "ring:6", "grid:2x3", "complete:5"])
def test_every_arc_is_equally_likely(graph):
    """One step of an epidemic-like protocol from a lone source tells which arc was drawn."""
    n = int(np.prod([int(part) for part in graph.split(":")[1].split("x")]))
    protocol = hg.Countdown(n=n, top=1)
    topology = topology_for(protocol, graph)
    engine = Agents(protocol, topology, protocol.initial("full", None), parse_stop("steps:0", protocol), stream(8, 0))
    counts = {}
    for _ in range(6000):
        engine.load(protocol.initial("full", None))
        engine.advance(engine.step + 1)
        touched = tuple(np.flatnonzero(engine.configuration().agents["y"] == 0))
        counts[touched] = counts.get(touched, 0) + 1
    edges = {tuple(sorted((int(s), int(t)))) for s, t in zip(topology.sources, topology.targets, strict=True)}
    assert set(counts) == edges
    assert stats.chisquare(list(counts.values())).pvalue > 1e-3


def test_membership_counts_with_weights():
    protocol = hg.Pairwise(n=5)
    membership = Membership(protocol, parse_stop("safe", protocol))
    records = protocol.space.decode_array(np.array([0, 1]))
    assert membership.counts(records, np.array([3, 2])).tolist() == [2]


def test_interact_out_of_range_is_named_even_if_the_first_look_missed_it():
    class Late(hg.Countdown):
        def interact(a, b, p):
            a.y = a.y - 1 if a.y < 2 and b.y < 2 else max(a.y - 1, 0)

    Late.check_sound = lambda self: None
    with pytest.raises(hg.InvalidInput, match="wrote y = -1, outside 0..9"):
        hg.simulate(Late(n=5, top=9), start="full", until="steps:100000", seed=1)
