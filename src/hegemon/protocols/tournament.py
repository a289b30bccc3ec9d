"""Two tournaments that elect from the all-leaders start: the larger value wins, and minions carry values along.

`AG` follows the idea of Alistarh and Gelashvili (ICALP 2015), with counters that saturate where theirs wrap; `BK` is
in the manner of Berenbrink, Kaaser, Kling, Otterbach (2018), where a value grows only after several heads in a row.
The rules are this project's own.
"""

from hegemon.models import Bit, Group, Parameter, PopulationProtocol, Range, count, exactly, maximum


def is_leader(a, p):
    return a.leader == 1


def value(a, p):
    return a.value


def a_survives(a, b):
    return a.leader == 1 and a.value >= b.value


def b_survives(a, b):
    return b.leader == 1 and b.value >= a.value and not a_survives(a, b)


class AG(PopulationProtocol):
    """A leader with the larger value stays and adds one; everybody else is a minion that spreads the larger value."""

    reference = (
        "rules of this project; stand-in for D. Alistarh, R. Gelashvili, Polylogarithmic-time leader election in "
        "population protocols, ICALP 2015 (O(log³ n) time and states)"
    )
    grade = "stand-in"
    shelf = "complete graphs"
    arbitrary_start = False

    m = Parameter("ceil(log2(n))^3", low=1, help="the largest value")

    class State:
        leader: Bit = 1
        value: Range(1, "m") = 1

    def interact(a, b, p):
        top = max(a.value, b.value)
        a_stays, b_stays = a_survives(a, b), b_survives(a, b)
        if a_stays:
            a.value = min(a.value + 1, p.m)
        else:
            a.leader, a.value = 0, top
        if b_stays:
            b.value = min(b.value + 1, p.m)
        else:
            b.leader, b.value = 0, top

    safe = exactly(1, is_leader).described("one leader; leaders never come back", closed=True)

    leaders = count(is_leader, "agents that are leaders")
    largest_value = maximum(value, "the largest value so far")


class BK(PopulationProtocol):
    """As in `ag`, but a surviving leader adds one only after `r` heads in a row: initiator head, responder tail."""

    reference = (
        "rules of this project, in the manner of P. Berenbrink, D. Kaaser, P. Kling, L. Otterbach, Simple and "
        "efficient leader election, SOSA 2018 (O(log² n) time, O(log n) states; here O(log n log log n) states)"
    )
    grade = "stand-in"
    shelf = "complete graphs"
    arbitrary_start = False

    top = Parameter("8*ceil(log2(n))", low=1, help="the largest value")
    r = Parameter("max(1, ceil(log2(max(1, log2(n)))))", low=1, help="heads in a row that raise a value")

    class State:
        leader: Bit
        value: Range(0, "top")
        run: Range(0, "r-1").when(leader=1)

    def interact(a, b, p):
        highest = max(a.value, b.value)
        a_stays, b_stays = a_survives(a, b), b_survives(a, b)
        if a_stays:
            a.run += 1
            if a.run == p.r:
                a.run = 0
                a.value = min(a.value + 1, p.top)
        else:
            a.leader, a.value = 0, highest
        if b_stays:
            b.run = 0
        else:
            b.leader, b.value = 0, highest

    default_start = "all-leaders"

    def start_all_leaders(self, rng):
        """Every agent leads, with value 0."""
        return [Group(self.n, {"leader": 1, "value": 0, "run": 0})]

    safe = exactly(1, is_leader).described("one leader; leaders never come back", closed=True)

    leaders = count(is_leader, "agents that are leaders")
    largest_value = maximum(value, "the largest value so far")
