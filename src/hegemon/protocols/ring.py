"""P_RL: self-stabilizing election on directed rings in optimal time, by bullets, shields and signals."""

import numpy as np

from hegemon.models import Bit, Parameter, PopulationProtocol, Range, at_least, count, exactly, maximum, whole

DUMMY, LIVE = 1, 2  # bullet


def is_leader(a, p):
    return a.leader == 1


# The predicates of section 4.1. `left[i]` is d_L(i), the distance to the nearest leader on the left of
# agent i (itself included), `right[i]` is d_R(i); without any leader both are -1.


def distances_left(agents):
    n = len(agents)
    left = np.full(n, -1)
    distance = -1
    for _ in range(2):  # once around, and once more from the last leader on
        for i in range(n):
            if agents[i].leader == 1:
                distance = 0
            elif distance >= 0:
                distance += 1
            left[i] = distance
    return left


def distances_right(agents):
    n = len(agents)
    right = np.full(n, -1)
    distance = -1
    for _ in range(2):
        for i in range(n - 1, -1, -1):
            if agents[i].leader == 1:
                distance = 0
            elif distance >= 0:
                distance += 1
            right[i] = distance
    return right


def peaceful(agents, i, left):
    """The nearest left leader is shielded, and no signal is on the way from the bullet at i back to it."""
    if left[i] < 0 or agents[i - left[i]].shield == 0:
        return False
    for j in range(left[i] + 1):
        if agents[i - j].signal == 1:
            return False
    return True


def modest(agents, i, left):
    """Peaceful, and no distL on the way back to the nearest left leader is above the true distance."""
    if not peaceful(agents, i, left):
        return False
    for j in range(left[i] + 1):
        if agents[i - j].distL > left[i - j]:
            return False
    return True


def secure(agents, i, right, p):
    """Agent i cannot cause the creation of a leader before it meets the one on its right."""
    if agents[i].leader == 1:
        return agents[i].distL == 0
    return right[i] >= 0 and agents[i].distL <= p.N - right[i]


def bullets_are_peaceful(agents, p):
    left = distances_left(agents)
    for i in range(len(agents)):
        if agents[i].bullet == LIVE and not peaceful(agents, i, left):
            return False
    return True


def bullets_are_modest(agents, p):
    left = distances_left(agents)
    for i in range(len(agents)):
        if agents[i].bullet == LIVE and not modest(agents, i, left):
            return False
    return True


def agents_are_secure(agents, p):
    right = distances_right(agents)
    for i in range(len(agents)):
        if not secure(agents, i, right, p):
            return False
    return True


class Ring(PopulationProtocol):
    """Leaders shoot live or dummy bullets to the right and shield themselves; distances reveal that none is left."""

    reference = (
        "D. Yokota, Y. Sudo, T. Masuzawa, Time-Optimal Self-Stabilizing Leader Election on Rings "
        "in Population Protocols, IEICE Transactions 2021 (Algorithm 1)"
    )
    grade = "exact"
    shelf = "rings"
    needs_graph = "directed-ring"

    N = Parameter("n", low="n", help="the known upper bound on n")

    class State:
        leader: Bit
        bullet: Range(0, 2)
        shield: Bit
        signal: Bit
        distL: Range(0, "N")

    def interact(l, r, p):  # noqa: E741 - the paper's names: the left agent is the initiator
        if l.leader == 1:  # line 1
            l.distL = 0
        if r.leader == 1:  # line 2
            r.distL = 0
        elif r.bullet == 0:
            r.distL = min(l.distL + 1, p.N)
        if r.distL == p.N:  # lines 3-5
            r.leader = 1
            r.distL = 0
            r.bullet = LIVE
            r.shield = 1
            r.signal = 0
        if l.leader == 1 and l.signal == 1:  # lines 6-7
            l.bullet = LIVE
            l.shield = 1
            l.signal = 0
        if r.leader == 1 and r.signal == 1:  # lines 8-9
            r.bullet = DUMMY
            r.shield = 0
            r.signal = 0
        if l.bullet > 0 and r.leader == 1:  # lines 10-12
            if l.bullet == LIVE and r.shield == 0:
                r.leader = 0
            l.bullet = 0
        elif l.bullet > 0 and r.leader == 0:  # lines 13-15
            if r.bullet == 0:
                r.bullet = l.bullet
            l.bullet = 0
            r.signal = 0
        l.signal = max(l.signal, r.signal, r.leader)  # line 16

    symbols = "● live bullet, ○ dummy bullet, ◇ shield, ‹ signal; the number is distL"

    def label(a, p):
        carried = ("○" if a.bullet == DUMMY else "●" if a.bullet == LIVE else "") + ("◇" if a.shield == 1 else "")
        return f"{'‹' if a.signal == 1 else ''}{a.distL}\n{carried}"

    def highlight(a, p):
        """Agents that carry a bullet."""
        return a.bullet > 0

    def start_all_leaders(self, rng):
        """Every agent is a leader without bullet, shield or signal."""
        agents = np.zeros(self.n, self.space.dtype)
        agents["leader"] = 1
        return agents

    def start_no_leader(self, rng):
        """No leader, bullet or signal, and every distL is 0: the longest wait for a leader."""
        return np.zeros(self.n, self.space.dtype)

    def start_safe(self, rng):
        """One shielded leader at position 0, every distL exact, nothing on the way."""
        agents = np.zeros(self.n, self.space.dtype)
        agents["distL"] = np.arange(self.n)
        agents[0]["leader"] = agents[0]["shield"] = 1
        return agents

    C_PB = (at_least(1, is_leader) & whole(bullets_are_peaceful)).described(
        "there is a leader, and every live bullet is peaceful (Lemma 2)", closed=True
    )
    C_NI = (
        at_least(1, is_leader) & whole(bullets_are_peaceful) & whole(agents_are_secure) & whole(bullets_are_modest)
    ).described("in C_PB, every agent secure and every live bullet modest (Lemma 6)", closed=True)
    safe = (exactly(1, is_leader) & whole(agents_are_secure) & whole(bullets_are_modest)).described(
        "S_RL: in C_NI with exactly one leader (Lemma 8)", closed=True
    )

    leaders = count(is_leader, "agents that are leaders")
    live_bullets = count(lambda a, p: a.bullet == LIVE, "agents with a live bullet")
    dummy_bullets = count(lambda a, p: a.bullet == DUMMY, "agents with a dummy bullet")
    signals = count(lambda a, p: a.signal == 1, "agents with a signal")
    largest_dist = maximum(lambda a, p: a.distL, "the largest distance that an agent believes in")
