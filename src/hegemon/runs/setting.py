"""Where a run takes place and what it starts from: the topology and the initial configuration."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias
from weakref import WeakKeyDictionary, WeakSet

import numpy as np

from hegemon.compute.randomness import GRAPH, START, generator, generators
from hegemon.errors import InvalidInput
from hegemon.graphs.families import as_topology
from hegemon.graphs.topology import Topology
from hegemon.models.configuration import Configuration
from hegemon.models.halting import began
from hegemon.models.inputs import require_given
from hegemon.models.protocol import Protocol

if TYPE_CHECKING:
    import networkx

Graph: TypeAlias = "Topology | str | Path | networkx.Graph | None"  # None: the protocol's own
Start: TypeAlias = str | Path | Configuration | Sequence[Mapping[str, Any]] | None  # None: the protocol's default
Wake: TypeAlias = str | Path | Sequence[int]  # message passing: a name, a file, or one round per node
Identifiers: TypeAlias = str | Path | Sequence[int]  # a name, a file, or one identifier per node

SMALL = 1 << 16  # agents, or states, of a start that may be kept for all trials
_fitting: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()  # topologies, and the protocols they were checked for


def topology_for(protocol: Protocol, graph: Graph = None, seed: int = 0) -> Topology:
    """The topology of a run: given, named, or the protocol's own; a random graph depends on the seed only.

    Whether it fits the protocol is checked once.
    """
    if graph is None or isinstance(graph, str) and not graph:
        graph = protocol.topology
    named = isinstance(graph, str) and ":" not in graph  # nothing is drawn for a graph without numbers
    topology = as_topology(graph, protocol.n, None if named else generator(seed, 0, GRAPH))
    fitting = _fitting.setdefault(topology, WeakSet())
    if protocol not in fitting:
        protocol.check_topology(topology)
        fitting.add(protocol)
    return topology


def initial_configuration(
    protocol: Protocol, start: Start, seed: int, trial: int, as_multiset: bool = False, topology: Topology | None = None
) -> Configuration:
    """A named start, a file, a Configuration, or a list of states as mappings."""
    return next(Starts(protocol, start, seed, as_multiset, topology).of(range(trial, trial + 1)))


class Starts:
    """The initial configurations of trials. One that draws nothing is made once; nobody writes to it."""

    def __init__(
        self, protocol: Protocol, start: Start, seed: int, as_multiset: bool = False, topology: Topology | None = None
    ):
        self._space = protocol.space
        if protocol._halts:  # nobody is halted at the start
            protocol = protocol._halts(protocol.n, **protocol.parameters)
        self.protocol, self.seed, self._as_multiset, self._topology = protocol, seed, as_multiset, topology
        self._name = start or protocol.default_start
        self.fixed = None if start is None or isinstance(start, str) else self._given(start)
        self._seen: Configuration | None = None  # of a trial before, for which nothing was drawn

    def _given(self, start: Start) -> Configuration | None:
        """The start, if it is a configuration or a list of states."""
        protocol = self.protocol
        if isinstance(start, Configuration):
            return require_given(protocol, start.checked(protocol.space, protocol.n, "the start"), "the start")
        if not isinstance(start, list | tuple):
            return None
        states = [protocol.space.code(protocol.space.parse(state)) for state in start]
        if len(states) != protocol.n:
            raise InvalidInput(f"the start has {len(states)} states but n = {protocol.n}; make them equal")
        given = Configuration(protocol.space, agents=protocol.space.decode_array(protocol.space.code_array(states)))
        return require_given(protocol, given, "the start")

    def of(self, trials: range) -> Iterator[Configuration]:
        """The start of each of these trials."""
        for rng in generators(self.seed, trials, START):
            made = self.fixed or self._made(rng)
            yield began(made, self._space, self._as_multiset) if self._space.halts else made

    def _made(self, rng: np.random.Generator) -> Configuration:
        before = rng.bit_generator.state
        made = self.protocol.initial(self._name, rng, self._as_multiset, self._topology)
        if not _drew(rng, before) and len(made.weighted()[0] if made.row is None else made.row) <= SMALL:
            if self._seen is not None and _same(self._seen, made):  # an author's clock or counter would show by now
                self.fixed = made
            self._seen = made
        return made


def _drew(rng: np.random.Generator, before: Any) -> bool:
    """Whether anything was drawn since the generator's state was `before`, or other generators were made of it."""
    sown: Any = rng.bit_generator.seed_seq
    return bool(rng.bit_generator.state != before or sown.is_used)


def _same(first: Configuration, second: Configuration) -> bool:
    if first.row is not None and second.row is not None:
        return np.array_equal(first.row, second.row)
    (agents, counts), (others, numbers) = first.weighted(), second.weighted()
    if counts is None or numbers is None:
        return counts is numbers and np.array_equal(agents, others)
    return np.array_equal(agents, others) and np.array_equal(counts, numbers)
