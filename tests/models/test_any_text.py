"""Whatever text comes from outside ends in a value or in one short sentence, at once."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import hegemon as hg
from hegemon.errors import InvalidInput
from hegemon.graphs.families import parse as parse_graph
from hegemon.models.conditions import absence_note, parse_set
from hegemon.models.expressions import evaluate, whole_number

PROTOCOL = hg.TimeOptimal(n=4, m=2, r_max=8, r_mid=6, b_max=4)
WORDS = [
    "n", "m", "timer_r", "leader", "phase", "mode", "'CH'", '"A"', "all", "none", "count", "present", "(", ")", "((",
    "))", "and", "or", "not", "==", "!=", "<=", "<", "+", "-", "*", "/", "//", "%", "^", "**", "0", "1", "9", "1e9",
    "1e99", "0.5", ",", "max", "log2", "9" * 400, "__class__", ".", "[", "lambda", "#", ";", "\n", "\x00",
    "\ud800", "é", "１", "−",
]  # fmt: skip
TEXTS = st.one_of(st.text(max_size=40), st.lists(st.sampled_from(WORDS), max_size=14).map(" ".join))

PLAIN = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
VALUES = st.recursive(
    PLAIN, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
)


def one_sentence(read, text):
    try:
        read(text)
    except InvalidInput as error:
        assert len(str(error)) < 1000 and "\n" not in str(error)


@settings(max_examples=400, deadline=None)
@given(TEXTS)
@example("9**9**9")
@example("1" + "0" * 5000)
@example("(" * 5000)
@example("-" * 2000)
def test_numbers(text):
    one_sentence(lambda text: whole_number(text, "n"), text)
    one_sentence(lambda text: evaluate(text, {"n": 5, "m": 2.5, "k": None}), text)
    one_sentence(lambda text: hg.TimeOptimal(n=10, tau=text), text)


@settings(max_examples=400, deadline=None)
@given(TEXTS)
@example("all(timer_r / (m - 2) == 1)")
@example("count(leader ^ 9 ^ 9) == 1")
@example("count(leader) == 9 ^ 900")
def test_conditions(text):
    one_sentence(lambda text: parse_set(text, PROTOCOL), text)
    one_sentence(lambda text: parse_set(f"all({text})", PROTOCOL), text)
    one_sentence(lambda text: absence_note(f"count({text}) > 1", PROTOCOL), text)


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(["ring:", "gnp:", "grid:", "regular:", "hypercube:", ""]), st.text(max_size=30))
def test_graphs(family, text):
    one_sentence(
        lambda text: parse_graph(text, None, np.random.default_rng(0)) if len(text) > 12 else None, family + text
    )


@settings(max_examples=200, deadline=None)
@given(VALUES)
def test_states(value):
    one_sentence(lambda value: hg.Pairwise(n=3).space.parse({"leader": value}), value)
    one_sentence(lambda value: PROTOCOL.space.parse({"phase": value, "leader": 1, "timer_r": value}), value)
    one_sentence(lambda value: hg.TimeOptimal(n=10, tau=value), value)


@pytest.mark.parametrize("value", [10**30, "1e30", -(10**30)])
def test_a_parameter_beyond_all_numbers_is_refused(value):
    with pytest.raises(InvalidInput, match="beyond 2.62|must be a whole number >= 1"):
        hg.TimeOptimal(n=10, tau=value)
