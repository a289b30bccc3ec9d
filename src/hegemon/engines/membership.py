"""Whether a configuration is in a set, and what the observables say of it: whole configurations at once."""

from weakref import WeakKeyDictionary

import numpy as np

from hegemon.compute.compilation import specialize
from hegemon.compute.records import marks
from hegemon.engines.stopping import Stop

# ruff: noqa: F821 - `marks_of`, `predicate` and `value` are bound by specialize


def mark_records(agents, parameters, mark):
    """Which conditions each of these agents satisfies, as bits."""
    for index in range(len(agents)):
        mark[index] = marks_of(agents[index], parameters[0])


def check_whole(agents, parameters):
    return predicate(agents, parameters[0])


def check_whole_on_graph(agents, offsets, targets, parameters):
    return predicate(agents, offsets, targets, parameters[0])


def evaluate_records(agents, parameters, result):
    for index in range(len(agents)):
        result[index] = value(agents[index], parameters[0])


def evaluate_with_neighbours(agents, offsets, targets, parameters, result):
    near = np.empty_like(agents)
    for v in range(len(agents)):
        begin, end = offsets[v], offsets[v + 1]
        for k in range(end - begin):
            near[k] = agents[targets[begin + k]]
        result[v] = value(agents[v], near[: end - begin], parameters[0])


def evaluate_overall(agents, offsets, targets, parameters, result):
    result[0] = value(agents, offsets, targets, parameters[0])


class Membership:
    """Evaluates a stop's set on configurations: counts first, since they are cheap, then whole predicates."""

    def __init__(self, protocol, stop: Stop, topology=None):
        self.protocol, self.stop = protocol, stop
        self._graph = (topology.offsets, topology.targets) if protocol.reads_graph and stop.whole else ()
        self._mark_records = specialize(mark_records, protocol.record_types, marks_of=marks(stop.conditions))
        check = check_whole_on_graph if self._graph else check_whole
        self.whole_checks = [specialize(check, protocol.record_types, predicate=predicate) for predicate in stop.whole]

    def marks(self, agents) -> np.ndarray:
        mark = np.zeros(len(agents), np.uint8 if len(self.stop.conditions) <= 8 else np.uint32)
        self._mark_records(agents, self.protocol.compiled_p, mark)
        return mark

    def counts(self, agents, weights=None) -> np.ndarray:
        """How many agents satisfy each condition; `weights` says how many agents each record stands for."""
        return self.counts_from(self.marks(agents), weights)

    def counts_from(self, mark, weights=None) -> np.ndarray:
        weights = np.ones(len(mark), np.int64) if weights is None else weights
        return np.array([weights[(mark >> k) & 1 == 1].sum() for k in range(len(self.stop.conditions))], np.int64)

    def holds(self, agents) -> bool:
        if len(self.stop.conditions) and not self.stop.holds(self.counts(agents)):
            return False
        return self.whole_holds(agents)

    def whole_holds(self, agents) -> bool:
        return all(check(agents, *self._graph, self.protocol.compiled_p) for check in self.whole_checks)


class Watcher:
    """Measures observables on configurations in either form, each configuration once."""

    def __init__(self, protocol, observables: dict, topology=None):
        self.protocol, self.observables = protocol, observables
        self._graph = (topology.offsets, topology.targets) if protocol.reads_graph else ()
        self._kernels = {
            name: specialize(_kernel_for(observable), protocol.record_types, value=observable.value)
            for name, observable in observables.items()
        }
        self._measured: WeakKeyDictionary = WeakKeyDictionary()  # a fast-forward shows the same ones again and again

    def measure(self, configuration) -> dict:
        if configuration not in self._measured:
            agents, weights = configuration.weighted()
            self._measured[configuration] = {
                name: self._one(name, observable, agents, weights) for name, observable in self.observables.items()
            }
        return self._measured[configuration]

    def _one(self, name, observable, agents, weights):
        kernel = _kernel_for(observable)
        values = np.empty(1 if kernel is evaluate_overall else len(agents), np.float64)
        graph = () if kernel is evaluate_records else self._graph
        self._kernels[name](agents, *graph, self.protocol.compiled_p, values)
        return values[0] if kernel is evaluate_overall else observable.measure(values, weights)


def _kernel_for(observable):
    """By what the observable's value reads: one agent, an agent and its neighbours, or everything at once."""
    if observable.reduce == "overall":
        return evaluate_overall
    return evaluate_records if observable.value.__code__.co_argcount == 2 else evaluate_with_neighbours


def count_leaders(protocol, configuration) -> int | None:
    if not protocol.elects_leader:
        return None
    agents, weights = configuration.weighted()
    membership = Membership(protocol, Stop("leaders", (protocol.output,)))
    return int(membership.counts(agents, weights)[0])
