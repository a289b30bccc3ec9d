"""A message-passing protocol: nodes send messages over the edges of a graph, in rounds; each has its own coins.

hegemon check FILE                       is everything as the engines need it?
hegemon run FILE --n 100 --plot run.png  simulate it: messages, bits and rounds are counted
hegemon run FILE --graph ring:20 --set patience=10
"""

from hegemon import ELECTED, NON_ELECTED, MessageProtocol, Parameter, Range


class MyProtocol(MessageProtocol):
    """Every node floods the highest rank it has heard of; in the end the owner of the highest is elected."""

    # Parameters are set by --set patience=5; bounds may be expressions over n and the parameters before.
    patience = Parameter(1, low=1, high="n", help="rounds until a node decides: at least the diameter of the graph")

    class Message:  # what a message says; its length is counted in bits
        rank: Range(1, "n^3")

    class Node:  # what a node remembers; its number it does not know
        rank = 0
        highest = 0

    def begin(self, node, rng):
        """A node wakes up. The answer says what to send through which of its edges: {edge: message}."""
        node.rank = node.highest = rng.randint(1, self.n**3)
        node.wake_at(node.round + self.patience - 1)  # call `round` then, even if nothing arrives
        return self.tell_all(node)

    def round(self, node, inbox, rng):
        """The end of a round in which messages arrived ({edge: message}), or for which the node asked."""
        before = node.highest
        node.highest = max([node.highest, *(message.rank for message in inbox.values())])
        if node.round >= self.patience:
            node.status = ELECTED if node.highest == node.rank else NON_ELECTED
        elif node.highest > before:
            return self.tell_all(node)
        return {}

    def tell_all(self, node):
        return dict.fromkeys(range(node.degree), self.message(rank=node.highest))
