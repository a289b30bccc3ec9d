"""Self-stabilizing election for agents that know n exactly: the agents take all different ranks."""

import numpy as np

from hegemon.models import Group, PopulationProtocol, Range, count, whole


def is_leader(a, p):
    return a.rank == 0


def ranks_differ(agents, p):
    taken = np.zeros(p.n, np.bool_)
    for i in range(len(agents)):
        if taken[agents[i].rank]:
            return False
        taken[agents[i].rank] = True
    return True


class CaiIzumiWada(PopulationProtocol):
    """Of two agents with the same rank the responder takes the next rank, modulo n; rank 0 is the leader."""

    reference = (
        "S. Cai, T. Izumi, K. Wada, How to prove impossibility under global fairness: on space complexity of "
        "self-stabilizing leader election on a population protocol model, Theory of Computing Systems 50, 2012"
    )
    grade = "exact"
    shelf = "complete graphs"
    needs_exact_n = True

    class State:
        rank: Range(0, "n-1")

    def interact(a, b, p):
        if a.rank == b.rank:
            b.rank = (b.rank + 1) % p.n

    def output(a, p):
        return a.rank == 0

    def start_all_leaders(self, rng):
        """Every agent has rank 0."""
        return [Group(self.n, {"rank": 0})]

    def start_safe(self, rng):
        """Every rank is taken once."""
        return [Group(1, {"rank": rank}) for rank in range(self.n)]

    def start_no_leader(self, rng):
        """Rank 1 is taken twice and rank 0 by nobody, so the surplus has to walk through all ranks."""
        return [Group(2, {"rank": 1})] + [Group(1, {"rank": rank}) for rank in range(2, self.n)]

    safe = whole(ranks_differ).described("all ranks differ: nothing will ever change", closed=True)

    leaders = count(is_leader, "agents of rank 0")
