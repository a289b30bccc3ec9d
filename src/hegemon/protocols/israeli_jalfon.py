"""Israeli and Jalfon's tokens: each walks at random whenever the daemon lets it, and two that meet become one."""

import numpy as np

from hegemon.models import Bit, PopulationProtocol, exactly


def holds_token(a, p):
    return a.token == 1


class IsraeliJalfon(PopulationProtocol):
    """A daemon picks an agent with a token, which goes to a random neighbour; tokens that meet merge; one remains."""

    reference = (
        "A. Israeli and M. Jalfon, Token management schemes and random walks yield self-stabilizing mutual exclusion, "
        "PODC 1990; rules as in the case studies of PRISM (self-stabilisation, ij3.nm)"
    )
    grade = "exact"
    shelf = "rings"
    topology = "ring"
    smallest_n = 3
    daemon = "central"  # it chooses the initiator; the neighbour is drawn
    arbitrary_start = False  # without any token nothing would ever happen
    outputs = ()  # the token goes round: nobody is elected

    class State:
        token: Bit = 1

    def interact(a, b, p):
        if a.token == 1:
            a.token, b.token = 0, 1

    def start_two_tokens(self, rng):
        """Two tokens as far apart as n allows: d (n - d) expected moves at distance d."""
        agents = np.zeros(self.n, self.space.dtype)
        agents["token"][[0, self.n // 2]] = 1
        return agents

    safe = exactly(1, holds_token).described("exactly one token", closed=True)
