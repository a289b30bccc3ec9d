"""A user's own scheduler: a plain Python function of the step and the agents, called at every step."""

import inspect
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from hegemon.errors import InvalidInput
from hegemon.graphs.topology import Topology
from hegemon.models.protocol import Protocol
from hegemon.process.schedulers.scheduler import SchedulePlan, Scheduler


class OwnScheduler(Scheduler):
    """`choose(step, agents)`, or `choose(step, agents, below)`, returns an initiator and a responder.

    `agents` is an array of records (`agents["leader"][3]`); `below(k)` draws a number in 0..k-1 from the run's coins.
    """

    memoryless = False
    blind = False

    def __init__(self, choose: Callable[..., Any], name: str = ""):
        self.name = name or f"function:{getattr(choose, '__name__', 'choose')}"
        self._choose = choose
        try:
            self._takes = len(inspect.signature(choose).parameters)
        except (TypeError, ValueError):
            self._takes = 2
        if self._takes not in (2, 3):
            raise InvalidInput(f"{self.name} takes {self._takes} arguments; write choose(step, agents), or with below")

    def choose(self, step: int, agents: np.ndarray, below: Callable[[int], int], topology: Topology) -> tuple[int, int]:
        """Who meets in the step after `step` steps."""
        try:
            found = self._choose(step, agents, *(below,) * (self._takes == 3))
            i, j = (int(one) for one in found)
        except Exception as error:  # a user's function may raise anything
            raise InvalidInput(
                f"the scheduler {self.name} fails at step {step}: {type(error).__name__}: {error}"
            ) from None
        in_range = 0 <= i < topology.n and 0 <= j < topology.n and i != j
        if not in_range or not topology.is_complete and j not in topology.targets[slice(*topology.offsets[i : i + 2])]:
            raise InvalidInput(
                f"the scheduler {self.name} returns {i} -> {j} at step {step}, no arc of {topology.name}"
            )
        return i, j

    def compiled(self, topology: Topology) -> tuple[Callable[..., Any], np.ndarray]:
        raise InvalidInput(f"the scheduler {self.name} is plain Python; use engine stepwise")

    def plan(self, topology: Topology) -> SchedulePlan:
        raise InvalidInput(
            f"the scheduler {self.name} is a function of the step, which no exact chain follows; use run, or "
            "the scheduler adversary, which covers every one"
        )


def read_function(words: str, protocol: Protocol, topology: Topology) -> OwnScheduler:
    """`function:NAME`: a function in the file of the user's own protocol, the one file that may be imported."""
    module = sys.modules.get(type(protocol).__module__)
    if module is None or module.__name__.partition(".")[0] == "hegemon":
        raise InvalidInput(
            f"function:{words} is looked for in the file of a protocol of your own, and {protocol.id} is not one; "
            "write a class based on it beside the function, or give the function to hegemon.simulate(scheduler=…)"
        )
    found = vars(module).get(words)
    if not inspect.isfunction(found) or found.__module__ != module.__name__:
        raise InvalidInput(f"{getattr(module, '__file__', module.__name__)} defines no function {words[:40]!r}")
    return OwnScheduler(found, f"function:{words}")
