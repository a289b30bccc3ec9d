"""Hirschberg and Sinclair's election on a ring: candidates probe twice as far in every phase, in both directions."""

from hegemon.models.domains import Choice, Range
from hegemon.models.messages import ELECTED, NON_ELECTED, MessageProtocol

LEFT, RIGHT = 0, 1  # the ports


class HirschbergSinclair(MessageProtocol):
    """In phase k a candidate's probes go 2^k hops both ways; a larger node drops them, the last one answers.

    Two answers lead to phase k + 1; whose own probe comes home is elected. Dropped probes end a candidacy silently.
    """

    reference = (
        "D. S. Hirschberg, J. B. Sinclair, Decentralized extrema-finding in circular configurations of processors, "
        "Communications of the ACM 23, 1980"
    )
    grade = "exact"
    shelf = "messages"
    needs_graph = "oriented-ring"
    smallest_n = 3
    has_identifiers = True

    class Message:
        kind: Choice("PROBE", "ANSWER")
        id: Range(1, "n")
        hops: Range(1, "2*n").when(kind="PROBE")  # that are left, this one included

    class Node:
        phase: Range(0, "ceil(log2(n)) + 1") = 0
        answers: Range(0, 1) = 0  # in this phase

    @property
    def wakes_at_any_time(self) -> bool:
        return False

    def begin(self, node, rng):
        return self.probes(node)

    def probes(self, node):
        probe = self.message(kind="PROBE", id=node.identifier, hops=2**node.phase)
        return [(LEFT, probe), (RIGHT, probe)]

    def round(self, node, inbox, rng):
        sent = []
        for port, message in inbox.items():
            onward = RIGHT if port == LEFT else LEFT
            if message.kind == "ANSWER" and message.id != node.identifier:
                sent.append((onward, message))
            elif message.kind == "ANSWER":
                node.answers += 1
                if node.answers == 2:
                    node.phase, node.answers = node.phase + 1, 0
                    sent += self.probes(node)
            elif message.id == node.identifier:
                node.status = ELECTED
            elif message.id > node.identifier:
                node.status = NON_ELECTED
                if message.hops > 1:
                    sent.append((onward, self.message(kind="PROBE", id=message.id, hops=message.hops - 1)))
                else:
                    sent.append((port, self.message(kind="ANSWER", id=message.id)))
        return sent
