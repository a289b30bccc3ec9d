"""Algorithm 2: election on any connected graph in O(τ) rounds, by ranked random walks that meet."""

import copy
from collections import Counter
from functools import cached_property

from hegemon.models.domains import Choice, Range
from hegemon.models.messages import ELECTED, NON_ELECTED, MessageProtocol, Tokens, failure
from hegemon.models.parameters import Parameter


class Walks(MessageProtocol):
    """Candidates send out random walks; walks that meet a higher rank die; who gets all of its walks back wins."""

    reference = (
        "S. Kutten, G. Pandurangan, D. Peleg, P. Robinson, A. Trehan, Sublinear Bounds for Randomized "
        "Leader Election, Theoretical Computer Science 561, 2015 (Algorithm 2; `cnt = 1` of line 11 is read as all "
        "walks that are held, and bipartite graphs walk lazily)"
    )
    grade = "exact"
    shelf = "messages"

    candidates = Parameter("min(n, 2*log(n))", low=0, high="n", real=True, help="the expected number of candidates")
    walks = Parameter("2*ceil(sqrt(n*log(n)))", low=1, help="random walks per candidate")
    mixing_time = Parameter(
        "auto", low=1, choices=("auto", "exact", "spectral"), help="the length of the walks: τ(G), computed or given"
    )
    lazy = Parameter("auto", choices=("auto", "yes", "no"), help="stay with probability 1/2; auto: if bipartite")

    class Message:
        kind: Choice("TOKEN", "WIN")
        rank: Range(1, "n^4")
        count: Range(1, "n*walks")  # walks of candidates with equal ranks may add up

    class Node:
        status = NON_ELECTED  # a node that does not become a candidate
        rank = None  # of a candidate
        winner = 0  # winner-so-far
        origin = None  # the port towards the winner; None at the winner itself
        held = 0  # tokens of the winner that are here; at the winner in the end, its wins
        met = False  # whether tokens of different ranks met here

    @property
    def initiation(self) -> float:
        """Line 2: a node becomes a candidate with probability 2 log n / n."""
        return self.candidates / self.n

    @property
    def wakes_at_any_time(self) -> bool:
        return False

    def begin(self, node, rng):
        node.status = None
        node.rank = node.winner = rng.randint(1, self.n**4)
        node.held = self.walks
        node.wake_at(2 * self.steps)
        return self.forward(node, node.round, rng)

    def forward(self, node, round, rng):
        """Lines 4 and 8: every token goes to a random neighbour in `round`; those to the same one travel as one."""
        moving = sum(rng.random() < 0.5 for _ in range(node.held)) if self.is_lazy else node.held
        node.held -= moving
        if node.held:
            node.wake_at(round)
        chosen = Counter(rng.randrange(node.degree) for _ in range(moving))
        return {port: self.message(kind="TOKEN", rank=node.winner, count=k) for port, k in chosen.items()}

    def round(self, node, inbox, rng):
        tokens = [(m.rank, port, m.count) for port, m in inbox.items() if m.kind == "TOKEN"]
        ranks = [rank for rank, _, _ in tokens] + ([node.winner] if node.winner else [])
        if ranks and min(ranks) != max(ranks):  # line 5
            node.met = True
        if ranks and max(ranks) != node.winner:  # lines 6 and 7
            node.winner = max(ranks)
            node.origin = min(port for rank, port, _ in tokens if rank == node.winner)
            node.held = 0
        node.held += sum(count for rank, _, count in tokens if rank == node.winner)

        if node.round < self.steps:
            return self.forward(node, node.round + 1, rng)
        # Lines 9 to 12. A notification for another rank than the winner is dropped: that candidate has lost.
        node.held += sum(m.count for m in inbox.values() if m.kind == "WIN" and m.rank == node.winner)
        if node.round == 2 * self.steps and node.rank is not None:  # line 13
            all_won = node.winner == node.rank and node.held == self.walks
            node.status = ELECTED if all_won else NON_ELECTED
        elif node.held and node.winner != node.rank:
            count, node.held = node.held, 0
            return {node.origin: self.message(kind="WIN", rank=node.winner, count=count)}
        return {}

    def measure(self, nodes) -> dict:
        candidates = [node for node in nodes if node.rank is not None]
        elected = [node.rank for node in candidates if node.status == ELECTED]
        return {
            "candidates": len(candidates),
            "shared_referees": sum(node.met for node in nodes),
            "cause": failure(elected, [node.rank for node in candidates]),
        }

    # -- what the nodes know about the graph -------------------------------------------------------------

    def adapt(self, topology) -> "Walks":
        adapted = copy.copy(self)
        adapted.is_lazy = topology.is_bipartite if self.lazy == "auto" else self.lazy == "yes"
        if isinstance(self.mixing_time, str):
            from hegemon.graphs.mixing import mixing_time  # only here: SciPy takes long to load

            true = mixing_time(topology, adapted.is_lazy, self.mixing_time)
            adapted.steps = true.high
            guarantee = "holds"
        else:
            adapted.steps = self.mixing_time
            guarantee = self._guarantee(topology, adapted.is_lazy)
        adapted.graph_parameters = {"mixing_time": adapted.steps, "lazy": "yes" if adapted.is_lazy else "no"}
        adapted.facts = {"mixing_time": adapted.steps, "lazy": adapted.is_lazy, "guarantee": guarantee}
        return adapted

    def validate(self) -> None:
        if not self.missing_parameters:
            self.steps, self.is_lazy = self.mixing_time, self.lazy == "yes"

    @property
    def missing_parameters(self) -> str:
        if isinstance(self.mixing_time, str) or self.lazy == "auto":
            return "--set mixing_time=K and lazy=yes or no"
        return ""

    def _guarantee(self, topology, lazy: bool) -> str:
        """Whether Theorem 2 speaks of walks as short as the given ones."""
        if topology.is_bipartite and not lazy:
            return "void: the walk is not lazy on a bipartite graph"
        from hegemon.graphs.mixing import mixing_time  # only here: SciPy takes long to load

        true = mixing_time(topology, lazy)
        if self.mixing_time >= true.high:
            return "holds"
        if self.mixing_time < true.low:
            return f"void: the mixing time is {'' if true.exact else 'at least '}{true.low}"
        return f"unknown: the mixing time is between {true.low} and {true.high}"

    @cached_property
    def pattern(self) -> Tokens:
        bits = self.message(kind="TOKEN", rank=1, count=1).bits
        return Tokens(self.walks, self.steps, self.is_lazy, self.n**4, token_bits=bits, win_bits=bits)
