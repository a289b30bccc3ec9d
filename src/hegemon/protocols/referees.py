"""Algorithm 1: election on complete graphs with O(√n log^(3/2) n) messages, by candidates and referees."""

from functools import cached_property

from hegemon.models.domains import Bit, Choice, Range
from hegemon.models.messages import ELECTED, NON_ELECTED, Contacts, MessageProtocol, failure
from hegemon.models.parameters import Parameter


class Referees(MessageProtocol):
    """A few candidates send their ranks to random referees; who wins at all of its referees is elected."""

    reference = (
        "S. Kutten, G. Pandurangan, D. Peleg, P. Robinson, A. Trehan, Sublinear Bounds for Randomized "
        "Leader Election, Theoretical Computer Science 561, 2015 (Algorithm 1, section 2.1, Theorem 3)"
    )
    grade = "exact"
    shelf = "messages"
    needs_graph = "complete"

    variant = Parameter("implicit", choices=("implicit", "explicit", "wakeup"), help="what is asked of the nodes")
    candidates = Parameter("min(n, 2*log(n))", low=0, high="n", real=True, help="the expected number of candidates")
    referees = Parameter("min(n - 1, 2*ceil(sqrt(n*log(n))))", low=0, high="n - 1", help="referees per candidate")
    messages = Parameter(None, low=0, real=True, help="a budget of messages, such as n^0.4, kept w.p. >= 1 - 1/n")

    class Message:
        kind: Choice("RANK", "WINNER", "LEADER")
        rank: Range(1, "n^4").when(kind="RANK")
        wins: Bit.when(kind="RANK")  # a winner notification that takes the same edge in the same round
        leader: Range(1, "n^4").when(kind="LEADER")

    class Node:
        status = NON_ELECTED  # a node that does not become a candidate
        rank = None  # of a candidate
        referees = 0  # how many referees it has
        decision = 0  # the round in which it decides
        heard = 0  # candidates that made it their referee
        answered = False  # as a referee
        leader = None  # explicit: the leader's rank

    @property
    def initiation(self) -> float:
        """Line 1: a node becomes a candidate with probability 2 log n / n."""
        return self.candidates / self.n

    @cached_property
    def chosen(self) -> int:
        """Line 2: how many referees a candidate takes. A budget is shared between as many candidates as there
        are with probability 1 - 1/n, each paying a question and an answer per referee (event M of Lemma 2)."""
        if self.messages is None:
            return self.referees
        from scipy.special import betainc  # only here: it takes long to load

        most = 1
        while most < self.n and betainc(most + 1, self.n - most, self.initiation) > 1 / self.n:  # P[more than `most`]
            most += 1
        return min(self.referees, int(self.messages / (2 * most)))

    def begin(self, node, rng):
        node.status = None
        node.rank = rng.randint(1, self.n**4)
        node.decision = node.round + 1
        node.wake_at(node.decision)
        ports = rng.sample(range(node.degree), self.chosen)
        node.referees = len(ports)
        messages = dict.fromkeys(ports, self.message(kind="RANK", rank=node.rank, wins=0))
        for port in messages.keys() & node.sending.keys():  # it is a referee that has just been asked, and asks back
            del node.sending[port]
            messages[port] = self.message(kind="RANK", rank=node.rank, wins=1)
        return messages

    def round(self, node, inbox, rng):
        ranks = {port: message.rank for port, message in inbox.items() if message.kind == "RANK"}
        node.heard += len(ranks)
        answers = {}
        if ranks and not node.answered:  # line 3; section 2.1: only in the first round with messages
            node.answered = True
            answers[max(ranks, key=ranks.get)] = self.message(kind="WINNER")
        if node.rank is not None and node.round == node.decision:  # line 4
            won = sum(message.kind == "WINNER" or message.wins == 1 for message in inbox.values())
            node.status = ELECTED if won == node.referees else NON_ELECTED
            if node.status == ELECTED and self.variant == "explicit":
                node.leader = node.rank
                return dict.fromkeys(range(node.degree), self.message(kind="LEADER", leader=node.rank))
        for message in inbox.values():
            if message.kind == "LEADER":
                node.leader = message.leader
        return answers

    @property
    def wakes_at_any_time(self) -> bool:
        return self.variant == "wakeup"

    @property
    def records_clouds(self) -> bool:
        return self.variant != "explicit"  # where the leader influences everyone in the end

    def measure(self, nodes) -> dict:
        candidates = [node for node in nodes if node.rank is not None]
        elected = [node.rank for node in candidates if node.status == ELECTED]
        measures = {
            "candidates": len(candidates),
            "shared_referees": sum(node.heard > 1 for node in nodes),
            "cause": failure(elected, [node.rank for node in candidates]),
        }
        if self.variant == "explicit":
            measures["informed"] = sum(node.leader is not None for node in nodes)
        return measures

    @cached_property
    def pattern(self) -> Contacts:
        return Contacts(
            contacts=self.chosen,
            ranks=self.n**4,
            contact_bits=self.message(kind="RANK", rank=1, wins=0).bits,
            answer_bits=self.message(kind="WINNER").bits,
            inform_bits=self.message(kind="LEADER", leader=1).bits if self.variant == "explicit" else 0,
        )
