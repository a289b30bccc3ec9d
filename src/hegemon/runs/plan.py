"""What all trajectories of one record share: made once, and used up by none of them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from hegemon.engines.engine import Engine
from hegemon.graphs.topology import Topology
from hegemon.models.configuration import Configuration
from hegemon.models.protocol import Protocol
from hegemon.process.stopping import Stop, never
from hegemon.runs.rates import Rate
from hegemon.runs.run import Fault
from hegemon.runs.schedules import Prescribed

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True)
class RunPlan:
    """What all trajectories of a record share. `faults` are those up to the limit, by step; a prescribed step has the
    number of steps before it. With `is_ended` False the run goes on where the stop is met."""

    protocol: Protocol
    topology: Topology
    kind: type[Engine]
    stop: Stop
    options: dict[str, Any] = field(default_factory=dict)
    limit: int | None = None
    prescribed: Mapping[int, Prescribed] = field(default_factory=dict)
    faults: tuple[Fault, ...] = ()
    rates: tuple[Rate, ...] = ()
    is_ended: bool = True

    @property
    def is_looked_at(self) -> bool:
        """Whether the stop has predicates that the engine does not evaluate by itself."""
        return bool(self.stop.whole) and not self.kind.watches(self.stop)

    def engine(self, configuration: Configuration, key: "np.ndarray") -> Engine:
        """An engine at step 0, with these coins."""
        counted = never(self.stop.name) if self.is_looked_at else self.stop
        return self.kind(self.protocol, self.topology, configuration, counted, key, **self.options)
