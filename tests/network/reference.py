"""What the network should do, said without a network: one interaction after another, some lost, some one-sided.

A *lost* interaction changes nothing; a *one-sided* one changes the responder only. Plain Python on codes, so that
it shares nothing with the compiled engines but the definition of the protocol.
"""

import random
from functools import lru_cache

from hegemon.errors import InvalidInput


class Sequence:
    """A run of a population protocol from given codes; each step draws an arc uniformly."""

    def __init__(self, protocol, codes, arcs, *, seed: int = 0, lost: float = 0.0, one_sided: float = 0.0):
        check_shares(lost, one_sided)
        self.protocol, self.codes, self.arcs = protocol, list(codes), arcs
        self.lost, self.one_sided = lost, one_sided
        self.rng = random.Random(seed)
        self.steps = self.lost_steps = self.one_sided_steps = 0
        self._interact = lru_cache(1 << 16)(protocol.transition_codes)
        self._state = lru_cache(1 << 16)(protocol.space.namespace)

    def step(self) -> None:
        initiator, responder = self.arcs[self.rng.randrange(len(self.arcs))]
        self.steps += 1
        if self.lost and self.rng.random() < self.lost:
            self.lost_steps += 1
            return
        theirs, own = self._interact(self.codes[initiator], self.codes[responder])
        self.codes[responder] = own
        if self.one_sided and self.rng.random() < self.one_sided:
            self.one_sided_steps += 1
        else:
            self.codes[initiator] = theirs

    def is_in(self, chosen) -> bool:
        states = [self._state(code) for code in self.codes]
        return chosen.contains(states, self.protocol.p, self.protocol.values)

    def steps_to(self, chosen, limit: int) -> int | None:
        """The number of interactions, lost ones left out, to a set; None when there are more than `limit` steps."""
        while not self.is_in(chosen):
            if self.steps >= limit:
                return None
            self.step()
        return self.steps - self.lost_steps


def check_shares(lost: float, one_sided: float) -> None:
    for name, share in (("lost", lost), ("one_sided", one_sided)):
        if not 0 <= share < 1:
            raise InvalidInput(f"{name} = {share} is out of range; it is a probability, at least 0 and below 1")


def arcs_of(n: int, topology=None) -> list[tuple[int, int]]:
    """Every ordered pair that can meet."""
    if topology is None or topology.is_complete:
        return [(v, w) for v in range(n) for w in range(n) if v != w]
    return list(zip(topology.sources.tolist(), topology.targets.tolist(), strict=True))
