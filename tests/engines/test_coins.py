"""Coins in `interact`: every engine follows the exact law, and so does verify; a wrong law is caught."""

import itertools
from collections import Counter, defaultdict

import numpy as np
import pytest

import hegemon as hg
from hegemon import parts
from hegemon.engines.batch.batch import Batch
from hegemon.engines.batch.census import COINS
from hegemon.engines.population import adaptive_complete, agents
from hegemon.engines.population import codes as coded
from hegemon.engines.population.events import Events
from hegemon.exact.chain import reachable_chain
from hegemon.exact.configurations import Configurations
from hegemon.models import Bit, Parameter, PopulationProtocol, Range, at_least
from hegemon.runs.setting import topology_for
from tests.compute.agreement import chi_square
from tests.engines.random_protocols import mix

SMALLEST = 1e-5


def done(a, p):
    return a.x >= 3


class Tossed(PopulationProtocol):
    """A random function of its key, of both states and of what the coins show."""

    key = Parameter(1, low=0)
    sides = Parameter(3, low=1)
    rate = Parameter(60, low=1, high=100)

    class State:
        leader: Bit
        x: Range(0, 3)

    class Coins:
        heads: Bit
        pick: Range(5, "4 + sides")

    def interact(a, b, p, coins):
        h = mix(mix(mix(p.key, a.leader + 2 * a.x), b.leader + 2 * b.x), coins.heads + 2 * coins.pick)
        if (h >> 9) % 100 < p.rate:
            h = mix(h, 1)
            a.x = (h >> 9) % 4
            h = mix(h, 2)
            b.leader = (h >> 9) % 2
            h = mix(h, 3)
            if (h >> 9) % 3 == 0:
                b.x = max(0, b.x - 1)

    some = at_least(2, done)


def outcomes(protocol) -> dict[tuple[int, int], Counter]:
    """What two codes become, with the number of values of the coins that lead there."""
    ranges = [range(low, high + 1) for low, high in protocol.coins.bounds]
    found: dict = defaultdict(Counter)
    for a, b in itertools.product(range(protocol.space.size), repeat=2):
        for shown in itertools.product(*ranges):
            states = protocol.space.namespace(a), protocol.space.namespace(b)
            protocol.interact(*states, protocol.p, protocol.coins.kind(*shown))
            found[a, b][tuple(map(protocol.space.code, states))] += 1
    return found


def law(protocol, arcs, start, last: int) -> dict[int, float]:
    """P(the first step with two agents done is t), and of `last` that it is later: by hand, agents having names."""
    after_meeting, values = outcomes(protocol), protocol.coins.size
    is_done = [protocol.space.namespace(code).x >= 3 for code in range(protocol.space.size)]
    alive, answer = {tuple(start): 1.0}, {}
    for step in range(1, last):
        after: dict = defaultdict(float)
        for codes, chance in alive.items():
            for i, j in arcs:
                for (a, b), number in after_meeting[codes[i], codes[j]].items():
                    changed = list(codes)
                    changed[i], changed[j] = a, b
                    after[tuple(changed)] += chance * number / (len(arcs) * values)
        ended = {codes for codes in after if sum(is_done[code] for code in codes) >= 2}
        answer[step] = sum(after[codes] for codes in ended)
        alive = {codes: chance for codes, chance in after.items() if codes not in ended}
    return answer | {last: sum(alive.values())}


def p_value(expected, sample) -> float:
    counts = Counter(sample)
    if any(expected.get(answer, 0) <= 0 for answer in counts):
        return 0.0
    answers = sorted(expected, key=lambda answer: -expected[answer])
    return chi_square([counts[a] for a in answers], [expected[a] * len(sample) for a in answers])


LAST = 12
PAIRS = list(itertools.permutations(range(3), 2))


def worst(keys, engines, trials=300, graph="complete:3") -> dict:
    """The smallest p-value of each engine over these protocols."""
    found = defaultdict(list)
    arcs = [(0, 1), (1, 0), (1, 2), (2, 1)] if graph == "path:3" else PAIRS
    for key in keys:
        protocol = Tossed(n=3, key=key, rate=(20, 60, 95)[key % 3], sides=1 + key % 4)
        start = [{"leader": 0, "x": 0}] * 3
        expected = law(protocol, arcs, [protocol.space.code(protocol.space.parse(s)) for s in start], LAST)
        for engine in engines:
            with pytest.MonkeyPatch.context() as patch:
                if engine == "records":
                    patch.setattr(coded, "LARGEST_TABLE", 0)
                runs = [
                    hg.simulate(
                        protocol, graph=graph, start=start, until="some", seed=key, trial=trial, max_steps=LAST,
                        engine="agents" if engine == "records" else engine,
                    )
                    for trial in range(trials)
                ]  # fmt: skip
            found[engine].append(p_value(expected, [run.steps if run.reached else LAST for run in runs]))
    return {engine: min(values) for engine, values in found.items()}


def test_engines_follow_the_law():
    assert min(worst([7], ["agents", "events", "batch"]).values()) > SMALLEST


@pytest.fixture
def eager(monkeypatch):
    """`auto` changes to engine batch after a few steps."""
    monkeypatch.setattr(adaptive_complete, "BRIEF", 2)
    monkeypatch.setattr(adaptive_complete, "REVIEW", 1)
    monkeypatch.setattr(adaptive_complete, "cost_of_agents", lambda n: 1e9)


@pytest.mark.full
def test_engines_follow_many_laws(eager):
    found = worst(range(12), ["agents", "records", "events", "batch", "auto"], 400)
    assert min(found.values()) > SMALLEST, found


@pytest.mark.full
def test_engines_follow_many_laws_on_a_path():
    found = worst(range(12), ["agents", "records", "events", "auto"], 400, "path:3")
    assert min(found.values()) > SMALLEST, found


class OneSided(agents.Agents):
    """Every coin shows the same side."""

    def __init__(self, protocol, *arguments):
        super().__init__(protocol, *arguments)
        self._chance = self._chance._replace(values=1)
        if self._codes:
            self._codes.chance = self._chance

    def advance(self, limit: int) -> bool:
        return super().advance(limit)  # by itself: trials that are made together toss the protocol's coins


class OneSidedEvents(Events):
    def __init__(self, protocol, *arguments):
        super().__init__(protocol, *arguments)
        self._rules = self._rules._replace(values=1)


class OneSidedBatch(Batch):
    def _fill(self, codes, counts):
        super()._fill(codes, counts)
        self._multiset.census.head[COINS] = 1


TWINS = [("agents", OneSided), ("events", OneSidedEvents), ("batch", OneSidedBatch)]


@pytest.mark.parametrize(("engine", "twin"), TWINS)
def test_a_broken_twin_is_caught(engine, twin, monkeypatch):
    monkeypatch.setitem(parts.BUILT_IN["population engines"], engine, f"{twin.__module__}:{twin.__name__}")
    assert worst([7], [engine])[engine] < SMALLEST


@pytest.mark.parametrize("symmetry", [True, False])
def test_the_exact_chain_knows_the_same_law(symmetry):
    protocol = Tossed(n=3, key=7, sides=4)
    codes = [protocol.space.code(protocol.space.parse({"leader": 0, "x": 0}))] * 3
    expected = law(protocol, PAIRS, codes, LAST)
    space = Configurations(protocol, topology_for(protocol), symmetry)
    chain = reachable_chain(space, [codes])
    inside = (protocol.space.decode_array(np.arange(space.q))["x"][chain.codes] >= 3).sum(axis=1) >= 2
    now = np.zeros(chain.size)
    now[chain.starts[0]] = 1.0
    for time in range(1, LAST):
        now = chain.probabilities().T @ now
        assert abs(now[inside].sum() - expected[time]) < 1e-12
        now[inside] = 0.0
