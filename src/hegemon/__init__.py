"""hegemon: a laboratory for randomized leader election in anonymous networks.

Run: `simulate`, `run_trials`. Write a protocol: `from hegemon.models import ...`. The catalogue's classes
are here under their names: `hegemon.TimeOptimal(n=1000, tau=2)`.
"""

from hegemon.engines.run import Fault, Run
from hegemon.engines.simulation import simulate
from hegemon.engines.trials import run_trials
from hegemon.errors import InvalidInput
from hegemon.protocols import (
    CATALOGUE,
    Countdown,
    Epidemic,
    Pairwise,
    QuickElimination,
    Ring,
    Threshold,
    TimeOptimal,
    Timer,
)

__all__ = [
    "CATALOGUE",
    "Countdown",
    "Epidemic",
    "Fault",
    "InvalidInput",
    "Pairwise",
    "QuickElimination",
    "Ring",
    "Run",
    "Threshold",
    "TimeOptimal",
    "Timer",
    "run_trials",
    "simulate",
]
