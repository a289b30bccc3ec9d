"""The observables and the sets of a configuration: in plain Python for few agents, compiled for many.

Compiling the author's functions takes seconds, and a page should open at once. Plain Python is the definition.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from hegemon.graphs.topology import Topology
from hegemon.models.configuration import Configuration
from hegemon.models.observables import Observable
from hegemon.models.protocol import Protocol
from hegemon.process.membership import Membership, Watcher
from hegemon.process.stopping import parse_stop

FEW = 150  # agents: up to this number plain Python is fast enough for every frame
LARGEST_WHOLE = 200_000  # agents: up to this number whole predicates are evaluated


def plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


class PlainReadings:
    """Every agent is a plain object, and the author's functions are called uncompiled."""

    unread: frozenset[str] = frozenset()

    def __init__(self, protocol: Protocol, topology: Topology):
        self.protocol, self.observables = protocol, protocol.watched()
        self._graph = (topology.offsets, topology.targets) if protocol.reads_graph else ()

    def read(self, configuration: Configuration) -> tuple[dict[str, Any], dict[str, Any]]:
        space, p = self.protocol.space, self.protocol.p
        agents = [space.namespace(code) for code in space.encode_array(configuration.agents)]
        values = {name: self._measure(observable, agents, p) for name, observable in self.observables.items()}
        lamps = {
            name: None if name in self.unread else bool(chosen.contains(agents, p, self.protocol.values, *self._graph))
            for name, chosen in self.protocol.sets.items()
        }
        return values, lamps

    def _measure(self, observable: Observable, agents: list[Any], p: Any) -> Any:
        if observable.reduce == "overall":
            return plain(observable.value(agents, *self._graph, p))
        found = observable.values_of(range(len(agents)), agents, self._graph, p)
        return plain(observable.measure(np.array(found, float), None))


class CompiledReadings:
    """The same, compiled, on arrays or on counts of states."""

    unread: frozenset[str] = frozenset()

    def __init__(self, protocol: Protocol, topology: Topology):
        self.protocol = protocol
        self._watcher = Watcher(protocol, protocol.watched(), topology)
        self._lamps = {name: Membership(protocol, parse_stop(name, protocol), topology) for name in protocol.sets}

    def read(
        self, configuration: Configuration, agents: Callable[[], np.ndarray] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """The observables and the sets. `agents` returns the array of all agents, if any, for whole predicates."""
        values = {name: plain(value) for name, value in self._watcher.measure(configuration).items()}
        records, weights = configuration.weighted()
        return values, {
            name: None if name in self.unread else self._inside(lamp, records, weights, agents)
            for name, lamp in self._lamps.items()
        }

    def _inside(
        self,
        membership: Membership,
        records: np.ndarray,
        weights: np.ndarray | None,
        agents: Callable[[], np.ndarray] | None,
    ) -> bool | None:
        stop = membership.stop
        if len(stop.conditions) and not stop.holds(membership.counts(records, weights)):
            return False
        if not stop.whole:
            return True
        if agents is None or self.protocol.n > LARGEST_WHOLE:
            return None
        return bool(membership.whole_holds(agents()))
