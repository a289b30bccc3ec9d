"""Bullets and shields on a ring, for agents that an oracle tells whether a leader exists."""

import numpy as np

from hegemon.models import Bit, PopulationProtocol, at_least, count, exactly, nowhere, whole


def is_leader(a, p):
    return a.leader == 1


def has_shield(a, p):
    return a.shield == 1


def bullets_are_stopped(agents, p):
    """Between every bullet and the next leader on its right, that leader included, there is a shield."""
    n = len(agents)
    stopped = False
    seen = False
    for k in range(2 * n):
        i = 2 * n - 1 - k
        i = i if i < n else i - n
        if seen and agents[i].bullet == 1 and not stopped:
            return False
        if agents[i].leader == 1:
            seen = True
            stopped = False
        if agents[i].shield == 1:
            stopped = True
    return True


def is_settled(agents, p):
    leaders = 0
    shields = 0
    for i in range(len(agents)):
        leaders += agents[i].leader
        shields += agents[i].shield
    return leaders == 0 or (leaders == 1 and shields >= 1 and bullets_are_stopped(agents, p))


class FischerJiang(PopulationProtocol):
    """Leaders always shoot to the right; shields wander to the left and stop bullets; an oracle reports absence."""

    reference = (
        "M. J. Fischer, H. Jiang, Self-stabilizing leader election in networks of finite-state anonymous agents, "
        "OPODIS 2006; as described by Yokota, Sudo, Masuzawa, IEICE Transactions 2021, section 3.1"
    )
    grade = "faithful"
    shelf = "rings"
    needs_oracle = True
    needs_graph = "directed-ring"
    smallest_n = 3
    reaches = "settled"  # the oracle lives outside: without its report a ring without leaders stays so

    class State:
        leader: Bit
        bullet: Bit
        shield: Bit

    def interact(l, r, p):  # noqa: E741 - the left agent is the initiator
        if l.bullet == 1:
            if r.shield == 1:  # bullet and shield pass each other
                l.bullet = 0
            elif r.leader == 1:  # the bullet hits
                l.bullet = 0
                r.leader = 0
            else:  # the bullet moves, or disappears into the one before it
                l.bullet = 0
                r.bullet = 1
        if r.leader == 1:  # a leader without a bullet fires
            r.bullet = 1
        if r.shield == 1:  # the shield moves, or disappears into the one before it
            l.shield = 1
            r.shield = 0

    def report_absence(self, agent) -> None:
        """What an agent does when the oracle tells it that there is no leader."""
        agent["leader"] = agent["bullet"] = agent["shield"] = 1

    symbols = "● bullet, ◇ shield"

    def label(a, p):
        return ("●" if a.bullet == 1 else "") + ("◇" if a.shield == 1 else "")

    def start_all_leaders(self, rng):
        """Every agent is a leader without bullet or shield."""
        agents = np.zeros(self.n, self.space.dtype)
        agents["leader"] = 1
        return agents

    def start_no_leader(self, rng):
        """Nothing anywhere: only the oracle can help."""
        return np.zeros(self.n, self.space.dtype)

    def start_opposed(self, rng):
        """Two leaders face each other across the ring, each with a shield: the slow case, for the shields have
        to find each other at random before either leader can be hit."""
        agents = np.zeros(self.n, self.space.dtype)
        for place in (0, self.n // 2):
            agents[place]["leader"] = agents[place]["shield"] = 1
        return agents

    def start_safe(self, rng):
        """One leader with a shield."""
        agents = np.zeros(self.n, self.space.dtype)
        agents[0]["leader"] = agents[0]["shield"] = 1
        return agents

    safe = (exactly(1, is_leader) & at_least(1, has_shield) & whole(bullets_are_stopped)).described(
        "one leader, and every bullet will meet a shield before it", closed=True
    )
    settled = whole(is_settled).described("safe, or without a leader until the oracle says so", closed=True)
    leaderless = nowhere(is_leader).described("no leader, and none will come without the oracle", closed=True)

    leaders = count(is_leader, "agents that are leaders")
    bullets = count(lambda a, p: a.bullet == 1, "agents with a bullet")
    shields = count(has_shield, "agents with a shield")
