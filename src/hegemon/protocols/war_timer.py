"""A stand-in for the polylogarithmic row of Table 1 of the time-optimal paper: timers, and a war by viruses.

The published rules (Sudo, Ooshita, Kakugawa, Masuzawa, Datta, Larmore, TCS 806, 2020) could not be recovered; these
are this project's own, with the same knowledge and resources. Nobody loses the last leader: a leader's own virus is
dead before its shield can fall, and two leaders cannot both fall to each other.
"""

from hegemon.models import Bit, Group, Parameter, PopulationProtocol, Range, count, everywhere, exactly, minimum


def is_leader(a, p):
    return a.leader == 1


def timer_is_high(a, p):
    return 2 * a.timer >= p.T


def begin_to_lead(a, p):
    a.leader = 1
    a.wait = p.W
    a.shield = 0


def keep_time(a, b, p):  # rule 1
    if a.leader == 1 or b.leader == 1:
        a.timer = b.timer = p.T
    elif a.timer == 0 and b.timer == 0:
        begin_to_lead(a, p)
        a.timer = b.timer = p.T
    else:
        a.timer = b.timer = max(a.timer, b.timer) - 1


def catch_virus(a):  # rule 3
    if a.leader == 1 and a.virus > 0 and a.shield == 0:
        a.leader = 0


def make_war(a, head, p):  # rule 4: the role in the interaction is the coin
    if a.leader == 1:
        if a.wait > 0:
            a.wait -= 1
        else:
            a.wait = p.W
            a.shield = head
            if head == 1:
                a.virus = p.V


class WarTimer(PopulationProtocol):
    """Leaders keep timers high and, now and then, shield themselves and send a virus that ends the unshielded."""

    reference = (
        "rules of this project; stand-in for row [22] of Table 1 of Sudo, Eguchi, Izumi, Masuzawa, DISC 2021 "
        "(O(τ log³ n) time, O(τ³ log³ N) states)"
    )
    grade = "stand-in"
    shelf = "complete graphs"

    N = Parameter("n", low="n", help="the known upper bound on n, polynomial in n")
    tau = Parameter(1, low=1, help="longer holding for slower convergence")
    T = Parameter("10*tau*ceil(log2(N))", low=1, help="the value that timers are reset to")
    V = Parameter("4*tau*ceil(log2(N))", low=1, help="the strength of a new virus")
    W = Parameter("6*V", low=1, help="meetings of a leader between two coins")

    class State:
        leader: Bit
        timer: Range(0, "T")
        virus: Range(0, "V")
        wait: Range(0, "W").when(leader=1)
        shield: Bit.when(leader=1)

    def interact(a, b, p):
        keep_time(a, b, p)
        a.virus = b.virus = max(a.virus - 1, b.virus - 1, 0)  # rule 2
        catch_virus(a)
        catch_virus(b)
        make_war(a, 1, p)
        make_war(b, 0, p)

    def start_all_leaders(self, rng):
        """Every agent leads, with a full timer and no virus."""
        return [Group(self.n, self._leader())]

    def start_all_shielded(self, rng):
        """The same with every shield up, so that each coin spares about half of them: the slowest start known."""
        return [Group(self.n, self._leader() | {"shield": 1})]

    def start_no_leader(self, rng):
        """No leader, and every timer full."""
        return [Group(self.n, self._follower())]

    def start_safe(self, rng):
        """One leader, every timer full, no virus."""
        return [Group(1, self._leader()), Group(self.n - 1, self._follower())]

    def _leader(self):
        return {"leader": 1, "timer": self.T, "virus": 0, "wait": self.W, "shield": 0}

    def _follower(self):
        return {"leader": 0, "timer": self.T, "virus": 0}

    safe = (exactly(1, is_leader) & everywhere(timer_is_high)).described(
        "exactly one leader, and every timer is at least T/2; held for long, not forever"
    )

    leaders = count(is_leader, "agents that are leaders")
    infected = count(lambda a, p: a.virus > 0, "agents with a virus")
    lowest_timer = minimum(lambda a, p: a.timer, "the lowest timer")
