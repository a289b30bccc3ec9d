"""Whether a configuration is in a set, and the values of observables on it: whole configurations at once."""

from collections import Counter
from collections.abc import Callable
from functools import cached_property
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from hegemon.compute.compilation import specialize
from hegemon.compute.records import marker, one_of
from hegemon.graphs.topology import Topology
from hegemon.models.configuration import Configuration
from hegemon.models.observables import Observable
from hegemon.models.protocol import Protocol
from hegemon.models.words import EXACT, checked
from hegemon.process.stopping import Stop

# Plain Python finds out which conditions the first agents satisfy: a single run needs little,
# and has its results before a kernel would be compiled.
FEW_AGENTS = 4096
MOST_STATES = 4096  # whose observables are evaluated ahead
CHUNK = 1 << 20  # agents whose marks are held at a time
_asked: Counter[Any] = Counter()

# ruff: noqa: F821 - `note`, `predicate` and `value` are bound by specialize


def mark_records(agents, parameters, mark):  # type: ignore[no-untyped-def]
    """Write to `mark` which conditions each of these agents satisfies, one agent after the other."""
    place = 0
    for index in range(len(agents)):
        place = note(agents[index], parameters[0], mark, place)


def check_whole(agents, parameters):  # type: ignore[no-untyped-def]
    return predicate(agents, parameters[0])


def check_whole_on_graph(agents, offsets, targets, parameters):  # type: ignore[no-untyped-def]
    return predicate(agents, offsets, targets, parameters[0])


def evaluate_records(which, agents, parameters, result):  # type: ignore[no-untyped-def]
    for index in range(len(agents)):
        value(which, agents[index], parameters[0], result, index)


def evaluate_with_neighbours(which, agents, offsets, targets, parameters, result):  # type: ignore[no-untyped-def]
    near = np.empty_like(agents)
    for v in range(len(agents)):
        begin, end = offsets[v], offsets[v + 1]
        for k in range(end - begin):
            near[k] = agents[targets[begin + k]]
        value(which, agents[v], near[: end - begin], parameters[0], result, v)


def evaluate_overall(which, agents, offsets, targets, parameters, result):  # type: ignore[no-untyped-def]
    value(which, agents, offsets, targets, parameters[0], result, 0)


# What an observable's value may read: one agent, an agent and its neighbours, or everything at once.
READS: dict[Callable[..., Any], str] = {
    evaluate_records: "a, p",
    evaluate_with_neighbours: "a, near, p",
    evaluate_overall: "agents, offsets, targets, p",
}


class Membership:
    """Evaluates a stop's set on configurations: counts first, since they are cheap, then whole predicates."""

    def __init__(self, protocol: Protocol, stop: Stop, topology: Topology | None = None):
        self.protocol, self.stop = protocol, stop
        self._graph: tuple[Any, ...] = rows_of(topology) if protocol.reads_graph and stop.whole else ()
        check = check_whole_on_graph if self._graph else check_whole
        self.whole_checks = [specialize(check, protocol.record_types, predicate=predicate) for predicate in stop.whole]

    @cached_property
    def _mark_records(self) -> Any:
        return specialize(mark_records, self.protocol.record_types, note=marker(self.stop.conditions))

    def marks(self, agents: np.ndarray) -> np.ndarray:
        """A row for every agent: 1 for each condition that the agent satisfies, else 0."""
        mark = np.zeros((len(agents), len(self.stop.conditions)), np.int8)
        if not self.stop.conditions:
            return mark
        if _asked[self._mark_records] + len(agents) <= FEW_AGENTS:
            _asked[self._mark_records] += len(agents)
            try:
                mark[:] = self._plain_marks(agents)
                return mark
            except Exception:
                pass  # the kernel fails as well, and its caller reports that
        self._mark_records(agents, self.protocol.compiled_p, mark.ravel())
        return mark

    def _plain_marks(self, agents: np.ndarray) -> np.ndarray:
        namespace, p = self.protocol.space.namespace, self.protocol.checked_p
        codes = self.protocol.space.encode_array(agents).tolist()
        found = {}
        for code in set(codes):
            state = checked(namespace(code))
            found[code] = [bool(holds(state, p)) for holds in self.stop.conditions]
        return np.array([found[code] for code in codes], np.int8).reshape(len(codes), len(self.stop.conditions))

    def counts(self, agents: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
        """How many agents satisfy each condition; `weights`: how many agents each record stands for."""
        if len(agents) <= CHUNK:
            return self.counts_from(self.marks(agents), weights)
        chunks = [slice(first, first + CHUNK) for first in range(0, len(agents), CHUNK)]
        found = [self.counts_from(self.marks(agents[k]), None if weights is None else weights[k]) for k in chunks]
        return np.sum(found, axis=0)

    def counts_from(self, mark: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
        if weights is None:
            return mark.sum(axis=0, dtype=np.int64)
        return np.array([weights[column == 1].sum() for column in mark.T], np.int64)

    def holds(self, agents: np.ndarray) -> bool:
        if len(self.stop.conditions) and not self.stop.holds(self.counts(agents)):
            return False
        return self.whole_holds(agents)

    def whole_holds(self, agents: np.ndarray) -> bool:
        return all(check(agents, *self._graph, self.protocol.compiled_p) for check in self.whole_checks)


class Watcher:
    """Measures observables on configurations in either form, each configuration once; one kernel for all that read the
    same."""

    def __init__(self, protocol: Protocol, observables: dict[str, Any], topology: Topology | None = None):
        self.protocol, self.observables = protocol, observables
        self._graph: tuple[Any, ...] = rows_of(topology) if protocol.reads_graph else ()
        self._kernels: dict[str, Any] = {}
        for template, arguments in READS.items():
            alike = [name for name, observable in observables.items() if _kernel_for(observable) is template]
            if alike:
                value = one_of(tuple(observables[name].value for name in alike), arguments)
                kernel = specialize(template, protocol.record_types, value=value)
                self._kernels |= {name: (kernel, which) for which, name in enumerate(alike)}
        self._measured: WeakKeyDictionary[Any, Any] = (
            WeakKeyDictionary()
        )  # a fast-forward passes the same ones many times

    @property
    def units(self) -> dict[str, str]:
        """What each observable counts; those that are counted in rounds are called nodes."""
        counted = {"agents": self.protocol.model.agents}
        return {name: counted.get(seen.unit, seen.unit) for name, seen in self.observables.items()}

    @cached_property
    def of_states(self) -> dict[str, np.ndarray] | None:
        """The value of each observable in each state. None unless these values and the number of agents in each state
        determine every observable to the last bit."""
        space, largest = self.protocol.space, EXACT // max(1 << 20, 16 * self.protocol.n)  # agents may be added
        if space.size > MOST_STATES:
            return None
        agents, found = space.decode_array(np.arange(space.size)), {}
        for name, observable in self.observables.items():
            if _kernel_for(observable) is not evaluate_records:
                return None
            kernel, which = self._kernels[name]
            values = np.empty(len(agents), np.float64)
            try:
                kernel(which, agents, self.protocol.compiled_p, values)
            except Exception:  # perhaps in a state that no agent will ever be in
                return None
            whole = np.isfinite(values).all() and (values == np.rint(values)).all() and np.abs(values).max() < largest
            if not whole:  # a sum of other values depends on the order of the agents
                return None
            found[name] = values
        return found

    def measure_counts(self, census: np.ndarray) -> dict[str, list[Any]]:
        """The observables for every row of numbers of agents in all states; `of_states` must not be None."""
        assert self.of_states is not None
        occupied = np.flatnonzero(census.any(axis=0))
        census = census[:, occupied]
        found: dict[str, list[Any]] = {}
        for name, observable in self.observables.items():
            values = self.of_states[name][occupied]
            if observable.reduce == "count":
                found[name] = census[:, values != 0].sum(axis=1).tolist()
            elif observable.reduce == "mean":
                found[name] = ((census * values).sum(axis=1) / census.sum(axis=1)).tolist()
            elif observable.reduce == "minimum":
                found[name] = np.where(census > 0, values, np.inf).min(axis=1).tolist()
            else:
                found[name] = np.where(census > 0, values, -np.inf).max(axis=1).tolist()
        return found

    def measure(self, configuration: Configuration) -> dict[str, Any]:
        if configuration not in self._measured:
            agents, weights = configuration.weighted()
            self._measured[configuration] = {
                name: self._one(name, observable, agents, weights) for name, observable in self.observables.items()
            }
        return self._measured[configuration]

    def _one(self, name: str, observable: Observable, agents: np.ndarray, weights: np.ndarray | None) -> float:
        template, (kernel, which) = _kernel_for(observable), self._kernels[name]
        values = np.empty(1 if template is evaluate_overall else len(agents), np.float64)
        graph = () if template is evaluate_records else self._graph
        kernel(which, agents, *graph, self.protocol.compiled_p, values)
        result = values[0] if template is evaluate_overall else observable.measure(values, weights)
        if observable.reduce in ("count", "mean") or not EXACT <= abs(result) < np.inf:
            return result
        return self._exactly(observable, agents, np.flatnonzero(values == result))

    def _exactly(self, observable: Observable, agents: np.ndarray, extreme: np.ndarray) -> float:
        """A minimum or maximum that a double may have rounded, computed among these agents in plain Python."""
        p, space = self.protocol.checked_p, self.protocol.space
        states = [checked(space.namespace(code)) for code in space.encode_array(agents)]
        if observable.reduce == "overall":
            return observable.value(states, *self._graph, p)
        found = observable.values_of(extreme, states, self._graph, p)
        return min(found) if observable.reduce == "minimum" else max(found)


def rows_of(topology: Topology | None) -> tuple[np.ndarray, np.ndarray]:
    """The graph as predicates and observables read it."""
    assert topology is not None  # callers that read the graph pass one
    return topology.offsets, topology.targets


def _kernel_for(observable: Observable) -> Callable[..., Any]:
    """The kernel that evaluates an observable, chosen by what its value reads."""
    if observable.reduce == "overall":
        return evaluate_overall
    return evaluate_records if observable.reads_one else evaluate_with_neighbours


class LeaderCount:
    """The number of leaders; None for a protocol without leader output."""

    def __init__(self, protocol: Protocol):
        stop = Stop("leaders", (protocol.output,)) if protocol.elects_leader else None
        self._membership = Membership(protocol, stop) if stop else None

    def __call__(self, configuration: Configuration) -> int | None:
        if self._membership is None:
            return None
        return int(self._membership.counts(*configuration.weighted())[0])

    def of_rows(self, states: np.ndarray, populations: np.ndarray) -> list[int | None]:
        """The same for many populations at once; an agent is the index of its state in `states`."""
        if self._membership is None:
            return [None] * len(populations)
        return self._membership.marks(states)[:, 0][populations].sum(axis=1, dtype=np.int64).tolist()
