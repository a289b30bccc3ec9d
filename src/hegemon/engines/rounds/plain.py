"""Engine `plain`: all nodes at once, each moved by the author's function in plain Python.

Nothing that an author wrote is compiled, so this is what every other engine is compared with. A node's coins are those
of engine `rounds`: a function of key, round and node.
"""

from typing import Any

import numpy as np

from hegemon.compute.compilation import specialize
from hegemon.compute.philox import word_at
from hegemon.engines.engine import Engine, Snapshot, require_size, within_clock
from hegemon.engines.pacing import Deadline
from hegemon.engines.rounds import kernels
from hegemon.errors import InvalidInput
from hegemon.graphs.topology import Topology
from hegemon.models.authors import authored
from hegemon.models.configuration import Configuration
from hegemon.models.rounds import RoundsProtocol
from hegemon.models.words import checked
from hegemon.process.stopping import Stop

MOST_NODES = 1_000_000  # each is a Python object

# ruff: noqa: F821 - `toss` is bound by specialize


def toss_some(first, drawn, time, coins):  # type: ignore[no-untyped-def]
    """The coins of the nodes from `first` on in the round after `time`."""
    per_word = 64 // coins.bits if coins.bits > 0 else 1 << 62
    for k in range(len(drawn)):
        v = first + k
        drawn[k] = toss(word_at(coins.key, time, v // per_word), v % per_word, v, time, coins)


class PlainRounds(Engine):
    """The engine: a node is the code of its state."""

    name = "plain"
    honours = ()

    @classmethod
    def watches(cls, stop: Stop) -> bool:
        return True

    def __init__(
        self,
        protocol: RoundsProtocol,
        topology: Topology,
        configuration: Configuration,
        stop: Stop,
        key: np.ndarray,
    ):
        if topology.n > MOST_NODES:
            raise InvalidInput(
                f"engine plain moves at most {MOST_NODES:,} nodes, one by one in Python; take a smaller n, or engine "
                "auto"
            )
        self.protocol, self.topology, self.space, self.stop = protocol, topology, protocol.space, stop
        bits = 64 if protocol.coin_fields else protocol.random_bits
        self._coins = kernels.Coins(key[0], bits, protocol.coin_values)
        toss: Any = kernels.toss_values if protocol.coin_fields else kernels.toss_bits
        self._toss = specialize(toss_some, toss=toss)
        self._marked: dict[int, tuple[bool, ...]] = {}
        self._time = 0
        self.load(configuration)

    @property
    def step(self) -> int:
        return self._time

    def load(self, configuration: Configuration, step: int | None = None) -> None:
        require_size(self, configuration, self.topology.n)
        self._time = self._time if step is None else step
        self.protocol.degree_fitting.require_all(configuration.agents, self.topology, self.protocol.id)
        self._codes = [int(code) for code in self.space.encode_array(configuration.agents)]
        self._next: list[int] = []  # the states after the present round of the nodes that have moved
        self._counts = self._counted()

    def _counted(self) -> np.ndarray:
        marks = [self._marks(code) for code in self._codes]
        return np.array([sum(column) for column in zip(*marks, strict=True)], np.int64)

    # -- rounds --------------------------------------------------------------------------------------------

    def advance(self, limit: int) -> bool:
        deadline, limit = Deadline(), within_clock(self, limit)
        while self._time < limit and not deadline.is_over:
            if self._round_met(deadline):
                return True
        return False

    def _round_met(self, deadline: Deadline) -> bool:
        """Go on with the present round; whether it ends and meets the stop."""
        n, first = self.topology.n, len(self._next)
        states = [self.space.namespace(code) for code in self._codes]
        drawn = np.zeros(n - first, np.int64)
        self._toss(first, drawn, self._time, self._coins)
        for v in range(first, n):
            self._next.append(self._after(states, v, int(drawn[v - first])))
            if v % 64 == 63 and deadline.is_over and v + 1 < n:
                return False
        before, self._codes, self._next = self._codes, self._next, []
        self._time += 1
        self._counts = self._counted()
        if self.stop.watch:
            marks = [(self._marks(old)[0], self._marks(new)[0]) for old, new in zip(before, self._codes, strict=True)]
            return any(old != new for old, new in marks)
        return self._holds()

    def _after(self, states: list[Any], v: int, coins: int) -> int:
        """The code of a node after the round."""
        protocol, space = self.protocol, self.space
        me, near = space.namespace(self._codes[v]), protocol.neighbours_of(states, self.topology, v)
        try:
            with authored(f"{protocol.id}: update"):
                protocol.move(me, near, coins)
            return int(space.code(me))
        except InvalidInput as error:
            shown = f"node {space.mapping(states[v])} with neighbours {[space.mapping_of(space.code(u)) for u in near]}"
            raise InvalidInput(f"{error} ({shown}, coins {protocol.coins_in_words(coins)})") from None

    # -- the stop ------------------------------------------------------------------------------------------

    def _marks(self, code: int) -> tuple[bool, ...]:
        """Which of the stop's conditions a state satisfies."""
        if code not in self._marked:
            state, p = checked(self.space.namespace(code)), self.protocol.checked_p
            with authored(f"{self.protocol.id}: a condition of {self.stop.name}"):
                self._marked[code] = tuple(bool(holds(state, p)) for holds in self.stop.conditions)
        return self._marked[code]

    def _holds(self) -> bool:
        if self.stop.conditions and not self.stop.holds(self._counts):
            return False
        if not self.stop.whole:
            return bool(self.stop.conditions)
        states = [checked(self.space.namespace(code)) for code in self._codes]
        graph = self.topology.offsets, self.topology.targets
        with authored(f"{self.protocol.id}: a function of {self.stop.name}"):
            return all(bool(holds(states, *graph, self.protocol.checked_p)) for holds in self.stop.whole)

    def counts_hold(self) -> bool:
        return not self.stop.watch and self._holds()

    # -- what it is now ------------------------------------------------------------------------------------

    def last_coins(self, node: int) -> int:
        """What the coins of a node showed in the round made last."""
        drawn = np.zeros(1, np.int64)
        self._toss(node, drawn, self._time - 1, self._coins)
        return int(drawn[0])

    def configuration(self) -> Configuration:
        return Configuration(self.space, agents=self.space.decode_array(self.space.code_array(self._codes)))

    def snapshot(self, into: Snapshot | None = None) -> Snapshot:
        return self._time, tuple(self._codes), tuple(self._next)

    def restore(self, snapshot: Snapshot) -> None:
        self._time, codes, moved = snapshot
        self._codes, self._next = list(codes), list(moved)
        self._counts = self._counted()
