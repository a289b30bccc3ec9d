"""hegemon: a laboratory for randomized leader election in anonymous networks.

Run: `simulate`, `run_trials`. Exact answers: `verify` for one n, `prove` for every n.
Write a protocol: `from hegemon.models import ...`.
The catalogue's classes are here under their names: `hegemon.TimeOptimal(n=1000, tau=2)`.
"""

from hegemon.errors import InvalidInput
from hegemon.exact.proofs.prover import prove
from hegemon.exact.verification import verify
from hegemon.experiments.sweep import sweep
from hegemon.graphs.mixing import mixing_time
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
from hegemon.runs.run import Fault, Run
from hegemon.runs.simulate import simulate
from hegemon.runs.trials import run_trials

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
    "prove",
    "run_trials",
    "simulate",
    "sweep",
    "verify",
]
