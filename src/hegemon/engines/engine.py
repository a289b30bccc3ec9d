"""The contract of an engine that moves a configuration through time: what the driver calls, and may rely on."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from hegemon.errors import InvalidInput
from hegemon.graphs.topology import Topology
from hegemon.models.configuration import Configuration
from hegemon.process.stopping import Stop

if TYPE_CHECKING:
    from hegemon.models.protocol import Protocol

Snapshot: TypeAlias = tuple[int, *tuple[Any, ...]]  # the step, and whatever else the engine needs to be restored
LAST_STEP = 2**63 - 2  # of a 64-bit clock; the next number means never


def raw(array: np.ndarray) -> np.ndarray:
    """The same memory as plain bytes: NumPy copies records field by field, and bytes sixty times faster."""
    return array.view(np.uint8) if array.dtype.names and array.flags.c_contiguous else array


def copied(array: np.ndarray) -> np.ndarray:
    """A copy of its own."""
    return raw(array).copy().view(array.dtype)


def is_equal(array: np.ndarray, other: np.ndarray) -> bool:
    """Whether two arrays of one kind hold the same bytes."""
    return array.shape == other.shape and np.array_equal(raw(array), raw(other))


def overwrite(array: np.ndarray, other: np.ndarray) -> None:
    """Write the elements of another array of the same kind into this one."""
    if array.dtype == other.dtype and array.flags.c_contiguous and other.flags.c_contiguous:
        array, other = raw(array), raw(other)
    array[:] = other


def kept(parts: tuple[np.ndarray, ...], into: tuple[Any, ...] | None) -> tuple[np.ndarray, ...]:
    """Copies of these arrays, in the memory of older copies where they fit: fresh memory costs more than copying."""
    if into is None or any(old.shape != part.shape for old, part in zip(into, parts, strict=True)):
        return tuple(map(copied, parts))
    for old, part in zip(into, parts, strict=True):
        overwrite(old, part)
    return into


def within_clock(engine: "Engine", limit: int) -> int:
    """`limit`, or the last step of a 64-bit clock if that is less; raises InvalidInput once the engine is there."""
    if engine.step >= LAST_STEP < limit:
        raise InvalidInput(
            f"engine {engine.name} counts {LAST_STEP:,} steps (2^63 - 2) and no more; give a smaller limit"
        )
    return min(limit, LAST_STEP)


def require_size(engine: "Engine", configuration: Configuration, n: int) -> None:
    """Refuse another number of agents than this, where arcs, a schedule or buffers belong to n of them."""
    if configuration.n != n:
        raise InvalidInput(
            f"engine {engine.name} moves {n} agents here and was given a configuration of {configuration.n}; agents "
            "come and go on complete graphs alone, under a scheduler that treats all pairs alike"
        )


class Engine(ABC):
    """One run of one protocol, from a configuration to whatever step the driver asks for.

    An implementer is constructed as `Engine(protocol, topology, configuration, stop, rng, **options)` and *must*

    - make the random process of the model, exactly: no law may be approximated;
    - draw all randomness from `rng`, the four words of one stream, and nothing from the clock or from elsewhere;
    - keep states canonical: a field that a state does not have holds its lowest value;
    - check every transition that it uses when it first learns it, and end the run with an InvalidInput that names
      the pair (see `engines/refusal.py`) when a field leaves its range or the author's code raises;
    - notice the first step that meets the counted part of the stop, and stay there;
    - react to an interrupt: return from `advance` after about `pacing.SLICE` seconds at the latest, or call
      `self.heartbeat()` that often.

    It *may assume* that the topology fits the protocol, that the configuration has n agents whose fields are in
    their ranges, and that the limit of `advance` never lies in the past.

    It *must not* let the course of a run depend on how often it is observed: `advance(10); advance(20)` ends where
    `advance(20)` does, also if the stop is met on the way and the driver goes on, and so does a run that goes on from a
    restored snapshot. It must not know any protocol by name.

    *The engine owns the coins.* To change the configuration, call `load`; never touch the generator. An engine may
    draw ahead, but a coin that has decided anything up to the present step (a state, or that nothing was met) is never
    used again after a `load`: what was drawn ahead is then given up together with the coins it was drawn from. Only
    `restore` repeats coins. Where states are not kept on the way (the private fields of skipped rounds), `load` may be
    called at the `horizon` alone.
    """

    name: str = ""
    honours: tuple[str, ...] = (
        "one_pair",
        "memoryless",
        "even",
        "blind",
    )  # traits of the schedulers for which it is exact
    options: tuple[str, ...] = ()  # of a run's record that it takes itself, in its constructor
    as_multiset: bool = False  # starts may come as counts of states instead of an array of agents
    hopeless: str = ""  # a sentence, when it has found out that the stop can never be met
    stop: Stop  # between two calls, one for which the same agents are counted may take its place
    horizon: int | None = None  # where the driver will surely stop or call `load`: no jump goes beyond
    heartbeat: Callable[[], None] = staticmethod(lambda: None)  # raises when the run is to be given up

    @abstractmethod
    def __init__(
        self,
        protocol: "Protocol",
        topology: Topology,
        configuration: Configuration,
        stop: Stop,
        rng: np.ndarray,
        **options: Any,
    ):
        """At step 0 in this configuration."""

    @classmethod
    def require_room(cls, protocol: Any, topology: Topology) -> None:
        """Raise InvalidInput if the run does not fit in memory; called before anything is allocated."""
        return None

    @classmethod
    def watches(cls, stop: Stop) -> bool:
        """Whether it evaluates the stop's whole predicates itself, wherever they can change; else the driver does."""
        return False

    @classmethod
    def begins_with_codes(cls, protocol: Any) -> bool:
        """Whether its first steps are those of `population/codes.py`, coin by coin: trials may then make these steps
        together, and an engine that is given the coins and takes over by `load` goes on as if it had made them."""
        return False

    @property
    @abstractmethod
    def step(self) -> int:
        """The number of steps (or rounds) made so far."""

    @property
    def is_silent(self) -> bool:
        """Whether nothing will ever change again, as far as the engine knows."""
        return False

    @abstractmethod
    def load(self, configuration: Configuration, step: int | None = None) -> None:
        """Take over another configuration: at the present step, as after a fault, or at `step`, where steps
        were made elsewhere, as prescribed interactions are. Later steps use coins that were not used before.

        It changes the configuration and nothing else: what the engine or its scheduler remembers stays. The number of
        agents may be another if the graph is complete and the scheduler even; elsewhere that is refused."""

    def follow(self, acting: Sequence[int], configuration: Configuration) -> None:
        """Take over the configuration after a prescribed step, in which only these agents or nodes acted."""
        self.load(configuration, self.step + 1)

    @abstractmethod
    def advance(self, limit: int) -> bool:
        """Go towards step `limit`, or exactly to the first step that meets the stop; whether it is met.

        May return early: the driver calls again.
        """

    def advance_counting(self, limit: int, every: int, rows: int) -> tuple[bool, np.ndarray, np.ndarray] | None:
        """As `advance`, and count the agents in each state at up to `rows` multiples of `every` on the way.

        Returns whether the stop is met, these steps, and a row of counts for each. The step that meets the stop has no
        row. Returns None, and does nothing, where the engine cannot count now.
        """
        return None

    @abstractmethod
    def counts_hold(self) -> bool:
        """Whether the stop is met now: its counted part, or all of it if the engine `watches` it."""

    @abstractmethod
    def configuration(self) -> Configuration:
        """The present states, as a value of their own: it does not change when the engine goes on."""

    def view(self) -> Configuration:
        """The present states, to be read before the engine goes on and never written to; not a copy where possible."""
        return self.configuration()

    @abstractmethod
    def snapshot(self, into: Snapshot | None = None) -> Snapshot:
        """The step, and all that is needed to return to it: arrays, numbers and tuples only, which nothing else shares.

        `into` is an older snapshot of this engine that is no longer needed: its memory may be used again.
        """

    @abstractmethod
    def restore(self, snapshot: Snapshot) -> None:
        """Go back to where the snapshot was taken; from there every draw is repeated."""

    def freeze(self) -> Snapshot:
        """As `snapshot`, for another engine of this kind, in another process."""
        return self.snapshot()

    def thaw(self, frozen: Snapshot) -> None:
        """Go on where the engine that was frozen stood."""
        self.restore(frozen)

    def occupancy(self) -> tuple[np.ndarray, np.ndarray]:
        """The codes of the states that agents are in, ascending, and how many agents are in each."""
        return self.configuration().multiset

    def recent_occupancy(self, most: int) -> tuple[np.ndarray, np.ndarray] | None:
        """The occupancy now or a little earlier, whichever costs less; None if agents are in more than `most` states.

        What could never follow from an earlier configuration can never follow now.
        """
        codes, counts = self.occupancy()
        return (codes, counts) if len(codes) <= most else None

    def note_silence(self) -> None:
        """The driver has proved that nothing will ever change again: later steps may cost nothing."""
        return None

    def last_meeting(self) -> tuple[int, int, int] | None:
        """What the step made last was: initiator, responder and the number of their coins.

        None where the engine does not follow pairs one by one, or has made no step since it took over a configuration.
        """
        return None

    def measures(self) -> dict[str, Any]:
        """Measures of the run that only this engine has."""
        return {}
