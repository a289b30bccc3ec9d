"""The setting of a run: its topology and its initial configuration."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FunctionType
from typing import TYPE_CHECKING, Any, TypeAlias, cast
from weakref import WeakKeyDictionary, WeakSet

import numpy as np

from hegemon.compute.randomness import GRAPH, START, generator, generators
from hegemon.errors import InvalidInput
from hegemon.graphs.families import as_topology
from hegemon.graphs.topology import Topology
from hegemon.models.configuration import Configuration, Group
from hegemon.models.halting import began
from hegemon.models.inputs import require_given
from hegemon.models.labels import names_read
from hegemon.models.protocol import Protocol
from hegemon.models.readings import Readings
from hegemon.models.shared import PLAIN

if TYPE_CHECKING:
    import networkx

Graph: TypeAlias = "Topology | str | Path | networkx.Graph | None"  # None: the protocol's own
Start: TypeAlias = str | Path | Configuration | Sequence[Mapping[str, Any]] | None  # None: the protocol's default
Wake: TypeAlias = str | Path | Sequence[int]  # message passing: a name, a file, or one round per node
Identifiers: TypeAlias = str | Path | Sequence[int]  # a name, a file, or one identifier per node

SMALL = 1 << 16  # the most agents or states of a start that is kept for all trials
FEW = 1 << 12  # of one that is kept for all runs
HARMLESS = {"range", "len", "min", "max", "sum", "abs", "int", "round", "divmod"}  # built-in functions
_fitting: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()  # topologies, and the protocols they were checked for


def topology_for(protocol: Protocol, graph: Graph = None, seed: int = 0) -> Topology:
    """The topology of a run: given, named, or the protocol's own; a random graph depends on the seed only.

    Whether it fits the protocol is checked once.
    """
    if graph is None or isinstance(graph, str) and not graph:
        graph = protocol.topology
    named = isinstance(graph, str) and ":" not in graph  # a graph without numbers is not random
    topology = as_topology(graph, protocol.n, None if named else generator(seed, 0, GRAPH))
    fitting = _fitting.get(topology)
    if fitting is None:
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
    """The initial configurations of trials. One that draws no random numbers is made once, and is read-only."""

    def __init__(
        self, protocol: Protocol, start: Start, seed: int, as_multiset: bool = False, topology: Topology | None = None
    ):
        self._space = protocol.space
        if protocol._halts:  # no agent is halted at the start
            protocol = protocol._halts(protocol.n, **protocol.parameters)
        self.protocol, self.seed, self._as_multiset, self._topology = protocol, seed, as_multiset, topology
        self._name = start or protocol.default_start
        self.fixed = None if start is None or isinstance(start, str) else self._given(start)
        self._kept = _kept(protocol, str(self._name), as_multiset) if self.fixed is None else KeptStart()
        self.fixed = self.fixed or self._kept.fixed

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
        fixed = self.fixed  # while starts are made they may be found to be
        rngs = generators(self.seed, trials, START) if fixed is None else trials
        for rng in rngs:
            made = fixed or self.fixed or self._made(cast(np.random.Generator, rng))
            yield began(made, self._space, self._as_multiset) if self._space.halts else made

    def _made(self, rng: np.random.Generator) -> Configuration:
        before = rng.bit_generator.state
        made = self.protocol.initial(self._name, rng, self._as_multiset, self._topology)
        size = len(made.weighted()[0] if made.row is None else made.row)
        if size <= SMALL and not _drew(rng, before):
            kept = self._kept if size <= FEW else KeptStart(seen=self._kept.seen)
            if kept.seen is not None and _same(kept.seen, made):  # a clock or a counter would differ by now
                self.fixed = kept.fixed = made
            kept.seen, self._kept = made, kept
        return made


@dataclass
class KeptStart:
    """What is known of a start that draws no random numbers."""

    readings: Readings = field(default_factory=lambda: Readings(()))
    seen: Configuration | None = None  # made by an earlier trial
    fixed: Configuration | None = None  # whether it was the same twice


def _kept(protocol: Protocol, name: str, as_multiset: bool) -> KeptStart:
    """What runs of equal protocols know of a start whose function reads only parameters and constants; None for any
    other start."""
    function = protocol.starts.get(name)
    if protocol.reads_graph or protocol.inputs or not _reads_little(function, protocol):
        return KeptStart()
    kept = protocol.shared.once(("start", function, as_multiset), lambda: KeptStart(Readings([function])))
    if not kept.readings.last():
        kept.readings, kept.seen, kept.fixed = Readings([function]), None, None
    return kept


def _reads_little(function: Any, protocol: Protocol) -> bool:
    """Whether a start reads only parameters, constants and harmless names: no clock, no helper function."""
    if not getattr(protocol.initial, "__module__", "").startswith("hegemon.models."):
        return False  # its author makes something else of what a start returns
    if function is Protocol.start_initial:
        return True
    if not isinstance(function, FunctionType) or function.__code__.co_freevars:  # such values may change in place
        return False
    defaults = *(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()
    names = names_read(function.__code__)
    if names is None or any(type(value) not in PLAIN for value in defaults):
        return False
    constants, attributes = names
    scope, values = function.__globals__, protocol.values
    for name in constants:
        if name in scope:
            if scope[name] is not Group and type(scope[name]) not in PLAIN:
                return False
        elif name not in HARMLESS:
            return False
    return all(name in values and getattr(protocol, name) == values[name] for name in attributes)


def _drew(rng: np.random.Generator, before: Any) -> bool:
    """Whether anything was drawn since the generator's state was `before`, or other generators were spawned from it."""
    sown: Any = rng.bit_generator.seed_seq
    return bool(rng.bit_generator.state != before or sown.is_used)


def _same(first: Configuration, second: Configuration) -> bool:
    if first.row is not None and second.row is not None:
        return np.array_equal(first.row, second.row)
    (agents, counts), (others, numbers) = first.weighted(), second.weighted()
    if counts is None or numbers is None:
        return counts is numbers and np.array_equal(agents, others)
    return np.array_equal(agents, others) and np.array_equal(counts, numbers)
