"""hegemon: a laboratory for randomized leader election in anonymous networks.

Run: `simulate`, `run_trials`. Exact answers: `verify` for one n, `prove` for every n.
Write a protocol: `from hegemon.models import ...`.
The catalogue's classes are here under their names: `hegemon.TimeOptimal(n=1000, tau=2)`.

Each name is loaded when it is first used: a member of a network must not pay for the compiler.
"""

import importlib

from hegemon.errors import InvalidInput

_HOMES = {
    "Fault": "hegemon.runs.run",
    "Run": "hegemon.runs.run",
    "mixing_time": "hegemon.graphs.mixing",
    "prove": "hegemon.exact.proofs.prover",
    "run_trials": "hegemon.runs.trials",
    "simulate": "hegemon.runs.simulate",
    "sweep": "hegemon.experiments.sweep",
    "verify": "hegemon.exact.verification",
    "watch": "hegemon.web.watch",
} | dict.fromkeys(
    [
        "AfekGafni",
        "CATALOGUE",
        "CaiIzumiWada",
        "Countdown",
        "Epidemic",
        "FischerJiang",
        "FloodMax",
        "Pairwise",
        "QuickElimination",
        "Referees",
        "Ring",
        "Threshold",
        "TimeOptimal",
        "Timer",
        "Trains",
        "Walks",
    ],
    "hegemon.protocols",
)

__all__ = ["InvalidInput", "network", *sorted(_HOMES)]


def __getattr__(name: str):
    if name == "network":
        return importlib.import_module("hegemon.network")
    if name not in _HOMES:
        raise AttributeError(f"module 'hegemon' has no attribute {name!r}")
    value = globals()[name] = getattr(importlib.import_module(_HOMES[name]), name)
    return value


def __dir__():
    return sorted({*globals(), *__all__})
