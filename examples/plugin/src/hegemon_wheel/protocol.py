"""A protocol: a class as in a file of one's own."""

from hegemon import Bit, Group, PopulationProtocol, exactly


class Duel(PopulationProtocol):
    """Every agent starts as a leader; when two leaders meet, the initiator yields."""

    arbitrary_start = False
    default_start = "all-leaders"

    class State:
        leader: Bit

    def interact(a, b, p):
        if a.leader == 1 and b.leader == 1:
            a.leader = 0

    def start_all_leaders(self, rng):
        return [Group(self.n, {"leader": 1})]

    safe = exactly(1, lambda a, p: a.leader == 1).described("exactly one leader", closed=True)
