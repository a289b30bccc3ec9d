"""Peterson's election on a ring in one direction: O(n log n) messages, though nobody sends to the left."""

from hegemon.models.domains import Bit, Range
from hegemon.models.messages import ELECTED, NON_ELECTED, MessageProtocol

RIGHT = 1  # the port to the right neighbour


class Peterson(MessageProtocol):
    """An active node with t learns t1 and t2 of the two active ones before it, and goes on with t1 if that is largest.

    It sends t and receives t1, sends t1 and receives t2. The other nodes pass everything on. Who receives its own t is
    elected; it need not be the one that was given the largest identifier.
    """

    reference = (
        "G. L. Peterson, An O(n log n) unidirectional algorithm for the circular extrema problem, ACM Transactions on "
        "Programming Languages and Systems 4, 1982"
    )
    grade = "exact"
    shelf = "messages"
    needs_graph = "oriented-ring"
    smallest_n = 3
    has_identifiers = True

    class Message:
        t: Range(1, "n")

    class Node:
        active: Bit = 1
        t: Range(0, "n") = 0
        t1: Range(0, "n") = 0  # 0: not yet received

    @property
    def wakes_at_any_time(self) -> bool:
        return False

    def begin(self, node, rng):
        node.t = node.identifier
        return {RIGHT: self.message(t=node.t)}

    def round(self, node, inbox, rng):
        for message in inbox.values():
            if not node.active:
                return {RIGHT: message}
            if node.t1 == 0:
                if message.t == node.t:
                    node.status = ELECTED
                    return {}
                node.t1 = message.t
                return {RIGHT: message}
            if node.t1 < node.t or node.t1 < message.t:
                node.active = 0
                node.status = NON_ELECTED
                return {}
            node.t, node.t1 = node.t1, 0
            return {RIGHT: self.message(t=node.t)}
        return {}
