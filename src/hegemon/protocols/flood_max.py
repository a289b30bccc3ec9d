"""The classical election by flooding: everyone hears of the highest rank."""

from hegemon.models.domains import Range
from hegemon.models.messages import ELECTED, NON_ELECTED, MessageProtocol, failure
from hegemon.models.parameters import Parameter


class FloodMax(MessageProtocol):
    """Every node floods the highest rank it knows; after as many rounds as the diameter, its owner is elected."""

    reference = "N. Lynch, Distributed Algorithms, Morgan Kaufmann 1996, section 4.1 (OptFloodMax), with random ranks"
    grade = "exact"
    shelf = "messages"

    diameter = Parameter("max(1, n - 1)", low=1, help="an upper bound on the diameter, known to the nodes")

    class Message:
        rank: Range(1, "n^4")

    class Node:
        rank: Range(0, "n^4") = 0
        highest: Range(0, "n^4") = 0

    @property
    def wakes_at_any_time(self) -> bool:
        return False

    def begin(self, node, rng):
        node.rank = node.highest = rng.randint(1, self.n**4)
        node.wake_at(self.diameter)
        return self.tell_all(node)

    def round(self, node, inbox, rng):
        before, node.highest = node.highest, max([node.highest, *(message.rank for message in inbox.values())])
        if node.round == self.diameter:
            node.status = ELECTED if node.highest == node.rank else NON_ELECTED
        elif node.highest > before:
            return self.tell_all(node)
        return {}

    def tell_all(self, node):
        return dict.fromkeys(range(node.degree), self.message(rank=node.highest))

    def measure(self, nodes) -> dict:
        elected = [node.rank for node in nodes if node.status == ELECTED]
        ranks = [node.rank for node in nodes if node.rank]
        return {"candidates": len(nodes), "cause": failure(elected, ranks)}
