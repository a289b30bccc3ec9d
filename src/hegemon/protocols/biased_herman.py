"""Herman's ring with a biased coin, and with nodes that slow down by themselves: how fast can it be made?"""

from hegemon.models import Assumption, Bit, Choice, Coin, Group, Parameter, RoundsProtocol, overall, whole

ODD = Assumption("n is odd (or the number of tokens is even and never 1)", "n % 2 == 1", "take an odd n")
PASSING = Parameter(
    0, low=0, high=1, help="0: a node with a token draws a new bit, others copy; 1: it passes the token on"
)


def count_tokens(nodes, offsets, targets, p):
    """A node holds a token if its bit is that of its left neighbour."""
    tokens = 0
    for v in range(len(nodes)):
        if nodes[v].x == nodes[v - 1].x:
            tokens += 1
    return tokens


def one_token(nodes, offsets, targets, p):
    return count_tokens(nodes, offsets, targets, p) == 1


class BiasedHerman(RoundsProtocol):
    """Herman's ring with a biased coin: a new bit is 0, or a token is passed on, with probability `chance`."""

    reference = (
        "M. Volk, B. Bonakdarpour, J.-P. Katoen, S. Aflaki, Synthesizing optimal bias in randomized self-stabilization"
        ", Distributed Computing 35, 2022; rules as in its models herman_random_bit and herman_random_pass"
    )
    grade = "exact"
    shelf = "rings"
    needs_graph = "oriented-ring"
    smallest_n = 3
    oriented = True
    assumes = (ODD,)
    outputs = ()  # it circulates a token; the holder does not follow from one node's state

    passing = PASSING
    chance = Parameter(
        1 / 3, low=0, high=1, real=True, help="the paper's p: that a new bit is 0, or a token is passed on"
    )

    class State:
        x: Bit

    class Coins:
        heads: Coin("chance")

    def update(me, neighbours, coins, p):
        left = neighbours[0].x
        if p.passing == 0:
            me.x = 1 - coins.heads if me.x == left else left
        elif me.x == left and coins.heads == 1:
            me.x = 1 - me.x

    safe = whole(one_token).described("exactly one token", closed=True)

    tokens = overall(count_tokens, "nodes that hold a token")


class SpeedReducer(RoundsProtocol):
    """Herman's ring whose nodes become slow and normal again by chance; a slow node with a token keeps its bit."""

    reference = (
        "M. Volk, B. Bonakdarpour, J.-P. Katoen, S. Aflaki, Synthesizing optimal bias in randomized self-stabilization"
        ", Distributed Computing 35, 2022; rules as in its models with a speed reducer"
    )
    grade = "exact"
    shelf = "rings"
    needs_graph = "oriented-ring"
    smallest_n = 3
    oriented = True
    assumes = (ODD,)
    outputs = ()  # it circulates a token; the holder does not follow from one node's state

    passing = PASSING
    chance = Parameter(1 / 2, low=0, high=1, real=True, help="that the new bit of a normal node is 0")
    slow_chance = Parameter(0, low=0, high=1, real=True, help="passing: that a slow node passes its token on")
    slowing = Parameter("1/(n*(n-1))", low=0, high=1, real=True, help="the paper's q: that a normal node becomes slow")
    waking = Parameter("1/n", low=0, high=1, real=True, help="the paper's s: that a slow node becomes normal")

    class State:
        x: Bit
        mode: Choice("NORMAL", "SLOW")

    class Coins:
        heads: Coin("chance")
        slow_heads: Coin("slow_chance")
        slows: Coin("slowing")
        wakes: Coin("waking")

    def update(me, neighbours, coins, p):
        left = neighbours[0].x
        if p.passing == 0:
            if me.x != left:
                me.x = left
            elif me.mode == "NORMAL":
                me.x = 1 - coins.heads
        elif me.x == left and (me.mode == "NORMAL" or coins.slow_heads == 1):
            me.x = 1 - me.x
        if me.mode == "NORMAL":
            me.mode = "SLOW" if coins.slows == 1 else "NORMAL"
        elif coins.wakes == 1:
            me.mode = "NORMAL"

    def start_normal(self, rng, topology):
        """Every bit is drawn, and every node is normal."""
        return [Group(self.n, {"mode": "NORMAL"}, random=True)]

    safe = whole(one_token).described("exactly one token", closed=True)

    tokens = overall(count_tokens, "nodes that hold a token")
