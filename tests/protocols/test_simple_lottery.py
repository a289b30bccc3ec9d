"""simple-lottery: exact expectations, of the paper's rules and of the program that applies them one after the other."""

import pytest

import hegemon as hg
from hegemon.protocols import SimpleLottery


@pytest.mark.parametrize(
    ("n", "in_sequence", "steps"),
    [(3, 0, 12.5024005487), (3, 1, 11.2678706131), (4, 0, 22.6792828914), (4, 1, 20.6032850212)],
)
def test_expected_steps_from_the_start(n, in_sequence, steps):
    answer = hg.verify(SimpleLottery(n=n, lam=1, M=2, in_sequence=in_sequence))
    assert answer.ok and answer.hitting.from_starts["initial"] == pytest.approx(steps, rel=1e-10)


@pytest.mark.parametrize("n", [16, 64, 256])
def test_one_contender_is_left(n):
    trials = hg.run_trials(SimpleLottery(n=n), 10, seed=1)
    assert all(run.reached and run.leaders == 1 for run in trials.runs)
    assert 3 * n < trials.summary["median"] < 40 * n  # parallel time 10.4 to 16 at these sizes
