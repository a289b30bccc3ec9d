"""All configurations of a protocol on a graph, up to symmetry: how many, which key, which representative."""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from hegemon.compute.compilation import specialize
from hegemon.compute.records import codec, meeting, widened
from hegemon.errors import InvalidInput
from hegemon.exact import kernels, numbering
from hegemon.graphs.topology import Topology
from hegemon.models.inputs import have_inputs
from hegemon.models.population import PopulationProtocol
from hegemon.models.protocol import Protocol
from hegemon.process.schedulers.scheduler import SchedulePlan, Scheduler
from hegemon.process.schedulers.uniform import UNIFORM
from hegemon.runs.stories import Interaction, Round

PLAIN_STATES = 100  # up to here plain Python fills the table faster than a kernel is compiled
StartCodes: TypeAlias = Sequence[np.ndarray] | np.ndarray  # one array of codes for every start
LARGEST_KEY = 2**62
LARGEST_N = 100_000
MOST_COINS = 4096  # values of the coins of one interaction
LARGEST_DENOMINATOR = 2**31 - 1

# ruff: noqa: F821 - in kernels, `meet`, `encode` and `decode` are bound by specialize


def fill_table(parameters, layout, scratch, first, second):  # type: ignore[no-untyped-def]
    """Both codes after the interaction of every pair of codes, for every value of the coins."""
    q = first.shape[1]
    for row in range(first.shape[0]):
        for b in range(q):
            decode(row % q, scratch[0], layout)
            decode(b, scratch[1], layout)
            meet(scratch[0], scratch[1], parameters[0], row // q)
            first[row, b] = encode(scratch[0], layout)
            second[row, b] = encode(scratch[1], layout)
            if first[row, b] < 0 or second[row, b] < 0:
                return row, b
    return -1, -1


def transition_tables(protocol: PopulationProtocol) -> tuple[np.ndarray, np.ndarray]:
    """`first[a, b]`, `second[a, b]`: the codes of initiator a and responder b after they interacted.

    With coins there are q rows for each of their values, one value after the other: row c * q + a.
    """
    q, values = protocol.space.size, protocol.coins.size
    if values > MOST_COINS:
        raise InvalidInput(
            f"{protocol.id} draws one of {values:,} values in an interaction, and each is a transition of its own: "
            f"take parameters with at most {MOST_COINS}"
        )
    first, second = np.empty((values * q, q), np.int32), np.empty((values * q, q), np.int32)
    if q <= PLAIN_STATES:
        states, kind = [vars(protocol.space.namespace(code)) for code in range(q)], protocol.space.namespace_class
        codes: dict[tuple[Any, ...], int] = {}  # by the values of all fields: the same results occur many times
        for row in range(values * q):
            for b in range(q):
                pair = kind(**states[row % q]), kind(**states[b])
                protocol.meet(*pair, row // q)
                for table, state in zip((first, second), pair, strict=True):
                    content = tuple(vars(state).values())
                    if content not in codes:
                        codes[content] = protocol.space.code(state)
                    table[row, b] = codes[content]
        return first, second
    encode, decode, layout = codec(protocol.space)
    meet = meeting(protocol.interact, protocol.coins.names, protocol.coins.biased)
    kernel = specialize(fill_table, protocol.record_types, meet=meet, encode=encode, decode=decode)
    row, b = kernel(protocol.compiled_p, layout, np.zeros(2, widened(protocol.space.dtype)), first, second)
    if row >= 0:
        protocol.transition_codes(row % q, b, row // q)  # names the field that interact wrote out of its range
    return first, second


def multiset_bits(n: int, q: int) -> float:
    """The logarithm of the number of multisets of n among q states."""
    return (math.lgamma(n + q) - math.lgamma(n + 1) - math.lgamma(q)) / math.log(2)


def require_numberable(protocol: Protocol, bits: float) -> None:
    """Refuse 2^bits configurations if they need keys of more than 64 bits, or have too many agents."""
    if bits >= LARGEST_KEY.bit_length() - 1:
        raise InvalidInput(
            f"{protocol.id} with n = {protocol.n} and {protocol.space.size} states has about "
            f"10^{bits * math.log10(2):.0f} configurations, more than can be numbered; take a smaller n or smaller "
            "parameters"
        )
    if protocol.n > LARGEST_N:
        raise InvalidInput(
            f"{protocol.id} with n = {protocol.n} is too large to be verified agent by agent; take n up to {LARGEST_N}"
        )


class ConfigurationSpace(ABC):
    """The configurations of a chain: how many, their keys, and the array of codes for every key."""

    multiset = False  # whether a configuration is only how many agents are in which state
    rotations = False  # whether it stands for all its rotations
    symmetry = "none"
    coins = 1  # the values that the coins of one interaction have
    memories = 1  # what the scheduler may remember: key % memories

    def __init__(self, protocol: Protocol, topology: Topology):
        self.protocol, self.topology = protocol, topology
        self.n, self.q = topology.n, protocol.space.size

    @property
    def labelled_size(self) -> int:
        """The number of configurations when agents have names."""
        return self.q**self.n

    @property
    def size(self) -> int:
        """The exact number of configurations up to symmetry."""
        return self.labelled_size

    @property
    @abstractmethod
    def arcs(self) -> int:
        """The common denominator of all transition probabilities: every outcome of chance, equally likely."""

    @property
    @abstractmethod
    def width(self) -> int:
        """An approximate upper bound on the different successors of one configuration."""

    @cached_property
    def outputs(self) -> np.ndarray:
        """The output of every state, 0 or 1; all equal for a protocol without any."""
        if not self.protocol.outputs:
            return np.zeros(self.q, np.int64)
        namespace, holds, output = self.protocol.space.namespace, self.protocol.holds, self.protocol.output
        return np.array([holds(output, namespace(code)) for code in range(self.q)], np.int64)

    def mappings(self, codes: Iterable[int]) -> list[dict[str, Any]]:
        space = self.protocol.space
        return [space.mapping_of(code) for code in codes]

    def shares(self, keys: Sequence[int] | np.ndarray) -> np.ndarray:
        """The share of all arrays of agents that each key stands for."""
        weights = self.labelled(keys)
        return weights / weights.sum()

    @abstractmethod
    def all_keys(self) -> np.ndarray:
        """The keys of all configurations, ascending."""

    @abstractmethod
    def key(self, codes: Sequence[int] | np.ndarray) -> int:
        """The key of an array of codes."""

    @abstractmethod
    def codes(self, keys: Sequence[int] | np.ndarray) -> np.ndarray:
        """The representative arrays of codes, one row per key."""

    @abstractmethod
    def labelled(self, keys: Sequence[int] | np.ndarray) -> np.ndarray:
        """How many arrays of agents each key stands for (exact below 2^53)."""

    @abstractmethod
    def step(
        self, codes: np.ndarray, key: int, change: bool | None, memory: int = 0
    ) -> tuple[Interaction | Round, np.ndarray]:
        """A step from these codes to the configuration with this key, and the codes after it; `change`: whether an
        output must change; `memory`: what the scheduler remembers before."""


class Configurations(ConfigurationSpace):
    """Multisets on complete graphs, arrays up to rotation on rings, plain arrays elsewhere."""

    protocol: PopulationProtocol

    def __init__(
        self, protocol: PopulationProtocol, topology: Topology, symmetry: bool = True, scheduler: Scheduler = UNIFORM
    ):
        super().__init__(protocol, topology)
        self.scheduler = scheduler
        symmetry = symmetry and scheduler.even
        on_ring = topology.is_directed_ring or is_ring(topology)
        self.rotations = symmetry and on_ring
        self.multiset = symmetry and topology.is_complete and not on_ring
        self.symmetry = "multisets" if self.multiset else "rotations" if self.rotations else "none"
        bits = multiset_bits(self.n, self.q) if self.multiset else self.n * math.log2(self.q)
        self.coins = protocol.coins.size
        self.memories = 1 if scheduler.memoryless else self._plan.memories
        require_numberable(protocol, bits + math.log2(self.memories))
        if self.arcs > LARGEST_DENOMINATOR:
            raise InvalidInput(
                f"{protocol.id} on {topology.name} has {topology.arcs:,} arcs and {self.coins:,} values of its coins, "
                "too many equally likely steps to be counted; take a smaller n or smaller parameters"
            )

    @cached_property
    def size(self) -> int:
        if self.multiset:
            return math.comb(self.n + self.q - 1, self.n)
        if self.rotations:  # Burnside: each rotation fixes q^gcd arrays
            return sum(self.q ** math.gcd(self.n, turn) for turn in range(self.n)) // self.n
        return self.labelled_size

    @cached_property
    def _plan(self) -> SchedulePlan:
        plan = self.scheduler.plan(self.topology)
        if (plan.weights <= 0).any():
            raise InvalidInput(f"the plan of the scheduler {self.scheduler} has rows of weight 0; leave these out")
        return plan

    @cached_property
    def arcs(self) -> int:
        if self.scheduler.even:
            return self.topology.arcs * self.coins
        return math.lcm(*np.add.reduceat(self._plan.weights, self._plan.places[:-1]).tolist()) * self.coins

    @property
    def width(self) -> int:
        if self.multiset:
            return min(self.arcs, self.q**2 * self.coins)
        return int(np.diff(self._plan.places).max()) * self.coins

    @cached_property
    def arc_table(self) -> np.ndarray:
        """Rows: initiator, responder, first row of the table for their coins, weight, and the scheduler's memory after.

        The rows of one memory are together, for one value of the coins after the other.
        """
        plan, tables = self._plan, np.arange(self.coins)[:, None] * self.q
        pieces = []
        for first, last in zip(plan.places[:-1].tolist(), plan.places[1:].tolist(), strict=True):
            rows, scale = slice(first, last), self.arcs // self.coins // int(plan.weights[first:last].sum())
            block = np.stack(
                [*plan.pairs[rows].T, 0 * plan.after[rows], plan.weights[rows] * scale, plan.after[rows]], axis=1
            )
            pieces.append(np.tile(block, (self.coins, 1)))
            pieces[-1][:, 2] = np.repeat(tables, last - first)
        return np.concatenate(pieces).astype(np.int32)

    @cached_property
    def model(self) -> kernels.Model:
        """The tables of the protocol that kernels read."""
        first, second = transition_tables(self.protocol)
        outputs = self.outputs
        before = np.tile(outputs, self.coins)
        changes = (outputs[first] != before[:, None]) | (outputs[second] != outputs[None, :])
        if self.multiset:
            powers = np.empty(0, np.int64)
            choose = np.array(
                [[math.comb(code + place, place + 1) for code in range(self.q)] for place in range(self.n)], np.int64
            )
        else:
            powers = np.array([self.q**place for place in range(self.n)], np.int64)
            choose = np.empty((0, 0), np.int64)
        places = np.empty(0, np.int64) if self.multiset else self.places
        return kernels.Model(self.rotations, powers, choose, first, second, changes, places)

    @property
    def places(self) -> np.ndarray:
        """Where the rows of each memory of the scheduler begin in the table of arcs, and where the last ends."""
        return self._plan.places * self.coins

    def all_keys(self) -> np.ndarray:
        """Ascending, with the scheduler's first memory; where agents have inputs, only the configurations in which the
        right number have each."""
        keys = self._every_key() * self.memories
        return keys[have_inputs(self.protocol, self.codes(keys))] if self.protocol.inputs else keys

    def _every_key(self) -> np.ndarray:
        if not self.rotations:
            return np.arange(self.size)
        step = max(1, self.labelled_size // 64)
        pieces = [
            numbering.rotation_keys(first, min(first + step, self.labelled_size), self.q, self.n)
            for first in range(0, self.labelled_size, step)
        ]
        return np.concatenate(pieces)

    def key(self, codes: Sequence[int] | np.ndarray) -> int:
        codes = np.asarray(codes, np.int64)
        if self.multiset:
            return numbering.rank(codes, self.model.choose)
        key = sum(int(code) * self.q**place for place, code in enumerate(codes))
        return numbering.smallest_rotation(key, self.q, self.n) if self.rotations else key * self.memories

    def codes(self, keys: Sequence[int] | np.ndarray) -> np.ndarray:
        keys = np.asarray(keys, np.int64) // self.memories
        if self.multiset:
            return numbering.codes_of_multisets(keys, self.model.choose)
        return numbering.codes_of_arrays(keys, self.q, self.n)

    def labelled(self, keys: Sequence[int] | np.ndarray) -> np.ndarray:
        if self.multiset:
            return numbering.orderings(self.codes(keys))
        return numbering.periods(self.codes(keys)) if self.rotations else np.ones(len(keys))

    def shares(self, keys: Sequence[int] | np.ndarray) -> np.ndarray:
        weights = self.labelled(keys)  # these numbers may be too large for floats
        if not np.isfinite(weights.sum()):
            codes = self.codes(keys)
            logarithms = np.full(len(keys), math.lgamma(self.n + 1))
            factorials = np.array([math.lgamma(k + 1) for k in range(self.n + 1)])
            for state in range(self.q):
                logarithms -= factorials[(codes == state).sum(axis=1)]
            weights = np.exp(logarithms - logarithms.max())
        return weights / weights.sum()

    def step(self, codes: np.ndarray, key: int, change: bool | None, memory: int = 0) -> tuple[Interaction, np.ndarray]:
        first, second, changes = self.model.first, self.model.second, self.model.changes
        for i, j, row, weight, remembered in self.arc_table[self.places[memory] : self.places[memory + 1]].tolist():
            a, b = codes[i] + row, codes[j]
            if change is not None and changes[a, b] != change or not weight:
                continue
            after = codes.copy()
            after[i], after[j] = first[a, b], second[a, b]
            if self.key(after) + remembered == key:
                return self.interaction(codes, after, i, j, row // self.q), after
        raise AssertionError("the path is not one of the chain")

    def interaction(self, codes: np.ndarray, after: np.ndarray, i: int, j: int, coin: int = 0) -> Interaction:
        """The states of agents i and j before and after they met, and their coins."""
        a, b, a_after, b_after = self.mappings([codes[i], codes[j], after[i], after[j]])
        return Interaction(i, j, (a, b), (a_after, b_after), self.protocol.coins.mapping(coin) or None)


def is_ring(topology: Topology) -> bool:
    """Whether the edges are exactly i - i+1 mod n, so that rotations are symmetries."""
    n = topology.n
    if topology.directed or n < 4 or topology.arcs != 2 * n:
        return False
    steps = (topology.targets.astype(np.int64) - topology.sources) % n
    return bool(np.all((steps == 1) | (steps == n - 1)))
