"""Herman's ring: tokens that walk at random and vanish in pairs, until one is left."""

import numpy as np

from hegemon.models import Assumption, Bit, RoundsProtocol, overall, whole


def count_tokens(nodes, offsets, targets, p):
    """A node holds a token if its bit is that of its left neighbour."""
    tokens = 0
    for v in range(len(nodes)):
        if nodes[v].x == nodes[v - 1].x:
            tokens += 1
    return tokens


def one_token(nodes, offsets, targets, p):
    return count_tokens(nodes, offsets, targets, p) == 1


class Herman(RoundsProtocol):
    """A node with its left neighbour's bit (a token) draws a new bit, the others copy; one token remains."""

    reference = "T. Herman, Probabilistic self-stabilization, Information Processing Letters 35, 1990"
    grade = "exact"
    shelf = "rings"
    needs_graph = "oriented-ring"
    smallest_n = 3
    oriented = True
    random_bits = 1
    assumes = (Assumption("n is odd (or the number of tokens is even and never 1)", "n % 2 == 1", "take an odd n"),)
    outputs = ()  # it circulates a token; the holder does not follow from one node's state

    class State:
        x: Bit

    def update(me, neighbours, coins, p):
        if me.x == neighbours[0].x:
            me.x = coins
        else:
            me.x = neighbours[0].x

    def start_three_tokens(self, rng, topology):
        """Three equidistant tokens, as far as n allows: the worst start, 4n²/27 expected rounds."""
        places = {0, self.n // 3, 2 * self.n // 3}
        nodes = np.zeros(self.n, self.space.dtype)
        bit = 0
        for v in range(1, self.n):
            bit = bit if v in places else 1 - bit
            nodes[v]["x"] = bit
        return nodes

    safe = whole(one_token).described("exactly one token", closed=True)

    tokens = overall(count_tokens, "nodes that hold a token")
