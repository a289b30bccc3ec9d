"""Franklin's election on a ring: in every round an active node survives if it is larger than both active neighbours."""

from hegemon.models.domains import Range
from hegemon.models.messages import ELECTED, NON_ELECTED, MessageProtocol

LEFT, RIGHT = 0, 1  # the ports


class Franklin(MessageProtocol):
    """Active nodes exchange identifiers with the next active ones on both sides, and the larger ones stay active.

    Passive nodes pass everything on, so a round costs 2n messages, and at most half of the active nodes survive it.
    Who receives its own identifier is elected. Links keep their order, so identifiers need no number of a round: what
    comes early from one side waits for the other side.
    """

    reference = (
        "R. Franklin, On an improved algorithm for decentralized extrema finding in circular configurations of "
        "processors, Communications of the ACM 25, 1982"
    )
    grade = "exact"
    shelf = "messages"
    needs_graph = "oriented-ring"
    smallest_n = 3
    has_identifiers = True

    class Message:
        id: Range(1, "n")

    class Node:
        active = True
        left = ()  # messages that came from this side and wait
        right = ()

    @property
    def wakes_at_any_time(self) -> bool:
        return False

    def begin(self, node, rng):
        return self.tell_both(node)

    def tell_both(self, node):
        own = self.message(id=node.identifier)
        return [(LEFT, own), (RIGHT, own)]

    def round(self, node, inbox, rng):
        for port, message in inbox.items():
            if message.id == node.identifier:
                node.status = ELECTED
                return []
            if port == LEFT:
                node.left += (message,)
            else:
                node.right += (message,)
        sent = []
        if node.active and node.left and node.right:
            highest = max(node.left[0].id, node.right[0].id)
            node.left, node.right = node.left[1:], node.right[1:]
            if node.identifier > highest:
                return self.tell_both(node)
            node.active = False
            node.status = NON_ELECTED
        if not node.active:
            sent = [(RIGHT, message) for message in node.left] + [(LEFT, message) for message in node.right]
            node.left = node.right = ()
        return sent
