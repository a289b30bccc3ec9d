"""Members that join and leave, in virtual time: how long until there is one leader again."""

from collections.abc import Iterable

from hegemon.network.events import NetworkEvents
from hegemon.network.faults import FEWEST
from tests.network.liar import SAMPLES, await_one_leader
from tests.network.population import Population


def leave(population: Population, members: Iterable[int]) -> None:
    """Members leave without a datagram; the others are then informed by `tell`."""
    for member in members:
        population.leave(member)
    tell(population)


def come(population: Population, members: Iterable[int]) -> None:
    """Members join in the state of their own start; the others are then informed by `tell`."""
    for member in members:
        population.enter(member)
    tell(population)


def tell(population: Population) -> None:
    for number, agent in population.agents.items():
        agent.peers = [other for other in population.neighbours[number] if other in population.agents]


def burst(protocol, kind: str, members: int, *, rate: float = 10.0, seed: int = 0) -> float | None:
    """Seconds until one leader again, after `members` of a settled network leave, or join one without them; with kind
    `leader`, its leader leaves."""
    population = Population(protocol, seed=seed, rate=rate)
    chosen = population.rng.sample(range(protocol.n), members)
    if kind == "join":
        leave(population, chosen)
    await_one_leader(population)
    (come if kind == "join" else leave)(population, list(population.leading) if kind == "leader" else chosen)
    return await_one_leader(population)


def share(protocol, rates, *, seconds: float = 600.0, rate: float = 10.0, seed: int = 0) -> tuple[float, int]:
    """The share of samples with one leader while members come and go at rates, and how many events there were."""
    population = Population(protocol, seed=seed, rate=rate)
    await_one_leader(population)
    events, begin, alone, happened = NetworkEvents(rates, seed), population.steps, 0, 0
    for _ in range(round(SAMPLES * seconds)):
        population.clock.run(seconds=1 / SAMPLES)
        for event in events.due(population.steps - begin, 0.0):
            here = sorted(population.agents)
            away = sorted(set(range(protocol.n)) - set(here))
            if event.kind == "join" and away:
                come(population, [population.rng.choice(away)])
            elif event.kind == "leave" and len(here) > FEWEST:
                leave(population, [population.rng.choice(here)])
            else:
                continue
            happened += 1
        alone += population.leaders == 1
    return alone / round(SAMPLES * seconds), happened
