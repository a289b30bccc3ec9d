"""What can be proved of holding times without computing them.

`timer`: a follower's timer is at least the lowest timer of the start minus the number of the follower's meetings since
it last met the leader (rule 4 takes one off the larger of two timers). So a timeout needs an initiator whose last
`lowest` meetings all missed the leader. The partners of an agent are drawn independently of each other, of when it
meets them and of who is initiator now: that has a chance of at most q = ((n - 2) / (n - 1))^lowest in every step. The
leader is therefore lost within t steps with a chance of at most t q, and the expected number of steps, the sum over t
of the chance that it is still there, is at least 1 / (2 q).
"""

import math


def log10_holding_of_timer(n: int, lowest: int) -> float:
    """The logarithm to base 10 of a lower bound on the expected parallel time for which `timer` on the complete graph
    keeps its leader, from any start with one leader and no timer below `lowest`; n is at least 3."""
    return lowest * math.log10((n - 1) / (n - 2)) - math.log10(2 * n)
