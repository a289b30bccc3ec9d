"""hegemon: a laboratory for randomized leader election in anonymous networks.

Run: `simulate`, `run_trials`. Exact answers: `verify`. Write a protocol: `from hegemon.models import ...`.
The catalogue's classes are here under their names: `hegemon.TimeOptimal(n=1000, tau=2)`.
"""

from hegemon.engines.run import Fault, Run
from hegemon.engines.simulation import simulate
from hegemon.engines.trials import run_trials
from hegemon.errors import InvalidInput
from hegemon.protocols import (
    CATALOGUE,
    CaiIzumiWada,
    Countdown,
    Epidemic,
    FischerJiang,
    Pairwise,
    QuickElimination,
    Ring,
    Threshold,
    TimeOptimal,
    Timer,
)
from hegemon.verify.verification import verify

__all__ = [
    "CATALOGUE",
    "CaiIzumiWada",
    "Countdown",
    "Epidemic",
    "Fault",
    "FischerJiang",
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
    "verify",
]
