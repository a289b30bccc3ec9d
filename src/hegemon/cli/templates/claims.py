"""My paper: a title, its authors and where it appeared. The first line is the reference in the report.

hegemon reproduce FILE               test every claim; the report is a page with pictures
hegemon reproduce FILE --list        what is claimed, and the twins
hegemon reproduce FILE --only lemma-1
"""

from hegemon import Bit, Group, PopulationProtocol, claim, count, exactly


def is_leader(a, p):
    return a.leader == 1


class MyProtocol(PopulationProtocol):
    """Everybody starts as a leader; of two leaders that meet, the responder yields."""

    arbitrary_start = False
    default_start = "all-leaders"

    class State:
        leader: Bit

    def interact(a, b, p):
        if a.leader == 1 and b.leader == 1:
            b.leader = 0

    def start_all_leaders(self, rng):
        return [Group(self.n, {"leader": 1})]

    safe = exactly(1, is_leader).described("one leader, forever", closed=True)
    leaders = count(is_leader)


# A twin is the protocol with one fault. A claim that does not notice the fault tests nothing.


class BothYield(MyProtocol):
    """Broken: both leaders yield, and in the end nobody may be left."""

    def interact(a, b, p):
        if a.leader == 1 and b.leader == 1:
            a.leader = 0
            b.leader = 0


class Forgetful(MyProtocol):
    """Broken: a leader that meets a follower forgets that it leads."""

    def interact(a, b, p):
        b.leader = 0

    safe = exactly(1, is_leader).described("one leader, for a moment", closed=False)


class Hesitant(MyProtocol):
    """Broken: leaders yield to leaders only half of the time, after a coin."""

    class Coins:
        coin: Bit

    def interact(a, b, p, coins):
        if a.leader == 1 and b.leader == 1 and coins.coin == 1:
            b.leader = 0


# Numbers are expressions over n and the parameters. `exact` sizes follow every configuration; at `sizes` runs are made.

claim("lemma-1", "One leader stays one leader.", MyProtocol, twin=Forgetful, closed="safe", exact=(2, 3, 4))

claim("lemma-2", "One leader is left with probability 1.", MyProtocol, twin=BothYield, reached="safe",
      exact=(2, 3, 4, 5), sizes=(20,), trials=20)  # fmt: skip

claim("theorem-3", "One leader is left after (n - 1)^2 expected steps.", MyProtocol, twin=Hesitant,
      mean="(n - 1)^2", exact=(2, 3, 4, 5), sizes=(10, 100), trials=400)  # fmt: skip

claim("corollary-4", "One leader is left after O(n^2) steps.", MyProtocol, twin=BothYield,
      grows="n^2", rival="n^3", sizes=(16, 32, 64, 128), trials=40, full={"trials": 400})  # fmt: skip
