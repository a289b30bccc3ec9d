"""The contract of an engine for message passing: what a run calls, and what all engines share."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from hegemon.compute.randomness import START, generator
from hegemon.graphs.topology import Topology
from hegemon.models.messages import MessageProtocol
from hegemon.models.node_calls import cause
from hegemon.process.messages.crashes import crash_rounds
from hegemon.process.messages.initiators import initiators
from hegemon.process.messages.surroundings import Surroundings


@dataclass(frozen=True)
class MessageOutcome:
    """`finished`: nothing was left to do, and `rounds` is the last round in which anything happened, at least 1.
    Otherwise the run was stopped after `rounds` rounds: at the limit, whether or not anything happened in the last of
    them, or where it was interrupted."""

    rounds: int
    finished: bool
    leaders: int
    measures: dict[str, Any] = field(default_factory=dict)
    interrupted: bool = False
    crashed_leaders: int = 0  # nodes that were elected and then crashed


class MessageEngine(ABC):
    """One run of a message-passing protocol.

    Before anything else the nodes that begin are drawn, and the rounds in which the adversary wakes them, from the
    same stream in every engine: `chosen` and `waking`; then the `identifiers` and the rounds in which nodes are
    `crashing`, if any. An implementer *must*

    - deliver every message of the model and count messages, bits and the largest message;
    - honour `waking`, `identifiers` and all other surroundings, or return False from `suits`;
    - call `self.is_cancelled(round)` several times a second, where `freeze()` returns all that is needed to go on
      after `thaw(frozen)` in another process; and if so, return a MessageOutcome with `interrupted=True`;
    - draw all randomness from the streams of (seed, trial), and the same coins for every limit: a run that is stopped
      is the beginning of the run that is not.

    The cause of a run without exactly one leader, and the protocol's `facts`, are added here, for all engines.
    """

    name = ""
    honours: frozenset[str] = frozenset()  # departures from reliable, synchronous rounds for which it is exact

    @classmethod
    def suits(cls, topology: Topology, around: Surroundings) -> bool:
        """Whether the engine is exact on this graph in these surroundings."""
        return cls.honours >= around.departures.keys()

    def __init__(self, protocol: MessageProtocol, topology: Topology, around: Surroundings, seed: int, trial: int):
        self.protocol, self.topology, self.around, self.seed, self.trial = protocol, topology, around, seed, trial
        self.require_room()
        rng = generator(seed, trial, START)
        self.chosen: np.ndarray = initiators(protocol, rng)
        self.waking: np.ndarray = around.wake.rounds(self.chosen, rng)
        self.identifiers: np.ndarray | None = around.identifiers.drawn(rng)
        self.crashing: np.ndarray | None = crash_rounds(around.crashes, protocol.n, rng)
        self._progress: Callable[[int], object] | None = None
        self._rest: Callable[[], object] | None = None

    def require_room(self) -> None:
        """Raise InvalidInput if the run does not fit in memory."""
        return None

    def run(
        self,
        limit: int | None,
        progress: Callable[[int], object] | None = None,
        rest: Callable[[], object] | None = None,
    ) -> MessageOutcome:
        """Run to the end, or for `limit` rounds. Now and then `rest()` is called, which may freeze the engine, and then
        `progress(round)`, which may interrupt."""
        self._progress, self._rest = progress, rest
        outcome = self.play(limit)
        measures = outcome.measures | self.protocol.facts
        finished = outcome.finished and (limit is None or outcome.rounds <= limit)
        reason = cause(finished, outcome.leaders, outcome.crashed_leaders, measures.get("cause"))
        if reason or "cause" in measures:
            measures["cause"] = reason
        rounds = outcome.rounds if finished or outcome.interrupted or limit is None else limit
        return replace(outcome, rounds=rounds, finished=finished, measures=measures)

    def is_cancelled(self, round: int) -> bool:
        if self._rest:
            self._rest()
        return bool(self._progress and self._progress(round))

    @abstractmethod
    def freeze(self) -> tuple[int, Any]:
        """The round, and plain arrays and values from which `thaw` goes on."""

    @abstractmethod
    def thaw(self, frozen: tuple[int, Any]) -> None:
        """Go on from there: the next call is `run`."""

    @abstractmethod
    def play(self, limit: int | None) -> MessageOutcome:
        """The run itself; `run` corrects the rounds of one that the limit stopped."""
