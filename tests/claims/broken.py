"""Protocols with one thing wrong each: the claims must say so."""

import random

from hegemon.claims.papers.oracle import OracleRing
from hegemon.models import Bit, Choice, Group, Parameter, Range
from hegemon.protocols.countdown import Countdown
from hegemon.protocols.epidemic import Epidemic
from hegemon.protocols.fischer_jiang import FischerJiang
from hegemon.protocols.odd_ring import OddRing
from hegemon.protocols.optimal_silent import OptimalSilent
from hegemon.protocols.pairwise import Pairwise
from hegemon.protocols.quick_elimination import QuickElimination
from hegemon.protocols.referees import Referees
from hegemon.protocols.ring import LIVE, Ring
from hegemon.protocols.sublinear_ranking import RESETTING, SublinearRanking, propagate_reset
from hegemon.protocols.threshold import Threshold
from hegemon.protocols.time_optimal import (
    TimeOptimal,
    become_checker,
    become_elector,
    go_to_election,
    is_elector,
    is_synchronizer,
)
from hegemon.protocols.timer import Timer
from hegemon.protocols.trains.protocol import (
    Trains,
    error_overflow,
    error_overflow_last,
    local_error,
    look,
    new_leader,
    wagon_creation,
    wagon_update,
)
from hegemon.protocols.walks import Walks

eliminate = OracleRing.interact
lottery = QuickElimination.interact


class EarlyThreshold(Threshold):
    """Says Yes one mark too early."""

    def interact(a, b, p):
        if a.x + b.x < p.k - 1:
            a.x, b.x = a.x + b.x, 0
        else:
            a.x, b.x = p.k, p.k


class HesitantPairwise(Pairwise):
    """The responder yields only every other time."""

    class State:
        leader: Bit
        mood: Bit

    def interact(a, b, p):
        if a.leader == 1 and b.leader == 1:
            b.mood = 1 - b.mood
            if b.mood == 0:
                b.leader = 0

    def start_all_leaders(self, rng):
        return [Group(self.n, {"leader": 1, "mood": 0})]


class TimerWithoutTimeout(Timer):
    """Rule 3 is missing: nobody ever becomes a leader."""

    def interact(a, b, p):
        if a.leader == 1:
            b.leader = 0
            a.timer = b.timer = p.s
        elif b.leader == 1:
            a.timer = b.timer = p.s
        elif a.timer > 0 or b.timer > 0:
            a.timer = b.timer = max(a.timer, b.timer) - 1


class ImpatientTimer(Timer):
    """Timers are not passed on: each agent counts for itself, so timeouts come early."""

    def interact(a, b, p):
        if a.leader == 1:
            b.leader = 0
            a.timer = b.timer = p.s
        elif b.leader == 1:
            a.timer = b.timer = p.s
        elif a.timer == 0 or b.timer == 0:
            a.leader = 1
            a.timer = b.timer = p.s
        else:
            a.timer -= 1
            b.timer -= 1


class OneWayEpidemic(Epidemic):
    """Only the responder learns."""

    def interact(a, b, p):
        b.x = max(a.x, b.x)


class ShyCountdown(Countdown):
    """Counts only when two agents agree: from the top to the bottom it takes far too long."""

    def interact(a, b, p):
        if a.y == b.y:
            a.y = max(a.y - 1, 0)


class LonelyCountdown(Countdown):
    """Every agent counts for itself: low values stay low."""

    def interact(a, b, p):
        a.y = max(a.y - 1, 0)
        b.y = max(b.y - 1, 0)


class FlatLottery(QuickElimination):
    """Heads do not count, so all leaders tie."""

    def interact(a, b, p):
        if a.leader == 1:
            a.done = 1
        if b.leader == 1:
            b.done = 1


class BlindTimeOptimal(TimeOptimal):
    """Two checkers count down but do not tell each other of the leader that they have detected."""

    def interact(a, b, p):
        if a.phase == "CH" and b.phase == "CH":
            a.timer_r = b.timer_r = max(a.timer_r - 1, b.timer_r - 1, 0)
            if a.timer_r == 0:
                go_to_election(a, p)
                go_to_election(b, p)
        elif a.phase == "EL":
            become_checker(a, p)
        elif b.phase == "EL":
            become_checker(b, p)


time_optimal_interaction = TimeOptimal.interact


class EndlessElection(TimeOptimal):
    """Timers of synchronizers do not tick."""

    def interact(a, b, p):
        time_optimal_interaction(a, b, p)
        if is_synchronizer(a, p):
            a.timer_b = p.b_max
        if is_synchronizer(b, p):
            b.timer_b = p.b_max


class HastyCheck(TimeOptimal):
    """Two checkers go to the election at once."""

    def interact(a, b, p):
        if a.phase == "CH" and b.phase == "CH":
            a.timer_r = b.timer_r = 1
        time_optimal_interaction(a, b, p)


class HastyElection(TimeOptimal):
    """A synchronizer goes back to the check phase at once."""

    def interact(a, b, p):
        if is_synchronizer(a, p):
            a.timer_b = 1
        if is_synchronizer(b, p):
            b.timer_b = 1
        time_optimal_interaction(a, b, p)


class UndecidedElection(TimeOptimal):
    """No leader ever decides, and nobody synchronizes."""

    def interact(a, b, p):
        time_optimal_interaction(a, b, p)
        if is_synchronizer(a, p):
            become_elector(a, p)
        if is_synchronizer(b, p):
            become_elector(b, p)
        if is_elector(a, p):
            a.done = 0
        if is_elector(b, p):
            b.done = 0


class ProudElection(TimeOptimal):
    """No elector ever yields."""

    def interact(a, b, p):
        first, second = a.leader, b.leader
        time_optimal_interaction(a, b, p)
        if is_elector(a, p):
            a.leader = max(a.leader, first)
        if is_elector(b, p):
            b.leader = max(b.leader, second)


class SpaciousTimeOptimal(TimeOptimal):
    """Timers of log² n."""

    r_max = Parameter("6*m*m*tau", low=2)


def elimination(l, r):  # noqa: E741 - lines 6 to 16 of the ring protocol
    if l.leader == 1 and l.signal == 1:
        l.bullet, l.shield, l.signal = LIVE, 1, 0
    if r.leader == 1 and r.signal == 1:
        r.bullet, r.shield, r.signal = 1, 0, 0
    if l.bullet > 0 and r.leader == 1:
        if l.bullet == LIVE and r.shield == 0:
            r.leader = 0
        l.bullet = 0
    elif l.bullet > 0:
        if r.bullet == 0:
            r.bullet = l.bullet
        l.bullet = 0
        r.signal = 0
    l.signal = max(l.signal, r.signal, r.leader)


ring_interaction = Ring.interact


class RingWithoutShield(Ring):
    """Line 5 leaves the new leader without a shield."""

    def interact(l, r, p):  # noqa: E741
        if l.leader == 1:
            l.distL = 0
        if r.leader == 1:
            r.distL = 0
        elif r.bullet == 0:
            r.distL = min(l.distL + 1, p.N)
        if r.distL == p.N:
            r.leader, r.distL, r.bullet, r.shield, r.signal = 1, 0, LIVE, 0, 0
        elimination(l, r)


class RingWithoutDistance(Ring):
    """Lines 1 to 5 are missing: without a leader nothing ends a bullet's flight, and no leader comes."""

    def interact(l, r, p):  # noqa: E741
        elimination(l, r)


class RingOfLongSteps(Ring):
    """Distances grow by two: nobody stays secure, no bullet modest, and a single leader may be joined by another."""

    def interact(l, r, p):  # noqa: E741
        flies = l.bullet > 0 and r.bullet == 0 and r.leader == 0
        ring_interaction(l, r, p)
        if r.leader == 0 and (flies or l.distL + 1 == r.distL):
            r.distL = min(r.distL + 1, p.N)


class RingThatCreates(Ring):
    """A follower that is just not far enough away becomes a leader all the same, if it signals."""

    def interact(l, r, p):  # noqa: E741
        ring_interaction(l, r, p)
        if r.leader == 0 and r.distL == p.N - 1 and r.signal == 1:
            r.leader = 1


class RingWithoutReset(Ring):
    """Line 15 is missing: a bullet that passes does not erase the signal, so the leader lowers its shield too soon."""

    def interact(l, r, p):  # noqa: E741
        flies, signal = l.bullet > 0, r.signal
        leader = r.leader
        ring_interaction(l, r, p)
        if flies and leader == 0 and r.leader == 0 and signal == 1:
            l.signal = r.signal = 1


class RingThatMisses(Ring):
    """Bullets kill nobody."""

    def interact(l, r, p):  # noqa: E741
        leader = r.leader
        ring_interaction(l, r, p)
        r.leader = max(leader, r.leader)


class Shieldless(FischerJiang):
    """Shields do not move, so the two opposed leaders are safe for ever."""

    def interact(l, r, p):  # noqa: E741
        if l.bullet == 1:
            l.bullet = 0
            if r.shield == 0 and r.leader == 1:
                r.leader = 0
            elif r.shield == 0:
                r.bullet = 1
        if r.leader == 1:
            r.bullet = 1


class FewReferees(Referees):
    """Two referees per candidate: nobody learns of anybody."""

    referees = Parameter("min(2, n - 1)", low=0, high="n - 1")


class Spendthrift(Referees):
    """Ignores its budget of messages."""

    @property
    def chosen(self) -> int:
        return self.referees


class OracleRingThatMisses(OracleRing):
    """Bullets kill nobody."""

    def interact(l, r, p):  # noqa: E741
        leader = r.leader
        eliminate(l, r, p)
        r.leader = leader


class LavishWalks(Walks):
    """Thirty times as many walks as the budget pays for, and many candidates: it elects, and spends too much."""

    def __init__(self, n, **given):
        super().__init__(n, **{**given, "walks": 30 * given["walks"], "candidates": 7})


class ShortWalks(Walks):
    """Walks of one step, whatever τ is: they do not meet."""

    def adapt(self, topology):
        adapted = super().adapt(topology)
        adapted.steps = 1
        return adapted


class TrainsWithoutElimination(Trains):
    """A marked head does not make a leader step down."""

    def update(me, neighbours, coins, p):
        x = 1 if coins == 0 else 0
        expects_marked, bit, head = look(me, neighbours, p)
        if me.leader == 0 and (local_error(me, p) or bit < 0 or error_overflow(me, expects_marked, bit, p)):
            new_leader(me, x)
        elif me.leader == 1:
            wagon_creation(me, x, p)
        else:
            wagon_update(me, expects_marked, bit, p)


class TrainsWithoutGuard(Trains):
    """Err-Overflow^L does not ask whether a marked train is about to come."""

    def update(me, neighbours, coins, p):
        bit = look(me, neighbours, p)[1]
        if me.leader == 0 and error_overflow_last(me, me.L_flag == 1, bit, p):
            new_leader(me, 1 if coins == 0 else 0)
        else:
            Trains.update(me, neighbours, coins, p)


class TrainsThatFearCarries(Trains):
    """Err₄ asks for a carry in any first wagon, not in the last of a train alone."""

    def update(me, neighbours, coins, p):
        if me.leader == 0 and me.F == 1 and me.F_carry == 1:
            new_leader(me, 1 if coins == 0 else 0)
        else:
            Trains.update(me, neighbours, coins, p)


class TrainsWithoutErrors(Trains):
    """No error ever makes a leader."""

    def update(me, neighbours, coins, p):
        x = 1 if coins == 0 else 0
        expects_marked, bit, head = look(me, neighbours, p)
        if me.L == 1 and me.L_flag == 0 and head:
            me.leader = 0
        if me.leader == 1:
            wagon_creation(me, x, p)
        elif me.L == 1 and bit >= 0:
            wagon_update(me, expects_marked, bit, p)


class TrainsThatDoNotCount(Trains):
    """Stations move wagons on without adding anything to them."""

    def update(me, neighbours, coins, p):
        x = 1 if coins == 0 else 0
        expects_marked, bit, head = look(me, neighbours, p)
        if me.leader == 0 and (local_error(me, p) or bit < 0 or error_overflow(me, expects_marked, bit, p)):
            new_leader(me, x)
            return
        if me.L == 1 and me.L_flag == 0 and head:
            me.leader = 0
        if me.leader == 1:
            wagon_creation(me, x, p)
        else:
            wagon_update(me, expects_marked, bit, p)
            me.L_bit, me.L_carry = bit, 0


class TrainsThatAlwaysMark(Trains):
    """A leader's rand never becomes 0."""

    def update(me, neighbours, coins, p):
        Trains.update(me, neighbours, 0, p)


class TrainsThatNeverMark(Trains):
    """A leader's rand is always 0."""

    def update(me, neighbours, coins, p):
        Trains.update(me, neighbours, 1, p)


class LosingLottery(QuickElimination):
    """An initiator yields to whom it meets once both have decided: the last leader as well."""

    def interact(a, b, p):
        lottery(a, b, p)
        if (a.leader == 0 or a.done == 1) and (b.leader == 0 or b.done == 1):
            a.leader = 0


class TrainsThatKeepTheirCoin(Trains):
    """New-Leader does not draw rand: whatever the node had decides whether its first train is marked."""

    def update(me, neighbours, coins, p):
        leader, rand = me.leader, me.rand
        Trains.update(me, neighbours, coins, p)
        if leader == 0 and me.leader == 1:
            me.rand = rand


class TrainsThatOverflowEarly(Trains):
    """A carry out of the last wagon but one counts as an overflow: trains stay below 2^(N-1) instead of 2^N."""

    def update(me, neighbours, coins, p):
        expects_marked, bit, _ = look(me, neighbours, p)
        if me.leader == 0 and bit >= 0 and error_overflow_last(me, expects_marked, 1, p):
            new_leader(me, 1 if coins == 0 else 0)
        else:
            Trains.update(me, neighbours, coins, p)


class TrainsWithMemory(Trains):
    """One more bit than the paper lists."""

    class State:
        leader: Bit
        rand: Bit
        spare: Bit
        F: Choice("empty", "wagon")
        L: Choice("empty", "wagon")
        F_idx: Range(0, "N - 1").when(F="wagon")
        F_bit: Bit.when(F="wagon")
        F_carry: Bit.when(F="wagon")
        F_flag: Bit.when(F="wagon")
        L_idx: Range(0, "N - 1").when(L="wagon")
        L_bit: Bit.when(L="wagon")
        L_carry: Bit.when(L="wagon")
        L_flag: Bit.when(L="wagon")


class LongTimer(Timer):
    """Twice the timer."""

    s = Parameter("192*N", low=1)


class LongRanks(Referees):
    """Ranks of 20 log n bits."""

    class Message:
        kind: Choice("RANK", "WINNER", "LEADER")
        rank: Range(1, "n^20").when(kind="RANK")
        wins: Bit.when(kind="RANK")
        leader: Range(1, "n^4").when(kind="LEADER")


class TrainsThatErr(Trains):
    """A round leaves a node without a last wagon."""

    def update(me, neighbours, coins, p):
        Trains.update(me, neighbours, coins, p)
        if me.leader == 0 and me.L == 1 and me.L_idx == 2:
            me.L = 0


class TrainsWithMoreCoins(Trains):
    """A leader that creates a wagon draws one more coin than its two bits."""

    def update(me, neighbours, coins, p):
        Trains.update(me, neighbours, coins, p)
        if me.leader == 1 and random.random() < 0.5:
            me.rand = 1 - me.rand


class SlowTimeOptimal(Timer):
    """Time-optimal in name and parameters alone: the election by timeout, from the start that takes longest."""

    tau = Parameter(1, low=1)
    r_max = Parameter(1, low=1)
    r_mid = Parameter(1, low=1)
    b_max = Parameter(1, low=1)

    def start_false_detection(self, rng):
        return self.start_no_leader(rng)


# -- the systems that tables compare with ------------------------------------------------------------------------

silent_interaction = OptimalSilent.interact


class PatientSilent(OptimalSilent):
    """Agents without a rank wait for ever."""

    def interact(a, b, p):
        if a.role != "UNSETTLED" or b.role != "UNSETTLED":
            silent_interaction(a, b, p)


class TrustfulRanking(SublinearRanking):
    """Nobody ever suspects a doubled name."""

    def interact(a, b, p, coins):
        if a.role == RESETTING or b.role == RESETTING:
            propagate_reset(a, b, coins, p)


class LeaderlessOddRing(OddRing):
    """The token goes round, and nobody takes the lead."""

    def interact(l, r, p):  # noqa: E741
        r.label = (l.label + 1) % p.k
        r.leader = 0
