"""Daemons that a run can follow: of the enabled nodes, which act next. One law or one rule each.

`central:uniform` and `distributed:1/3` are laws of chance, which `verify` knows as chains. `round-robin`, the greedy
adversaries and a function of the user's own are rules. Both greedy ones are weakly fair: a node that has been enabled
for PATIENCE · n steps without acting is served first.
"""

import math
import random
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any
from typing import Protocol as Shape

from hegemon.errors import InvalidInput, choose, meant
from hegemon.graphs.topology import Topology
from hegemon.models.protocol import Protocol
from hegemon.models.start_files import StartFile
from hegemon.process.schedulers.daemons import DAEMONS, Daemon

PATIENCE = 4  # times n steps
MOST_NODES = 20  # for a law over all sets of nodes


class NodesView(Shape):
    """What a scheduler sees of a run: nodes that are enabled, in no particular order, the codes and the neighbours of
    all nodes, and when each became enabled or acted last."""

    enabled: list[int]
    codes: list[int]
    near: list[list[int]]
    since: list[int]

    @property
    def step(self) -> int: ...

    def states(self) -> list[dict[str, Any]]: ...

    def leads(self, node: int) -> bool: ...

    def gain(self, node: int) -> float:
        """How many more nodes are enabled after its move, on average."""


class NodeScheduler(ABC):
    """`memory` is a number that the run keeps for it."""

    name: str
    daemon: Daemon = DAEMONS["central"]  # whose schedules it makes
    is_random: bool = False
    waits: bool = False  # whether it reads how long nodes have been waiting

    def __str__(self) -> str:
        return self.name

    @abstractmethod
    def choose(self, view: NodesView, memory: int, rng: random.Random) -> tuple[Sequence[int], int]:
        """The nodes that act next, some of those that are enabled, and the memory after that."""

    def law(self, enabled: int, topology: Topology) -> dict[int, Fraction]:
        """The probability with which each set of nodes acts, both as bits; 0 is the empty set."""
        raise InvalidInput(
            f"the scheduler {self} is no law of chance; verify takes {LAWS}, or a daemon such as central"
        )

    def denominator(self, n: int) -> int:
        """A number that makes all probabilities of the law whole."""
        return 1


class All(NodeScheduler):
    name, daemon = "synchronous", DAEMONS["synchronous"]

    def choose(self, view: NodesView, memory: int, rng: random.Random) -> tuple[Sequence[int], int]:
        return sorted(view.enabled), memory

    def law(self, enabled: int, topology: Topology) -> dict[int, Fraction]:
        return {enabled: Fraction(1)}


class One(NodeScheduler):
    """Every enabled node is equally likely."""

    name, is_random = "central:uniform", True

    def choose(self, view: NodesView, memory: int, rng: random.Random) -> tuple[Sequence[int], int]:
        return (view.enabled[rng.randrange(len(view.enabled))],), memory

    def law(self, enabled: int, topology: Topology) -> dict[int, Fraction]:
        nodes = _nodes(enabled)
        return {1 << node: Fraction(1, len(nodes)) for node in nodes}

    def denominator(self, n: int) -> int:
        return math.lcm(*range(1, n + 1))


class Independent(NodeScheduler):
    """Enabled nodes in random order, each unless a neighbour has been taken."""

    name, daemon, is_random = "locally-central:uniform", DAEMONS["locally-central"], True

    def choose(self, view: NodesView, memory: int, rng: random.Random) -> tuple[Sequence[int], int]:
        order = sorted(view.enabled)
        taken: set[int] = set()
        rng.shuffle(order)
        for node in order:
            if taken.isdisjoint(view.near[node]):
                taken.add(node)
        return sorted(taken), memory

    def law(self, enabled: int, topology: Topology) -> dict[int, Fraction]:
        near = [sum(1 << int(other) for other in topology.neighbours(node)) for node in range(topology.n)]
        found: dict[int, Fraction] = {}
        open_ = {(0, enabled): Fraction(1)}  # the nodes taken, and those that can still be
        while open_:
            now: dict[tuple[int, int], Fraction] = {}
            for (taken, rest), share in open_.items():
                for node in _nodes(rest):
                    after = taken | 1 << node, rest & ~near[node] & ~(1 << node)
                    now[after] = now.get(after, Fraction(0)) + share / rest.bit_count()
            for (taken, _), share in [one for one in now.items() if not one[0][1]]:
                found[taken] = found.get(taken, Fraction(0)) + share
            open_ = {place: share for place, share in now.items() if place[1]}
        return found

    def denominator(self, n: int) -> int:
        return math.factorial(n)  # each share is a sum of 1/product of different numbers up to n


class Share(NodeScheduler):
    """Each enabled node acts with the same probability; there may be steps in which none acts."""

    daemon, is_random = DAEMONS["distributed"], True

    def __init__(self, share: Fraction):
        self.name, self.share = f"distributed:{share}", share

    def choose(self, view: NodesView, memory: int, rng: random.Random) -> tuple[Sequence[int], int]:
        top, bottom = self.share.numerator, self.share.denominator
        return [node for node in sorted(view.enabled) if rng.randrange(bottom) < top], memory

    def law(self, enabled: int, topology: Topology) -> dict[int, Fraction]:
        nodes, found = _nodes(enabled), {0: Fraction(1)}
        if len(nodes) > MOST_NODES:
            raise InvalidInput(f"{len(nodes)} enabled nodes have too many subsets; take at most {MOST_NODES} nodes")
        for node in nodes:
            found |= {mask | 1 << node: share * self.share for mask, share in found.items()} | {
                mask: share * (1 - self.share) for mask, share in found.items()
            }
        return {mask: share for mask, share in found.items() if share}

    def denominator(self, n: int) -> int:
        return self.share.denominator**n


class RoundRobin(NodeScheduler):
    """The next enabled node after the one that acted last, in the order of their numbers."""

    name = "round-robin"

    def choose(self, view: NodesView, memory: int, rng: random.Random) -> tuple[Sequence[int], int]:
        node = min(view.enabled, key=lambda other: (other - memory) % len(view.codes))
        return (node,), node + 1


class Greedy(NodeScheduler):
    """Weakly fair: `most-enabled` takes the node after whose action most nodes are enabled, on average over its coins;
    `delay-leader` does so among the nodes that neither lead nor begin to, as long as there are any."""

    waits = True

    def __init__(self, kind: str):
        self.name, self.spares_leader = f"central:{kind}", kind == "delay-leader"

    def choose(self, view: NodesView, memory: int, rng: random.Random) -> tuple[Sequence[int], int]:
        first = min(view.enabled, key=lambda node: (view.since[node], node))
        if view.step - view.since[first] >= PATIENCE * len(view.codes):
            return (first,), memory
        among = sorted(view.enabled)
        if self.spares_leader:
            among = [node for node in among if not view.leads(node)] or among
        return (max(among, key=lambda node: (view.gain(node), -node)),), memory


class OwnNodes(NodeScheduler):
    """A function of the user's own: `chosen(step, states, enabled)` returns one node or several of those enabled."""

    name, is_random = "function", True  # it may do anything, so cycles are not searched for

    def __init__(self, function: Callable[..., Any]):
        self.function = function

    def choose(self, view: NodesView, memory: int, rng: random.Random) -> tuple[Sequence[int], int]:
        enabled = sorted(view.enabled)
        answer = self.function(view.step, view.states(), enabled)
        chosen = [answer] if isinstance(answer, int) else list(answer)
        if not chosen or not set(chosen) <= set(enabled):
            raise InvalidInput(
                f"the scheduler's function returned {answer!r} in step {view.step}; it must return some of the enabled "
                f"nodes {enabled[:20]}"
            )
        return sorted(set(chosen)), memory


class Strategy(NodeScheduler):
    """What `verify` found to be best or worst: for every configuration the nodes that act, read from a story."""

    def __init__(self, file: str, protocol: Protocol):
        story = StartFile(file or "strategy.json")
        self.name, self._file, size = f"strategy:{file}", str(story), protocol.space.size
        self._nodes: dict[tuple[int, ...], list[int]] = {}
        for row in story.listed("strategy"):
            pair: list[Any] = row if isinstance(row, list) and len(row) == 2 else [None, None]
            if not _numbers(pair[0], protocol.n, size) or not _numbers(pair[1], None, protocol.n):
                raise InvalidInput(
                    f"{self._file}: {str(row)[:60]} in its strategy is no pair of {protocol.n} codes below {size} and "
                    f"nodes below {protocol.n}; give a file that verify --worst or --best wrote for this protocol"
                )
            self._nodes[tuple(pair[0])] = pair[1]
        if not self._nodes:
            raise InvalidInput(f"{self._file} has no strategy; give a file that verify --worst or --best wrote")

    def choose(self, view: NodesView, memory: int, rng: random.Random) -> tuple[Sequence[int], int]:
        nodes = self._nodes.get(tuple(view.codes), [])
        if not nodes or not set(nodes) <= set(view.enabled):
            raise InvalidInput(
                f"the strategy of {self._file} does not say who acts in step {view.step + 1}; start from its own file, "
                "on its graph, and stop at the set that it was made for"
            )
        return nodes, memory


def _numbers(given: Any, length: int | None, below: int) -> bool:
    """Whether this is a list of `length` whole numbers (None: any number but 0) from 0 to below a bound."""
    whole = isinstance(given, list) and all(type(one) is int and 0 <= one < below for one in given)
    return whole and (len(given) == length if length is not None else bool(given))


LAWS = "synchronous, central:uniform, locally-central:uniform or distributed:P"


def read_daemon(text: str, rules: Sequence[str]) -> NodeScheduler:
    """`central:uniform` and the like, with the `rules` that may follow the colon; a daemon alone has no rule."""
    name, _, rule = text.partition(":")
    if name == "distributed" and rule:
        from hegemon.models.unreliable import share

        chance = Fraction(share("distributed", rule))
        if not 0 < chance <= 1:
            raise InvalidInput(
                f"the probability in {text!r} is out of range; give one above 0, such as distributed:1/2"
            )
        return Share(chance)
    if rule not in rules or name == "distributed":
        known = [f"{name}:{one}" if one else name for one in rules]
        why = "" if rule else f": {DAEMONS[name].meaning}, but which is left open" if name in DAEMONS else ""
        raise InvalidInput(f"a run cannot follow the scheduler {text!r}{why}; {choose(known)}{meant(text, known)}")
    if name == "central" and rule != "uniform":
        return Greedy(rule)
    kinds: dict[str, Callable[[], NodeScheduler]] = {
        "synchronous": All, "central": One, "locally-central": Independent, "round-robin": RoundRobin,
    }  # fmt: skip
    return kinds[name]()


def _nodes(mask: int) -> list[int]:
    return [node for node in range(mask.bit_length()) if mask >> node & 1]
