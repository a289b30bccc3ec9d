"""Events at rates among real processes (`--rate leave=R`): after as many interactions as in a simulated run."""

from collections.abc import Sequence

from hegemon.compute.randomness import FAULT, generator
from hegemon.errors import InvalidInput
from hegemon.graphs.topology import Topology
from hegemon.models.protocol import Protocol
from hegemon.network.faults import CHURN, NetworkFault
from hegemon.process.schedulers.uniform import UNIFORM
from hegemon.runs.faults import require_churn
from hegemon.runs.rates import EventTimes, read_rates

KINDS = {"join": "join", "leave": "leave", "corrupt": "corrupt", "crash": "kill"}  # what a rate does to a process


class NetworkEvents:
    """With probability R after every interaction, an event happens to a member drawn uniformly."""

    def __init__(self, rates: Sequence[str], seed: int):
        self.rates = read_rates(rates)
        for rate in self.rates:
            if rate.kind not in KINDS or rate.values:
                raise InvalidInput(
                    f"--rate {rate} is for simulated runs; members of a network have KIND=R alone, where KIND is one "
                    f"of {', '.join(KINDS)}: who joins begins as --start says, who is corrupted gets any state"
                )
        self._times = EventTimes(self.rates, generator(seed, 0, FAULT))

    def due(self, interactions: int, seconds: float) -> list[NetworkFault]:
        """The events up to this number of interactions that have not been returned before."""
        faults = []
        while self._times.step <= interactions:
            faults.append(NetworkFault(seconds, KINDS[self._times.drawn().kind]))
            self._times.plan()
        return faults


def require_possible(protocol: Protocol, topology: Topology, kinds: Sequence[str]) -> None:
    """Refuse joining and leaving on topologies where the neighbours of a new member are undefined."""
    if set(kinds) & set(CHURN):
        require_churn(protocol, topology, UNIFORM)
