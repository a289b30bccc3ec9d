"""The engineer's usual way: random identities, the highest one gossiped, heartbeats with a time to live.

What memberlist-like libraries do, as a protocol to compare with. The identity is part of the state, drawn with it:
a process that boots draws a new one. Real ones have 128 bits; a state must fit in 62. Rules compare identities and do
nothing else with them, and a comparison has the same law for any length as long as no two are equal: so all that the
length decides is how likely that is (about n²/2^(bits+1)). Equal highest identities are two leaders forever, which no
rule here notices: this is what the self-stabilizing protocols do without.
"""

import numpy as np

from hegemon.models import Parameter, PopulationProtocol, Range, count, whole


def is_leader(a, p):
    return a.best == a.me


def age(a, p):
    """A heartbeat not heard for `life` interactions is forgotten; an agent's own beats forever."""
    if a.best != a.me and a.beat > 0:
        a.beat -= 1
    if a.me >= a.best or a.beat == 0:
        a.best = a.me
        a.beat = p.life


def hear(a, b):
    """The higher of two identities counts, and of the same the fresher heartbeat."""
    if b.best > a.best:
        a.best = b.best
        a.beat = b.beat
    elif b.best == a.best:
        a.beat = max(a.beat, b.beat)


def one_rules(agents, p):
    highest = 0
    for i in range(len(agents)):
        highest = max(highest, agents[i].me)
    owners = 0
    for i in range(len(agents)):
        if agents[i].me == highest:
            owners += 1
        if agents[i].best != highest or 2 * agents[i].beat < p.life:
            return False
    return owners == 1


class GossipIdentity(PopulationProtocol):
    """Everybody draws an identity and believes in the highest that it has heard of lately; its owner leads."""

    reference = "rules of this project, after common practice; compare A. Das, I. Gupta, A. Motivala, SWIM, DSN 2002"
    grade = "stand-in"
    shelf = "complete graphs"

    bits = Parameter(24, low=1, high=26, help="length of an identity")
    life = Parameter("max(8, 8*ceil(log2(n)))", low=2, high=1023, help="interactions for which a heartbeat is believed")

    class State:
        me: Range(0, "2^bits - 1")
        best: Range(0, "2^bits - 1")
        beat: Range(0, "life")

    def interact(a, b, p):
        age(a, p)
        age(b, p)
        hear(a, b)
        hear(b, a)

    def output(a, p):
        return a.best == a.me

    def start_all_leaders(self, rng):
        """Everybody has just booted, with an identity of its own."""
        agents = self._identified(rng)
        agents["best"] = agents["me"]
        return agents

    def start_no_leader(self, rng):
        """All believe in an identity that nobody has: that of a leader that died."""
        agents = self._identified(rng)
        agents["me"] = np.minimum(agents["me"], 2**self.bits - 2)
        agents["best"] = 2**self.bits - 1
        return agents

    def start_safe(self, rng):
        """All believe in the highest identity, freshly heard."""
        agents = self._identified(rng)
        agents["best"] = agents["me"].max()
        return agents

    def _identified(self, rng):
        agents = np.zeros(self.n, self.space.dtype)
        agents["me"] = rng.choice(2**self.bits - 1, size=self.n, replace=self.n >= 2**self.bits)
        agents["beat"] = self.life
        return agents

    safe = whole(one_rules).described("all believe in the highest identity, heard lately, and one agent has it")

    leaders = count(is_leader, "agents that believe in themselves")
