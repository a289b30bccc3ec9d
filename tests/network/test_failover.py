"""What docs/network.md says of a leader that is killed, and of the two sides of a partition."""

from hegemon.protocols import TimeOptimal
from tests.network.failover import fail_over
from tests.network.liar import await_one_leader
from tests.network.population import Population


def test_a_killed_leader_is_replaced_sooner_at_a_higher_rate():
    slow, fast = (
        [fail_over(TimeOptimal(n=16), 5, rate, watched=10.0, seed=seed) for seed in range(2)] for rate in (10.0, 100.0)
    )
    assert all(one.seconds is not None and one.alone == 1.0 for one in slow + fast)
    assert max(one.seconds for one in fast) < min(one.seconds for one in slow)


def test_each_side_of_a_partition_elects_its_own_and_one_steps_down():
    population = Population(TimeOptimal(n=10), seed=1, rate=50.0)
    assert await_one_leader(population) is not None
    population.network.separated = lambda a, b: (a < 5) != (b < 5)

    def both_have_one() -> bool:
        return sorted(number < 5 for number in population.leading) == [False, True]

    assert population.clock.run(both_have_one, seconds=300)
    population.network.separated = lambda a, b: False
    assert await_one_leader(population) is not None
    assert population.leaders == 1
