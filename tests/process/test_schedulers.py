"""Who acts next: the uniform law in all its forms, a scheduler of one's own, and what an engine says it just did."""

import numpy as np
import pytest
from scipy import stats

import hegemon as hg
from hegemon.cli.main import main
from hegemon.compute.compilation import specialize
from hegemon.compute.randomness import KERNEL, generator, stream
from hegemon.engines.engine import Engine
from hegemon.engines.population.agents import Agents
from hegemon.graphs.families import complete, path
from hegemon.models.unreliable import unreliable
from hegemon.process.schedulers.reading import scheduler_for
from hegemon.process.schedulers.scheduler import Scheduler, memoryless
from hegemon.process.schedulers.uniform import UNIFORM, UniformScheduler, pair_arcs
from hegemon.process.stopping import never
from hegemon.runs.record import RunRecord
from hegemon.runs.setting import initial_configuration, topology_for
from hegemon.web.session import Session

DRAWS = 10_000
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


def met(scheduler, topology) -> np.ndarray:
    """Pairs that plain Python draws."""
    rng = generator(3, 0, KERNEL)
    return np.array([scheduler.meet(topology, lambda k: int(rng.integers(k))) for _ in range(DRAWS)])


def p_value(pairs: np.ndarray, plan) -> float:
    """How likely these pairs are, one after the other, if the plan is their law; 0 if one of them is impossible."""
    rows = {
        (memory, *plan.pairs[row].tolist()): row
        for memory in range(plan.memories)
        for row in range(plan.places[memory], plan.places[memory + 1])
    }
    counts, visits, memory = np.zeros(len(plan.pairs)), np.zeros(plan.memories), 0
    for one in map(tuple, pairs.tolist()):
        if (memory, *one) not in rows:
            return 0.0
        row = rows[memory, *one]
        counts[row] += 1
        visits[memory] += 1
        memory = plan.after[row]
    expected, free = np.zeros(len(plan.pairs)), 0
    for memory in range(plan.memories):
        part = slice(plan.places[memory], plan.places[memory + 1])
        expected[part] = visits[memory] * plan.weights[part] / plan.weights[part].sum()
        free += (np.count_nonzero(plan.weights[part]) - 1) * (visits[memory] > 0)
    seen = expected > 0
    return float(stats.chi2.sf(((counts - expected)[seen] ** 2 / expected[seen]).sum(), free)) if free else 1.0


class Biased(UniformScheduler):
    """A wrong twin: on complete graphs the last agent is never a responder."""

    def meet(self, topology, below):
        i = below(topology.n)
        return i, (i + 1 + below(topology.n - 2)) % topology.n


LAWS = [
    ("uniform", complete(5)), ("uniform", path(4)), ("weighted:3,1,0.5,2,0", complete(5)), ("weighted:zipf=1", path(4)),
    ("matching", complete(5)), ("matching", path(5)), ("permutation", path(4)), ("round-robin", path(4)),
]  # fmt: skip


def named(text: str, topology) -> Scheduler:
    return scheduler_for(text, hg.Pairwise(n=topology.n), topology)


@pytest.mark.parametrize(("text", "topology"), LAWS, ids=lambda one: getattr(one, "name", one))
def test_the_forms_of_a_law_agree(text, topology):
    scheduler = named(text, topology)
    plan = scheduler.plan(topology)
    assert p_value(drawn(scheduler, topology), plan) > 1e-4
    if scheduler is UNIFORM:
        assert len(plan.pairs) == topology.arcs == len(np.unique(plan.pairs, axis=0))
        assert p_value(met(UNIFORM, topology), plan) > 1e-4


def test_another_law_is_noticed():
    """Broken twins: a biased law, a matching that forgets who has met, rates that are all alike."""
    assert p_value(met(Biased(), complete(5)), UNIFORM.plan(complete(5))) < 1e-9
    uniform = drawn(UNIFORM, complete(5))
    assert p_value(uniform, named("matching", complete(5)).plan(complete(5))) == 0
    assert p_value(uniform, named("weighted:3,1,1,2,1", complete(5)).plan(complete(5))) < 1e-9


def test_no_arc_waits_longer_than_the_bound():
    for scheduler, holds in ((named("bounded:2", path(4)), True), (UNIFORM, False)):
        pairs, last, longest = drawn(scheduler, path(4)).tolist(), {}, 0
        for step, one in enumerate(map(tuple, pairs), 1):
            longest = max(longest, step - last.get(one, 0))
            last[one] = step
        assert (longest <= 2 * 6) == holds and len(last) == 6
    counts = np.unique(drawn(named("bounded:9", path(4)), path(4)), axis=0, return_counts=True)[1]
    assert counts.min() > 0.9 * DRAWS / 6  # a wide bound is nearly uniform, and no arc is preferred


@pytest.mark.parametrize("text", ["weighted:3,1,2", "matching", "permutation", "round-robin"])
def test_simulation_and_chain_agree(text):
    """Exact expectations from one start, against the mean of trials."""
    start = [{"leader": 1, "timer": 1}, {"leader": 0, "timer": 3}, {"leader": 1, "timer": 0}]
    start += [{"leader": 1, "timer": 1}] * (text == "matching")  # of three agents, two meet in a round: uniform
    protocol = hg.Timer(n=len(start), s=3)
    answer = hg.verify(protocol, start=start, property="time", scheduler=text)
    steps = [run.steps for run in hg.run_trials(protocol, 400, start=start, scheduler=text, workers=1).runs]
    exact = answer.hitting.mean
    assert answer.hitting.error < 1e-9
    if text == "round-robin":  # nothing is left to chance
        assert set(steps) == {exact}
    else:
        assert stats.ttest_1samp(steps, exact).pvalue > 1e-4
        uniform = hg.verify(protocol, start=start, property="time").hitting.mean
        assert abs(uniform - exact) > 1e-6  # so the test can tell them apart


@pytest.mark.parametrize("text", ["matching", "permutation", "bounded:2", "edge-markov:1/9,1/2", "moving:5x4"])
def test_what_a_scheduler_remembers_is_part_of_the_run(text):
    """The run does not depend on observation, and a restored snapshot repeats it, memory included."""
    protocol = hg.Timer(n=7)
    topology = topology_for(protocol)

    def fresh():
        start, key = initial_configuration(protocol, "random", 5, 0), stream(5, 0, KERNEL)
        return Agents(protocol, topology, start, never("never"), key, scheduler=named(text, topology))

    def went(engine, *goals):
        for goal in goals:
            while engine.step < goal:
                engine.advance(goal)
        return engine.configuration().agents

    looked, straight = fresh(), fresh()
    assert np.array_equal(went(looked, 10, 11, 60, 200), went(straight, 200))
    kept = looked.snapshot()
    after = went(looked, 230)
    looked.restore(kept)
    assert np.array_equal(went(looked, 203, 230), after)


def test_a_function_of_ones_own(tmp_path):
    """From Python, or by name beside a protocol of one's own; it may draw from the run's coins."""
    seen = []

    def choose(step, agents, below):
        seen.append((step, int(agents["leader"].sum())))
        first = below(3)
        return first, (first + 1) % 3

    run = hg.simulate(hg.Pairwise(n=3), scheduler=choose, seed=2)
    assert run.engine == "stepwise" and seen[0] == (0, 3) and len(seen) == run.steps
    assert run.steps == hg.simulate(hg.Pairwise(n=3), scheduler=choose, seed=2).steps
    (tmp_path / "mine.py").write_text(
        "from hegemon import Pairwise\n\nclass Mine(Pairwise):\n    pass\n\n"
        "def chain(step, agents):\n    first = (step + 1) % 2\n    return first, first + 1\n\n"
        "def far(step, agents):\n    return 0, 9\n"
    )
    mine = f"{tmp_path / 'mine.py'}:Mine"
    assert main(["run", mine, "--n", "3", "--scheduler", "function:chain", "--max-steps", "9"]) == 0
    assert main(["run", mine, "--n", "3", "--scheduler", "function:far", "--max-steps", "9"]) == 2


REFUSED = {
    "weighted:1,2": "2 rates for 3 agents",
    "weighted:1,-2,1": "at least 0",
    "weighted:0,0,1": "fewer than two agents",
    "weighted:": "weighted by what",
    "weighted:no.csv": "no such file",
    "matching:3": "takes nothing",
    "bounded:0": "write bounded:K",
    "recorded:no.csv": "no such file",
    "function:choose": "protocol of your own",
    "matchign": "did you mean matching",
}


@pytest.mark.parametrize(("text", "sentence"), REFUSED.items(), ids=list(REFUSED))
def test_schedulers_that_are_not_understood(text, sentence):
    with pytest.raises(hg.InvalidInput, match=sentence):
        hg.simulate(hg.Pairwise(n=3), scheduler=text)


def test_what_no_chain_can_follow_is_refused():
    for text, sentence in {"bounded:2": "too much for an exact chain", "permutation": "at most 16"}.items():
        with pytest.raises(hg.InvalidInput, match=sentence):
            hg.verify(hg.Pairwise(n=5), scheduler=text)


def test_rates_and_schedules_from_files(tmp_path):
    rates = tmp_path / "rates.csv"
    rates.write_text("initiator,responder,rate\n0,1,1\n2,1,3\n")
    answer = hg.verify(hg.Pairwise(n=3), scheduler=f"weighted:{rates}", property="time:count(leader == 1) <= 2")
    assert answer.hitting.mean == 1 and answer.chain.denominator == 4
    agents = hg.simulate(hg.Pairwise(n=3), scheduler=f"weighted:{rates}", until="steps:50").configuration.agents
    assert agents["leader"].tolist() == [1, 0, 1]  # 0 and 2 never meet
    rates.write_text("agent,rate\n0,1\n2,2.5\n")
    assert hg.simulate(hg.Pairwise(n=3), scheduler=f"weighted:{rates}", until="steps:50").leaders == 2
    contacts = tmp_path / "contacts.csv"
    contacts.write_text("time,u,v\n20,0,1\n40,2,0\n")
    run = hg.simulate(hg.Pairwise(n=3), scheduler=f"recorded:{contacts}")
    assert run.steps == 2 and run.configuration.agents["leader"].tolist() == [0, 0, 1]
    contacts.write_text("time,u,v\n20,0,3\n")
    with pytest.raises(hg.InvalidInput, match="pair 1, 0 -> 3, is no arc"):
        hg.simulate(hg.Pairwise(n=3), scheduler=f"recorded:{contacts}")


class FromFirst(Scheduler):
    """Agent 0 always initiates."""

    name = "from-first"

    def plan(self, topology):
        return memoryless(np.array([[0, agent] for agent in range(1, topology.n)], np.int32))

    def compiled(self, topology):
        return pair_arcs, self.plan(topology).pairs


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
        with pytest.raises(hg.InvalidInput, match=f"engine {engine} is exact only for schedulers that are .*even"):
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
    """The pair and the coins that it names make the next configuration of the one before, and no other changes."""
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
