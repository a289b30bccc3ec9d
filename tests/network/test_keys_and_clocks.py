"""A network while its key is replaced member by member, and while the clocks of members are set."""

import random

import hegemon as hg
from hegemon.network.keys import Keys
from hegemon.network.terms import HORIZON_SECONDS, RANDOM_BITS, Terms
from tests.network.liar import await_one_leader
from tests.network.population import Population

OLD, NEW = b"o" * 32, b"n" * 32


def test_a_key_is_replaced_member_by_member_without_a_lost_datagram():
    population = Population(hg.TimeOptimal(n=8), seed=3, rate=50.0, keys=Keys((OLD,)))
    await_one_leader(population)
    for keys in (Keys((OLD, NEW)), Keys((NEW, OLD)), Keys((NEW,))):
        for agent in population.agents.values():
            agent.wire.use(keys)
            population.clock.run(seconds=0.5)
            assert population.leaders == 1
    counted = population.totals
    assert not any(counted[name] for name in ("other_key", "forged", "replayed", "unreachable"))


def test_a_key_that_is_replaced_at_once_splits_the_network_until_all_have_it():
    population = Population(hg.TimeOptimal(n=8), seed=3, rate=50.0, keys=Keys((OLD,)))
    await_one_leader(population)
    agents = list(population.agents.values())
    for agent in agents[:4]:
        agent.wire.use(Keys((NEW,)))
    population.clock.run(seconds=20)
    assert population.totals["other_key"] > 0 and population.leaders == 2
    for agent in agents[4:]:
        agent.wire.use(Keys((NEW,)))
    assert await_one_leader(population) is not None


def number(fence: int) -> float:
    """The seconds in a fencing number."""
    return (fence >> RANDOM_BITS) / 1e6


class Office:
    """The terms of one member whose clock can be set."""

    def __init__(self, now: float):
        self.now, self.fences = now, []
        self.terms = Terms(lambda event: self.fences.append(event.fence), random.Random(1), wall=lambda: self.now)

    def serve(self) -> int:
        self.terms.follow(True)
        self.terms.follow(False)
        return self.fences[-1]


def test_a_clock_that_is_set_back_makes_no_older_number():
    office = Office(1e9)
    first = office.serve()
    office.now -= 3600
    assert office.serve() > first
    office.terms.hear(first + (10 << RANDOM_BITS))  # what others say is too far ahead of this clock to be believed
    assert office.terms.highest < first + (10 << RANDOM_BITS)


def test_a_clock_that_is_set_far_ahead_is_not_followed():
    """Its own terms stay above; the others do not believe them, so a store that saw one refuses theirs for so long."""
    ahead, other = Office(1e9), Office(1e9)
    ahead.now += 3600
    late = ahead.serve()
    other.terms.hear(late)
    assert number(other.serve()) < 1e9 + 1
    ahead.now -= 3600
    assert ahead.serve() > late
    other.now += 3600 - HORIZON_SECONDS / 2
    other.terms.hear(late)
    assert other.serve() > late  # within the five minutes it is believed


def test_an_election_does_not_depend_on_the_clocks_of_the_wall():
    """Patience, rates and health are measured by a clock that nobody sets."""
    population = Population(hg.TimeOptimal(n=6), seed=5, rate=50.0)
    for jump, agent in enumerate(population.agents.values()):
        agent.terms.wall = lambda jump=jump: population.clock.time() + 1e9 + 86_400 * (-1) ** jump * jump
    assert await_one_leader(population) is not None
    steps = population.steps
    for agent in population.agents.values():
        agent.terms.wall = lambda: 0.0
    population.clock.run(seconds=10)
    assert population.leaders == 1 and population.steps > steps + 1000
