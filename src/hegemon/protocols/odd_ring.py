"""A stand-in for the constant-state row of Table 1 of the ring paper: rings whose size is no multiple of k.

The published rules (Angluin, Aspnes, Fischer, Jiang, TAAS 3(4), 2008) are remembered only in outline; these are this
project's own, the idea of barriers is theirs. Going once round, labels would have to grow by n, which is no multiple
of k, so a *barrier* always remains; barriers that meet add up, so in the end one is left: a token that goes round
and carries the colour of its tail. A leader repaints it; an agent that meets the token in its own old colour
concludes that nobody repainted it for a whole turn.
"""

import numpy as np

from hegemon.models import Assumption, Bit, Parameter, PopulationProtocol, Range, count, exactly, whole


def is_leader(a, p):
    return a.leader == 1


def is_barrier(l, r, p):  # noqa: E741 - l is the left agent of the two
    return r.label != (l.label + 1) % p.k


def one_turn(agents, p):
    """One barrier, from u to v; from the leader clockwise to u the leader's colour, from v to the leader others."""
    n = len(agents)
    u = -1
    for i in range(n):
        if is_barrier(agents[i], agents[(i + 1) % n], p):
            if u >= 0:
                return False
            u = i
    leader = -1
    for i in range(n):
        if agents[i].leader == 1:
            leader = i
    if u < 0 or leader < 0:
        return False
    before = True  # on the way from v, clockwise, the leader has not been met yet
    for k in range(1, n + 1):
        i = (u + k) % n
        if i == leader:
            before = False
        if (agents[i].colour == agents[leader].colour) == before:
            return False
    return True


class OddRing(PopulationProtocol):
    """A token goes round the ring; leaders repaint it, and whoever sees its own colour again takes the lead."""

    reference = (
        "rules of this project; stand-in for row [3] of Table 1 of Yokota, Sudo, Masuzawa, IEICE Transactions 2021 "
        "(O(1) states, Θ(n³) steps, n no multiple of k)"
    )
    grade = "stand-in"
    shelf = "rings"
    needs_graph = "directed-ring"
    assumes = (
        Assumption(
            "k does not divide n (or no leader can be elected)", "n % k != 0", "choose k = n + 1, or k = 2 for odd n"
        ),
    )

    k = Parameter(  # 2 on odd rings, n + 1 on even ones
        "n + 1 - (n - 1)*(n % 2)", low=2, help="does not divide n; k = N + 1 serves every ring of at most N agents"
    )

    class State:
        label: Range(0, "k-1")
        colour: Range(0, 2)
        leader: Bit
        coin: Bit

    def interact(l, r, p):  # noqa: E741
        if is_barrier(l, r, p):  # rule 1: the barrier moves over r
            r.label = (l.label + 1) % p.k
            if r.colour == l.colour:
                r.leader = 1
                r.colour = (r.colour + 1 + r.coin) % 3
            else:
                r.leader = 0
                r.colour = l.colour
        else:  # rule 2
            r.coin = 1 - r.coin

    def start_safe(self, rng):
        """One barrier, on the arc to agent 0, which leads; one colour everywhere."""
        return self._labelled(colour=[0] * self.n, leader=[1] + [0] * (self.n - 1))

    def start_three_barriers(self, rng):
        """No leader, and barriers at three equidistant places, as far as k allows."""
        agents = self._labelled(colour=[0] * self.n, leader=[0] * self.n)
        for place in (self.n // 3, 2 * self.n // 3):
            agents["label"][place:] = (agents["label"][place:] + 1) % self.k
        return agents

    def _labelled(self, colour, leader):
        agents = np.zeros(self.n, self.space.dtype)
        agents["label"] = np.arange(self.n) % self.k
        agents["colour"], agents["leader"] = colour, leader
        return agents

    safe = (exactly(1, is_leader) & whole(one_turn)).described(
        "one barrier and one leader; the leader's colour from it to the barrier, other colours behind", closed=True
    )

    leaders = count(is_leader, "agents that are leaders")
