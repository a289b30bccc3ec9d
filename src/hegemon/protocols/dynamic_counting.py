"""Dynamic size counting: an estimate of log n that follows the number of agents when agents come and go."""

from math import log

from hegemon.models import (
    Array,
    Bit,
    Choice,
    Group,
    Parameter,
    PopulationProtocol,
    Range,
    count,
    everywhere,
    maximum,
    minimum,
)
from hegemon.models import mean as mean_of


def contradicts(a, p):
    """The groups that are present are too few or too many for the estimate."""
    return 3 * a.missing < 2 * a.estimate or a.missing // 4 > a.estimate


def is_settled(a, p):
    return a.phase == "NORMAL" and a.estimate > 0 and not contradicts(a, p)


def is_updating(a, p):
    return a.phase != "NORMAL"


def draw(tosses, p):
    """1 and the heads before the first tail: a bit that is 1 is a head."""
    grv = 1
    for _ in range(p.heads):
        if tosses % 2 == 0:
            return grv
        tosses //= 2
        grv += 1
    return grv


def look(a, p):
    """The last group before the first one from which nobody was heard for long."""
    i = 2
    if a.estimate > 10:
        i = int((1 + log(a.estimate)) / log(2))
    while i <= p.groups and a.clock[i - 1] > 0:
        i += 1
    a.missing = i - 1


def advance(a, tosses, p):
    """WAITING and UPDATING last until the timer ends; NORMAL until the estimate contradicts what is seen."""
    timer = a.timer
    if a.phase != "NORMAL":
        timer += 1
    if timer >= 4 * a.missing and a.phase == "WAITING":
        a.grv = draw(tosses, p)
        timer = 1
        a.phase = "UPDATING"
    elif timer >= 4 * a.missing and a.phase == "UPDATING":
        a.estimate = a.grv
        timer = 0
        a.phase = "NORMAL"
    a.timer = timer
    if a.phase == "NORMAL" and contradicts(a, p):
        a.phase = "WAITING"


class DynamicCounting(PopulationProtocol):
    """Agents keep joining group 1, 2, 3 … by tossing coins; the highest group that is heard of is about log n.

    Two numbers have no bound in the program, and a state here is finite. A group beyond `groups` stays at `groups`: an
    agent is there for a fraction 2^(1 - groups) of the time (the program's array ends there). A draw that shows `heads`
    heads ends: this changes a draw with probability 2^(-heads).
    """

    reference = (
        "D. Doty, M. Eftekhari, Dynamic Size Counting in Population Protocols, SAND 2022, as the authors' program "
        "(eftekhari-mhs/population-protocols, dynamic_counting/DynamicAgent.java) has it"
    )
    grade = "exact"
    shelf = "toolbox"
    reaches = ""  # an estimate is kept for long, not forever

    groups = Parameter(39, low=2, high=60, help="how many groups have a clock")
    heads = Parameter(30, low=1, high=30, help="the most heads that a draw tosses")
    largest = Parameter(100, low="heads + 1", high=10_000, help="the largest first estimate")

    colours = {"phase=NORMAL": "#009e73", "phase=WAITING": "#cc79a7", "phase=UPDATING": "#0072b2"}

    class State:
        estimate: Range(0, "largest") = 0
        grv: Range(0, "heads + 1") = 0
        timer: Range(0, "4*groups") = 0
        missing: Range(0, "groups") = 0
        group: Range(1, "groups") = 1
        clock: Array("groups", Range(0, "4*groups")) = 0
        phase: Choice("NORMAL", "WAITING", "UPDATING") = "NORMAL"

    class Coins:
        joins: Bit
        first: Range(0, "2^heads - 1")
        second: Range(0, "2^heads - 1")

    def interact(a, b, p, coins):
        if coins.joins == 1:
            a.group = min(a.group + 1, p.groups)
        else:
            b.group = 1
        for i in range(p.groups):
            a.clock[i] = max(a.clock[i], b.clock[i], 1) - 1
            b.clock[i] = a.clock[i]
        for group in (a.group, b.group):
            a.clock[group - 1] = 4 * group
            b.clock[group - 1] = 4 * group
        look(a, p)
        advance(a, coins.first, p)
        look(b, p)
        advance(b, coins.second, p)
        if a.phase == b.phase and a.phase != "WAITING":
            a.grv = max(a.grv, b.grv)
            b.grv = a.grv
            if a.phase == "NORMAL":
                a.estimate = a.grv
                b.estimate = b.grv

    def start_overestimate(self, rng):
        """As at first, but everybody believes in the largest estimate."""
        others = {"grv": 0, "timer": 0, "missing": 0, "group": 1, "clock": 0, "phase": "NORMAL"}
        return [Group(self.n, {"estimate": self.largest, **others})]

    settled = everywhere(is_settled).described("every agent has an estimate that nothing contradicts")

    estimate = mean_of(lambda a, p: a.estimate, "the mean estimate of log n")
    least = minimum(lambda a, p: a.estimate, "the least estimate")
    most = maximum(lambda a, p: a.estimate, "the largest estimate")
    updating = count(is_updating, "agents that are making a new estimate")
