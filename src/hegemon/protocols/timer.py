"""Loosely-stabilizing election by timeout: leaders keep everybody's timer high."""

from hegemon.models import (
    Bit,
    Group,
    Parameter,
    PopulationProtocol,
    Range,
    count,
    everywhere,
    exactly,
    maximum,
    minimum,
)


def is_leader(a, p):
    return a.leader == 1


def timer_is_high(a, p):
    return 2 * a.timer >= p.s


def timer(a, p):
    return a.timer


class Timer(PopulationProtocol):
    """A leader resets timers; followers count down together, and a timeout makes a new leader."""

    reference = (
        "Y. Sudo et al., Loosely-stabilizing leader election in a population protocol model, "
        "Theoretical Computer Science 444, 2012"
    )
    grade = "exact"
    shelf = "survey"

    N = Parameter("n", low="n", help="the known upper bound on n")
    s = Parameter("96*N", low=1, help="the value that timers are reset to")

    class State:
        leader: Bit
        timer: Range(0, "s")

    def interact(a, b, p):
        if a.leader == 1:  # rule 1
            b.leader = 0
            a.timer = b.timer = p.s
        elif b.leader == 1:  # rule 2
            a.timer = b.timer = p.s
        elif a.timer == 0 and b.timer == 0:  # rule 3
            a.leader = 1
            a.timer = b.timer = p.s
        else:  # rule 4
            a.timer = b.timer = max(a.timer, b.timer) - 1

    def start_all_leaders(self, rng):
        """Every agent is a leader with a full timer."""
        return [Group(self.n, {"leader": 1, "timer": self.s})]

    def start_no_leader(self, rng):
        """No leader, and every timer full: the longest wait for a timeout."""
        return [Group(self.n, {"leader": 0, "timer": self.s})]

    def start_safe(self, rng):
        """One leader, every timer full."""
        return [Group(1, {"leader": 1, "timer": self.s}), Group(self.n - 1, {"leader": 0, "timer": self.s})]

    def start_barely_safe(self, rng):
        """One leader, every timer as low as the safe set allows."""
        low = (self.s + 1) // 2
        return [Group(1, {"leader": 1, "timer": low}), Group(self.n - 1, {"leader": 0, "timer": low})]

    safe = (exactly(1, is_leader) & everywhere(timer_is_high)).described(
        "exactly one leader, and every timer is at least s/2; held for long, not forever"
    )

    leaders = count(is_leader, "agents that are leaders")
    lowest_timer = minimum(timer, "the lowest timer")
    highest_timer = maximum(timer, "the highest timer")
