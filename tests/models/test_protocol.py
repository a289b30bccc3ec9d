"""Parameters, starts and the hand tool of a protocol, and the refusal of what makes no sense."""

import numpy as np
import pytest
from scipy import stats

import hegemon as hg
from hegemon.models import Bit, Choice, Parameter, PopulationProtocol, Range


def test_parameters_follow_each_other():
    protocol = hg.TimeOptimal(n=1000, tau=2)
    assert protocol.parameters["m"] == 10
    assert protocol.parameters["r_max"] == hg.TimeOptimal(n=1000, tau=1).r_max * 2
    assert hg.Timer(n=10, N="2*n").s == 96 * 20
    assert hg.Ring(n=7).N == 7


@pytest.mark.parametrize(
    ("make", "part"),
    [
        (lambda: hg.Pairwise(n=1), "n = 1 is out of range; it must be a whole number >= 2"),
        (lambda: hg.Pairwise(n=2.5), "n = 2.5"),
        (lambda: hg.Pairwise(n=3, k=2), "no parameter 'k'"),
        (lambda: hg.Ring(n=10, N=5), "N = 5 is out of range"),
        (lambda: hg.TimeOptimal(n=10, r_mid=10**6), "r_mid = 1000000 is out of range"),
        (lambda: hg.TimeOptimal(n=10, tau="two"), "tau = two"),
        (lambda: hg.Threshold(n=10, marked=11), r"0\.\.10"),
        (lambda: hg.Timer(n=10, s=1.5), "s = 1.5"),
    ],
)
def test_bad_parameters_are_named(make, part):
    with pytest.raises(hg.InvalidInput, match=part):
        make()


def test_random_starts_are_uniform_over_states():
    protocol = hg.TimeOptimal(n=40_000, m=16, r_max=5, r_mid=3, b_max=4)
    for as_multiset in (False, True):
        codes, counts = protocol.initial("random", np.random.default_rng(7), as_multiset).multiset
        observed = np.zeros(protocol.states)
        observed[codes] = counts
        assert stats.chisquare(observed).pvalue > 1e-3


def test_transition_by_hand():
    a, b = hg.Ring(n=4).transition(
        {"leader": 1, "bullet": 0, "shield": 0, "signal": 1, "distL": 2},
        {"leader": 0, "bullet": 0, "shield": 0, "signal": 1, "distL": 4},
    )
    # lines 1, 2, 7, 14-16: the leader fires a live bullet, which moves on and erases the signal
    assert a == {"leader": 1, "bullet": 0, "shield": 1, "signal": 0, "distL": 0}
    assert b == {"leader": 0, "bullet": 2, "shield": 0, "signal": 0, "distL": 1}


def test_mode_of_a_checker_may_be_given_and_does_not_matter():
    protocol = hg.TimeOptimal(n=4)
    checker = {"leader": 0, "phase": "CH", "timer_r": 5, "detect": 0}
    with_mode = {**checker, "mode": "B"}
    assert protocol.transition(with_mode, with_mode) == protocol.transition(checker, checker)


def broken_protocol(body):
    class Own(PopulationProtocol):
        class State:
            kind: Choice("a", "b")
            x: Range(0, 3).when(kind="a")
            y: Bit.when(kind="b")

        interact = body

    return Own(n=5)


def overflow(a, b, p):
    a.x = b.x + 1


def fails(a, b, p):
    a.x = 1 // 0


def reads_what_is_absent(a, b, p):
    if a.kind == 1 and a.x == 3:
        a.y = 0


@pytest.mark.parametrize(
    ("body", "part"),
    [(overflow, "wrote x = 4, outside 0..3"), (fails, "ZeroDivisionError"), (reads_what_is_absent, "does not have")],
)
def test_an_unsound_interact_is_refused(body, part):
    with pytest.raises(hg.InvalidInput, match=part):
        hg.simulate(broken_protocol(body), until="steps:10")


def test_an_incomplete_protocol_is_refused():
    class NoInteract(PopulationProtocol):
        class State:
            x: Bit

    with pytest.raises(hg.InvalidInput, match="interact"):
        NoInteract(n=3)
    with pytest.raises(hg.InvalidInput, match="both a field and a parameter"):

        class Twice(PopulationProtocol):
            x = Parameter(1)

            class State:
                x: Bit


def test_unknown_names_list_the_known_ones():
    protocol = hg.Pairwise(n=3)
    with pytest.raises(hg.InvalidInput, match="all-leaders, no-leader, safe"):
        protocol.initial("everywhere", np.random.default_rng(0))
    with pytest.raises(hg.InvalidInput, match="its sets are: safe"):
        protocol.set_named("holy")
    assert "random" not in protocol.starts and "random" in hg.Timer.starts


def test_declared_values_make_the_initial_start():
    class Own(PopulationProtocol):
        top = Parameter(5)

        class State:
            leader: Bit = 1
            kind: Choice("a", "b") = "b"
            x: Range(0, "top") = "top - 1"

        def interact(a, b, p):
            b.leader = 0

    assert Own.default_start == "initial"
    states = Own(n=3).initial("initial", None).mappings()
    assert states == [{"leader": 1, "kind": "b", "x": 4}] * 3
    assert "initial" not in hg.Pairwise.starts
