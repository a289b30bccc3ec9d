"""A protocol of one's own in rounds: every node reads its neighbours, all nodes move at once.

Try it:

    hegemon run examples/knockout.py --graph complete:50 --trials 20
    hegemon verify examples/knockout.py --graph complete:4
"""

from hegemon import Bit, RoundsProtocol, count, exactly


def is_leader(a, p):
    return a.leader == 1


class Knockout(RoundsProtocol):
    """Leaders toss coins; a leader with tails that sees a leader with heads yields. One is left on a complete graph."""

    arbitrary_start = False
    random_bits = 1

    class State:
        leader: Bit = 1
        heads: Bit = 0

    def update(me, neighbours, coins, p):
        if me.leader == 1 and me.heads == 0:
            for other in neighbours:
                if other.leader == 1 and other.heads == 1:
                    me.leader = 0
        me.heads = coins if me.leader == 1 else 0

    safe = exactly(1, is_leader).described("exactly one leader", closed=True)

    leaders = count(is_leader, "nodes that are leaders")
