"""Engine `batch` samples the same process as `agents`, at every scale, whatever is looked at on the way."""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

import hegemon as hg
from hegemon.compute.compilation import specialize
from hegemon.compute.randomness import KERNEL, stream
from hegemon.engines.batch import census, epoch
from hegemon.engines.batch.batch import Batch, activity
from hegemon.engines.batch.kernels import plan
from hegemon.engines.batch.order import ordered
from hegemon.engines.batch.skipping import chance_of_change
from hegemon.engines.population import adaptive_complete
from hegemon.process.stopping import never, parse_stop
from hegemon.runs.setting import initial_configuration, topology_for
from tests.compute.agreement import SIGNIFICANCE, same_law

FIRST = [
    (hg.Pairwise(n=9), "all-leaders"),
    (hg.TimeOptimal(n=8, m=3, r_max=6, r_mid=4, b_max=5), "no-leader"),
]
REST = [
    (hg.Pairwise(n=3), "all-leaders"),
    (hg.Pairwise(n=60), "all-leaders"),
    (hg.Threshold(n=5, k=3, marked=3), None),
    (hg.Threshold(n=11, k=4, marked=5), None),
    (hg.Timer(n=3, s=4), "random"),
    (hg.Timer(n=6, s=7), "random"),
    (hg.Timer(n=25, s=10), "no-leader"),
    (hg.Epidemic(n=4, top=1), None),
    (hg.Epidemic(n=12, top=3), "random"),
    (hg.Countdown(n=3, top=5), "full"),
    (hg.Countdown(n=10, top=9), "random"),
    (hg.QuickElimination(n=4), None),
    (hg.QuickElimination(n=9), None),
    (hg.CaiIzumiWada(n=3), "random"),
    (hg.CaiIzumiWada(n=6), "random"),
    (hg.TimeOptimal(n=3), "no-leader"),
    (hg.TimeOptimal(n=40), "random"),
]
WORK = FIRST + [pytest.param(*work, marks=pytest.mark.full) for work in REST]
IDS = [f"{protocol.id}-{protocol.n}-{start}" for protocol, start in FIRST + REST]
SOON = [protocol for protocol, _ in FIRST]


def runs(protocol, engine, seed, trials=None, **options):
    trials = trials or (1000 if protocol in SOON else 2000)
    return hg.run_trials(protocol, trials, engine=engine, seed=seed, keep_all=True, **options).runs


def multiset(configuration) -> tuple:
    codes, counts = configuration.multiset
    return (*codes.tolist(), *counts.tolist())


@pytest.mark.parametrize(("protocol", "start"), [pytest.param(*WORK[0], marks=pytest.mark.full), *WORK[1:]], ids=IDS)
def test_configurations_have_the_same_law(protocol, start):
    for steps in (5, 3 * protocol.n):
        samples = [
            [multiset(run.configuration) for run in runs(protocol, engine, seed, start=start, until=f"steps:{steps}")]
            for engine, seed in (("agents", 1), ("batch", 2))
        ]
        assert same_law(*samples) > SIGNIFICANCE, steps


@pytest.mark.parametrize(("protocol", "start"), WORK, ids=IDS)
def test_convergence_has_the_same_law(protocol, start):
    expected, observed = (
        np.array([run.steps for run in runs(protocol, engine, seed, start=start)])
        for engine, seed in (("agents", 3), ("batch", 4))
    )
    assert stats.ks_2samp(expected, observed).pvalue > SIGNIFICANCE
    assert stats.ks_2samp(expected, observed + np.ceil(0.15 * observed.mean())).pvalue < SIGNIFICANCE


@pytest.mark.parametrize(
    "protocol",
    [
        hg.Timer(n=3, s=6),
        pytest.param(hg.Timer(n=5, s=6), marks=pytest.mark.full),
        pytest.param(hg.TimeOptimal(n=6, m=3, r_max=6, r_mid=3, b_max=4), marks=pytest.mark.full),
        pytest.param(hg.TimeOptimal(n=12, r_max=6, r_mid=3, b_max=5), marks=pytest.mark.full),
    ],
    ids=lambda protocol: f"{protocol.id}-{protocol.n}",
)
def test_holding_has_the_same_law(protocol):
    expected, observed = (
        [run.steps for run in runs(protocol, engine, seed, start="safe", until="broken")]
        for engine, seed in (("agents", 5), ("batch", 6))
    )
    assert stats.ks_2samp(expected, observed).pvalue > SIGNIFICANCE


def leap(protocol, steps, seed):
    """The deliberately biased sampler: interactions come six at a time, and none sees what the others did."""
    rng = np.random.default_rng(seed)
    start = protocol.initial("no-leader", rng)
    codes = protocol.space.encode_array(start.agents)
    for _ in range(steps // 6):
        before = codes.copy()
        for pair in (rng.choice(protocol.n, size=2, replace=False) for _ in range(6)):
            codes[pair] = protocol.transition_codes(*before[pair])
    return multiset(type(start)(protocol.space, agents=protocol.space.decode_array(codes)))


def test_the_test_catches_a_leap():
    protocol, start = FIRST[1]
    steps = 3 * protocol.n
    right = [multiset(run.configuration) for run in runs(protocol, "batch", 2, start=start, until=f"steps:{steps}")]
    wrong = [leap(protocol, steps, seed) for seed in range(500)]
    assert same_law(right, wrong) < 1e-12


def exact_law(protocol, start, steps):
    """The law of the multiset after some steps, by the plain-Python transition of every pair."""
    law = {tuple(sorted(start)): 1.0}
    pairs = list(itertools.permutations(range(protocol.n), 2))
    for _ in range(steps):
        following = {}
        for states, probability in law.items():
            for i, j in pairs:
                after = list(states)
                after[i], after[j] = protocol.transition_codes(after[i], after[j])
                key = tuple(sorted(after))
                following[key] = following.get(key, 0.0) + probability / len(pairs)
        law = following
    return law


def test_the_law_is_exact():
    protocol = hg.Timer(n=4, s=3)
    start = protocol.initial("all-leaders", None).agents
    law = exact_law(protocol, protocol.space.encode_array(start).tolist(), 11)
    keys = sorted(law, key=law.get, reverse=True)
    found = runs(protocol, "batch", 7, trials=4000, start="all-leaders", until="steps:11")
    drawn = [tuple(sorted(np.repeat(*run.configuration.multiset).tolist())) for run in found]
    assert set(drawn) <= set(law)
    common = [key for key in keys if law[key] * 4000 >= 8]
    counts = [drawn.count(key) for key in common]
    expected = [law[key] * 4000 for key in common]
    counts, expected = [*counts, 4000 - sum(counts)], [*expected, 4000 - sum(expected)]
    assert stats.chisquare(counts, expected).pvalue > SIGNIFICANCE


@pytest.mark.parametrize("engine", ["batch", "auto"])
@pytest.mark.parametrize(
    ("protocol", "start"), [(hg.TimeOptimal(n=300), "no-leader"), (hg.Pairwise(n=2000), None)], ids=["dense", "sparse"]
)
def test_recording_changes_nothing(protocol, start, engine, monkeypatch):
    monkeypatch.setattr(adaptive_complete, "BRIEF", 1000)  # let the automatic choice change engines early
    plain = hg.simulate(protocol, seed=3, engine=engine, start=start)
    steps = sorted({1, 2, 37, plain.steps // 2, plain.steps // 2 + 1, plain.steps - 1})
    recorded = hg.simulate(protocol, seed=3, engine=engine, start=start, observe=True, at=steps)
    assert (recorded.steps, recorded.engine) == (plain.steps, plain.engine)
    assert multiset(recorded.configuration) == multiset(plain.configuration)
    assert recorded.history["step"].tolist() == steps
    before = hg.simulate(protocol, seed=3, engine=engine, start=start, until=f"steps:{plain.steps - 1}")
    inside = before.configuration.space.decode_array(before.configuration.multiset[0])
    assert multiset(before.configuration) != multiset(plain.configuration) and len(inside)


def test_records_of_one_epoch_belong_to_one_run():
    """An epidemic grows by at most one agent per step, also between two looks into the same epoch."""
    run = hg.simulate(hg.Epidemic(n=10**6), engine="batch", seed=5, until="steps:8000000", observe=True,
                      at=list(range(7_900_000, 7_903_000, 100)))  # fmt: skip
    growth = np.diff(run.history["informed"])
    assert (growth >= 0).all() and (growth <= 100).all() and growth.sum() > 0


def test_what_a_look_is_given_has_one_index():
    """Compiled code sees addresses alone, but with HEGEMON_CHECK_INDICES=1 kernels are given these arrays."""
    protocol = hg.Epidemic(n=1000)
    topology, stop = topology_for(protocol), parse_stop("count(x == 1) >= 500", protocol)
    engine = Batch(
        protocol, topology, initial_configuration(protocol, "random", 1, 0, True), stop, stream(1, 0, KERNEL)
    )
    log, length = engine._written_epoch()
    log, tree = ordered(log)
    assert length > 1 and log.written.size and all(array.ndim == 1 for array in (*log, *tree))


@pytest.mark.parametrize("touched", [epoch.TOUCHED, 4], ids=["whole epochs", "epochs that end early"])
def test_a_run_that_is_cut_off_is_where_it_says(touched, monkeypatch):
    """Epochs end early when the list of touched agents is full: a limit beyond their end is none inside them."""
    monkeypatch.setattr(epoch, "TOUCHED", touched)
    protocol, given = hg.Epidemic(n=10**4), {"engine": "batch", "seed": 2}
    whole = hg.simulate(protocol, until="count(x == 1) >= 5000", **given)
    for limit in [*range(whole.steps - 40, whole.steps + 40, 7), *range(100, whole.steps, whole.steps // 25)]:
        cut = hg.simulate(protocol, until="count(x == 1) >= 5000", max_steps=limit, **given)
        there = hg.simulate(protocol, until=f"steps:{limit}", observe=True, **given)
        assert (cut.reached, cut.steps) == (limit >= whole.steps, min(limit, whole.steps))
        if not cut.reached:
            assert multiset(cut.configuration) == multiset(there.configuration)
            assert there.history["informed"].iloc[-1] < 5000


def test_a_table_of_pairs_is_only_a_memory(monkeypatch):
    protocol = hg.TimeOptimal(n=200)
    with_table = hg.simulate(protocol, engine="batch", seed=8, start="random")
    monkeypatch.setattr(census, "LARGEST_TABLE", 0)
    without = hg.simulate(protocol, engine="batch", seed=8, start="random")
    assert with_table.steps == without.steps
    assert multiset(with_table.configuration) == multiset(without.configuration)


def test_states_are_discovered_and_forgotten():
    """Far more possible states than slots: the countdown passes through thousands."""
    protocol = hg.Timer(n=3000, s=10**9)
    run = hg.simulate(protocol, engine="batch", start="no-leader", until="steps:3000000", seed=1)
    codes, counts = run.configuration.multiset
    timers = protocol.space.decode_array(codes)["timer"]
    assert counts.sum() == 3000 and len(codes) < 60
    expected = hg.simulate(protocol, engine="agents", start="no-leader", until="steps:3000000", seed=1)
    assert timers.mean() == pytest.approx(expected.configuration.agents["timer"].mean(), abs=40)


def test_snapshots_bring_back_everything():
    protocol = hg.TimeOptimal(n=500)
    stop = never("none")
    start = initial_configuration(protocol, "no-leader", 0, 0, True)
    engine = Batch(protocol, topology_for(protocol), start, stop, stream(4, 0, KERNEL))

    def to(step):
        while engine.step < step:
            engine.advance(step)
        return multiset(engine.configuration())

    to(777)  # in the middle of an epoch
    early = engine.snapshot()
    first, later = to(1001), to(60_000)
    engine.restore(early)
    assert (to(1001), to(60_000)) == (first, later)


def test_leaders_fall_as_the_mean_field_says_at_any_scale():
    """n / (1 + t) leaders after t parallel time, up to fluctuations of order t sqrt(n) while t is small."""
    for n in (10**6, 10**12, 2**50, 2**60):
        time = 3 if n < 10**9 else 200_000 / n**0.5  # some thousand epochs
        run = hg.simulate(hg.Pairwise(n=n), engine="batch", until=f"steps:{int(time * n)}", seed=1)
        assert run.configuration.n == n
        lost, expected = n - run.leaders, n * time / (1 + time)
        assert run.steps == int(time * n)
        assert abs(lost - expected) < 5 * min(time, 1) * n**0.5


def test_epidemic_at_scale_takes_its_expected_time():
    n = 10**8
    steps = np.array([run.steps for run in runs(hg.Epidemic(n=n), "batch", 9, trials=20)])
    expected = n * (np.log(n) + 0.5772)
    assert abs(steps.mean() - expected) < 4 * n * 1.3 / 20**0.5


def test_waits_beyond_64_bits_are_exact_numbers():
    """Two leaders among 2**50 agents meet after about 2**99 steps."""
    protocol = hg.Pairwise(n=2**50)
    start = hg.simulate(protocol, start="safe", until="steps:0", engine="batch").configuration
    codes, counts = start.multiset
    two = type(start)(protocol.space, codes=codes, counts=counts + np.array([-1, 1]))
    times = [run.steps for run in runs(protocol, "batch", 3, trials=200, start=two)]
    scaled = np.array([time / (2**50 * (2**50 - 1) / 2) for time in times])
    assert stats.kstest(scaled, "expon").pvalue > SIGNIFICANCE
    assert max(times) > 2**64


def test_the_chance_of_a_change_is_counted_right():
    protocol = hg.Pairwise(n=10)
    chance = activity(protocol, parse_stop("safe", protocol), np.array([0, 1]), np.array([4, 6]))
    assert chance == pytest.approx(30 / 90)


def test_an_interaction_costs_less_the_more_agents_there_are():
    costs = [plan(3, n)[1] for n in (10**4, 10**8, 10**12, 2**60)]
    assert costs == sorted(costs, reverse=True)
    assert costs[2] < costs[1] / 80
    assert all(plan(occupied, n)[0] >= 1 for occupied in (1, 2, 100, 10**6) for n in (2, 100, 2**60))


def test_silence_ends_a_run_and_a_limit_is_kept():
    run = hg.simulate(hg.Pairwise(n=1000), start="no-leader", engine="batch")
    assert (run.reached, run.leaders) == (False, 0) and run.steps < 1000
    assert hg.simulate(hg.Pairwise(n=1000), start="no-leader", engine="batch", max_steps=10**30).steps == 10**30


def test_faults_among_a_trillion():
    run = hg.simulate(
        hg.Pairwise(n=10**12), start="safe", until="steps:0", faults=(hg.Fault(0, 10**11, {"leader": 1}),), seed=2
    )
    assert 10**11 <= run.leaders <= 10**11 + 1
    run = hg.simulate(hg.TimeOptimal(n=10**12), start="safe", until="steps:0", faults=(hg.Fault(0, 10**11),), seed=2)
    assert run.configuration.n == 10**12
    assert run.leaders == pytest.approx(10**11 / 2, rel=0.3)


def test_the_automatic_choice_says_what_it_used(monkeypatch):
    assert hg.simulate(hg.Pairwise(n=100)).engine == "agents"
    assert hg.simulate(hg.Pairwise(n=10**6)).engine == "batch"
    long = hg.simulate(hg.Pairwise(n=3000), seed=1)
    assert long.engine == "agents and batch" and long.reached
    timer = hg.Timer(n=100_000)  # a random start has a hundred thousand different timers
    assert hg.simulate(timer, start="random", until="steps:100000").engine == "agents"


def test_what_batch_cannot_do_is_said():
    with pytest.raises(hg.InvalidInput, match="needs a complete graph, not ring:5"):
        hg.simulate(hg.Pairwise(n=5), graph="ring:5", engine="batch")

    class Late(hg.Countdown):
        def interact(a, b, p):
            a.y = a.y - 1 if a.y < 2 and b.y < 2 else max(a.y - 1, 0)

    Late.check_sound = lambda self: None
    with pytest.raises(hg.InvalidInput, match="wrote y = -1, outside 0..9"):
        hg.simulate(Late(n=50, top=9), start="full", until="steps:100000", seed=1, engine="batch")


class Scatter(hg.PopulationProtocol):
    """Few states are occupied, and nearly every pair of them makes two new ones."""

    class State:
        leader: hg.Bit
        x: hg.Range(0, 4000)

    def interact(a, b, p):
        if a.x != b.x:
            a.x, b.x = (61 * a.x + 7 * b.x + 1) % 4001, (13 * a.x + 89 * b.x + 5) % 4001

    def start_some(self, rng):
        return [hg.Group(self.n - 15)] + [hg.Group(1, {"x": x}) for x in range(1, 16)]


def test_whoever_visits_all_pairs_gets_room_for_what_they_make():
    protocol = Scatter(n=100)
    _, counts = np.unique([0] * 85 + list(range(1, 16)), return_counts=True)
    codes = np.array([protocol.space.code(SimpleNamespace(leader=0, x=x)) for x in range(16)])
    multiset = census.Multiset(protocol, never("none"))
    multiset.load(codes, counts, np.zeros((16, 0), np.int8))
    rooms = []
    while (chance := specialize(chance_of_change, allocates=False)(multiset.addresses, 16, 100)) < 0:
        rooms.append(multiset.capacity)
        assert len(rooms) < 20, f"no room is ever enough: {rooms}"
        multiset.make_room(chance)
    same = 1 - 85 * 84 / (100 * 99)
    assert rooms and chance == pytest.approx(same)
