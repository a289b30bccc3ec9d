"""hegemon: a laboratory for randomized leader election in anonymous networks.

Run: `simulate`, `run_trials`, `sweep`. Exact results: `verify` for one n, `prove` for every n; `discover` searches.
Write a protocol: `from hegemon import PopulationProtocol, Bit, …`, or `rules({("L", "L"): ("L", "F")})`.
The catalogue's classes are here under their names: `hegemon.TimeOptimal(n=1000, tau=2)`.
Each name is loaded when it is first used: a name that needs no compiler does not load it.
"""

# ruff: noqa: I001 - names that are passed on stay in one block

import importlib as _importlib
from typing import TYPE_CHECKING, Any as _Any

from hegemon import parts as _parts
from hegemon.errors import InvalidInput

__version__ = "0.2.0"

if TYPE_CHECKING:  # the same names, for type checkers and editors
    from hegemon import network as network
    from hegemon.analysis.pictures import Picture as Picture
    from hegemon.discovery.discover import discover as discover
    from hegemon.discovery.guided import discover_guided as discover_guided
    from hegemon.discovery.improving import improve as improve
    from hegemon.claims.reproduce import reproduce as reproduce
    from hegemon.claims.stating import claim as claim
    from hegemon.exact.exports.exporting import export as export
    from hegemon.exact.proofs.prover import prove as prove
    from hegemon.exact.rates import availability as availability
    from hegemon.exact.verification import verify as verify
    from hegemon.experiments.budgets import lower_bound as lower_bound
    from hegemon.experiments.checking import check as check
    from hegemon.experiments.comparing import compare as compare, compare_messages as compare_messages
    from hegemon.experiments.holding.advice import advise as advise
    from hegemon.experiments.holding.holding import holding as holding
    from hegemon.experiments.results import results as results
    from hegemon.experiments.sweep import sweep as sweep
    from hegemon.experiments.worst_starts import search_worst as search_worst
    from hegemon.graphs.mixing import mixing_time as mixing_time
    from hegemon.graphs.topology import Topology as Topology
    from hegemon.models import (
        ELECTED as ELECTED,
        NON_ELECTED as NON_ELECTED,
        Array as Array,
        Assumption as Assumption,
        Bit as Bit,
        Choice as Choice,
        Coin as Coin,
        Configuration as Configuration,
        Group as Group,
        MessageProtocol as MessageProtocol,
        ObjectProtocol as ObjectProtocol,
        Parameter as Parameter,
        PopulationProtocol as PopulationProtocol,
        Range as Range,
        RoundsProtocol as RoundsProtocol,
        at_least as at_least,
        at_most as at_most,
        count as count,
        everywhere as everywhere,
        exactly as exactly,
        maximum as maximum,
        mean as mean,
        minimum as minimum,
        nowhere as nowhere,
        overall as overall,
        whole as whole,
    )
    from hegemon.models.rule_writing import rules as rules
    from hegemon.protocols import *  # noqa: F403
    from hegemon.protocols import CATALOGUE as CATALOGUE
    from hegemon.runs.run import (
        Fault as Fault,
        Run as Run,
    )
    from hegemon.runs.simulate import simulate as simulate
    from hegemon.runs.trials import run_trials as run_trials
    from hegemon.web.live.page import live as live
    from hegemon.web.watch import watch as watch

_HOMES = {
    "CATALOGUE": "hegemon.protocols",
    "Fault": "hegemon.runs.run",
    "Picture": "hegemon.analysis.pictures",
    "Run": "hegemon.runs.run",
    "discover": "hegemon.discovery.discover",
    "discover_guided": "hegemon.discovery.guided",
    "improve": "hegemon.discovery.improving",
    "advise": "hegemon.experiments.holding.advice",
    "check": "hegemon.experiments.checking",
    "claim": "hegemon.claims.stating",
    "compare": "hegemon.experiments.comparing",
    "compare_messages": "hegemon.experiments.comparing",
    "export": "hegemon.exact.exports.exporting",
    "holding": "hegemon.experiments.holding.holding",
    "live": "hegemon.web.live.page",
    "lower_bound": "hegemon.experiments.budgets",
    "mixing_time": "hegemon.graphs.mixing",
    "prove": "hegemon.exact.proofs.prover",
    "reproduce": "hegemon.claims.reproduce",
    "results": "hegemon.experiments.results",
    "rules": "hegemon.models.rule_writing",
    "run_trials": "hegemon.runs.trials",
    "search_worst": "hegemon.experiments.worst_starts",
    "simulate": "hegemon.runs.simulate",
    "sweep": "hegemon.experiments.sweep",
    "availability": "hegemon.exact.rates",
    "verify": "hegemon.exact.verification",
    "watch": "hegemon.web.watch",
}
_WRITING = (
    "Array", "Assumption", "Bit", "Choice", "Coin", "Configuration", "ELECTED", "Group", "MessageProtocol",
    "NON_ELECTED", "ObjectProtocol", "Parameter", "PopulationProtocol", "Range", "RoundsProtocol", "at_least",
    "at_most", "count", "everywhere", "exactly", "maximum", "mean", "minimum", "nowhere", "overall", "whole",
)  # fmt: skip
_HOMES |= {"Topology": "hegemon.graphs.topology"} | dict.fromkeys(_WRITING, "hegemon.models")
__all__ = ["InvalidInput", "network", *_HOMES]  # noqa: PLE0604 - the names are strings


def __getattr__(name: str) -> _Any:
    if name == "network":
        return _importlib.import_module("hegemon.network")
    if name in _HOMES and (wing := _parts.missing_wing_of(_HOMES[name])):
        raise ImportError(f"hegemon.{name} needs {_parts.WINGS[wing]}: this installation has no folder hegemon/{wing}")
    home = _importlib.import_module(_HOMES[name]) if name in _HOMES else None
    if home is None and name[:1].isupper():  # a protocol's class
        home = _importlib.import_module("hegemon.protocols")
    if not hasattr(home, name):
        raise AttributeError(f"module 'hegemon' has no attribute {name!r}")
    value = globals()[name] = getattr(home, name)
    return value


def __dir__() -> list[str]:
    protocols = _importlib.import_module("hegemon.protocols").CATALOGUE.values()
    return sorted({"__doc__", "__version__", *__all__, *(protocol.__name__ for protocol in protocols)})
