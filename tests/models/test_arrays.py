"""Fields that are arrays: the same in plain Python and in machine code, in every engine, or refused."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hegemon as hg
from hegemon import Array, Bit, Choice, InvalidInput, Parameter, PopulationProtocol, Range, RoundsProtocol, everywhere
from hegemon.engines.population.agents import Agents
from hegemon.exact.configurations import fill_table
from hegemon.models.configuration import Configuration
from hegemon.process.stopping import Stop
from hegemon.runs.setting import topology_for
from hegemon.runs.stories import Interaction


class Slots(PopulationProtocol):
    """Arithmetic on two arrays, with computed indices, negative ones, a helper and a loop."""

    m = Parameter(3, low=1)
    k = Parameter(2, low=1)
    f = Parameter(1, low=-9, high=9)

    class State:
        turn: Bit
        x: Array("m", Range(0, "k"))
        y: Array(2, Bit).when(turn=1)

    def interact(a, b, p):
        at = first_zero(a.x, p)
        b.x[at] = (a.x[(at + 1) % p.m] + p.f * b.x[-1]) % (p.k + 1)
        for i in range(len(b.x)):
            a.x[i] = max(a.x[i], b.x[p.m - 1 - i]) - (a.x[i] > 0 and i % 2 == 0)
        if a.turn == 1 and b.turn == 0:
            b.turn = 1
            b.y[0] = a.y[1]
            b.y[1] = 1 - a.y[0]
        elif a.turn == 1 and sum_of(a.x) % 2 == 1:
            a.turn = 0

    all_zero = everywhere(lambda a, p: a.x[0] == 0)


def first_zero(x, p):
    i = 0
    while i < p.m - 1 and x[i] > 0:
        i += 1
    return i


def sum_of(x):
    result = 0
    for value in x:
        result += value
    return result


def compiled_table(protocol):
    from hegemon.compute.compilation import specialize
    from hegemon.compute.records import codec, meeting, widened

    q = protocol.states
    first, second = np.empty((q, q), np.int32), np.empty((q, q), np.int32)
    encode, decode, layout = codec(protocol.space)
    meet = meeting(protocol.interact, protocol.coins.names, protocol.coins.biased)
    kernel = specialize(fill_table, protocol.record_types, meet=meet, encode=encode, decode=decode)
    assert kernel(protocol.compiled_p, layout, np.zeros(2, widened(protocol.space.dtype)), first, second) == (-1, -1)
    return first, second


@settings(max_examples=15, deadline=None)
@given(k=st.integers(1, 2), f=st.integers(-9, 9))
def test_every_pair_of_states_in_machine_code_as_in_plain_python(k, f):
    protocol = Slots(n=2, k=k, f=f, m=3)
    first, second = compiled_table(protocol)
    rng = np.random.default_rng(f + 9)
    for a, b in rng.integers(protocol.states, size=(300, 2)).tolist():
        assert protocol.transition_codes(a, b) == (first[a, b], second[a, b])


def follow(protocol, engine, steps):
    """The engine against the hand tool, step by step, by whom it says has met."""
    agents = [protocol.space.namespace(int(c)) for c in protocol.space.encode_array(engine.configuration().agents)]
    for step in range(1, steps + 1):
        engine.advance(step)
        i, j, coin = engine.last_meeting()
        protocol.meet(agents[i], agents[j], coin)
        agents[i], agents[j] = (protocol.space.namespace(protocol.space.code(agents[one])) for one in (i, j))
    return [protocol.space.code(agent) for agent in agents] == protocol.space.encode_array(
        engine.configuration().agents
    ).tolist()


@pytest.mark.parametrize(("m", "k"), [(3, 2), (7, 999)])  # codes of a few bits, and of more than 64
def test_a_run_follows_plain_python(m, k):
    protocol = Slots(n=8, m=m, k=k, f=3)
    assert protocol.space.has_codes == (m == 3)
    start = protocol.initial("random", np.random.default_rng(4))
    words = np.random.default_rng(1).integers(2**63, size=4, dtype=np.uint64)
    engine = Agents(protocol, topology_for(protocol), start, Stop("never"), words)
    assert follow(protocol, engine, 300)


@settings(max_examples=50, deadline=None)
@given(m=st.integers(1, 30), k=st.integers(1, 40), seed=st.integers(0, 10**6))
def test_codes_of_any_size_and_back(m, k, seed):
    space = Slots(n=2, m=m, k=k).space
    codes = space.random_codes(np.random.default_rng(seed), 5)
    agents = space.decode_array(codes)
    assert space.encode_array(agents).tolist() == codes.tolist()
    assert [space.code(agent) for agent in agents] == codes.tolist()
    assert space.first_out_of_range(agents) is None
    assert agents["x"].tolist() == [[agent[f"x[{i}]"] for i in range(m)] for agent in agents]
    for code in codes:
        state = space.namespace(int(code))
        assert space.code(state) == code and space.code(space.parse(space.mapping(state))) == code


def test_uniform_starts_beyond_64_bits():
    """Every value of every element is equally likely: each mean within five deviations."""
    protocol = Slots(n=4000, m=30, k=9)
    x = protocol.initial("random", np.random.default_rng(0)).agents["x"]
    assert np.abs(x.mean(axis=0) - 4.5).max() < 5 * np.sqrt(99 / 12 / 4000)


def test_all_engines_agree_on_the_law():
    """Steps until x[0] is 0 everywhere: the mean of each engine beside the exact one; m = 1 never ends, so m = 2."""
    protocol = Slots(n=3, m=2, k=1, f=1)
    means = {}
    for engine in ("agents", "events", "batch"):
        runs = hg.run_trials(
            protocol, 400, seed=7, engine=engine, start="random", until="all(x[0] == 0)", max_steps=10**4
        )
        means[engine] = np.mean([min(run.steps, 10**4) for run in runs.runs])
    spread = np.std([min(run.steps, 10**4) for run in runs.runs]) / 20
    assert max(means.values()) - min(means.values()) <= 6 * spread, means


class Reaching(PopulationProtocol):
    """Fails in one state alone, which no trial finds."""

    class State:
        x: Array(5, Range(0, 999))

    def interact(a, b, p):
        if a.x[0] == 777 and b.x[1] == 778:
            a.x[b.x[2]] = 0

    def start_far(self, rng):
        return [hg.Group(self.n, {"x": [777, 778, 6, 0, 0]})]

    def start_near(self, rng):
        return [hg.Group(self.n, {"x": [777, 778, 4, 0, 0]})]


def test_an_index_that_does_not_exist_is_refused_in_machine_code_too():
    assert hg.simulate(Reaching(n=5), start="near", until="steps:50", seed=1).steps == 50
    with pytest.raises(InvalidInput, match=r"x\[6\] does not exist: x has 5 elements"):
        hg.simulate(Reaching(n=5), start="far", until="steps:50", seed=1)


def test_arrays_in_files_and_faults(tmp_path):
    protocol = Slots(n=3, m=25, k=9)
    made = protocol.initial("random", np.random.default_rng(3))
    for name in ("start.json", "start.csv"):
        made.save(tmp_path / name)
        again = Configuration.load(protocol.space, tmp_path / name, 3)
        assert again.agents.tobytes() == made.agents.tobytes()
    (tmp_path / "one.json").write_text(json.dumps([{"turn": 0, "x": 4, "count": 3}]))
    assert Configuration.load(protocol.space, tmp_path / "one.json", 3).agents["x"].tolist() == [[4] * 25] * 3
    (tmp_path / "two.json").write_text(json.dumps([{"turn": 0, "x": [1, 2], "count": 3}]))
    with pytest.raises(InvalidInput, match="x has 25 elements, and 2 are given"):
        Configuration.load(protocol.space, tmp_path / "two.json", 3)
    run = hg.simulate(protocol, seed=1, start="random", until="steps:0", faults=[hg.Fault(0, 3, {"x": 7, "turn": 0})])
    assert run.configuration.agents["x"].tolist() == [[7] * 25] * 3


def test_what_cannot_be_is_refused_with_a_sentence():
    wide = Slots(n=4, m=25, k=9)
    for call, part in [
        (lambda: hg.verify(wide), "not all of them can be followed"),
        (lambda: hg.search_worst(wide, until="all_zero"), "search-worst cannot number them"),
        (lambda: hg.simulate(wide, engine="batch", start="random", until="steps:9"), "use engine agents or events"),
        (lambda: hg.simulate(wide, start="random", until="all(x[25] == 0)"), r"mentions 'x\[25\]'"),
        (lambda: hg.simulate(wide, start="random", until="all(x[i] == 0)"), r"a whole number between \[ and \]"),
        (lambda: Slots(n=4, m=2000).space, "1..1000"),
        (lambda: Array(3, Choice("A", "B")), "elements that are Bit or Range"),
        (lambda: Array(0.5, Bit), "needs its length"),
    ]:
        with pytest.raises(InvalidInput, match=part):
            call()
    from hegemon.network.rules import InteractionRules

    with pytest.raises(InvalidInput, match="64 bits of a datagram"):
        InteractionRules(wide)


@pytest.mark.parametrize(
    ("rule", "part"),
    [
        (lambda a, b, p: setattr(a, "x", b.x), "written as a whole"),
        (lambda a, b, p: a.x.__setitem__(0, b.x[1:][0]), "element by element"),
        (lambda a, b, p: a.x.__setitem__(0, int(a.x == b.x)), "compared as a whole"),
        (lambda a, b, p: a.x.__setitem__(5, 0), r"x\[5\] does not exist"),
        (lambda a, b, p: a.x.__setitem__(1, 99), r"wrote x\[1\] = 99, outside 0..2"),
    ],
)
def test_rules_that_misuse_an_array_are_refused(rule, part):
    class Wrong(PopulationProtocol):
        class State:
            x: Array(3, Range(0, 2))

        interact = rule

    with pytest.raises(InvalidInput, match=part):
        Wrong(n=3).require_sound()


def test_absent_arrays_are_not_read():
    class Peeks(Slots):
        id = "peeks"
        bad = everywhere(lambda a, p: a.y[0] == 0)

    with pytest.raises(InvalidInput, match=r"reads y\[0\] in states that do not have it"):
        Peeks(n=3).require_sound()


class Waves(RoundsProtocol):
    """Every node shows two numbers, and takes the largest that it sees in each place."""

    smallest_n = 2

    class State:
        leader: Bit
        x: Array(2, Range(0, 3))

    def update(me, neighbours, coins, p):
        for other in neighbours:
            for i in range(2):
                me.x[i] = max(me.x[i], other.x[i])

    flat = everywhere(lambda me, p: me.x[0] == 3 and me.x[1] == 3)

    def start_corner(self, rng, topology):
        nodes = np.zeros(self.n, self.space.dtype)
        nodes["x"][0] = 3
        return nodes


@pytest.mark.parametrize("scheduler", ["synchronous", "central:uniform"])
def test_arrays_in_rounds(scheduler):
    run = hg.simulate(Waves(n=7), graph="path:7", start="corner", until="flat", seed=1, scheduler=scheduler)
    assert run.reached and (run.rounds == 6 if scheduler == "synchronous" else run.rounds >= 6)
    assert hg.verify(Waves(n=2), graph="path:2", start="corner", property="reached:flat").ok


class Resting(PopulationProtocol):
    """Nothing happens."""

    m = Parameter(64, low=1)
    top = Parameter(1, low=1)

    class State:
        x: Array("m", Range(0, "top"))

    def interact(a, b, p):
        pass


@pytest.mark.parametrize(("m", "top"), [(16, 15), *(pytest.param(m, 1, marks=pytest.mark.full) for m in range(61, 66))])
def test_a_start_is_what_is_given_however_wide_states_are(m, top):
    """Codes of 2^63 and more beside smaller ones: NumPy would make floats of such a list."""
    states = [{"x": [top] * m}, {"x": [0] * m}, {"x": [k % 2 for k in range(m)]}, {"x": [0] * (m - 1) + [top]}]
    protocol = Resting(n=4, m=m, top=top)
    for change in ({}, {"faults": [hg.Fault(0, 1, {"x": [top] * m})]}, {"rates": ["crash=1/3"]}):
        run = hg.simulate(protocol, start=states, until="steps:9", engine="agents", **change)
        found = sorted(protocol.space.mapping(agent)["x"] for agent in run.configuration.agents)
        lost = [one["x"] for one in states if one["x"] not in found]
        assert len(lost) <= ("faults" in change) and (lost == [] or found.count([top] * m) == 2)
    with pytest.raises(AssertionError, match="rounded"):
        protocol.space.decode_array(np.array([2.0**63]))


def test_a_sentence_names_the_elements_that_changed():
    """Not the whole array twice: one of 39 numbers would fill the page."""
    before, after = {"clock": [4, 8, 8], "x": 0}, {"clock": [3, 8, 9], "x": 1}
    told = Interaction(0, 1, (before, before), (after, before)).sentence()
    assert told == "initiator 0: clock[0] 4→3, clock[2] 8→9, x 0→1; responder 1: unchanged (clock=[4, 8, 8], x=0)"
