"""The contract of a scheduler: who acts next, for engines, exact chains, holding, the page and plain Python alike."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from hegemon.graphs.topology import Topology


class Scheduler(ABC):
    """A scheduler of a population: which initiator meets which responder in the next step.

    Its traits say what others may rely on. An engine names the traits that it needs in order to sample the process
    exactly (`Engine.honours`); the choice compares traits, never names.
    """

    name: str
    one_pair: bool = True  # exactly two agents meet in a step
    memoryless: bool = True  # whom it takes depends on nothing that has happened
    even: bool = False  # every arc of the graph is as likely as every other, so agents in one state can be exchanged

    def __str__(self) -> str:
        return self.name

    @abstractmethod
    def rows(self, topology: Topology) -> np.ndarray:
        """Initiators and responders such that every row is equally likely to be the next to meet."""

    @abstractmethod
    def compiled(self, topology: Topology) -> tuple[Callable[..., Any], np.ndarray]:
        """A template for kernels, and the rows that it reads.

        `pair(rows, n, s0, s1, s2, s3)` draws from the generator's words and returns initiator, responder and the words.
        """

    @abstractmethod
    def meet(self, topology: Topology, below: Callable[[int], int]) -> tuple[int, int]:
        """The same in plain Python; `below(k)` returns a uniform number in 0..k-1."""
