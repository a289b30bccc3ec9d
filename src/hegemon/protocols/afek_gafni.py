"""The classical election on complete graphs with O(n log n) messages, by candidates that capture nodes."""

from hegemon.models.domains import Choice, Range
from hegemon.models.messages import ELECTED, NON_ELECTED, MessageProtocol, failure


class AfekGafni(MessageProtocol):
    """In phase i every surviving candidate captures 2^i more nodes, or gives up; who captures all is elected.

    A node lets itself be captured by the highest rank of each phase only, so at most n / 2^i candidates
    survive phase i and every phase costs O(n) messages. Candidates know nothing but their ranks, which are
    random here since nodes have no names; so are the ports they ask next, since ports have no meaning.
    """

    reference = (
        "Y. Afek, E. Gafni, Time and message bounds for election in synchronous and asynchronous complete "
        "networks, SIAM Journal on Computing 20, 1991 (the synchronous algorithm, all nodes awake)"
    )
    grade = "faithful"
    shelf = "messages"
    needs_graph = "complete"

    class Message:
        kind: Choice("CAPTURE", "YIELD")
        rank: Range(1, "n^4").when(kind="CAPTURE")

    class Node:
        rank = 0
        captured = ()  # ports of nodes that yielded
        asked = ()  # ports of nodes asked in this phase
        phase = 0

    @property
    def wakes_at_any_time(self) -> bool:
        return False

    def begin(self, node, rng):
        node.rank = rng.randint(1, self.n**4)
        return self.capture(node, node.round, rng)

    def capture(self, node, round, rng):
        """Ask 2^phase other nodes, or as many as are left, in `round`; they yield in the round after."""
        number, captured = 2**node.phase, set(node.captured)
        if len(captured) + number >= node.degree:
            ports = set(range(node.degree)) - captured
        else:
            ports = set()
            while len(ports) < number:
                port = rng.randrange(node.degree)
                if port not in captured:
                    ports.add(port)
        node.asked = tuple(sorted(ports))
        node.wake_at(round + 1)
        return dict.fromkeys(node.asked, self.message(kind="CAPTURE", rank=node.rank))

    def round(self, node, inbox, rng):
        if node.round % 2 == 1:
            asking = {port: message.rank for port, message in inbox.items()}
            best = max(asking, key=asking.get, default=None)
            if best is None or (node.status is None and asking[best] <= node.rank):
                return {}
            node.status = NON_ELECTED
            return {best: self.message(kind="YIELD")}
        if node.status is not None:
            return {}
        if len(inbox) < len(node.asked):
            node.status = NON_ELECTED
            return {}
        node.captured = tuple(sorted((*node.captured, *node.asked)))
        node.phase += 1
        if len(node.captured) == node.degree:
            node.status = ELECTED
            return {}
        return self.capture(node, node.round + 1, rng)

    def measure(self, nodes) -> dict:
        elected = [node.rank for node in nodes if node.status == ELECTED]
        ranks = [node.rank for node in nodes if node.rank]
        return {"candidates": len(nodes), "cause": failure(elected, ranks)}
