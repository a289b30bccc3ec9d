"""Chang and Roberts' election on a ring: every identifier travels to the right until a larger node drops it."""

from hegemon.models.domains import Range
from hegemon.models.messages import ELECTED, NON_ELECTED, MessageProtocol

RIGHT = 1  # the port to the right neighbour


class ChangRoberts(MessageProtocol):
    """Send the identifier to the right, pass on larger ones and drop smaller ones; who gets its own back is elected."""

    reference = (
        "E. Chang, R. Roberts, An improved algorithm for decentralized extrema-finding in circular configurations of "
        "processes, Communications of the ACM 22, 1979"
    )
    grade = "exact"
    shelf = "messages"
    needs_graph = "oriented-ring"
    smallest_n = 3
    has_identifiers = True

    class Message:
        id: Range(1, "n")

    @property
    def wakes_at_any_time(self) -> bool:
        return False

    def begin(self, node, rng):
        return {RIGHT: self.message(id=node.identifier)}

    def round(self, node, inbox, rng):
        for message in inbox.values():
            if message.id == node.identifier:
                node.status = ELECTED
            elif message.id > node.identifier:
                node.status = NON_ELECTED
                return {RIGHT: message}
        return {}
