"""hegemon: a laboratory for randomized leader election in anonymous networks.

Run: `simulate`, `run_trials`. Exact answers: `verify`. Write a protocol: `from hegemon.models import ...`.
The catalogue's classes are here under their names: `hegemon.TimeOptimal(n=1000, tau=2)`.
"""

from hegemon.engines.run import Fault, Run
from hegemon.engines.simulation import simulate
from hegemon.engines.trials import run_trials
from hegemon.errors import InvalidInput
from hegemon.models.mixing import mixing_time
from hegemon.protocols import (
    CATALOGUE,
    AfekGafni,
    CaiIzumiWada,
    Countdown,
    Epidemic,
    FischerJiang,
    FloodMax,
    Pairwise,
    QuickElimination,
    Referees,
    Ring,
    Threshold,
    TimeOptimal,
    Timer,
    Trains,
    Walks,
)
from hegemon.verify.verification import verify

__all__ = [
    "AfekGafni",
    "CATALOGUE",
    "CaiIzumiWada",
    "Countdown",
    "Epidemic",
    "Fault",
    "FischerJiang",
    "FloodMax",
    "InvalidInput",
    "Pairwise",
    "QuickElimination",
    "Referees",
    "Ring",
    "Run",
    "Threshold",
    "TimeOptimal",
    "Timer",
    "Trains",
    "Walks",
    "mixing_time",
    "run_trials",
    "simulate",
    "verify",
]
