"""A protocol in rounds: in each, every node reads its neighbours' states and its own coins, and all move at once.

hegemon check FILE                      is everything as the engines need it?
hegemon run FILE --n 100 --plot run.png simulate it
hegemon verify FILE --n 3               exact results for few nodes
hegemon run FILE --n 6 --trace 5        what happens, in words
"""

from hegemon import Bit, Group, RoundsProtocol, count, exactly


def is_leader(a, p):
    return a.leader == 1


class MyProtocol(RoundsProtocol):
    """Leaders toss coins; a leader with tails that sees another one's heads gives up."""

    topology = "complete"  # every node sees all others; --graph chooses another graph
    smallest_n = 2
    default_start = "all-leaders"
    arbitrary_start = False  # without any leader there will never be one: it does not stabilize from everywhere
    random_bits = 1  # fair bits that each node draws in every round: `coins` is 0 or 1

    class State:  # what a node remembers: a value out of its range is an error, never a surprise
        leader: Bit
        heads: Bit

    def update(me, neighbours, coins, p):
        """Change `me`; the neighbours are as they were before the round. It depends on these arguments alone."""
        beaten = 0
        for k in range(len(neighbours)):
            if neighbours[k].leader == 1 and neighbours[k].heads == 1:
                beaten = 1
        if me.leader == 1 and me.heads == 0 and beaten == 1:
            me.leader = 0
        me.heads = coins

    # Starts are chosen by --start all-leaders.
    def start_all_leaders(self, rng, topology):
        """Everybody is a leader, and nobody has tossed yet."""
        return [Group(self.n, {"leader": 1, "heads": 0})]

    # A run ends inside `safe` unless --until says otherwise; `closed` is a claim, which verify checks.
    safe = exactly(1, is_leader).described("one leader, forever", closed=True)

    leaders = count(is_leader, "nodes that are leaders")  # what --plot draws
