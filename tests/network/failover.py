"""A leader that is killed, in virtual time: how long until there is another, and how much of the time there is one."""

from dataclasses import dataclass

from tests.network.churn import leave
from tests.network.liar import SAMPLES, await_one_leader
from tests.network.population import Population


@dataclass(frozen=True)
class Failover:
    """Seconds from the kill to the next leader that stays, None if that takes too long, and the share of samples with
    exactly one leader in the time after that."""

    seconds: float | None
    alone: float


def fail_over(protocol, members: int, rate: float, *, watched: float = 120.0, seed: int = 0) -> Failover:
    """Kill the leader of so many settled members; `n` of the protocol is their upper bound. The others go on contacting
    it, as they do in a deployment whose file of peers still names it."""
    population = Population(protocol, seed=seed, rate=rate)
    leave(population, range(members, protocol.n))
    await_one_leader(population)
    population.leave(next(iter(population.leading)))
    seconds = await_one_leader(population)
    alone = 0
    for _ in range(round(SAMPLES * watched)):
        population.clock.run(seconds=1 / SAMPLES)
        alone += population.leaders == 1
    return Failover(seconds, alone / max(1, round(SAMPLES * watched)))
