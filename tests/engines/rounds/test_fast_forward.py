"""Fast-forwarded and plain runs have the same law, in every detail that can be looked at."""

import itertools
from collections import Counter, defaultdict

import numpy as np
import pytest
from scipy import stats

import hegemon as hg
from hegemon.compute.fingerprints import speaks_of
from hegemon.engines.rounds.fast_forward import can_skip
from hegemon.models import Bit, Group, Range, RoundsProtocol, at_least
from tests.compute.agreement import chi_square

TRIALS = 400


class Lamps(RoundsProtocol):
    """A node counts heads in private and, after three in a row, lights its lamp for good; lamps blink in step."""

    random_bits = 1
    private = ("heads",)

    class State:
        heads: Range(0, 2)
        phase: Range(0, 2)
        lit: Bit

    def update(me, neighbours, coins, p):
        if me.phase == 2 and me.lit == 0:
            if coins == 0:
                me.heads = 0
            elif me.heads < 2:
                me.heads += 1
            else:
                me.heads = 0
                me.lit = 1
        me.phase = (me.phase + 1) % 3

    def start_dark(self, rng, topology):
        """No lamp is lit."""
        return [Group(self.n, {"heads": 0, "phase": 0, "lit": 0})]

    default_start = "dark"
    half = at_least("n / 2", lambda a, p: a.lit == 1)
    first = at_least(1, lambda a, p: a.lit == 1)


def both(protocol, trials=TRIALS, **options):
    """Runs with and without fast-forward, from different seeds."""
    return [
        [hg.simulate(protocol, seed=seed, trial=k, fast_forward=skip, **options) for k in range(trials)]
        for seed, skip in ((1, True), (2, False))
    ]


def same_law(first, second) -> float:
    """The p-value of a two-sample test on numbers, or on labels."""
    if isinstance(first[0], tuple):
        labels = sorted(set(first) | set(second))
        table = np.array([[sample.count(label) for label in labels] for sample in (first, second)])
        common = table.sum(0) >= 10
        table = np.column_stack([table[:, common], table[:, ~common].sum(1)])
        return stats.chi2_contingency(table[:, table.sum(0) > 0]).pvalue
    return stats.ks_2samp(first, second).pvalue


@pytest.mark.parametrize("until", ["first", "half"])
def test_lamps(until):
    quick, plain = both(Lamps(5), graph="ring:5", until=until)
    assert all(run.reached for run in quick + plain)
    assert any(run.measures["fast_forwarded_rounds"] for run in quick)
    assert same_law([run.steps for run in quick], [run.steps for run in plain]) > 1e-3
    lit = [[tuple(run.configuration.agents["lit"]) for run in runs] for runs in (quick, plain)]
    assert same_law(*lit) > 1e-3


def test_the_first_lamp_has_the_exact_law():
    """Three heads in a row, one toss every three rounds: mean 14 tosses; the least of five by the exact law."""
    lamps = Lamps(5)
    runs = [hg.simulate(lamps, graph="ring:5", until="first", seed=5, trial=k) for k in range(1000)]
    tosses = np.array([run.steps / 3 for run in runs])
    survive = np.zeros((200, 3))  # heads in a row so far
    survive[0, 0] = 1
    for t in range(1, 200):
        survive[t] = survive[t - 1].sum() / 2, survive[t - 1, 0] / 2, survive[t - 1, 1] / 2
    none_yet = survive.sum(1) ** 5
    law = none_yet[:-1] - none_yet[1:]
    bins = np.array([3, 4, 5, 6, 7, 9, 12])
    observed = [np.sum((low <= tosses) & (tosses < high)) for low, high in zip(bins, [*bins[1:], 10**9], strict=True)]
    expected = [law[low - 1 : high - 1].sum() for low, high in zip(bins, [*bins[1:], 200], strict=True)]
    assert stats.chisquare(observed, np.array(expected) / sum(expected) * len(runs)).pvalue > 1e-3


@pytest.mark.parametrize("rounds", [17, 40, 95])
def test_at_a_given_round_all_fields_have_the_same_law(rounds):
    """The private ones too: a jump that ends at the horizon draws them given that nobody left."""
    quick, plain = both(Lamps(3), graph="path:3", until=f"rounds:{rounds}")
    for name in ("heads", "lit"):
        values = [[tuple(run.configuration.agents[name]) for run in runs] for runs in (quick, plain)]
        assert same_law(*values) > 1e-3


def law_with_a_fault(last: int, fault: int) -> dict:
    """The law of (heads, lit) in the round `last`, one of two nodes being made dark in the round `fault`."""
    now = {((0, 0), (0, 0)): 1.0}
    for round in range(last + 1):
        after: dict = defaultdict(float)
        if round == fault:
            for nodes, chance in now.items():
                for victim in range(2):
                    after[tuple((h, lit * (v != victim)) for v, (h, lit) in enumerate(nodes))] += chance / 2
            now, after = after, defaultdict(float)
        if round == last:
            return now
        for nodes, chance in now.items():
            sides = [[(h, lit)] * 2 for h, lit in nodes]
            if round % 3 == 2:
                sides = [[(h, lit)] * 2 if lit else [(0, 0), (h + 1, 0) if h < 2 else (0, 1)] for h, lit in nodes]
            for one, other in itertools.product(*sides):
                after[one, other] += chance / 4
        now = after
    raise AssertionError


@pytest.mark.parametrize("skip", [True, False])
def test_a_fault_meets_private_fields_of_the_exact_law(skip):
    """Private fields are unknown while rounds are skipped, so the jump ends where the fault strikes."""
    last, fault, trials, protocol = 37, 20, 300, Lamps(2)
    expected, counts, skipped = law_with_a_fault(last, fault), Counter(), 0
    for trial in range(trials):
        run = hg.simulate(
            protocol, graph="path:2", until=f"rounds:{last}", faults=(hg.Fault(fault, 1, {"lit": 0}),), seed=3,
            trial=trial, fast_forward=skip,
        )  # fmt: skip
        counts[tuple((int(a["heads"]), int(a["lit"])) for a in run.configuration.agents)] += 1
        skipped += run.measures["fast_forwarded_rounds"]
    assert bool(skipped) == skip and set(counts) <= set(expected)
    order = sorted(expected, key=lambda nodes: -expected[nodes])
    assert chi_square([counts[x] for x in order], [expected[x] * trials for x in order]) > 1e-4


@pytest.mark.parametrize(
    ("graph", "n"), [pytest.param("ring:6", 6, marks=pytest.mark.full), ("star:5", 5), ("path:4", 4)]
)
def test_trains_converge_with_the_same_law(graph, n):
    quick, plain = both(hg.Trains(n), graph=graph, start="all-leaders", trials=300)
    assert sum(run.measures["fast_forwarded_rounds"] for run in quick) > 0.5 * sum(run.steps for run in quick)
    assert same_law([run.steps for run in quick], [run.steps for run in plain]) > 1e-3
    winners = [[(int(run.configuration.agents["leader"].argmax()),) for run in runs] for runs in (quick, plain)]
    assert same_law(*winners) > 1e-3


def test_trains_at_a_given_round_have_the_same_law():
    quick, plain = both(hg.Trains(3), graph="path:3", start="all-leaders", until="rounds:700", trials=300)
    for what in (("leader", "rand"), ("L_idx", "L_flag"), ("F", "F_bit")):
        values = [
            [tuple(int(x) for name in what for x in run.configuration.agents[name]) for run in runs]
            for runs in (quick, plain)
        ]
        assert same_law(*values) > 1e-3


def test_the_wait_for_a_marked_train_is_geometric():
    """One leader in Γ_L: a train is marked with probability 4^-N, so N rounds pass 4^N times on average."""
    protocol = hg.Trains(2)
    marked = at_least(1, lambda a, p: a.L == 1 and a.L_flag == 1)
    runs = [hg.simulate(protocol, graph="path:2", start="safe", until=marked, seed=9, trial=k) for k in range(500)]
    trains = np.array([run.steps // protocol.N for run in runs]) + np.random.default_rng(0).random(500)
    assert stats.kstest(trains, stats.expon(scale=4**protocol.N).cdf).pvalue > 1e-3


def test_fast_forward_is_off_when_what_is_watched_reads_private_fields():
    protocol = hg.Trains(4)
    assert can_skip(protocol, (*protocol.safe.whole, *(count.condition for count in protocol.safe.counts)))
    assert not can_skip(protocol, (lambda a, p: a.rand == 1,))
    run = hg.simulate(protocol, graph="path:4", start="all-leaders", until="count(rand == 1) == 3", max_steps=2000)
    assert run.measures["fast_forwarded_rounds"] == 0
    assert (run.configuration.agents["rand"] == 1).sum() == 3 or not run.reached


def helper(a):
    return a.rand


def test_speaks_of_looks_into_called_functions():
    assert speaks_of([lambda a, p: helper(a) == 1], ("rand",))
    assert not speaks_of([lambda a, p: a.leader == 1], ("rand",))
    assert speaks_of([lambda nodes, p: nodes["rand"].sum()], ("rand",))
