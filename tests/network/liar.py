"""A member that lies: it has the key, and says what it likes. What it costs the others, in virtual time."""

import random
from dataclasses import dataclass

from hegemon.network.agent import STATE, Agent
from hegemon.network.terms import HORIZON_SECONDS, RANDOM_BITS
from tests.network.population import Population

SAMPLES = 20  # per second
SETTLED = 5.0  # seconds with the same single leader: then it is healed
LONGEST = 600.0  # seconds until healing is given up


class Liar(Agent):
    """Whatever it has heard, it sends the state of a leader, and the highest fence that the others believe."""

    lies: list[int]

    def _send_pending(self, pending) -> None:
        if pending.kind == STATE:
            self._state = self.rng.choice(self.lies)
        self.terms.highest = int((self.clock.time() + HORIZON_SECONDS) * 1e6) << RANDOM_BITS
        super()._send_pending(pending)


@dataclass(frozen=True)
class Damage:
    """Shares of samples with exactly one leader among the honest; seconds."""

    before: float
    lying: float
    healed_after: float | None
    fence_ahead: float  # the highest fence of an honest member, ahead of the clock
    terms_in_order: bool  # whether every new term's fence was above the last one of the same member


def deceive(protocol, *, lies_per_second: float = 20.0, seconds: float = 120.0, rate: float = 10.0, seed: int = 0):
    """Let the last member of a settled network lie for a while, then fall silent."""
    population = Population(protocol, seed=seed, rate=rate)
    clock, liar_number = population.clock, protocol.n - 1
    population.leave(liar_number)
    honest = list(population.agents.values())
    events: dict[int, list[int]] = {number: [] for number in population.agents}
    for number, agent in population.agents.items():
        agent.terms.tell = _noting(agent.terms.tell, events[number])
    await_one_leader(population)
    before = _share(population, seconds)

    agent = population.enter(liar_number)
    agent.stop()
    population.leading.discard(liar_number)
    liar = Liar(
        population.rules, agent.wire, agent.transport, clock, state=0, peers=agent.peers, rate=lies_per_second,
        rng=random.Random(seed), wall=clock.time,
    )  # fmt: skip
    liar.lies = [code for code in range(population.rules.size) if population.rules.is_leader(code)]
    population.agents[liar_number] = liar
    population.network.receivers[liar_number] = liar.receive
    liar.start()
    lying = _share(population, seconds)
    ahead = max(agent.terms.highest >> RANDOM_BITS for agent in honest) / 1e6 - clock.time()
    population.leave(liar_number)
    healed = await_one_leader(population)
    ordered = all(a < b for fences in events.values() for a, b in zip(fences, fences[1:], strict=False))
    return Damage(before, lying, healed, ahead, ordered)


def _noting(tell, fences: list[int]):
    def note(event) -> None:
        if event.kind == "elected":
            fences.append(event.fence)
        tell(event)

    return note


def _share(population, seconds: float) -> float:
    found = 0
    for _ in range(round(SAMPLES * seconds)):
        population.clock.run(seconds=1 / SAMPLES)
        found += population.leaders == 1
    return found / round(SAMPLES * seconds)


def await_one_leader(population) -> float | None:
    """Seconds until one leader, which stays for `SETTLED`."""
    began, since, leading = population.clock.time(), None, None
    while population.clock.time() - began < LONGEST:
        if population.leaders != 1 or population.leading != leading:
            since, leading = population.clock.time(), set(population.leading)
        elif population.clock.time() - since >= SETTLED:
            return since - began
        population.clock.run(seconds=1 / SAMPLES)
    return None
