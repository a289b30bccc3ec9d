"""Claims about `Duel`: a module that states them, with a broken twin for each."""

from hegemon import claim
from hegemon_wheel.protocol import Duel


class BothYield(Duel):
    """Two leaders that meet both yield."""

    def interact(a, b, p):
        if a.leader == 1 and b.leader == 1:
            a.leader = 0
            b.leader = 0


claim(
    "duel-mean",
    "One leader is left after (n - 1)^2 expected interactions on a complete graph.",
    Duel,
    twin=BothYield,
    mean="(n - 1)^2",
    exact=(2, 3, 4, 5),
)
