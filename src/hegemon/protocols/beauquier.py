"""The token ring of Beauquier, Gradinariu and Johnen: four states, and no daemon can keep the tokens apart."""

from hegemon.models import Assumption, Bit, RoundsProtocol, overall, whole


def count_tokens(nodes, offsets, targets, p):
    """A node holds a token if its bit t is that of its left neighbour."""
    tokens = 0
    for v in range(len(nodes)):
        if nodes[v].t == nodes[v - 1].t:
            tokens += 1
    return tokens


def one_token(nodes, offsets, targets, p):
    return count_tokens(nodes, offsets, targets, p) == 1


class Beauquier(RoundsProtocol):
    """A node with its left neighbour's d turns it, and draws a new t if it holds a token; one token remains."""

    reference = (
        "J. Beauquier, M. Gradinariu, C. Johnen, Memory space requirements for self-stabilizing leader election "
        "protocols, PODC 1999; rules as in the case studies of PRISM (self-stabilisation, beauquier3.nm)"
    )
    grade = "exact"
    shelf = "rings"
    needs_graph = "oriented-ring"
    smallest_n = 3
    oriented = True
    random_bits = 1
    daemon = "central"
    assumes = (Assumption("n is odd (or the number of tokens is even and never 1)", "n % 2 == 1", "take an odd n"),)
    outputs = ()  # it circulates a token; the holder does not follow from one node's state

    class State:
        d: Bit  # whose turn it is: a node may act if its left neighbour has the same
        t: Bit  # the paper's p

    def update(me, neighbours, coins, p):
        left = neighbours[0]
        if me.d == left.d:
            me.d = 1 - me.d
            if me.t == left.t:
                me.t = coins

    safe = whole(one_token).described("exactly one token", closed=True)

    tokens = overall(count_tokens, "nodes that hold a token")
