"""A population protocol: anonymous agents meet in pairs, chosen at random.

hegemon check FILE                        is everything as the engines need it?
hegemon run FILE --n 1000 --plot run.png  simulate it
hegemon verify FILE --n 5                 exact results for few agents
hegemon run FILE --n 10 --trace 20        what happens, in words
"""

from hegemon import Bit, Group, Parameter, PopulationProtocol, Range, count, exactly, maximum


def is_leader(a, p):
    return a.leader == 1


class MyProtocol(PopulationProtocol):
    """Two leaders meet and one yields; the others pass on for how long they have not met a leader."""

    default_start = "all-leaders"

    # Parameters are set by --set patience=5; bounds may be expressions over n and the parameters before.
    patience = Parameter(3, low=1, high=100, help="meetings that an agent counts")

    class State:  # what an agent remembers: a value out of its range is an error, never a surprise
        leader: Bit
        alone: Range(0, "patience")

    def interact(a, b, p):
        """The initiator a meets the responder b. Plain Python; it depends on a, b and p alone."""
        if a.leader == 1 and b.leader == 1:
            b.leader = 0
        if a.leader == 1 or b.leader == 1:
            a.alone = 0
            b.alone = 0
        else:
            longest = max(a.alone, b.alone)
            a.alone = min(longest + 1, p.patience)
            b.alone = a.alone

    # Starts are chosen by --start all-leaders; `random` is there by itself.
    def start_all_leaders(self, rng):
        """Everybody is a leader."""
        return [Group(self.n, {"leader": 1, "alone": 0})]

    def start_one_leader(self, rng):
        """One leader, and everybody else has waited for long."""
        return [Group(1, {"leader": 1, "alone": 0}), Group(self.n - 1, {"leader": 0, "alone": self.patience})]

    # A run ends inside `safe` unless --until says otherwise; `closed` is a claim, which verify checks.
    safe = exactly(1, is_leader).described("one leader, forever", closed=True)

    leaders = count(is_leader, "agents that are leaders")  # what --plot draws
    longest_wait = maximum(lambda a, p: a.alone, "the longest wait")
