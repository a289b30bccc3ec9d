"""Events at rates among real processes (`--rate leave=R`): after as many interactions as in a simulated run."""

import math
import random
from collections.abc import Sequence

from hegemon.errors import InvalidInput
from hegemon.graphs.topology import Topology
from hegemon.models.protocol import Protocol
from hegemon.network.faults import CHURN, NetworkFault
from hegemon.process.schedulers.uniform import UNIFORM
from hegemon.runs.faults import require_churn
from hegemon.runs.rates import read_rates

KINDS = {"join": "join", "leave": "leave", "corrupt": "corrupt", "crash": "kill"}  # what a rate does to a process


class NetworkEvents:
    """With probability R after every interaction, an event happens to a member drawn uniformly."""

    def __init__(self, rates: Sequence[str], seed: int):
        self.rates = read_rates(rates)
        for one in self.rates:
            if one.kind not in KINDS or one.values:
                raise InvalidInput(
                    f"--rate {one} is for simulated runs; members of a network have KIND=R alone, where KIND is one "
                    f"of {', '.join(KINDS)}: who joins begins as --start says, who is corrupted gets any state"
                )
        self._rng = random.Random(f"events {seed}")
        self._total = float(sum(one.rate for one in self.rates))
        self._next = self._wait() if self.rates else math.inf

    def _wait(self) -> float:
        """A geometric number of interactions."""
        return 1 + math.floor(math.log(1 - self._rng.random()) / math.log1p(-self._total))

    def due(self, interactions: int, seconds: float) -> list[NetworkFault]:
        """The events up to this number of interactions that have not been returned before."""
        found = []
        while self._next <= interactions:
            (one,) = self._rng.choices(self.rates, [float(one.rate) for one in self.rates])
            found.append(NetworkFault(seconds, KINDS[one.kind]))
            self._next += self._wait()
        return found


def require_possible(protocol: Protocol, topology: Topology, kinds: Sequence[str]) -> None:
    """Refuse joining and leaving on topologies where the neighbours of a new member are undefined."""
    if set(kinds) & set(CHURN):
        require_churn(protocol, topology, UNIFORM)
