"""P_LL: one leader in O(log n) expected time with O(log n) states, from the start in which everybody leads.

Half of the agents keep time (status B): their counters drive a colour round and round, and whoever moves on to the next
colour *ticks*. Ticks lead everybody through four epochs: a lottery (QuickElimination), two tournaments of random
numbers, and a slow election that is never wrong (BackUp). Recalled: who of an X and a non-X agent becomes what, the
coin of BackUp, and the constants 5, 41 and 2/3 may differ from the paper. The paper's variables `tick` and `init`
live within an interaction only: after it, init equals epoch.
"""

from hegemon.models import Bit, Choice, Parameter, PopulationProtocol, Range, count, exactly


def is_leader(a, p):
    return a.leader == 1


def assign_status(a, b):  # rule 1
    if a.status == "X" and b.status == "X":
        take_part(a, "A")
        take_part(b, "B")
        a.level, a.done = 0, 0
        b.leader, b.counter = 0, 0
    elif a.status == "X":
        join(a)
    elif b.status == "X":
        join(b)


def join(a):
    take_part(a, "A")
    a.leader, a.level, a.done = 0, 0, 1


def take_part(a, status):
    a.status, a.epoch, a.colour = status, 1, 0


def count_up(a, p):  # rule 2, first half; returns whether the agent ticks
    if a.status == "B":
        if a.counter + 1 < p.c_max:
            a.counter += 1
        else:
            a.counter = 0
            a.colour = (a.colour + 1) % 3
            return True
    return False


def catch_up(a, colour):  # rule 2, second half, for the agent that may be behind
    if colour == (a.colour + 1) % 3:
        a.colour = colour
        if a.status == "B":
            a.counter = 0
        return True
    return False


def enter_epoch(a, epoch, p):  # rule 3
    if a.epoch < epoch:
        a.epoch = epoch
        if a.status == "A" and epoch < 4:
            a.rand = 0
            a.index = 0 if a.leader == 1 else p.phi
        elif a.status == "A":
            a.level = 0


def compare_levels(a, b):
    """The lower level takes the higher one and loses the lead."""
    if a.level < b.level:
        a.level, a.leader = b.level, 0
    elif b.level < a.level:
        b.level, b.leader = a.level, 0


def quick_elimination(a, b, p):  # rule 4
    if a.status == "A" and a.leader == 1 and a.done == 0 and b.leader == 0:
        a.level = min(a.level + 1, p.l_max)
    elif b.status == "A" and b.leader == 1 and b.done == 0 and a.leader == 0:
        b.done = 1
    if a.status == "A" and b.status == "A" and a.done == 1 and b.done == 1:
        compare_levels(a, b)


def tournament(a, b, p):  # rule 5
    if a.status == "A" and a.leader == 1 and a.index < p.phi and b.leader == 0:
        a.rand = (2 * a.rand + 1) % 2**p.phi  # in range in states that no run reaches, too
        a.index += 1
    elif b.status == "A" and b.leader == 1 and b.index < p.phi and a.leader == 0:
        b.rand = 2 * b.rand % 2**p.phi
        b.index += 1
    if a.status == "A" and b.status == "A" and a.index == p.phi and b.index == p.phi:
        if a.rand < b.rand:
            a.rand, a.leader = b.rand, 0
        elif b.rand < a.rand:
            b.rand, b.leader = a.rand, 0


def back_up(a, b, a_ticks, p):  # rule 6
    if a.status == "A" and a.leader == 1 and a_ticks and b.leader == 0:
        a.level = min(a.level + 1, p.l_max)
    if a.status == "A" and b.status == "A":
        compare_levels(a, b)
    if a.leader == 1 and b.leader == 1:
        b.leader = 0


class PLL(PopulationProtocol):
    """Timekeepers lead everybody through a lottery, two tournaments and a slow election that is always right."""

    id = "p-ll"
    reference = (
        "Y. Sudo, F. Ooshita, T. Izumi, H. Kakugawa, T. Masuzawa, Time-optimal leader election in population "
        "protocols, IEEE Transactions on Parallel and Distributed Systems 31, 2020; recalled"
    )
    grade = "faithful"
    shelf = "complete graphs"
    arbitrary_start = False

    m = Parameter("max(1, ceil(log2(n)))", low="log2(n)", help="known approximation of log2 n")
    l_max = Parameter("5*m", low=1, help="the largest level")
    c_max = Parameter("41*m", low=2, help="meetings of a timekeeper between two ticks")
    phi = Parameter("max(1, ceil(2*log2(m)/3))", low=1, help="bits of a tournament")

    class State:
        leader: Bit = 1
        status: Choice("X", "A", "B") = "X"
        epoch: Range(1, 4).when(status=("A", "B")) = 1
        colour: Range(0, 2).when(status=("A", "B")) = 0
        counter: Range(0, "c_max-1").when(status="B") = 0  # count in the paper
        level: Range(0, "l_max").when(status="A", epoch=(1, 4)) = 0
        done: Bit.when(status="A", epoch=1) = 0
        rand: Range(0, "2^phi-1").when(status="A", epoch=(2, 3)) = 0
        index: Range(0, "phi").when(status="A", epoch=(2, 3)) = 0

    def interact(a, b, p):
        assign_status(a, b)
        a_ticks, b_ticks = count_up(a, p), count_up(b, p)
        if catch_up(a, b.colour):
            a_ticks = True
        elif catch_up(b, a.colour):
            b_ticks = True
        a_epoch = min(a.epoch + 1, 4) if a_ticks else a.epoch
        b_epoch = min(b.epoch + 1, 4) if b_ticks else b.epoch
        enter_epoch(a, max(a_epoch, b_epoch), p)
        enter_epoch(b, max(a_epoch, b_epoch), p)
        if a.epoch == 1:
            quick_elimination(a, b, p)
        elif a.epoch < 4:
            tournament(a, b, p)
        else:
            back_up(a, b, a_ticks, p)

    safe = exactly(1, is_leader).described("one leader; leaders never come back", closed=True)

    leaders = count(is_leader, "agents that are leaders")
    finished = count(lambda a, p: a.status != "X" and a.epoch == 4, "agents in the last epoch")
