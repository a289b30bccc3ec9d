"""Instances whose exact holding time is known, from 10^2 to 10^20 steps, and a protocol of a user's own."""

from hegemon import Bit, Group, Parameter, PopulationProtocol, Range, TimeOptimal, Timer, everywhere, exactly


class Candle(PopulationProtocol):
    """A leader's candle burns down when it meets a follower and is lit again when it is the initiator."""

    height = Parameter(5, low=1)

    class State:
        leader: Bit
        wax: Range(0, "height")

    def interact(a, b, p):
        if a.leader == 1:
            a.wax = p.height
        elif b.leader == 1:
            if b.wax == 0:
                b.leader = 0
            else:
                b.wax -= 1

    def start_safe(self, rng):
        low = {"leader": 0, "wax": 0}
        return [Group(1, {"leader": 1, "wax": self.height}), Group(self.n - 1, low)]

    safe = exactly(1, lambda a, p: a.leader == 1) & everywhere(lambda a, p: a.leader == 0 or a.wax == p.height)


# protocol, graph, start; exact holding from 120 to 1.5e20 steps
INSTANCES = [
    (Timer(n=3, s=3), None, "safe"),
    (Timer(n=3, s=12), None, "safe"),
    (Timer(n=3, s=36), None, "safe"),
    (Timer(n=3, s=12), None, "barely-safe"),
    (Timer(n=4, s=6), None, "safe"),
    (Timer(n=4, s=20), None, "safe"),
    (Timer(n=6, s=7), None, "safe"),
    (Timer(n=4, s=9), "ring:4", "safe"),
    (Timer(n=5, s=5), "ring:5", "safe"),
    (TimeOptimal(n=3), None, "safe"),
    (TimeOptimal(n=4, r_max=8, b_max=8), None, "safe"),
    (Candle(n=4, height=8), None, "safe"),
    (Candle(n=8, height=40), None, "safe"),
    (Candle(n=8, height=63), None, "safe"),
    (Candle(n=5, height=30), "ring:5", "safe"),
]
