"""Silent self-stabilizing ranking with n + O(log² n) states: an elected agent deals out the ranks, phase by phase.

Protocols 2 to 5 of the full report, with a reset as its prose describes it. Where the report contradicts itself, the
reading is the one that works: K = ⌈log₂ n⌉ phases (line 8 of Protocol 2 says ⌈log₂ k⌉, which no k satisfies); a loser
of the election still counts down to a reset (line 3 of Protocol 5 returns before it); the K-th head wins, as in the
prose; ranks up to ℓ_k refresh `alive` (line 13 of Protocol 4 has ⌊n/2^k⌋). With `program = 1` the rules are those of
the authors' program, which lacks line 2 of Protocol 4: two waiting agents do not reset, and it is not
self-stabilizing. docs/readings.md lists every difference and what it does.
"""

import numpy as np

from hegemon.models import Bit, Choice, Group, Parameter, PopulationProtocol, Range, count, whole


def is_leader(a, p):
    return a.kind == "RANKED" and a.rank == 1


def is_ranked(a, p):
    return a.kind == "RANKED"


def all_ranked(agents, p):
    taken = np.zeros(p.n + 1, np.bool_)
    for i in range(len(agents)):
        if agents[i].kind != "RANKED" or taken[agents[i].rank]:
            return False
        taken[agents[i].rank] = True
    return True


def is_main(a):
    return a.kind == "RANKED" or a.kind == "WAITING" or a.kind == "PHASE"


def has_alive(a):
    return a.kind == "WAITING" or a.kind == "PHASE"


def last_rank(k, p):
    """f_k: n, then half of it again and again, rounded up; phase k deals the ranks f_{k+1} + 1 .. f_k."""
    return -(-p.n // 2 ** (k - 1))


def dealt(k, p):
    """ℓ_k: how many ranks phase k deals."""
    return last_rank(k, p) - last_rank(k + 1, p)


def trigger(a, p):
    if a.kind == "RANKED":
        a.coin = 0
    a.kind = "PROPAGATING"
    a.reset = p.R


def become_fresh(a, p):
    a.kind = "ELECTING"
    a.lecount = p.E
    a.draw = "OPEN"
    a.heads = p.K + p.extra_head


def become_waiting(a, p):
    a.kind = "WAITING"
    a.wait = p.W
    a.alive = p.L


def take_reset(a, reset, p):
    """Propagate with this counter; at 0, fall asleep."""
    if a.kind == "RANKED":
        a.coin = 0
    if reset > 0:
        a.kind = "PROPAGATING"
        a.reset = reset
    else:
        a.kind = "DORMANT"
        a.delay = p.D


def sleep_on(a, p):
    """One meeting of a dormant agent."""
    if a.delay > 1:
        a.delay -= 1
    else:
        become_fresh(a, p)


def spread_reset(u, v, p):
    """PropagateReset, the same for both agents."""
    u_slept, v_slept = u.kind == "DORMANT", v.kind == "DORMANT"
    if u.kind == "PROPAGATING" and v.kind == "PROPAGATING":
        count = max(u.reset, v.reset) - 1
        take_reset(u, count, p)
        take_reset(v, count, p)
    elif u.kind == "PROPAGATING":
        count = u.reset - 1
        take_reset(u, count, p)
        if not v_slept:
            take_reset(v, count, p)
    elif v.kind == "PROPAGATING":
        count = v.reset - 1
        take_reset(v, count, p)
        if not u_slept:
            take_reset(u, count, p)
    if u_slept:
        sleep_on(u, p)
    if v_slept:
        sleep_on(v, p)


def elect(u, v, p):  # Protocol 5: K heads in a row, soon enough
    u_count = u.lecount - 1
    if u.draw == "OPEN":
        if v.coin == 0:
            u.draw = "LOST"
        elif u.heads > 1:
            u.heads -= 1
        else:
            u.draw = "WON"
    if u.draw == "WON" and 2 * u_count >= p.E:
        become_waiting(u, p)
    elif u_count == 0:
        trigger(u, p)
    else:
        u.lecount = u_count


def join(a, b, p):
    """An agent that still elects meets one that does not: it is ranked with the others."""
    if a.kind == "ELECTING" and is_main(b):
        a.kind = "PHASE"
        a.phase = 1
        a.alive = p.L


def rank(u, v, p):  # Protocol 4, with Protocol 2 inside
    if u.kind == "RANKED" and v.kind == "RANKED":
        if u.rank == v.rank:
            trigger(u, p)
        return
    if u.kind == "WAITING" and v.kind == "WAITING" and p.waiting_resets == 1:
        trigger(u, p)
        return
    if not has_alive(v):
        return
    if has_alive(u):
        u.alive = max(max(u.alive, v.alive) - 1, 0)
        v.alive = u.alive
    elif u.rank >= p.n - 1:
        v.alive = max(v.alive - 1, 0)
    if v.alive == 0:
        trigger(u, p)
    elif v.coin == 0:
        if u.kind == "WAITING" or (u.kind == "RANKED" and v.kind == "PHASE" and u.rank <= dealt(v.phase, p)):
            v.alive = p.L
    elif v.kind == "PHASE":
        deal(u, v, p)


def deal(u, v, p):  # Protocol 2: the responder's coin shows 1, and it waits for a rank
    k = v.phase
    if u.kind == "RANKED":
        if u.rank <= dealt(k, p):
            v.kind = "RANKED"
            v.rank = last_rank(k + 1, p) + u.rank
            if u.rank < dealt(k, p):
                u.rank += 1
            elif k < p.K:
                u.coin = 0
                become_waiting(u, p)
        elif u.rank == last_rank(k, p) and k < p.K:
            v.phase = k + 1
    elif u.kind == "PHASE":
        u.phase = max(u.phase, k)
        v.phase = u.phase
    elif u.wait > 1:
        u.wait -= 1
    else:
        u.kind = "RANKED"
        u.rank = 1


def follow_program(u, v, p):
    """One interaction as the authors' program makes it; the responder's coin is read before anything happens."""
    coin = 0
    tossed = v.kind != "RANKED"
    if tossed:
        coin = v.coin
    spread_as_programmed(u, v, p)
    if u.kind == "ELECTING" and v.kind == "ELECTING":
        elect_as_programmed(u, coin, p)
    join(u, v, p)
    join(v, u, p)
    if is_main(u) and is_main(v):
        rank_as_programmed(u, v, tossed, coin, p)
    if tossed and v.kind != "RANKED":
        v.coin = 1 - coin


def spread_as_programmed(u, v, p):
    """Only the initiator spreads a reset, and falling asleep costs one tick at once."""
    if u.kind == "PROPAGATING":
        count = u.reset - 1
        if v.kind == "PROPAGATING":
            count = max(u.reset, v.reset) - 1
        take_reset(u, count, p)
        if v.kind != "DORMANT":
            take_reset(v, count, p)
    if u.kind == "DORMANT":
        sleep_on(u, p)
    if v.kind == "DORMANT":
        sleep_on(v, p)


def elect_as_programmed(u, coin, p):
    """A win counts whenever it comes, unless the count ends in the same interaction."""
    u_count = u.lecount - 1
    if u.draw == "OPEN":
        if coin == 0:
            u.draw = "LOST"
        elif u.heads > 1:
            u.heads -= 1
        else:
            u.draw = "WON"
    if u_count == 0:
        trigger(u, p)
    elif u.draw == "WON":
        become_waiting(u, p)
    else:
        u.lecount = u_count


def rank_as_programmed(u, v, tossed, coin, p):
    if u.kind == "RANKED" and v.kind == "RANKED":
        if u.rank == v.rank:
            trigger(u, p)
        return
    if u.kind == "WAITING" and v.kind == "WAITING" and p.waiting_resets == 1:
        trigger(u, p)
        return
    if has_alive(u) and has_alive(v):
        count = max(u.alive, v.alive) - 1
        if count == 0:
            trigger(u, p)
            return
        u.alive = count
        v.alive = count
    if u.kind == "RANKED" and u.rank >= p.n - 1:
        if v.alive == 1:
            trigger(v, p)
            return
        v.alive -= 1
    if not tossed:
        return
    if coin == 0:
        if u.kind == "WAITING" or (u.kind == "RANKED" and v.kind == "PHASE" and u.rank <= dealt(v.phase, p)):
            v.alive = p.L
    elif v.kind == "PHASE":
        if u.kind == "RANKED" and u.rank == last_rank(v.phase, p):
            if v.phase == p.K:
                trigger(v, p)
            else:
                v.phase += 1
                v.alive = p.L
        elif u.kind == "WAITING" and u.wait > 1:
            u.wait -= 1
            u.alive = p.L
        else:
            deal(u, v, p)


class StableRanking(PopulationProtocol):
    """Agents that know n elect one, which deals out all ranks in phases; a doubled rank resets all; rank 1 leads."""

    reference = (
        "Fast Self-Stabilizing Ranking, ICDCS 2025, full report (Protocols 2-5, and PropagateReset in prose); "
        "readings where the report contradicts itself are named in the file"
    )
    grade = "exact"
    shelf = "complete graphs"
    needs_exact_n = True

    K = Parameter("ceil(log2(n))", low=1, help="the number of phases")
    W = Parameter("2*K", low=1, help="how long the elected agent waits, Θ(log n)")
    L = Parameter("4*K", low=1, help="how long agents believe that somebody deals ranks, Θ(log n)")
    E = Parameter("4*K", low=1, help="how long an election lasts, Θ(log n), at least 2 K")
    R = Parameter("4*K", low=1, help="how far a reset spreads, Θ(log n)")
    D = Parameter("4*K", low=1, help="how long an agent sleeps after a reset, Θ(log n)")
    extra_head = Parameter(0, low=0, high=1, help="1: win at head K + 1, as in the lines of Protocol 5")
    program = Parameter(0, low=0, high=1, help="1: the authors' program, where it differs from the report")
    waiting_resets = Parameter("1 - program", low=0, high=1, help="0: without line 2 of Protocol 4, as in the program")

    class State:
        kind: Choice("RANKED", "WAITING", "PHASE", "ELECTING", "PROPAGATING", "DORMANT")
        rank: Range(1, "n").when(kind="RANKED")
        coin: Bit.when(kind=("WAITING", "PHASE", "ELECTING", "PROPAGATING", "DORMANT"))
        alive: Range("program", "L").when(kind=("WAITING", "PHASE"))
        wait: Range(1, "W").when(kind="WAITING")
        phase: Range(1, "K").when(kind="PHASE")
        lecount: Range(1, "E").when(kind="ELECTING")
        draw: Choice("OPEN", "LOST", "WON").when(kind="ELECTING")
        heads: Range(1, "K + extra_head").when(kind="ELECTING", draw="OPEN")
        reset: Range(1, "R").when(kind="PROPAGATING")
        delay: Range(1, "D").when(kind="DORMANT")

    def interact(u, v, p):
        if p.program == 1:
            follow_program(u, v, p)
            return
        spread_reset(u, v, p)
        if u.kind == "ELECTING" and v.kind == "ELECTING":
            elect(u, v, p)
        join(u, v, p)
        join(v, u, p)
        if is_main(u) and is_main(v):
            rank(u, v, p)
        if v.kind != "RANKED":
            v.coin = 1 - v.coin

    def output(a, p):
        return a.kind == "RANKED" and a.rank == 1

    def _fresh(self, count, coin=0):
        return Group(
            count,
            {"kind": "ELECTING", "coin": coin, "lecount": self.E, "draw": "OPEN", "heads": self.K + self.extra_head},
        )

    def start_fresh(self, rng):
        """Everybody begins an election, with coin 0."""
        return [self._fresh(self.n)]

    def start_duplicate(self, rng):
        """Ranks 2 to n are taken, and one agent waits for a rank in the last phase (Figure 2)."""
        ranked = [Group(1, {"kind": "RANKED", "rank": k}) for k in range(2, self.n + 1)]
        return [*ranked, Group(1, {"kind": "PHASE", "coin": 0, "alive": self.L, "phase": self.K})]

    def start_elected(self, rng):
        """Rank 1 is taken, everybody else begins an election (Figure 3)."""
        return [Group(1, {"kind": "RANKED", "rank": 1}), self._fresh(self.n - 1)]

    def start_all_waiting(self, rng):
        """Everybody was elected."""
        return [Group(self.n, {"kind": "WAITING", "coin": 0, "alive": self.L, "wait": self.W})]

    def start_safe(self, rng):
        """Every rank is taken once."""
        return [Group(1, {"kind": "RANKED", "rank": k}) for k in range(1, self.n + 1)]

    safe = whole(all_ranked).described("all ranks different: nothing will ever change", closed=True)

    leaders = count(is_leader, "agents of rank 1")
    ranked = count(is_ranked, "agents with a rank")
