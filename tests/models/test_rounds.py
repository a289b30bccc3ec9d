"""The rounds model: what an author may declare, what is refused, and packed states."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hegemon as hg
from hegemon.errors import InvalidInput
from hegemon.graphs.families import path
from hegemon.models import Bit, Range, RoundsProtocol
from hegemon.models.packing import Packing
from tests.models.rounds_protocols import IndependentSet, Levels


class Tally(RoundsProtocol):
    """Counts its neighbours, which the model does not allow."""

    class State:
        x: Range(0, 9)

    def update(me, neighbours, coins, p):
        me.x = len(neighbours)


class Peek(RoundsProtocol):
    """Reads what is not public."""

    public = ("x",)

    class State:
        x: Bit
        y: Bit

    def update(me, neighbours, coins, p):
        for u in neighbours:
            me.x = max(me.x, u.y)


class Absent(RoundsProtocol):
    """Reads a field that a state may not have."""

    class State:
        x: Bit
        y: Bit.when(x=1)

    def update(me, neighbours, coins, p):
        for u in neighbours:
            if u.y == 1:
                me.x = 0


class Wild(RoundsProtocol):
    """Leaves its range."""

    class State:
        x: Range(0, 3)

    def update(me, neighbours, coins, p):
        me.x += 1


class Dozen(RoundsProtocol):
    """Counts, but only a dozen and more make a difference."""

    class State:
        x: Bit

    def update(me, neighbours, coins, p):
        number = 0
        for u in neighbours:
            number += u.x
        if number >= 12:
            me.x = 0


class Crowd(RoundsProtocol):
    """The same for a thousand."""

    class State:
        x: Bit

    def update(me, neighbours, coins, p):
        if len(neighbours) >= 1000:
            me.x = 0


class Coinless(RoundsProtocol):
    """Reads coins and has none."""

    class State:
        x: Bit

    def update(me, neighbours, coins, p):
        me.x = coins & 1


class Meddler(RoundsProtocol):
    """Changes a neighbour."""

    class State:
        x: Bit

    def update(me, neighbours, coins, p):
        for u in neighbours:
            u.x = me.x


@pytest.mark.parametrize(
    ("protocol", "complaint"),
    [
        (Coinless, r"reads coins \(test_rounds.py, line \d+\), but random_bits is 0"),
        (Meddler, "changes a neighbour"),
        (Tally, "counts equal ones"),
        (Dozen, "counts equal ones"),
        (Crowd, "counts equal ones"),
        (Peek, "not public"),
        (Absent, "does not have"),
        (Wild, "wrote x = 4"),
    ],
)
def test_unsound_updates_are_refused(protocol, complaint):
    with pytest.raises(InvalidInput, match=complaint):
        hg.simulate(protocol(4), graph="ring:4", until="rounds:3")


def test_sound_updates_pass():
    for protocol in (Levels(9), IndependentSet(9), hg.Trains(9)):
        protocol.check_update(np.random.default_rng(1))


def test_private_must_be_a_field_of_every_state():
    with pytest.raises(InvalidInput, match="private names 'y'"):

        class Wrong(RoundsProtocol):
            private = ("y",)

            class State:
                x: Bit

            def update(me, neighbours, coins, p):
                pass


def test_the_hand_tool():
    assert Levels(9).transition({"root": 0, "level": 7}, [{"root": 0, "level": 3}, {"root": 0, "level": 5}]) == {
        "root": 0,
        "level": 4,
    }


def test_successors_are_all_of_them():
    protocol, graph = IndependentSet(3), path(3)
    nodes = [protocol.space.namespace(0) for _ in range(3)]
    assert len(list(protocol.successors(nodes, graph))) == 8


@settings(max_examples=100, deadline=None)
@given(st.integers(5, 60), st.integers(0, 2**62), st.integers(0, 2**62))
def test_packing_is_one_to_one(N, first, second):
    protocol = hg.Trains(16, N=N)
    packing = Packing(protocol.space, protocol.private)
    text, layout = packing.source()
    scope = {}
    exec(text, scope)
    words = []
    for number in (first, second):
        code = number % protocol.states
        state = protocol.space.namespace(code)
        word = scope["pack"](state, layout)
        assert 0 <= word < 2**packing.bits
        other = protocol.space.namespace(0)
        scope["unpack"](word, other, layout)
        assert protocol.space.code(other) == code
        words.append(word)
        state.rand ^= 1  # only the low bit is private
        assert scope["pack"](state, layout) == word ^ 1
    assert (words[0] == words[1]) == (first % protocol.states == second % protocol.states)
    assert packing.bits == 2 + 2 * (4 + (N - 1).bit_length())


def test_packing_refuses_what_is_out_of_range():
    protocol = hg.Trains(16, N=5)
    text, layout = Packing(protocol.space, protocol.private).source()
    scope = {}
    exec(text, scope)
    state = protocol.space.namespace(0)
    state.F, state.F_idx = 1, 5
    assert scope["pack"](state, layout) == -1
