"""Simple and efficient leader election: a lottery of synthetic coins, then a tournament that marked agents drive."""

from hegemon.models import Bit, Choice, Parameter, PopulationProtocol, Range, count, exactly


def is_leader(a, p):
    return a.contender == 1


def is_marked(a, p):
    return a.marker == 1


def move(a, contender, flip, marker, counter, p):
    """What one of the two does, given the values of the other."""
    if a.phase == "MARKING":
        if a.counter >= 3 * p.lam and flip == 0:
            a.phase = "TOURNAMENT"
        else:
            a.counter = min(a.counter + 1, 4 * p.lam)  # never more is reached
            if a.counter == 4 * p.lam:
                a.marker = 1
                a.phase = "TOURNAMENT"
    if a.phase == "TOURNAMENT":
        if a.contender == 1:
            if marker == 1 and a.counter <= p.M:
                a.counter += 1
            if a.counter < counter or (contender == 1 and a.counter == counter and a.flip < flip):
                a.contender = 0
        a.counter = max(a.counter, counter)
    a.flip = 1 - a.flip


class SimpleLottery(PopulationProtocol):
    """About log n agents become markers by tossing heads; contenders count markers, and the highest count spreads."""

    reference = (
        "P. Berenbrink, D. Kaaser, P. Kling, L. Otterbach, Simple and Efficient Leader Election, SOSA 2018, as the "
        "pseudocode in the documentation of ppsim prints it"
    )
    grade = "exact"
    shelf = "complete graphs"
    arbitrary_start = False
    smallest_n = 3  # two agents flip their coins in step, and neither can lose

    lam = Parameter("floor(log2(log2(n)))", low=1, help="λ: an agent marks itself after λ heads")
    U = Parameter(4, low=1, help="how long the tournament lasts, in multiples of log n")
    M = Parameter("U*floor(log2(n))", low=1, help="how far contenders count")
    in_sequence = Parameter(
        0, low=0, high=1, help="1: the second agent sees the first one changed, as in ppsim's program"
    )

    class State:
        contender: Bit = 1
        flip: Bit = 0
        marker: Bit = 0
        phase: Choice("MARKING", "TOURNAMENT") = "MARKING"
        counter: Range(0, "max(M + 1, 4*lam)") = 0

    def interact(a, b, p):
        contender, flip, marker, counter = a.contender, a.flip, a.marker, a.counter
        move(a, b.contender, b.flip, b.marker, b.counter, p)
        if p.in_sequence == 1:
            contender, flip, marker, counter = a.contender, a.flip, a.marker, a.counter
        move(b, contender, flip, marker, counter, p)

    def output(a, p):
        return a.contender == 1

    safe = exactly(1, is_leader).described("exactly one contender", closed=True)

    leaders = count(is_leader, "contenders")
    markers = count(is_marked, "agents that marked themselves")
