"""Every engine follows the exact law of random protocols: classes, sets, faults, all kinds of stops."""

import itertools
import random
from collections import Counter

import numpy as np
import pytest

import hegemon as hg
from hegemon import parts
from hegemon.engines.population import adaptive_complete, agents
from hegemon.engines.population import codes as coded
from hegemon.errors import InvalidInput
from hegemon.exact import configurations
from hegemon.models import Parameter, PopulationProtocol, Range
from tests.compute.agreement import chi_square
from tests.engines.random_protocols import ABSENT, STEPS, STOPS, Case, Reference

FEW = ("finished", ABSENT)  # every other stop compiles its own kernels
SMALLEST = 1e-5  # the p-value below which a sample does not come from a law; over all cases together, see below


def p_value(law: dict, sample: list) -> float:
    """Of the sample against the law; 0 if something happened that cannot."""
    assert abs(sum(law.values()) - 1) < 1e-9
    counts = Counter(sample)
    if any(law.get(answer, 0) <= 0 for answer in counts):
        return 0.0
    answers = sorted(law, key=lambda answer: -law[answer])
    return chi_square([counts[a] for a in answers], [law[a] * len(sample) for a in answers])


@pytest.fixture
def eager(monkeypatch):
    """`auto` changes to engine batch after a few steps, and back whenever it likes."""
    monkeypatch.setattr(adaptive_complete, "BRIEF", 4)
    monkeypatch.setattr(adaptive_complete, "REVIEW", 1)
    monkeypatch.setattr(adaptive_complete, "cost_of_agents", lambda n: 1e9)


def worst(cases, engines, trials) -> dict:
    """The smallest p-value of each engine, and the case that gave it."""
    found: dict = {}
    for case in cases:
        law = Reference(case).law()
        for engine in engines:
            with pytest.MonkeyPatch.context() as patch:
                if engine == "records":
                    patch.setattr(coded, "LARGEST_TABLE", 0)
                sample = case.sample("agents" if engine == "records" else engine, trials)
            found.setdefault(engine, []).append((p_value(law, sample), repr(case)))
    return {engine: min(values) for engine, values in found.items()}


ENGINES = ("agents", "records", "events", "batch", "auto")


def test_engines_follow_the_laws_of_random_protocols():
    for engine, (value, case) in worst([Case(k, FEW) for k in range(2)], ENGINES[:-1], 300).items():
        assert value > SMALLEST, (engine, case)


@pytest.mark.full
@pytest.mark.parametrize("block", range(20))
def test_engines_follow_the_laws_of_many_random_protocols(eager, block):
    cases = [Case(k, STOPS) for k in range(100 + 26 * block, 126 + 26 * block)]
    for engine, (value, case) in worst(cases, ENGINES, 100).items():
        assert value > 1e-7, (engine, case)


@pytest.mark.full
def test_engines_follow_the_laws_of_random_protocols_on_a_path():
    cases = [Case(k, STOPS, graph="path:3") for k in range(1000, 1060)]
    for engine, (value, case) in worst(cases, ("agents", "records", "events", "auto"), 100).items():
        assert value > 1e-7, (engine, case)


class Late(agents.Agents):
    """One step too late whenever the stop is met."""

    def advance(self, limit: int) -> bool:
        met = super().advance(limit)
        self.step += met
        return met


class Forgetful(agents.Agents):
    """Sometimes loses an agent's last change: a wrong law, but never an impossible result."""

    def advance(self, limit: int) -> bool:
        before = self._population.copy()
        met = super().advance(min(limit, self.step + 1))
        if not met and self.step % 4 == 3:
            self._population[0] = before[0]
        return met


@pytest.mark.parametrize("twin", [Late, Forgetful])
def test_a_broken_twin_is_caught(twin, monkeypatch):
    monkeypatch.setitem(parts.BUILT_IN["population engines"], "agents", f"{__name__}:{twin.__name__}")
    cases = [Case(k, FEW if twin is Late else (f"steps:{STEPS}",)) for k in range(4)]
    assert worst(cases, ("agents",), 300)["agents"][0] < SMALLEST


class Large(PopulationProtocol):
    """A random formula with large numbers, drawn by its parameters; on some pairs it may leave 64 bits."""

    key = Parameter(0, low=0)
    factor = Parameter(1, low=-(2**62) + 1, high=2**62 - 1)
    shift = Parameter(0, low=0, high=70)

    class State:
        x: Range(0, 6) = 0

    class Coins:
        coin: Range(0, 1)

    def interact(a, b, p, coins):
        h = p.factor
        for k in range(3):
            kind = (p.key // 8**k) % 8
            if kind == 0:
                h = h * (a.x - b.x)
            elif kind == 1:
                h = h + (b.x << p.shift)
            elif kind == 2:
                h = h - 4611686018427387904 * coins.coin
            elif kind == 3:
                h = -h // (1 + a.x)
            elif kind == 4:
                h = abs(h) * 2
            elif kind == 5:
                h = (h >> (p.shift % 9)) + a.x ** (p.shift % 30)
            elif kind == 6:
                h = (h % 1000003) * 6364136223846793005
            elif a.x < b.x:
                h = 9223372036854775807 - b.x
        b.x = h % 7


def large(number: int) -> Large:
    rng = random.Random(number)
    factor = rng.choice((-1, 1)) * (rng.randrange(1, 2**62) >> rng.choice((0, 0, 1, 3, 20, 40, 60)))
    return Large(n=2, key=rng.randrange(512), factor=factor, shift=rng.choice((0, 3, 30, 59, 61, 63, 64)))


def unlimited(protocol, row: int, second: int) -> int:
    """What the responder becomes in the arithmetic of Python, which has no end."""
    q = protocol.space.size
    a, b = protocol.space.namespace(row % q), protocol.space.namespace(second)
    protocol.interact(a, b, protocol.p, protocol.coins.value(row // q))
    return b.x


def test_arithmetic_of_64_bits_is_the_same_in_plain_python_and_in_machine_code(monkeypatch):
    told = {True: 0, False: 0}
    for number in range(150):
        protocol, answers = large(number), []
        for plain in (100, -1):
            monkeypatch.setattr(configurations, "PLAIN_STATES", plain)
            try:
                answers.append(configurations.transition_tables(protocol)[1].tolist())
            except InvalidInput as error:
                assert "leaves 64 bits" in str(error)
                answers.append(None)
        assert answers[0] == answers[1], protocol
        told[answers[0] is None] += 1
        for row, codes in enumerate(answers[0] or ()):
            assert codes == [unlimited(protocol, row, second) for second in range(7)], protocol
    assert min(told.values()) > 25, told


@pytest.mark.full
@pytest.mark.parametrize("engine", ["agents", "records", "events", "batch"])
def test_engines_refuse_what_leaves_64_bits_and_nothing_else(engine, monkeypatch):
    monkeypatch.setattr(Large, "check_sound", lambda self: None)
    if engine == "records":
        monkeypatch.setattr(coded, "LARGEST_TABLE", 0)
    for number in range(60):
        protocol = large(number)
        wrong = np.zeros((2, 7, 7), bool)
        for coin, i, j in itertools.product(range(2), range(7), range(7)):
            try:
                protocol.transition_codes(i, j, coin)
            except InvalidInput:
                wrong[coin, i, j] = True
        start = [{"x": number % 7}, {"x": number % 5}]
        try:
            hg.simulate(protocol, start=start, until="steps:50", engine="agents" if engine == "records" else engine)
            assert not wrong.all(), protocol
        except InvalidInput as error:
            assert "leaves 64 bits" in str(error) and wrong.any(), protocol


def left_behind(engine: str) -> bool:
    """Whether a run ends with a value in a field that the state does not have."""
    for number in range(4):
        case = Case(number, (f"steps:{STEPS}",))
        space = case.protocol.space
        start = [space.mapping(space.namespace(code)) for code in case.start]
        run = hg.simulate(case.protocol, start=start, until=case.until, engine=engine, seed=number)
        if np.any(run.configuration.agents != space.canonical_array(run.configuration.agents)):
            return True
    return False


@pytest.mark.parametrize("engine", ["agents", "events"])
def test_nothing_is_left_in_fields_that_a_state_does_not_have(engine, monkeypatch):
    monkeypatch.setattr(coded, "LARGEST_TABLE", 0)
    assert not left_behind(engine)


@pytest.mark.full
def test_what_is_left_behind_would_be_caught(monkeypatch):
    monkeypatch.setattr(coded, "LARGEST_TABLE", 0)
    monkeypatch.setattr(agents, "settler", lambda space: everything_is_fine)
    assert left_behind("agents")


def everything_is_fine(a, layout):
    return True
