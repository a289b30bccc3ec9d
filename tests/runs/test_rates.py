"""Events as part of the process: their law against the exact chain, in both forms of a configuration; availability."""

import json
import math

import numpy as np
import pytest
from scipy import stats

import hegemon as hg
from hegemon.cli.main import main
from hegemon.compute.randomness import FAULT, KERNEL, generator, stream
from hegemon.engines.batch.batch import Batch
from hegemon.engines.population.agents import Agents
from hegemon.engines.population.events import Events
from hegemon.graphs.families import complete
from hegemon.process.stopping import never
from hegemon.runs.rates import EventProcess, read_rates
from hegemon.runs.setting import initial_configuration
from hegemon.web.session import Session

TIMER = hg.Timer(n=4, s=2)
CASES = {
    "random": ["corrupt=1/20"],
    "values": ["corrupt=1/20,leader=0"],
    "churn": ["corrupt=1/50", "leave=1/10", "join=1/9"],
}


def by_hand(protocol, rates) -> float:
    """The availability of a fixed population from the stationary law of a dense matrix, written without the chain."""
    n, q = protocol.n, protocol.space.size
    states = [tuple(int(k) for k in np.unravel_index(one, (q,) * n)) for one in range(q**n)]
    place = {codes: k for k, codes in enumerate(states)}
    total = float(sum(one.rate for one in rates))
    matrix = np.zeros((len(states), len(states)))
    for k, codes in enumerate(states):
        for i in range(n):
            for j in set(range(n)) - {i}:
                after = list(codes)
                after[i], after[j] = protocol.transition_codes(codes[i], codes[j])
                matrix[k, place[tuple(after)]] += (1 - total) / n / (n - 1)
            for code in range(q):
                after = codes[:i] + (code,) + codes[i + 1 :]
                matrix[k, place[after]] += total / n / q
    law = np.linalg.lstsq(
        np.vstack([matrix.T - np.eye(len(states)), np.ones(len(states))]), np.eye(len(states) + 1)[-1], rcond=None
    )[0]
    leaders = [sum(protocol.space.namespace(code).leader for code in codes) == 1 for codes in states]
    return float(law[leaders].sum())


def test_the_long_run_is_that_of_a_dense_matrix():
    protocol, rates = hg.Timer(n=3, s=2), read_rates(["corrupt=1/7"])
    found = hg.availability(protocol, rates=rates)
    assert math.isclose(found.availability, by_hand(protocol, rates), rel_tol=1e-9) and found.error < 1e-9
    on_path = hg.availability(protocol, rates=rates, graph="path:3")
    assert on_path.configurations == 216 and abs(on_path.availability - found.availability) > 1e-4


@pytest.mark.parametrize("rates", CASES.values(), ids=CASES)
def test_runs_and_the_exact_long_run_agree(rates):
    """Independent runs of equal length: the mean of their shares is the exact share."""
    exact = hg.availability(TIMER, rates=rates)
    runs = [
        hg.simulate(TIMER, rates=rates, availability=True, until="steps:4000", start="safe", trial=k).measures
        for k in range(8)
    ]
    assert stats.ttest_1samp([one["availability"] for one in runs], exact.availability).pvalue > 1e-4
    gaps, lost = sum(one["gaps"] for one in runs), sum(one["gaps"] * one["mean_gap"] for one in runs)
    assert math.isclose(lost / gaps, exact.mean_gap, rel_tol=0.15)
    assert math.isclose(exact.availability, exact.mean_held / (exact.mean_held + exact.mean_gap), rel_tol=1e-9)
    others = [hg.availability(TIMER, rates=other).availability for other in CASES.values() if other != rates]
    assert all(abs(other - exact.availability) > 0.01 for other in others)  # so that the test can tell them apart


def ended(kind, rates, k: int) -> tuple[int, int]:
    """How many leaders and agents there are after 30 steps of an engine."""
    start, topology = initial_configuration(TIMER, "all-leaders", 7, 0, kind.as_multiset), complete(4)
    engine = kind(TIMER, topology, start, never("never"), stream(7, k, KERNEL))
    events = EventProcess(read_rates(rates), TIMER, generator(7, k, FAULT))
    while engine.step < 30:
        engine.advance(min(30, events.step - 1))
        if engine.step == events.step - 1 < 30:
            events.make_due(engine)
    codes, counts = engine.configuration().multiset
    return sum(int(c) for code, c in zip(codes, counts, strict=True) if leads(code)), int(counts.sum())


def p_value(found: list, expected: list) -> float:
    kinds = sorted(set(found) | set(expected))
    table = np.array([[one.count(kind) for kind in kinds] for one in (found, expected)]) + 1
    return float(stats.chi2_contingency(table).pvalue)


@pytest.mark.parametrize("kind", [Agents, Batch, Events], ids=lambda kind: kind.name)
@pytest.mark.parametrize("rates", [CASES["churn"], ["corrupt=1/3,leader=0"]], ids=["churn", "values"])
def test_a_run_of_fixed_length_has_the_law_of_a_plain_simulation(kind, rates):
    found, expected = [ended(kind, rates, k) for k in range(300)], [plainly(rates, k) for k in range(300)]
    assert p_value(found, expected) > 1e-4


def test_another_rate_is_noticed():
    """Broken twins: faults half as frequent, and nobody joining."""
    for rates, twin in ((["corrupt=1/3,leader=0"], ["corrupt=1/6,leader=0"]), (CASES["churn"], CASES["churn"][:2])):
        assert p_value([plainly(rates, k) for k in range(300)], [plainly(twin, k) for k in range(300)]) < 1e-6


def leads(code: int) -> bool:
    return TIMER.space.namespace(code).leader == 1


def plainly(texts, k: int) -> tuple[int, int]:
    """Thirty steps in plain Python: at each, whether it is an event is a coin of its own."""
    rng, rates = np.random.default_rng([11, k]), read_rates(texts)
    agents = np.repeat(*initial_configuration(TIMER, "all-leaders", 7, 0).multiset).tolist()
    for _ in range(30):
        level, what = rng.random(), None
        for rate in rates:
            what = rate if what is None and level < rate.rate else what
            level -= float(rate.rate)
        i, j = (int(one) for one in rng.choice(len(agents), 2, replace=False))
        if what is None:
            agents[i], agents[j] = TIMER.transition_codes(agents[i], agents[j])
        elif what.kind == "leave" and len(agents) > 2:
            agents.pop(i)
        elif what.kind == "join" and len(agents) < 4:
            agents.append(int(rng.integers(TIMER.space.size)))
        elif what.kind == "corrupt" and not what.values:
            agents[i] = int(rng.integers(TIMER.space.size))
        elif what.kind == "corrupt":
            state = TIMER.space.namespace(agents[i])
            state.leader = 0
            agents[i] = TIMER.space.code(state)
    return sum(map(leads, agents)), len(agents)


def test_a_leader_that_leaves_is_a_loss():
    """One of three agents leaves, and the last two stay: with probability 1/3 it is the leader."""
    asked = {"rates": ["leave=1/2"], "start": "safe", "until": "broken", "max_steps": 60}
    lost = [hg.simulate(hg.Pairwise(n=3), trial=k, **asked) for k in range(150)]
    assert all(run.measures["agents"] == 2 and run.leaders == (not run.reached) for run in lost)
    assert stats.binomtest(sum(run.reached for run in lost), 150, 1 / 3).pvalue > 1e-4


def test_counts_change_at_a_billion_agents():
    """Batch under churn and faults: the number of agents is right, and the events are as many as they should be."""
    rates = ["leave=1/1000000", "join=1/2000000", "corrupt=1/1000000"]
    run = hg.simulate(hg.Pairwise(n=10**9), rates=rates, until="steps:100000000", seed=2)
    assert run.engine == "batch" and 10**9 - 400 < run.measures["agents"] < 10**9
    assert (
        stats.poisson.cdf(run.measures["events"], 250) > 1e-6 and stats.poisson.sf(run.measures["events"], 250) > 1e-6
    )
    assert int(run.configuration.multiset[1].sum()) == run.measures["agents"]


REFUSED = {
    "corupt=0.1": "did you mean corrupt",
    "corrupt=2": "below 1",
    "leave=0.1,leader=1": "values to an agent that leaves",
    "corrupt=0.1,lead=1": "lead",
}


@pytest.mark.parametrize(("text", "sentence"), REFUSED.items(), ids=list(REFUSED))
def test_rates_that_are_not_understood(text, sentence):
    with pytest.raises(hg.InvalidInput, match=sentence):
        hg.simulate(TIMER, rates=[text], until="steps:10")


def test_what_events_cannot_be_combined_with_is_refused():
    for options, sentence in (
        ({"rates": ["leave=0.1"], "graph": "ring:4", "until": "steps:9"}, "complete graphs only"),
        ({"rates": ["leave=0.1"], "until": "all(leader == 0)"}, "about all n"),
        ({"rates": ["corrupt=0.1"], "faults": [hg.Fault(3, 1)]}, "does not support faults"),
        ({"availability": True}, "up to a limit"),
        ({"availability": True, "until": "steps:9", "engine": "batch"}, "engine agents"),
    ):
        with pytest.raises(hg.InvalidInput, match=sentence):
            hg.simulate(TIMER, **options)
    with pytest.raises(hg.InvalidInput, match="depends on the start"):
        hg.availability(hg.Pairwise(n=3), rates=["leave=1/9"])


def test_events_are_never_left_out_silently():
    """What tells or shows a run interaction by interaction refuses what it does not show; rates it shows."""
    for name, value in {"availability": True, "loss": 0.1}.items():
        with pytest.raises(hg.InvalidInput, match=f"a watched run does not support {name}"):
            Session(TIMER, **{name: value})
    words = ["run", "timer", "--n", "3", "--rate", "corrupt=0.05", "--until", "steps:50", "--trace", "5"]
    assert main(words) == 2


def test_the_command_line(capsys):
    assert main(["verify", "timer", "--n", "3", "--set", "s=2", "--rate", "corrupt=1/20", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["availability"] == hg.availability(hg.Timer(n=3, s=2), rates=["corrupt=1/20"]).availability
    words = ["run", "timer", "--n", "3", "--rate", "corrupt=0.05", "--availability", "--until", "steps:500", "--json"]
    assert main(words) == 0
    assert 0 < json.loads(capsys.readouterr().out)["trials"][0]["availability"] < 1
    assert main(["verify", "timer", "--n", "3", "--rate", "corrupt=0.05", "--start", "safe"]) == 2
