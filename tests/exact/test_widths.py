"""Every fixed width of the exact answers, just below it, at it and just above it: right or refused."""

import numpy as np
import pytest

import hegemon as hg
from hegemon.errors import InvalidInput
from hegemon.exact import chain, configurations, recomputed, rounds
from hegemon.exact.configurations import Configurations, transition_tables
from hegemon.exact.recomputed import RecomputedChain
from hegemon.exact.rounds import RoundConfigurations, round_chain
from hegemon.experiments.holding.process import Process
from hegemon.models import Bit, PopulationProtocol, Range, RoundsProtocol
from hegemon.runs.setting import topology_for


class Tossing(RoundsProtocol):
    """Every node that is not lit lights itself with probability 1/2, whatever the number of its coins."""

    topology, smallest_n = "ring", 3
    random_bits = 1

    class State:
        lit: Bit = 0

    def update(me, neighbours, coins, p):
        if coins % 2 == 1:
            me.lit = 1


def chain_of(bits: int, n: int):
    protocol = type("Tossing", (Tossing,), {"random_bits": bits})(n=n)
    space = RoundConfigurations(protocol, topology_for(protocol, None))
    return space, round_chain(space, [[0] * n])


@pytest.mark.parametrize("n", [3, 4, 5])
def test_chances_are_counted_exactly_or_refused(n, monkeypatch):
    """With 2 coins each, 4 nodes have 2^8 outcomes; with 16 coins each, 5 nodes would have 2^80."""
    monkeypatch.setattr(rounds, "LARGEST_DENOMINATOR", 2**8)
    if n > 4:
        with pytest.raises(InvalidInput, match="more than 2\\^53 equally likely outcomes"):
            chain_of(2, n)
        return
    space, found = chain_of(2, n)
    assert np.add.reduceat(found.weights, found.offsets[:-1]).tolist() == [space.arcs] * 2**n


@pytest.mark.parametrize(("bits", "n"), [(13, 4), (16, 4), (16, 5)])
def test_the_outcomes_of_a_round_at_its_true_width(bits, n):
    assert rounds.LARGEST_DENOMINATOR == 2**53
    if bits * n > 53:
        with pytest.raises(InvalidInput, match=f"{1 << bits:,} values"):
            chain_of(bits, n)
    else:
        space, found = chain_of(bits, n)
        assert found.weights.sum(dtype=object) == space.arcs * 2**n


def test_a_chain_that_is_too_long_for_its_numbers_is_refused(monkeypatch):
    assert chain.LARGEST_CHAIN == recomputed.LARGEST_SIZE == 2**31 - 1
    for most in (9, 8, 7):
        monkeypatch.setattr(chain, "LARGEST_CHAIN", most)
        if most >= 8:
            assert chain_of(1, 3)[1].size == 8
        else:
            with pytest.raises(InvalidInput, match="has 8 configurations, and at most"):
                chain_of(1, 3)


def test_levels_of_a_recomputed_chain_have_as_many_bits_as_its_configurations():
    """A way of 2^15 steps takes as many passes; it would be too long for a test."""
    protocol = hg.Ring(n=2, N=2)
    found = RecomputedChain(Configurations(protocol, topology_for(protocol, None), symmetry=False))
    inside = np.zeros(found.size, bool)
    inside[0] = True
    levels = found.levels_from(inside)
    assert np.iinfo(levels.dtype).max >= recomputed.LARGEST_SIZE and levels.max() > 0


@pytest.mark.parametrize("q", [62, 63])
def test_configurations_beyond_62_bits_are_refused(q):
    """2 states, and 61 or 62 agents on a path."""

    class Two(PopulationProtocol):
        topology, smallest_n = "path", 2

        class State:
            x: Bit = 0

        def interact(a, b, p):
            b.x = a.x

    protocol = Two(n=q - 1)
    if q - 1 < 62:
        space = Configurations(protocol, topology_for(protocol, None))
        key = 2 ** (q - 1) - 1
        assert space.key([1] * (q - 1)) == key and space.codes([key]).tolist() == [[1] * (q - 1)]
    else:
        with pytest.raises(InvalidInput, match="more than can be numbered"):
            Configurations(protocol, topology_for(protocol, None))


@pytest.mark.parametrize("n", [7, 8, 9])
def test_ranks_of_multisets_are_exact_up_to_62_bits(n):
    """n agents in 500 states: 2^61.6 multisets for n = 8, 2^67 for n = 9."""

    class Many(PopulationProtocol):
        class State:
            x: Range(0, 499) = 0

        def interact(a, b, p):
            b.x = a.x

    protocol = Many(n=n)
    if n > 8:
        with pytest.raises(InvalidInput, match="more than can be numbered"):
            Configurations(protocol, topology_for(protocol, None))
        return
    choose = np.array([[configurations.math.comb(c + place, place + 1) for c in range(500)] for place in range(n)])
    assert choose.dtype == np.int64
    space = Configurations(protocol, topology_for(protocol, None))
    last = np.full(n, 499)
    assert configurations.numbering.rank(last, choose) == space.size - 1
    assert configurations.numbering.codes_of_multisets(np.array([space.size - 1]), choose).tolist() == [last.tolist()]


@pytest.mark.parametrize("states", [127, 128, 129])
def test_a_table_refuses_what_a_field_cannot_hold(states, monkeypatch):
    """A field of eight bits: what 300 becomes in it, 44, is a state too."""

    class Narrow(PopulationProtocol):
        class State:
            x: Range(0, states - 1) = 0

        def interact(a, b, p):
            if a.x == 5 and b.x == 7:
                b.x = 300

    monkeypatch.setattr(Narrow, "check_sound", lambda self: None)
    for plain in (configurations.PLAIN_STATES, 200):
        monkeypatch.setattr(configurations, "PLAIN_STATES", plain)
        with pytest.raises(InvalidInput, match="300"):
            transition_tables(Narrow(n=2))


class Loud(PopulationProtocol):
    """An output of 256: true, whatever a byte makes of it."""

    class State:
        x: Range(0, 2) = 0

    def interact(a, b, p):
        if a.x > 0 and b.x > 0:
            a.x = 3 - a.x

    def output(a, p):
        return 0 if a.x == 0 else 2 ** (a.x * 8)

    outputs = ("follower", "leader")

    def start_two(self, rng):
        """One leader."""
        return [{"x": 1}, {"x": 0}]


def test_outputs_are_truths_in_every_exact_answer():
    protocol = Loud(n=2)
    space = Configurations(protocol, topology_for(protocol, None))
    assert space.outputs.tolist() == [0, 1, 1]
    assert not space.model.changes[1, 1]  # 256 became 65536, and the agent leads as before
    process = Process(protocol, start=[{"x": 1}, {"x": 0}])
    assert process.outputs.tolist() == [0, 1, 1]
    run = hg.simulate(Loud(n=3), start=[{"x": 1}, {"x": 2}, {"x": 0}], until="steps:50")
    assert run.leaders == 2
