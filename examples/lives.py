"""A population protocol of one's own: every leader has some lives, and a meeting of two leaders costs one.

Try it:

    hegemon run examples/lives.py --n 1000 --trials 20
    hegemon verify examples/lives.py --n 4
    hegemon run examples/lives.py --n 200 --plot lives.png
"""

from hegemon import Bit, Group, Parameter, PopulationProtocol, Range, count, exactly


def is_leader(a, p):
    return a.leader == 1


class Lives(PopulationProtocol):
    """Of two leaders that meet the weaker one loses a life, on a tie the responder; without a life it yields."""

    arbitrary_start = False  # it elects from its own start; a population without a leader stays without one
    default_start = "all-leaders"

    lives = Parameter(3, low=1, help="lives of every leader at the start")

    class State:
        leader: Bit
        left: Range(1, "lives").when(leader=1)

    def interact(a, b, p):
        if a.leader == 1 and b.leader == 1:
            if a.left < b.left:
                lose(a)
            else:
                lose(b)

    def start_all_leaders(self, rng):
        """Every agent leads, with all its lives."""
        return [Group(self.n, {"leader": 1, "left": self.lives})]

    safe = exactly(1, is_leader).described("exactly one leader", closed=True)

    leaders = count(is_leader, "agents that are leaders")


def lose(a):
    if a.left == 1:
        a.leader = 0
    else:
        a.left -= 1
