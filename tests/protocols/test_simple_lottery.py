"""simple-lottery: exact expectations, of the paper's rules and of the program that applies them one after the other."""

import itertools

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


@pytest.mark.parametrize(("n", "in_sequence", "configurations"), [(3, 0, 74), (3, 1, 104), (4, 0, 475), (4, 1, 595)])
def test_configurations_that_can_occur_and_never_without_a_contender(n, in_sequence, configurations):
    """Multisets of states until one contender is left, by an exploration of its own; contenders never run out."""
    protocol = SimpleLottery(n=n, lam=1, M=2, in_sequence=in_sequence)
    first = protocol.initial("initial", None).multiset
    begin = tuple(code for code, count in zip(*first, strict=True) for _ in range(count))
    seen, waiting = {begin}, [begin]
    while waiting:
        agents = waiting.pop()
        contenders = sum(protocol.space.namespace(int(code)).contender for code in agents)
        assert contenders >= 1
        if contenders == 1:  # counted, not followed
            continue
        for i, j in itertools.permutations(range(n), 2):
            after = list(agents)
            after[i], after[j] = protocol.transition_codes(int(agents[i]), int(agents[j]))
            after = tuple(sorted(map(int, after)))
            if after not in seen:
                seen.add(after)
                waiting.append(after)
    assert len(seen) == configurations


def test_two_agents_flip_in_step():
    with pytest.raises(hg.InvalidInput, match=">= 3"):
        SimpleLottery(n=2)


@pytest.mark.full
@pytest.mark.parametrize(("n", "median"), [(16, 10.4), (64, 10.5), (256, 16.0), (1024, 20.5)])
def test_median_parallel_time(n, median):
    """Of 15 (at 1,024: 6) runs in the specification, so within a factor of two."""
    runs = hg.run_trials(SimpleLottery(n=n), 60, seed=1).runs
    assert median / 2 < sorted(run.steps for run in runs)[30] / n < median * 2
