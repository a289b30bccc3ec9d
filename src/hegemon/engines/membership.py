"""Whether a configuration is in a set, and what the observables say of it: whole configurations at once."""

import numpy as np

from hegemon.engines.compilation import marks, specialize
from hegemon.engines.stopping import Stop

# ruff: noqa: F821 - `marks_of`, `predicate` and `value` are bound by specialize


def mark_records(agents, parameters, mark):
    """Which conditions each of these agents satisfies, as bits."""
    for index in range(len(agents)):
        mark[index] = marks_of(agents[index], parameters[0])


def check_whole(agents, parameters):
    return predicate(agents, parameters[0])


def evaluate_records(agents, parameters, result):
    for index in range(len(agents)):
        result[index] = value(agents[index], parameters[0])


class Membership:
    """Evaluates a stop's set on configurations: counts first, since they are cheap, then whole predicates."""

    def __init__(self, protocol, stop: Stop):
        self.protocol, self.stop = protocol, stop
        self._mark_records = specialize(mark_records, protocol.record_types, marks_of=marks(stop.conditions))
        self._whole = [specialize(check_whole, protocol.record_types, predicate=predicate) for predicate in stop.whole]

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
        return all(check(agents, self.protocol.compiled_p) for check in self._whole)


class Watcher:
    """Measures observables on configurations in either form."""

    def __init__(self, protocol, observables: dict):
        self.protocol, self.observables = protocol, observables
        self._kernels = {
            name: specialize(evaluate_records, protocol.record_types, value=observable.value)
            for name, observable in observables.items()
        }

    def measure(self, configuration) -> dict:
        agents, weights = configuration.weighted()
        row = {}
        for name, observable in self.observables.items():
            values = np.empty(len(agents), np.float64)
            self._kernels[name](agents, self.protocol.compiled_p, values)
            row[name] = observable.measure(values, weights)
        return row


def count_leaders(protocol, configuration) -> int | None:
    if not protocol.elects_leader:
        return None
    agents, weights = configuration.weighted()
    membership = Membership(protocol, Stop("leaders", (protocol.output,)))
    return int(membership.counts(agents, weights)[0])
