"""The simplest election: leaders eliminate each other."""

from hegemon.models import Bit, Group, PopulationProtocol, count, exactly


def is_leader(a, p):
    return a.leader == 1


class Pairwise(PopulationProtocol):
    """Every agent starts as a leader; when two leaders meet, the responder yields."""

    reference = (
        "D. Angluin et al., Computation in networks of passively mobile finite-state sensors, "
        "Distributed Computing 18, 2006"
    )
    grade = "exact"
    shelf = "survey"
    arbitrary_start = False
    default_start = "all-leaders"

    class State:
        leader: Bit

    def interact(a, b, p):
        if a.leader == 1 and b.leader == 1:
            b.leader = 0

    def start_all_leaders(self, rng):
        """Every agent is a leader: the protocol's own initial configuration."""
        return [Group(self.n, {"leader": 1})]

    def start_no_leader(self, rng):
        """No leader, and none will ever be: this protocol is not stabilizing."""
        return [Group(self.n, {"leader": 0})]

    def start_safe(self, rng):
        """One leader."""
        return [Group(1, {"leader": 1}), Group(self.n - 1, {"leader": 0})]

    safe = exactly(1, is_leader).described("exactly one leader", closed=True)

    leaders = count(is_leader, "agents that are leaders")
