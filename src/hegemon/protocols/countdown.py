"""Counting down with higher value propagation (CHVP): a clock that the whole population shares."""

from hegemon.models import Group, Parameter, PopulationProtocol, Range, everywhere, maximum, mean, minimum


def is_low(a, p):
    return a.y <= p.bottom


def is_close(a, p):
    return a.y >= p.top - p.spread


def value(a, p):
    return a.y


class Countdown(PopulationProtocol):
    """Both agents take the larger of their two values less one, never below zero."""

    reference = "Sudo, Eguchi, Izumi, Masuzawa, DISC 2021, section 3.2 (P_CD, Lemmas 3 and 4)"
    grade = "exact"
    shelf = "toolbox"
    default_start = "one-full"

    top = Parameter("8*ceil(log2(n))", low=1, help="the largest value, l1 of Lemma 3")
    bottom = Parameter(0, low=0, high="top", help="the value to fall to, l2 of Lemma 3")
    spread = Parameter("top", low=0, high="top", help="how far below the top the set `close` reaches (Lemma 4)")

    class State:
        y: Range(0, "top")

    def interact(a, b, p):
        a.y = b.y = max(a.y - 1, b.y - 1, 0)

    def start_full(self, rng):
        """Every agent at the top."""
        return [Group(self.n, {"y": self.top})]

    def start_one_full(self, rng):
        """One agent at the top, the others at 0: the widest spread."""
        return [Group(1, {"y": self.top}), Group(self.n - 1, {"y": 0})]

    safe = everywhere(is_low).described("every value is at most `bottom` (Lemma 3)", closed=True)
    close = everywhere(is_close).described("every value is at least top - spread (Lemma 4)")

    lowest = minimum(value, "the lowest value")
    average = mean(value, "the average value")
    highest = maximum(value, "the highest value")
