"""A protocol of one's own with coins: what an interaction draws is declared, and exact in every engine and in verify.

Try it:

    hegemon run examples/lottery.py --n 1000 --trials 20
    hegemon verify examples/lottery.py --n 5 --start initial
"""

from hegemon import Bit, Parameter, PopulationProtocol, Range, count, exactly


def is_leader(a, p):
    return a.leader == 1


class Lottery(PopulationProtocol):
    """Two leaders who meet draw tickets, and the one with the lower number yields; equal numbers change nothing.

    A meeting of two leaders decides with probability 1 - 1/tickets, so that the election takes
    (n - 1)^2 tickets / (tickets - 1) interactions on average.
    """

    arbitrary_start = False
    tickets = Parameter(3, low=2, help="how many numbers there are")

    class State:
        leader: Bit = 1

    class Coins:
        mine: Range(1, "tickets")
        yours: Range(1, "tickets")

    def interact(a, b, p, coins):
        if a.leader == 1 and b.leader == 1:
            if coins.mine > coins.yours:
                b.leader = 0
            elif coins.mine < coins.yours:
                a.leader = 0

    safe = exactly(1, is_leader).described("exactly one leader", closed=True)

    leaders = count(is_leader, "agents that are leaders")
