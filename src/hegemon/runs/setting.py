"""Where a run takes place and what it starts from: the topology and the initial configuration."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias
from weakref import WeakKeyDictionary, WeakSet

import numpy as np

from hegemon.compute.randomness import GRAPH, START, generator
from hegemon.errors import InvalidInput
from hegemon.graphs.families import as_topology
from hegemon.graphs.topology import Topology
from hegemon.models.configuration import Configuration
from hegemon.models.inputs import require_given
from hegemon.models.protocol import Protocol

if TYPE_CHECKING:
    import networkx

Graph: TypeAlias = "Topology | str | Path | networkx.Graph | None"  # None: the protocol's own
Start: TypeAlias = str | Path | Configuration | Sequence[Mapping] | None  # None: the protocol's default
Wake: TypeAlias = str | Path | Sequence[int]  # message passing: a name, a file, or one round per node

_fitting: WeakKeyDictionary = WeakKeyDictionary()  # topologies, and the protocols they were checked for


def topology_for(protocol: Protocol, graph=None, seed: int = 0) -> Topology:
    """The topology of a run: given, named, or the protocol's own; a random graph depends on the seed only.

    Whether it fits the protocol is checked once.
    """
    if graph is None or isinstance(graph, str) and not graph:
        graph = protocol.topology
    topology = as_topology(graph, protocol.n, generator(seed, 0, GRAPH))
    fitting = _fitting.setdefault(topology, WeakSet())
    if protocol not in fitting:
        protocol.check_topology(topology)
        fitting.add(protocol)
    return topology


def initial_configuration(
    protocol: Protocol, start, seed, trial, as_multiset=False, topology: Topology | None = None
) -> Configuration:
    """A named start, a file, a Configuration, or a list of states as mappings."""
    if isinstance(start, Configuration):
        return require_given(protocol, start.checked(protocol.space, protocol.n, "the start"), "the start")
    if isinstance(start, list | tuple):
        states = [protocol.space.code(protocol.space.parse(state)) for state in start]
        if len(states) != protocol.n:
            raise InvalidInput(f"the start has {len(states)} states but n = {protocol.n}; make them equal")
        given = Configuration(protocol.space, agents=protocol.space.decode_array(np.array(states)))
        return require_given(protocol, given, "the start")
    return protocol.initial(start or protocol.default_start, generator(seed, trial, START), as_multiset, topology)
