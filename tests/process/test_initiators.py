"""Who begins, and when."""

import numpy as np
import pytest
from scipy import stats

from hegemon import FloodMax, InvalidInput, Referees, Walks
from hegemon.process.messages.initiators import WakeUp, initiators


def test_every_node_is_as_likely_to_begin_as_any_other():
    protocol = Referees(n=20, candidates=6)
    rng = np.random.default_rng(1)
    drawn = [initiators(protocol, rng) for _ in range(4000)]
    assert all(np.all(np.diff(nodes) > 0) for nodes in drawn)
    each = np.bincount(np.concatenate(drawn), minlength=20)
    assert stats.chisquare(each).pvalue > 1e-3
    sizes = np.bincount([len(nodes) for nodes in drawn], minlength=21)
    expected = 4000 * stats.binom.pmf(np.arange(21), 20, 0.3)
    keep = expected > 5
    assert stats.chisquare(sizes[keep], expected[keep] * sizes[keep].sum() / expected[keep].sum()).pvalue > 1e-3


def test_pairs_begin_independently():
    protocol = Referees(n=6, candidates=3)
    rng = np.random.default_rng(2)
    sets = np.zeros(64)
    for _ in range(6400):
        sets[sum(1 << int(v) for v in initiators(protocol, rng))] += 1
    assert stats.chisquare(sets).pvalue > 1e-3  # with probability 1/2 each, all 64 sets are equally likely


def test_everyone_begins_where_nobody_waits():
    assert initiators(FloodMax(n=9), np.random.default_rng(0)).tolist() == list(range(9))


def test_initiators_cost_nothing_at_any_n():
    assert 5 < len(initiators(Referees(n=10**15), np.random.default_rng(0))) < 200


def test_schedules(tmp_path):
    protocol = Referees(n=100, variant="wakeup")
    nodes, rng = np.array([0, 7, 99]), np.random.default_rng(0)
    assert WakeUp("all", protocol).rounds(nodes, rng).tolist() == [1, 1, 1]
    assert WakeUp("one-by-one", protocol).rounds(nodes, rng).tolist() == [1, 8, 100]
    spread = WakeUp("random", protocol).rounds(np.arange(100), rng)
    assert spread.min() >= 1 and spread.max() <= 100 and len(set(spread.tolist())) > 30
    for name, text in (("a.json", str([*range(1, 101)])), ("b.txt", "\n".join(map(str, range(1, 101))))):
        (tmp_path / name).write_text(text)
        assert WakeUp(str(tmp_path / name), protocol).rounds(nodes, rng).tolist() == [1, 8, 100]
    assert WakeUp([4] * 100, protocol).rounds(nodes, rng).tolist() == [4, 4, 4]


@pytest.mark.parametrize(
    ("schedule", "part"),
    [("never", "neither a file"), ([1, 2], "3 whole"), ([1, 2, 0], "smallest 0"), ([1, 2, 1.5], "3 whole")],
)
def test_bad_schedules_are_refused(schedule, part):
    with pytest.raises(InvalidInput, match=part):
        WakeUp(schedule, Referees(n=3, variant="wakeup"))


def test_a_file_that_is_no_schedule(tmp_path):
    (tmp_path / "bad.txt").write_text("1 2 x")
    with pytest.raises(InvalidInput, match="no list for wake"):
        WakeUp(str(tmp_path / "bad.txt"), Referees(n=3, variant="wakeup"))


@pytest.mark.parametrize("protocol", [Referees(n=10), Walks(n=10), FloodMax(n=10)])
def test_protocols_for_simultaneous_wake_up_refuse_others(protocol):
    with pytest.raises(InvalidInput, match="leave wake at all"):
        WakeUp("one-by-one", protocol)
