"""Every fixed width of the engines, just below it, at it and just above it: the answer is right or refused."""

import itertools

import numpy as np
import pytest

import hegemon as hg
from hegemon.compute.philox import word_at
from hegemon.engines.batch import batch, census
from hegemon.engines.engine import LAST_STEP
from hegemon.engines.population import adaptive_complete, agents, codes, events
from hegemon.engines.prospects import Prospects, Unsettled
from hegemon.errors import InvalidInput
from hegemon.graphs import topology
from hegemon.graphs.families import complete
from hegemon.models import Bit, PopulationProtocol, Range, RoundsProtocol, count, maximum, mean, minimum
from hegemon.models.configuration import Configuration
from hegemon.models.packing import LARGEST_WORD, Packing
from hegemon.process import membership
from hegemon.process.membership import Watcher
from hegemon.process.stopping import Stop, parse_stop
from hegemon.runs.history import History


class Spread(PopulationProtocol):
    """Everybody takes a value of its own."""

    class State:
        x: Range(0, 100_000) = 0

    def interact(a, b, p):
        b.x = (7 * a.x + 3 * b.x + 1) % 100_001


class Copy(PopulationProtocol):
    class State:
        x: Bit = 0

    def interact(a, b, p):
        b.x = a.x

    nobody = count(lambda a, p: a.x == 0)


# -- batch: slots of 24 bits --------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [63, 64, 65])
def test_more_states_than_slots_are_refused(number, monkeypatch):
    monkeypatch.setattr(census, "MOST_SLOTS", 128)
    protocol = Spread(n=number)
    multiset = census.Multiset(protocol, parse_stop("steps:1", protocol))
    codes = np.arange(number), np.ones(number, np.int64), np.zeros((number, 0), np.int8)
    if number <= 64:
        multiset.load(*codes)
        assert multiset.capacity == 128
    else:
        with pytest.raises(InvalidInput, match="65 different states are too many to count separately"):
            multiset.load(*codes)


def test_a_run_that_needs_more_slots_than_there_are_is_refused(monkeypatch):
    assert census.MOST_SLOTS - 1 == census.SLOT < 2**31  # each slot has its number, also in `places`
    settings = {"start": "initial", "until": "steps:3000", "engine": "batch", "seed": 1}
    assert hg.simulate(Spread(n=200), **settings).steps == 3000
    monkeypatch.setattr(census, "MOST_SLOTS", 128)
    with pytest.raises(InvalidInput, match="too many to count separately"):
        hg.simulate(Spread(n=200), **settings)


# -- events: arcs of 32 bits; agents: 32 bits; batch: 2^60 agents ------------------------------------------------


def test_the_largest_graphs_have_arcs_of_32_bits():
    """Engine events counts every arc at both of its ends."""
    complete = topology.LARGEST_COMPLETE_IN_MEMORY
    assert 2 * max(topology.LARGEST_IN_MEMORY, complete * (complete - 1)) < 2**31


@pytest.mark.parametrize("n", [4, 5, 6])
def test_complete_graphs_are_written_out_up_to_their_limit(n, monkeypatch):
    monkeypatch.setattr(topology, "LARGEST_COMPLETE_IN_MEMORY", 5)
    if n <= 5:
        assert hg.simulate(Copy(n=n), until="steps:9", engine="events").steps == 9
    else:
        with pytest.raises(InvalidInput, match="at most 5 nodes"):
            hg.simulate(Copy(n=n), until="steps:9", engine="events")


@pytest.mark.parametrize("n", [2**32 - 1, 2**32])
def test_engine_agents_refuses_agents_that_32_bits_cannot_number(n):
    with pytest.raises(InvalidInput, match="memory|too large|too many|GB"):
        hg.simulate(Spread(n=n), until="steps:9", engine="agents")
    assert agents.LARGEST_POPULATION == 2**32 - 1


@pytest.mark.parametrize("n", [2**60 - 1, 2**60, 2**60 + 1])
def test_engine_batch_takes_2_to_the_60_agents_and_counts_them_exactly(n):
    assert batch.LARGEST_POPULATION == topology.LARGEST_COMPLETE == 2**60
    if n > 2**60:
        with pytest.raises(InvalidInput, match=r"n must be in 1\.\.1152921504606846976"):
            hg.simulate(Copy(n=n), start="initial", until="steps:9")
        return
    run = hg.simulate(Copy(n=n), start="initial", until="steps:9", at=[9], engine="batch")
    assert run.configuration.multiset[1].tolist() == [n] and run.watched.columns["nobody"].tolist() == [n]


@pytest.mark.parametrize("n", [7, 8, 9])
def test_the_automatic_choice_is_the_same_process_at_its_border(n, monkeypatch):
    assert adaptive_complete.SMALL == 2**16
    monkeypatch.setattr(adaptive_complete, "SMALL", 8)
    run = hg.simulate(Copy(n=n), start=[{"x": 1}, *[{"x": 0}] * (n - 1)], until="all(x == 0)", seed=2, max_steps=10**5)
    assert run.engine == ("agents" if n <= 8 else run.engine)
    assert run.reached or run.configuration.agents["x"].all()


# -- tables: codes of 12 bits, up to 256 values of the coins ------------------------------------------------------


@pytest.mark.parametrize("states", [pytest.param(4095, marks=pytest.mark.full), 4096, 4097])
def test_table_and_records_make_the_same_run(states, monkeypatch):
    class Wide(PopulationProtocol):
        class State:
            x: Range(0, states - 1) = 0

        def interact(a, b, p):
            b.x = (a.x * 2 + b.x + 4000) % 4095

    assert codes.LARGEST_TABLE == 4096
    start = [{"x": states - 1 - k} for k in range(3)]
    settings = {"start": start, "until": "steps:200", "engine": "agents", "seed": 5}
    first = hg.simulate(Wide(n=3), **settings).configuration.agents["x"].tolist()
    monkeypatch.setattr(codes, "LARGEST_TABLE", 0)
    assert hg.simulate(Wide(n=3), **settings).configuration.agents["x"].tolist() == first


@pytest.mark.parametrize("values", [pytest.param(255, marks=pytest.mark.full), 256, 257])
def test_engine_events_takes_256_values_of_the_coins(values):
    class Tossing(PopulationProtocol):
        class State:
            x: Range(0, 299) = 0

        class Coins:
            coin: Range(0, values - 1)

        def interact(a, b, p, coins):
            b.x = coins.coin

    if values > events.MOST_COINS:
        with pytest.raises(InvalidInput, match="257 values"):
            hg.simulate(Tossing(n=3), until="steps:9", engine="events")
    else:
        assert hg.simulate(Tossing(n=3), until=f"count(x == {values - 1}) >= 1", engine="events", seed=1).reached


# -- rounds: packed words of 32 and 62 bits, Philox's counters ---------------------------------------------------


@pytest.mark.parametrize("bits", [31, 32, 33, 61, 62, 63])
def test_packed_words_of_any_number_of_bits(bits):
    kinds = {f"f{k}": Range(0, 2) for k in range(bits // 2)} | {f"b{k}": Bit for k in range(bits % 2)}
    state = type("State", (), {"__annotations__": kinds})
    space = type("Packed", (RoundsProtocol,), {"State": state, "update": lambda me, neighbours, coins, p: None})(
        n=3
    ).space
    if bits > LARGEST_WORD:
        with pytest.raises(InvalidInput, match="63 bits per node; at most 62 can be packed"):
            Packing(space)
        return
    packing = Packing(space)
    source, layout = packing.source()
    scope: dict = {}
    exec(source, scope)
    for code in (0, 1, space.size // 2, space.size - 1):
        state, again = space.namespace(code), space.namespace(0)
        word = np.array([scope["pack"](state, layout)]).astype(packing.dtype)[0]
        scope["unpack"](int(word), again, layout)
        assert again == state


def test_no_round_or_node_repeats_the_coins_of_another_beyond_32_bits():
    places = [2**32 - 1, 2**32, 2**32 + 1, 0, 1, 2**63 - 2]
    words = [int(word_at(np.uint64(3), time, index)) for time, index in itertools.product(places, places)]
    assert len(set(words)) == len(places) ** 2


# -- clocks of 64 bits ---------------------------------------------------------------------------------------------


class Ticking(RoundsProtocol):
    topology, smallest_n = "ring", 3

    class State:
        x: Range(0, 3) = 0

    def update(me, neighbours, coins, p):
        me.x = (me.x + 1) % 4


@pytest.mark.parametrize("make", [lambda: Copy(n=5), pytest.param(lambda: Ticking(n=5), marks=pytest.mark.full)])
def test_clocks_go_to_their_last_step_and_refuse_the_next(make):
    unit = "rounds" if make().model.has_rounds else "steps"
    settings = {"graph": "ring", "start": "initial"}
    for steps in (LAST_STEP - 1, LAST_STEP):
        run = hg.simulate(make(), until=f"{unit}:{steps}", **settings)
        assert run.steps == steps
        if unit == "rounds":
            assert run.configuration.agents["x"].tolist() == [steps % 4] * 5
    for steps in (LAST_STEP + 1, 2**63 + 1, 10**30):
        with pytest.raises(InvalidInput, match=r"counts 9,223,372,036,854,775,806 steps \(2\^63 - 2\) and no more"):
            hg.simulate(make(), until=f"{unit}:{steps}", **settings)


@pytest.mark.parametrize("steps", [2**63 - 2, 2**63 - 1, 2**63, 2**64 + 1])
def test_engine_batch_counts_and_records_steps_beyond_64_bits(steps):
    run = hg.simulate(Copy(n=5), start="initial", until=f"steps:{steps}", engine="batch", at=[0, steps - 1, steps])
    assert run.steps == steps and run.watched.columns["step"].tolist() == [0, steps - 1, steps]


class Told:
    """Measures the given quantity."""

    units: dict = {}

    def __init__(self, values):
        self.values = iter(values)

    def measure(self, configuration):
        return {"value": next(self.values)}


@pytest.mark.parametrize("values", [[1.5, 2**53 + 1, 2.0], [2**63 - 1, 2**63, 0.5], [-(2**63), -(2**63) - 1, 7]])
def test_a_history_keeps_numbers_that_no_word_holds(values):
    history = History(Told(values), 2, every=1)
    for step in range(3):
        history.record(step, None)
    kept = history.watched().columns["value"].tolist()
    assert kept == values and list(map(type, kept)) == list(map(type, values))
    assert history.watched().frame["value"].tolist() == values


# -- observables: whole numbers beyond 2^53 -----------------------------------------------------------------------


class Tall(PopulationProtocol):
    class State:
        x: Range(0, 2**61) = 0

    def interact(a, b, p):
        b.x = a.x

    top = maximum(lambda a, p: a.x)
    bottom = minimum(lambda a, p: -a.x)
    real = maximum(lambda a, p: a.x * 1.0 if a.x < 9 else 1e300)
    middle = mean(lambda a, p: a.x)


@pytest.mark.parametrize("x", [2**53 - 1, 2**53, 2**53 + 1, 2**60 + 1, 2**61])
def test_minima_and_maxima_are_exact_beyond_2_to_the_53(x):
    protocol = Tall(n=3)
    codes = np.array([x, x - 1, 5])
    for configuration in (
        Configuration(protocol.space, agents=protocol.space.decode_array(codes)),
        Configuration(protocol.space, codes=np.sort(codes), counts=np.array([1, 1, 1])),
    ):
        values = Watcher(protocol, protocol.observables).measure(configuration)
        assert (int(values["top"]), int(values["bottom"]), values["real"]) == (x, -x, 1e300)
        assert values["middle"] == pytest.approx((2 * x + 4) / 3)


class TallNodes(RoundsProtocol):
    topology, smallest_n = "ring", 3

    class State:
        x: Range(0, 2**60) = 0

    def update(me, neighbours, coins, p):
        me.x = me.x

    around = maximum(lambda me, neighbours, p: me.x + neighbours[0].x)


@pytest.mark.full
def test_what_neighbours_add_up_to_is_exact():
    run = hg.simulate(TallNodes(n=3), start=[{"x": 2**60 - 1}, {"x": 2**60}, {"x": 0}], until="rounds:1", at=[1])
    assert run.watched.columns["around"].tolist() == [2**61 - 1]


# -- plain Python and machine code refuse the same ---------------------------------------------------------------


class Beyond(PopulationProtocol):
    """Leaves 64 bits on the way, and comes back into its range."""

    class State:
        x: Range(0, 60_000) = 0

    class Coins:
        coin: Range(1, 2)

    def interact(a, b, p, coins):
        if a.x == 40_000:
            b.x = (coins.coin * 2**62 + a.x) % 7


def test_the_active_arcs_are_refused_whoever_finds_them(monkeypatch):
    monkeypatch.setattr(Beyond, "check_sound", lambda self: None)
    for few in (events.FEW_ARCS, -1):
        events._asked.clear()
        monkeypatch.setattr(events, "FEW_ARCS", few)
        with pytest.raises(InvalidInput, match=r"leaves 64 bits \(test_widths.py, line \d+\)"):
            hg.simulate(Beyond(n=2), start=[{"x": 40_000}] * 2, until="steps:9", engine="events")


def test_a_proof_about_the_future_does_not_calculate_beyond_64_bits(monkeypatch):
    protocol = Beyond(n=2)
    monkeypatch.setattr(Beyond, "check_sound", lambda self: None)
    stop = parse_stop("count(x == 3) >= 1", protocol)
    prospects = Prospects(protocol, complete(2), stop, lambda: None)
    with pytest.raises(Unsettled) as caught:
        prospects._becomes(40_000, 40_000)
    assert "leaves 64 bits" in str(caught.value.__cause__)


def test_conditions_are_truths_whoever_asks(monkeypatch):
    """Any number but 0, also 256, of which the last byte is 0."""
    protocol, stop = Spread(n=4), Stop("many", (lambda a, p: a.x,))
    states = protocol.space.decode_array(np.array([0, 1, 256, 65_536]))
    for few in (4096, -1):
        membership._asked.clear()
        monkeypatch.setattr(membership, "FEW_AGENTS", few)
        assert membership.Membership(protocol, stop).marks(states)[:, 0].tolist() == [0, 1, 1, 1]
