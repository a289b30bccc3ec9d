"""Itai and Rodeh's election on a ring of anonymous nodes that know n: random ids, again and again while they tie.

In synchronous rounds all phases begin together and last n rounds, so the phase number that the asynchronous
algorithm sends along is known to everybody and is not sent. With `wins=unique`, as in PRISM's case study leader_sync,
every id goes all the way round, nobody drops out, and the largest id that only one node has wins.
"""

from hegemon.models.domains import Bit, Range
from hegemon.models.messages import ELECTED, NON_ELECTED, MessageProtocol
from hegemon.models.parameters import Parameter

RIGHT = 1  # the port to the right neighbour


class ItaiRodeh(MessageProtocol):
    """Active nodes send random ids round the ring; larger ids silence smaller ones, and a unique largest id wins."""

    reference = (
        "A. Itai, M. Rodeh, Symmetry breaking in distributed networks, Information and Computation 88, 1990 "
        "(FOCS 1981); the synchronous version"
    )
    grade = "exact"
    shelf = "messages"
    needs_graph = "oriented-ring"
    needs_exact_n = True
    smallest_n = 3

    K = Parameter("n", low=2, help="ids are drawn from 1..K")
    wins = Parameter("largest", choices=("largest", "unique"), help="the largest id if it is unique, or any unique one")

    class Message:
        id: Range(1, "K")
        hop: Range(1, "n")
        unique: Bit

    class Node:
        id = 0
        active = True
        heard = ()  # ids of this phase, if all of them are collected

    def begin(self, node, rng):
        return self._draw(node, rng)

    def round(self, node, inbox, rng):
        for message in inbox.values():
            if self.wins == "unique":
                return self._collect(node, message, rng)
            if not node.active:
                return self._pass_on(message, message.unique)
            if message.hop == self.n:  # its own: only the largest ids come all the way round
                if message.unique == 1:
                    node.status = ELECTED
                    return None
                return self._draw(node, rng)
            if message.id > node.id:
                node.active = False
                node.status = NON_ELECTED
                return self._pass_on(message, message.unique)
            if message.id == node.id:
                return self._pass_on(message, 0)
        return None

    def _collect(self, node, message, rng):
        """Until the own id is back: then all have heard the same n ids, each in its turn."""
        node.heard += (message.id,)
        if message.hop < self.n:
            return self._pass_on(message, 1)
        single = [id for id in node.heard if node.heard.count(id) == 1]
        node.heard = ()
        if not single:
            return self._draw(node, rng)
        node.status = ELECTED if node.id == max(single) else NON_ELECTED
        return None

    def _draw(self, node, rng):
        node.id = rng.randint(1, self.K)
        return {RIGHT: self.message(id=node.id, hop=1, unique=1)}

    def _pass_on(self, message, unique):
        return {RIGHT: self.message(id=message.id, hop=message.hop + 1, unique=unique)}
