"""Protocols that are right on fewer than `since` agents and wrong from there on: small sizes do not show it."""

from hegemon.models import Parameter
from hegemon.protocols.countdown import Countdown
from hegemon.protocols.epidemic import Epidemic
from hegemon.protocols.pairwise import Pairwise
from hegemon.protocols.quick_elimination import QuickElimination
from hegemon.protocols.referees import Referees
from hegemon.protocols.ring import DUMMY, LIVE, Ring
from hegemon.protocols.threshold import Threshold
from hegemon.protocols.time_optimal import TimeOptimal, is_elector
from hegemon.protocols.timer import Timer
from hegemon.protocols.trains.protocol import Trains
from hegemon.protocols.walks import Walks
from tests.claims import broken

ring, timer, threshold, pairwise = Ring.interact, Timer.interact, Threshold.interact, Pairwise.interact
time_optimal, countdown, epidemic = TimeOptimal.interact, Countdown.interact, Epidemic.interact
elimination, trains = QuickElimination.interact, Trains.update
no_distance, no_counting = broken.RingWithoutDistance.interact, broken.TrainsThatDoNotCount.update
no_elimination, no_errors = broken.TrainsWithoutElimination.update, broken.TrainsWithoutErrors.update
lonely, shy, flat, one_way = (
    broken.LonelyCountdown.interact,
    broken.ShyCountdown.interact,
    broken.FlatLottery.interact,
    broken.OneWayEpidemic.interact,
)
endless, undecided, proud = (
    broken.EndlessElection.interact,
    broken.UndecidedElection.interact,
    broken.ProudElection.interact,
)
hasty_check, hasty_election = broken.HastyCheck.interact, broken.HastyElection.interact


# -- rings: enumerated up to n = 3 -------------------------------------------------------------------------------


class FreezingRing(Ring):
    """A ring of followers that all signal, shielded, at distance N - 1, does nothing any more."""

    since = Parameter(4)

    def interact(l, r, p):  # noqa: E741
        if p.n >= p.since and l.leader + r.leader + l.bullet + r.bullet == 0 and l.signal + r.signal == 2:
            if l.shield + r.shield == 2 and l.distL == p.N - 1 and r.distL == p.N - 1:
                return
        ring(l, r, p)


class ForgettingRing(Ring):
    """A leader without a shield that sees a dummy bullet leave steps down: S_RL is left."""

    since = Parameter(4)

    def interact(l, r, p):  # noqa: E741
        ring(l, r, p)
        if p.n >= p.since and l.leader == 1 and l.shield == 0 and r.bullet == DUMMY:
            l.leader = 0

    safe = Ring.safe.described("S_RL, which this protocol leaves", closed=False)


class ShieldlessRing(Ring):
    """A leader that shoots alive lowers its shield: its bullet is not peaceful."""

    since = Parameter(4)

    def interact(l, r, p):  # noqa: E741
        fires = l.leader == 1 and l.signal == 1
        ring(l, r, p)
        if p.n >= p.since and fires:
            l.shield = 0


class LeapingRing(Ring):
    """A bullet that has moved leaves a distance that is too large by one: it is not modest."""

    since = Parameter(4)

    def interact(l, r, p):  # noqa: E741
        flies = l.bullet == LIVE and r.bullet == 0 and r.leader == 0
        ring(l, r, p)
        if p.n >= p.since and flies and r.leader == 0:
            r.distL = min(r.distL + 1, p.N)


class EndlessRing(Ring):
    """Lines 1 to 5 are missing."""

    since = Parameter(4)

    def interact(l, r, p):  # noqa: E741
        if p.n >= p.since:
            no_distance(l, r, p)
        else:
            ring(l, r, p)


class MissingRing(Ring):
    """Bullets kill nobody."""

    since = Parameter(4)

    def interact(l, r, p):  # noqa: E741
        leader = r.leader
        ring(l, r, p)
        if p.n >= p.since:
            r.leader = max(leader, r.leader)


class CreatingRing(Ring):
    """A follower at distance N - 1 that meets a signal becomes a leader."""

    since = Parameter(4)

    def interact(l, r, p):  # noqa: E741
        ring(l, r, p)
        if p.n >= p.since and r.leader == 0 and r.distL == p.N - 1 and r.signal == 1:
            r.leader = 1


# -- the survey: enumerated up to n = 6 (threshold), 20 (pairwise), 5 (timer) ---------------------------------------


class ForgetfulThreshold(Threshold):
    """Two agents that both say Yes: one forgets. The right answer is there for a moment, and does not last."""

    since = Parameter(7)

    def interact(a, b, p):
        if p.n >= p.since and a.x == p.k and b.x == p.k:
            b.x = 0
        else:
            threshold(a, b, p)


class TiredPairwise(Pairwise):
    """A leader that is a responder to a follower steps down: the last leader goes, too."""

    since = Parameter(21)

    def interact(a, b, p):
        if p.n >= p.since and a.leader == 0 and b.leader == 1:
            b.leader = 0
        else:
            pairwise(a, b, p)


class RelayTimer(Timer):
    """The leader hands its office on to a follower that it meets with a full timer."""

    since = Parameter(9)

    def interact(a, b, p):
        full = a.leader == 1 and b.leader == 0 and b.timer == p.s
        timer(a, b, p)
        if p.n >= p.since and full:
            a.leader, b.leader = 0, 1


# -- time-optimal: enumerated at n = 3 ------------------------------------------------------------------------------


class TiedTimeOptimal(TimeOptimal):
    """Line 17 is missing: leaders that tie wait forever where there is nobody else."""

    since = Parameter(4)

    def interact(a, b, p):
        tied = is_elector(a, p) and is_elector(b, p) and a.leader == 1 and b.leader == 1
        if p.n >= p.since and tied and a.done == 1 and b.done == 1 and a.level == b.level:
            return
        time_optimal(a, b, p)


class ForgettingTimeOptimal(TimeOptimal):
    """A checker that leads forgets it when it meets another one with a full timer."""

    since = Parameter(4)

    def interact(a, b, p):
        if p.n >= p.since and a.phase == "CH" and b.phase == "CH" and a.leader == 1 and b.timer_r == p.r_max:
            a.leader = 0
        time_optimal(a, b, p)


class LateEndlessElection(TimeOptimal):
    """Timers of synchronizers stop ticking."""

    since = Parameter(500)

    def interact(a, b, p):
        if p.n >= p.since:
            endless(a, b, p)
        else:
            time_optimal(a, b, p)


class LateHastyCheck(TimeOptimal):
    """Two checkers go to the election at once."""

    since = Parameter(100)

    def interact(a, b, p):
        if p.n >= p.since:
            hasty_check(a, b, p)
        else:
            time_optimal(a, b, p)


class LateHastyElection(TimeOptimal):
    """A synchronizer goes back at once."""

    since = Parameter(100)

    def interact(a, b, p):
        if p.n >= p.since:
            hasty_election(a, b, p)
        else:
            time_optimal(a, b, p)


class LateUndecidedElection(TimeOptimal):
    """No leader ever decides."""

    since = Parameter(500)

    def interact(a, b, p):
        if p.n >= p.since:
            undecided(a, b, p)
        else:
            time_optimal(a, b, p)


class LateProudElection(TimeOptimal):
    """No elector ever yields."""

    since = Parameter(500)

    def interact(a, b, p):
        if p.n >= p.since:
            proud(a, b, p)
        else:
            time_optimal(a, b, p)


class LateEpidemic(Epidemic):
    since = Parameter(500)

    def interact(a, b, p):
        if p.n >= p.since:
            one_way(a, b, p)
        else:
            epidemic(a, b, p)


class LateShyCountdown(Countdown):
    since = Parameter(500)

    def interact(a, b, p):
        if p.n >= p.since:
            shy(a, b, p)
        else:
            countdown(a, b, p)


class LateLonelyCountdown(Countdown):
    since = Parameter(40)

    def interact(a, b, p):
        if p.n >= p.since:
            lonely(a, b, p)
        else:
            countdown(a, b, p)


class LateFlatLottery(QuickElimination):
    since = Parameter(17)

    def interact(a, b, p):
        if p.n >= p.since:
            flat(a, b, p)
        else:
            elimination(a, b, p)


# -- trains: enumerated up to n = 4 ---------------------------------------------------------------------------------


class LateTrainsThatDoNotCount(Trains):
    since = Parameter(5)

    def update(me, neighbours, coins, p):
        if p.n >= p.since:
            no_counting(me, neighbours, coins, p)
        else:
            trains(me, neighbours, coins, p)


class LateTrainsWithoutElimination(Trains):
    since = Parameter(5)

    def update(me, neighbours, coins, p):
        if p.n >= p.since:
            no_elimination(me, neighbours, coins, p)
        else:
            trains(me, neighbours, coins, p)


class LateTrainsWithoutErrors(Trains):
    since = Parameter(5)

    def update(me, neighbours, coins, p):
        if p.n >= p.since:
            no_errors(me, neighbours, coins, p)
        else:
            trains(me, neighbours, coins, p)


class LateTrainsThatNeverMark(Trains):
    since = Parameter(5)

    def update(me, neighbours, coins, p):
        trains(me, neighbours, 1 if p.n >= p.since else coins, p)


# -- messages: success is decided at n = 50 and 100 -----------------------------------------------------------------


class LateFewReferees(Referees):
    since = Parameter(101)

    @property
    def chosen(self) -> int:
        return 2 if self.n >= self.since else self.referees


class LateShortWalks(Walks):
    since = Parameter(51)

    def adapt(self, topology):
        adapted = super().adapt(topology)
        if self.n >= self.since:
            adapted.steps = 1
        return adapted


class LateSpendthrift(Referees):
    """Keeps to its budget on few nodes only."""

    since = Parameter(500_000)

    @property
    def chosen(self) -> int:
        return self.referees if self.n >= self.since else super().chosen
