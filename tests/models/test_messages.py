"""What a message is and what it weighs; what a message-passing protocol may be told."""

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hegemon import InvalidInput, Referees, Walks
from hegemon.models import Choice, MessageProtocol, Range
from hegemon.models.expressions import evaluate
from hegemon.models.messages import failure


class Echo(MessageProtocol):
    """Two kinds of messages, of different sizes."""

    class Message:
        kind: Choice("ASK", "TELL")
        value: Range(1, "n^4").when(kind="TELL")

    def begin(self, node, rng):
        return {}

    def round(self, node, inbox, rng):
        return {}


@given(st.integers(2, 10**12))
def test_the_bits_of_a_message_tell_all_its_values_apart(n):
    protocol = Echo(n=n)
    assert protocol.message(kind="ASK").bits == 1
    bits = protocol.message(kind="TELL", value=n**4).bits - 1
    assert 2 ** (bits - 1) < n**4 <= 2**bits


def test_a_field_that_a_kind_does_not_have_is_none():
    message = Echo(n=10).message(kind="ASK")
    assert (message.kind, message.value) == ("ASK", None)


@pytest.mark.parametrize(
    ("fields", "part"),
    [
        ({"kind": "TELL"}, "has no value for value"),
        ({"kind": "TELL", "value": 10**4 + 1}, "1..10000"),
        ({"kind": "TELL", "value": 0}, "1..10000"),
        ({"kind": "TELL", "value": "x"}, "1..10000"),
        ({"kind": "SHOUT"}, "ASK, TELL"),
        ({"kind": "ASK", "value": 3}, "cannot have value"),
        ({"kind": "ASK", "volume": 3}, "cannot have volume"),
    ],
)
def test_a_message_that_is_not_of_the_format_is_refused(fields, part):
    with pytest.raises(InvalidInput, match=part):
        Echo(n=10).message(**fields)


@given(st.integers(2, 10**15))
def test_the_messages_of_referees_and_walks_fit_into_congest(n):
    referees, walks = Referees(n=n, variant="explicit"), Walks(n=n)
    limit = 8 * n.bit_length()  # 8 ceil(log2(n + 1))
    assert referees.largest_allowed == walks.largest_allowed == limit
    pattern = referees.pattern
    assert max(pattern.contact_bits, pattern.answer_bits, pattern.inform_bits) <= limit
    assert walks.message(kind="WIN", rank=1, count=n * walks.walks).bits <= limit


def test_a_protocol_without_begin_or_message_says_so():
    class Mute(MessageProtocol):
        class Message:
            word: Range(0, 1)

        def round(self, node, inbox, rng):
            return {}

    with pytest.raises(InvalidInput, match="begin"):
        Mute(n=3)
    with pytest.raises(InvalidInput, match="Message declares no field"):
        type("Empty", (MessageProtocol,), {})


def test_randomness_of_its_own_is_refused():
    class Restless(Echo):
        def begin(self, node, rng):
            return {} if random.random() < 0.5 else {}

    with pytest.raises(
        InvalidInput, match=r"begin calls random.random \(test_messages.py, line \d+\); its only randomness is"
    ):
        Restless(n=3)


def test_the_size_of_a_message_is_no_field():
    message = type("Message", (), {"__annotations__": {"bits": Range(0, 1)}})
    with pytest.raises(InvalidInput, match="a message already has 'bits'"):
        type("Own", (MessageProtocol,), {"Message": message})


def test_a_caret_is_the_power():
    assert evaluate("2^10", {}) == 1024
    assert evaluate("n^4", {"n": 10**10}) == 10**40
    assert Referees(n=10**5, messages="n^0.4").messages == pytest.approx(100)


@pytest.mark.parametrize(
    ("protocol", "given_", "part"),
    [
        (Referees, {"variant": "loud"}, "implicit, explicit, wakeup"),
        (Referees, {"messages": -1}, "messages"),
        (Referees, {"messages": float("inf")}, "messages"),
        (Referees, {"candidates": 101}, "0..100"),
        (Referees, {"referees": 100}, "0..99"),
        (Walks, {"mixing_time": "soon"}, "soon"),
        (Walks, {"mixing_time": 0}, "auto, exact, spectral, or a whole number >= 1"),
        (Walks, {"mixing_time": 1.5}, "1.5"),
        (Walks, {"walks": 0}, ">= 1"),
        (Walks, {"lazy": "maybe"}, "auto, yes, no"),
    ],
)
def test_nonsense_parameters_are_refused(protocol, given_, part):
    with pytest.raises(InvalidInput, match=part):
        protocol(n=100, **given_)


@pytest.mark.parametrize("protocol", [Referees, Walks])
def test_one_node_is_no_network(protocol):
    with pytest.raises(InvalidInput, match="n = 1"):
        protocol(n=1)


def test_the_default_numbers_are_those_of_the_paper():
    protocol = Referees(n=10**6)
    assert protocol.initiation == pytest.approx(2 * math.log(10**6) / 10**6)
    assert protocol.referees == 2 * math.ceil(math.sqrt(10**6 * math.log(10**6)))
    assert protocol.pattern.ranks == 10**24
    assert Walks(n=10**6).walks == protocol.referees
    assert Referees(n=5).referees == 4  # never more than there are neighbours


def test_causes_of_failure():
    """What ranks show, and nothing that a lost message or a crash could have caused as well."""
    assert failure([7], [3, 7]) is None
    assert failure([], []) == "no candidate"
    assert failure([], [4, 4, 2]) == "equal ranks"
    assert failure([5, 5], [5, 5]) == "equal ranks"
    assert failure([5, 6], [5, 6]) == "several ranks elected"
    assert failure([], [4, 3, 3]) is None
