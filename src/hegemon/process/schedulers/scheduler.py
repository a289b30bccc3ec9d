"""The contract of a scheduler: who acts next, for engines and for exact chains."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from hegemon.errors import InvalidInput
from hegemon.graphs.topology import Topology

MOST_ROWS = 1_000_000  # of a plan


class SchedulePlan(NamedTuple):
    """A scheduler as rows, for exact chains.

    From memory m it takes one of the rows places[m]..places[m + 1]-1, each with its weight over their sum, and the
    memory is after[row] then. A run begins with memory 0.
    """

    pairs: np.ndarray
    weights: np.ndarray
    after: np.ndarray
    places: np.ndarray

    @property
    def memories(self) -> int:
        return len(self.places) - 1


class Scheduler(ABC):
    """A scheduler of a population: which initiator meets which responder in the next step.

    Its traits say what others may rely on. An engine names the traits that it needs in order to sample the process
    exactly (`Engine.honours`); the choice compares traits, never names.
    """

    name: str
    one_pair: bool = True  # exactly two agents meet in a step
    memoryless: bool = True  # its choice depends on nothing that has happened
    even: bool = False  # every arc of the graph is as likely as every other, so agents in one state can be exchanged
    blind: bool = True  # its choice does not depend on states
    torus: tuple[int, int] | None = None  # columns and rows, where agents walk on one; `places` says where they are

    def __str__(self) -> str:
        return self.name

    @abstractmethod
    def compiled(self, topology: Topology) -> tuple[Callable[..., Any], np.ndarray]:
        """A template for kernels, and the rows that it reads.

        `pair(rows, n, s0, s1, s2, s3)` draws from the generator's words and returns initiator, responder and the words.
        A scheduler that is not memoryless keeps its memory in these rows, which are fresh for every engine.
        """

    def places(self, rows: np.ndarray, n: int) -> np.ndarray:
        """A column and a row of the torus for every agent, as these rows remember."""
        raise InvalidInput(f"under the scheduler {self} agents have no places")

    @abstractmethod
    def plan(self, topology: Topology) -> SchedulePlan:
        """The same law as rows; raises InvalidInput where it has none, or too many."""


def memoryless(pairs: np.ndarray, weights: np.ndarray | None = None) -> SchedulePlan:
    """The plan that always chooses between the same rows."""
    weights = np.ones(len(pairs), np.int64) if weights is None else weights
    return SchedulePlan(pairs, weights, np.zeros(len(pairs), np.int32), np.array([0, len(pairs)], np.int64))


def explored(name: str, rows_after: Callable[[int], list[tuple[int, int, int]]]) -> SchedulePlan:
    """The plan of a memory: `rows_after(memory)` are the pairs that it takes alike, each with the memory after it.

    Memories are any whole numbers; 0 is the first one.
    """
    known, order = {0: 0}, [0]
    rows: list[tuple[int, int, int]] = []
    places = [0]
    for memory in order:
        for i, j, after in rows_after(memory):
            if after not in known:
                known[after] = len(order)
                order.append(after)
            rows.append((i, j, known[after]))
        places.append(len(rows))
        if len(rows) > MOST_ROWS:
            raise InvalidInput(
                f"the scheduler {name} remembers too much for an exact chain (more than {MOST_ROWS:,} rows); take a "
                "smaller graph, or run, which simulates it exactly"
            )
    table = np.array(rows, np.int32)
    return SchedulePlan(table[:, :2], np.ones(len(rows), np.int64), table[:, 2], np.array(places, np.int64))
