"""A protocol of one's own by messages: what a node sends when it begins, and after every round.

Try it:

    hegemon run examples/flood.py --graph torus:6x6 --set diameter=6 --trials 20
"""

from hegemon import ELECTED, NON_ELECTED, MessageProtocol, Parameter, Range


class Flood(MessageProtocol):
    """Everyone floods the highest rank for as many rounds as the diameter; whose rank it is, is elected."""

    diameter = Parameter("n - 1", low=1, help="an upper bound on the diameter of the graph")

    class Message:
        rank: Range(1, "n^4")

    class Node:
        rank = best = 0

    def begin(self, node, rng):
        node.rank = node.best = rng.randint(1, self.n**4)
        return {port: self.message(rank=node.best) for port in range(node.degree)}

    def round(self, node, inbox, rng):
        node.best = max([node.best, *(message.rank for message in inbox.values())])
        if node.round < self.diameter:
            return {port: self.message(rank=node.best) for port in range(node.degree)}
        node.status = ELECTED if node.best == node.rank else NON_ELECTED
        return None
