"""Six states that elect by beeping: waves from leaders that wait, and whoever hears a wave stops leading."""

from hegemon.models import Bit, Choice, RoundsProtocol, count, exactly


def is_leader(a, p):
    return a.leader == 1


class BFW(RoundsProtocol):
    """A waiting leader beeps on heads; a beep is passed on once, and ends the lead of every waiting node that hears."""

    reference = (
        "R. Vacus, I. Ziccardi, Minimalist leader election under weak communication, PODC 2025; read up to notation"
    )
    grade = "exact"
    shelf = "any graph"
    arbitrary_start = False  # it does not stabilize: a configuration without a leader stays without one
    random_bits = 1  # the coin of probability p = 1/2
    public = ("phase",)

    class State:
        phase: Choice("WAITING", "BEEPING", "FROZEN") = "WAITING"
        leader: Bit = 1

    def update(me, neighbours, coins, p):
        hears = False
        for other in neighbours:
            if other.phase == "BEEPING":
                hears = True
        if me.phase == "BEEPING":
            me.phase = "FROZEN"
        elif me.phase == "FROZEN":  # deaf for one round, so that its own wave does not come back
            me.phase = "WAITING"
        elif hears:
            me.phase = "BEEPING"
            me.leader = 0
        elif me.leader == 1 and coins == 1:
            me.phase = "BEEPING"

    safe = exactly(1, is_leader).described("one leader; leaders never come back, and the last one stays", closed=True)

    leaders = count(is_leader, "nodes that are leaders")
    beeping = count(lambda a, p: a.phase == "BEEPING", "nodes that beep")
