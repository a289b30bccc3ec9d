"""hegemon: a laboratory for randomized leader election in anonymous networks.

Run: `simulate`, `run_trials`, `sweep`. Exact answers: `verify` for one n, `prove` for every n.
Write a protocol: `from hegemon import PopulationProtocol, Bit, …`.
The catalogue's classes are here under their names: `hegemon.TimeOptimal(n=1000, tau=2)`.
Each name is loaded when it is first used: whoever asks for one does not wait for the compiler.
"""

import importlib

from hegemon.errors import InvalidInput

_HOMES = {
    "CATALOGUE": "hegemon.protocols",
    "Fault": "hegemon.runs.run",
    "Picture": "hegemon.analysis.pictures",
    "Run": "hegemon.runs.run",
    "holding": "hegemon.experiments.holding.holding",
    "mixing_time": "hegemon.graphs.mixing",
    "prove": "hegemon.exact.proofs.prover",
    "run_trials": "hegemon.runs.trials",
    "simulate": "hegemon.runs.simulate",
    "sweep": "hegemon.experiments.sweep",
    "verify": "hegemon.exact.verification",
    "watch": "hegemon.web.watch",
}
_WRITING = (
    "Assumption", "Bit", "Choice", "Configuration", "ELECTED", "Group", "MessageProtocol", "NON_ELECTED",
    "ObjectProtocol", "Parameter", "PopulationProtocol", "Range", "RoundsProtocol", "at_least", "at_most", "count",
    "everywhere", "exactly", "maximum", "mean", "minimum", "nowhere", "overall", "whole",
)  # fmt: skip
_HOMES |= {"Topology": "hegemon.graphs.topology"} | dict.fromkeys(_WRITING, "hegemon.models")
__all__ = ["InvalidInput", "network", *_HOMES]


def __getattr__(name: str):
    if name == "network":
        return importlib.import_module("hegemon.network")
    home = importlib.import_module(_HOMES[name]) if name in _HOMES else None
    if home is None and name[:1].isupper():  # a protocol's class
        home = importlib.import_module("hegemon.protocols")
    if not hasattr(home, name):
        raise AttributeError(f"module 'hegemon' has no attribute {name!r}")
    value = globals()[name] = getattr(home, name)
    return value


def __dir__():
    protocols = importlib.import_module("hegemon.protocols").CATALOGUE.values()
    return sorted({*globals(), *__all__, *(protocol.__name__ for protocol in protocols)})
