"""Small published protocols of the rounds model, written as a user would write them."""

import numpy as np

from hegemon.models import Bit, Parameter, Range, RoundsProtocol, whole


def least_level(me, neighbours, p):
    least = p.K
    for u in neighbours:
        least = min(least, u.level)
    return least


def levels_are_distances(nodes, offsets, targets, p):
    for v in range(len(nodes)):
        least = p.K
        for arc in range(offsets[v], offsets[v + 1]):
            least = min(least, nodes[targets[arc]].level)
        expected = 0 if nodes[v].root == 1 else min(least + 1, p.K)
        if nodes[v].level != expected:
            return False
    return True


class Levels(RoundsProtocol):
    """Every node's level becomes its distance from the root.  (Dolev, Israeli, Moran, Distributed Computing 1993)"""

    K = Parameter("n", low="n", help="the largest level")

    class State:
        root: Bit
        level: Range(0, "K")

    def update(me, neighbours, coins, p):
        if me.root == 1:
            me.level = 0
        else:
            me.level = min(least_level(me, neighbours, p) + 1, p.K)

    def start_one_root(self, rng, topology):
        """Node 0 is the root, every level is random."""
        nodes = np.zeros(self.n, self.space.dtype)
        nodes["root"][0] = 1
        nodes["level"] = rng.integers(self.K + 1, size=self.n)
        return nodes

    default_start = "one-root"
    safe = whole(levels_are_distances).described("every level is right", closed=True)


def is_settled(nodes, offsets, targets, p):
    """Nodes inside have no neighbour inside, nodes outside have one."""
    for v in range(len(nodes)):
        near = 0
        for arc in range(offsets[v], offsets[v + 1]):
            near += nodes[targets[arc]].inside
        if nodes[v].inside + near == 0 or (nodes[v].inside == 1 and near > 0):
            return False
    return True


class IndependentSet(RoundsProtocol):
    """A maximal independent set: leave when a neighbour is inside, with probability 1/2; enter when none is.

    (Randomized, synchronous version of Shukla, Rosenkrantz and Ravi 1995.)
    """

    random_bits = 1

    class State:
        inside: Bit

    def update(me, neighbours, coins, p):
        near = 0
        for u in neighbours:
            near = max(near, u.inside)
        if me.inside == 1 and near == 1 and coins == 1:
            me.inside = 0
        elif me.inside == 0 and near == 0 and coins == 1:
            me.inside = 1

    def output(a, p):
        return a.inside

    outputs = ("outside", "inside")
    safe = whole(is_settled).described("a maximal independent set", closed=True)
