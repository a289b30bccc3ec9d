"""Optimal-Silent-SSR: a ranking in O(n) time and O(n) states, with a reset that everybody hears of.

Protocols 2 to 4 of the paper, in the rules of a public formalisation. A RESETTING agent either *propagates*
(resetcount > 0) or is *dormant* (resetcount = 0) for `delay` more meetings; here the field `dormant` says which,
so that each of the two has only its own counter. Two readings: a recruited agent is a candidate (leader = 1), since
the field does not exist outside the role and the analysis starts the slow election from all candidates; and the
rules of a reset are symmetric in the two agents.
"""

import numpy as np

from hegemon.models import Bit, Choice, Group, Parameter, PopulationProtocol, Range, count, whole


def is_leader(a, p):
    return a.role == "SETTLED" and a.rank == 0


def is_settled(a, p):
    return a.role == "SETTLED"


def is_resetting(a, p):
    return a.role == "RESETTING"


def all_ranked(agents, p):
    taken = np.zeros(p.n, np.bool_)
    for i in range(len(agents)):
        if agents[i].role != "SETTLED" or taken[agents[i].rank]:
            return False
        taken[agents[i].rank] = True
    return True


def settle(a, rank):
    a.role = "SETTLED"
    a.rank = rank
    a.children = 0


def start_reset(a, p):
    """Trigger: a propagating candidate."""
    a.role = "RESETTING"
    a.leader = 1
    a.dormant = 0
    a.resetcount = p.r_max


def fall_asleep(a, p):
    a.dormant = 1
    a.delay = p.d_max


def wake_up(a, p):  # rule 1.4
    if a.leader == 1:
        settle(a, 0)
    else:
        a.role = "UNSETTLED"
        a.error = p.e_max


def recruit(a, b, p):  # rule 1.1
    if a.role == "RESETTING" and a.dormant == 0 and b.role != "RESETTING":
        b.role = "RESETTING"
        b.leader = 1
        fall_asleep(b, p)


def count_down(a, count, p):  # rules 1.2 and 1.3 for one of the two; `count` is the resetcount that both take
    if count > 0:
        a.dormant = 0
        a.resetcount = count
    elif a.dormant == 0:
        fall_asleep(a, p)
    else:
        a.delay = max(a.delay - 1, 0)


def propagate_reset(a, b, p):
    recruit(a, b, p)
    recruit(b, a, p)
    both = a.role == "RESETTING" and b.role == "RESETTING"
    if both:
        first = a.resetcount if a.dormant == 0 else 0
        second = b.resetcount if b.dormant == 0 else 0
        count = max(first - 1, second - 1, 0)
        count_down(a, count, p)
        count_down(b, count, p)
    elif a.role == "RESETTING":
        a.delay = max(a.delay - 1, 0)
    else:
        b.delay = max(b.delay - 1, 0)
    if a.role == "RESETTING" and a.dormant == 1 and (a.delay == 0 or not both):
        wake_up(a, p)
    if b.role == "RESETTING" and b.dormant == 1 and (b.delay == 0 or not both):
        wake_up(b, p)
    if a.role == "RESETTING" and b.role == "RESETTING" and a.leader == 1 and b.leader == 1:  # rule 1.5: slow election
        b.leader = 0


def deal(s, u, p):  # rule 3
    """A settled agent gives an unsettled one the next rank of its subtree; whether it could."""
    if s.role == "SETTLED" and u.role == "UNSETTLED" and s.children < 2:
        rank = 2 * s.rank + s.children + 1
        if rank < p.n:
            settle(u, rank)
            s.children += 1
            return True
    return False


def grow_impatient(a, p):  # rule 4
    if a.role == "UNSETTLED":
        a.error = max(a.error - 1, 0)


class OptimalSilent(PopulationProtocol):
    """Agents that know n deal out all ranks along a binary tree; a doubled rank resets everybody; rank 0 leads."""

    reference = (
        "J. Burman, H.-L. Chen, H.-P. Chen, D. Doty, T. Nowak, E. Severson, C. Xu, Time-optimal self-stabilizing "
        "leader election in population protocols, PODC 2021 (Optimal-Silent-SSR, Protocols 2-4)"
    )
    grade = "exact"
    shelf = "complete graphs"
    needs_exact_n = True
    class_names = {
        "role=SETTLED": "Settled",
        "role=UNSETTLED": "Unsettled",
        "role=RESETTING dormant=0": "Resetting, propagating",
        "role=RESETTING dormant=1": "Resetting, dormant",
    }

    r_max = Parameter("ceil(60*log(n))", low=1, help="how far a reset spreads")
    d_max = Parameter("4*n", low=1, help="how long an agent sleeps after a reset, Θ(n)")
    e_max = Parameter("20*n", low=1, help="how long an agent waits for a rank, Θ(n)")

    class State:
        role: Choice("SETTLED", "UNSETTLED", "RESETTING")
        rank: Range(0, "n-1").when(role="SETTLED")
        children: Range(0, 2).when(role="SETTLED")
        error: Range(0, "e_max").when(role="UNSETTLED")
        leader: Bit.when(role="RESETTING")
        dormant: Bit.when(role="RESETTING")
        resetcount: Range(1, "r_max").when(role="RESETTING", dormant=0)
        delay: Range(0, "d_max").when(role="RESETTING", dormant=1)

    def interact(a, b, p):
        if a.role == "RESETTING" or b.role == "RESETTING":  # rule 1
            propagate_reset(a, b, p)
        elif a.role == "SETTLED" and b.role == "SETTLED":
            if a.rank == b.rank:  # rule 2
                start_reset(a, p)
                start_reset(b, p)
        elif not deal(a, b, p) and not deal(b, a, p):  # rules 3 and 4
            grow_impatient(a, p)
            grow_impatient(b, p)
            if (a.role == "UNSETTLED" and a.error == 0) or (b.role == "UNSETTLED" and b.error == 0):
                start_reset(a, p)
                start_reset(b, p)

    def output(a, p):
        return a.role == "SETTLED" and a.rank == 0

    def start_all_leaders(self, rng):
        """Every agent is settled with rank 0."""
        return [Group(self.n, {"role": "SETTLED", "rank": 0, "children": 0})]

    def start_collision(self, rng):
        """One rank is taken twice, and one by nobody."""
        settled = {"role": "SETTLED", "children": 0}
        return [Group(2, settled | {"rank": 1})] + [Group(1, settled | {"rank": k}) for k in range(2, self.n)]

    def start_unsettled(self, rng):
        """Nobody has a rank, and everybody is patient."""
        return [Group(self.n, {"role": "UNSETTLED", "error": self.e_max})]

    def start_safe(self, rng):
        """Every rank is taken once."""
        return [Group(1, {"role": "SETTLED", "rank": k, "children": 2}) for k in range(self.n)]

    safe = whole(all_ranked).described("all agents settled, all ranks different: nothing will ever change", closed=True)

    leaders = count(is_leader, "agents of rank 0")
    settled = count(is_settled, "agents with a rank")
    resetting = count(is_resetting, "agents in a reset")
