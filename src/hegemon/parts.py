"""The parts of the laboratory: which there are of each kind, and where each lives.

Built-in parts stand in this table as text and are loaded when they are used, so that no room knows the rooms above it.
Another package adds verbs, schedulers, graph families, protocols and claims by entry points (docs/plugins.md). They are
looked for when a name is unknown, and for lists: scanning the environment takes longer than a short run.
"""

from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from hegemon.errors import InvalidInput

WINGS = {  # folders without which everything else runs
    "claims": "the papers' claims",
    "discovery": "the search for protocols",
    "network": "real processes",
    "web": "the page",
}
NEEDS = {"watch": "web", "reproduce": "claims", "discover": "discovery", "network": "network", "agent": "network"}
ENGINES, SCHEDULERS = "hegemon.engines", "hegemon.process.schedulers"
BUILT_IN: dict[str, dict[str, str]] = {
    "verbs": {
        "list": "hegemon.cli.catalogue:list_protocols",
        "show": "hegemon.cli.catalogue:show_protocol",
        "run": "hegemon.cli.run:run",
        "watch": "hegemon.cli.watch:watch_protocol",
        "new": "hegemon.cli.authoring:new_protocol",
        "check": "hegemon.cli.authoring:check_protocol",
        "import": "hegemon.cli.authoring:import_rules",
        "export": "hegemon.cli.export:export_protocol",
        "verify": "hegemon.cli.verify:verify_protocol",
        "prove": "hegemon.cli.prove:prove_protocol",
        "holding": "hegemon.cli.holding:hold_leader",
        "advise": "hegemon.cli.advise:advise_parameters",
        "search-worst": "hegemon.cli.search:search_worst_start",
        "discover": "hegemon.cli.discover:discover_protocols",
        "sweep": "hegemon.cli.sweep:sweep_study",
        "results": "hegemon.cli.results:study_results",
        "compare": "hegemon.cli.compare:compare_protocols",
        "compare-messages": "hegemon.cli.compare:compare_elections",
        "reproduce": "hegemon.cli.reproduce:reproduce_claims",
        "mixing-time": "hegemon.cli.messages:show_mixing_time",
        "lower-bound": "hegemon.cli.messages:lower_bound",
        "network": "hegemon.cli.network:run_network",
        "agent": "hegemon.cli.network:run_agent",
    },
    # what a model of computation consists of, by the model's name
    "course": {
        "population": "hegemon.runs.course:StateCourse",
        "rounds": "hegemon.runs.course:StateCourse",
        "messages": "hegemon.runs.messages:MessageCourse",
        "objects": "hegemon.runs.objects:ObjectCourse",
    },
    "chain": {
        "population": "hegemon.exact.instance:population_chain",
        "rounds": "hegemon.exact.instance:rounds_chain",
    },
    "member": {
        "population": "hegemon.network.rules:InteractionRules",
        "rounds": "hegemon.network.rules:RoundsRules",
        "messages": "hegemon.network.rules:MessageRules",
    },
    "scheduler": {
        "population": f"{SCHEDULERS}.reading:read_pairs",
        "rounds": f"{SCHEDULERS}.reading:read_nodes",
    },
    "world": {
        "population": "hegemon.web.worlds:AgentWorld",
        "rounds": "hegemon.web.worlds:AgentWorld",
        "messages": "hegemon.web.messages:MessageWorld",
        "objects": "hegemon.web.objects:ObjectWorld",
    },
    # engines, by the model whose protocols they run
    "population engines": {
        "agents": f"{ENGINES}.population.agents:Agents",
        "batch": f"{ENGINES}.batch.batch:Batch",
        "events": f"{ENGINES}.population.events:Events",
        "plain": f"{ENGINES}.population.plain:PlainPopulation",
        "stepwise": f"{ENGINES}.population.stepwise:Stepwise",
    },
    "rounds engines": {
        "rounds": f"{ENGINES}.rounds.rounds:Rounds",
        "daemon": f"{ENGINES}.rounds.daemon:DaemonEngine",
        "plain": f"{ENGINES}.rounds.plain:PlainRounds",
    },
    "messages engines": {
        "nodes": f"{ENGINES}.messages.nodes:Nodes",
        "compiled": f"{ENGINES}.messages.compiled.engine:Compiled",
        "contacts": f"{ENGINES}.messages.contacts:ContactsEngine",
        "tokens": f"{ENGINES}.messages.tokens:TokensEngine",
        "asynchronous": f"{ENGINES}.messages.asynchronous:Asynchronous",
    },
    "objects engines": {"objects": f"{ENGINES}.population.objects:Objects"},
    # what reads the words after the colon; where there are none, the scheduler itself or its class
    "schedulers": {
        "uniform": f"{SCHEDULERS}.uniform:UNIFORM",
        "weighted": f"{SCHEDULERS}.weighted:read_weighted",
        "matching": f"{SCHEDULERS}.permuted:Matching",
        "permutation": f"{SCHEDULERS}.permuted:Permutation",
        "round-robin": f"{SCHEDULERS}.cyclic:Cyclic",
        "bounded": f"{SCHEDULERS}.bounded:read_bounded",
        "edge-markov": f"{SCHEDULERS}.changing:read_edge_markov",
        "moving": f"{SCHEDULERS}.changing:read_moving",
        "recorded": f"{SCHEDULERS}.cyclic:read_recorded",
        "function": f"{SCHEDULERS}.own:read_function",
    },
}


def is_known(kind: str, name: str) -> bool:
    """Whether there is such a part, built in or of another package."""
    return name in BUILT_IN.get(kind, {}) or name in plugins(kind)


def names(kind: str) -> list[str]:
    """All parts of a kind: the built-in ones whose wing is there, then those of other packages."""
    return [*built_in(kind), *plugins(kind)]


def built_in(kind: str) -> list[str]:
    return [name for name in BUILT_IN.get(kind, {}) if missing_wing(kind, name) is None]


def part(kind: str, name: str) -> Any:
    """The part itself, loaded; a missing wing, or a plug-in that cannot be loaded, is reported in a sentence."""
    if name not in BUILT_IN.get(kind, {}):
        return _loaded(kind, name)
    if (wing := missing_wing(kind, name)) is not None:
        raise InvalidInput(f"{name} needs {WINGS[wing]}: this installation has no folder hegemon/{wing}")
    return at(BUILT_IN[kind][name])


@cache
def at(place: str) -> Any:
    """What lives at `module:name`."""
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)


def missing_wing(kind: str, name: str) -> str | None:
    """The wing that a built-in part needs, if it was removed from this installation."""
    place = f"hegemon.{NEEDS[name]}" if kind == "verbs" and name in NEEDS else BUILT_IN[kind][name]
    return missing_wing_of(place)


def missing_wing_of(place: str) -> str | None:
    """The wing of a module, if it was removed."""
    wing = place.split(".")[1]
    return wing if wing in WINGS and not _is_there(wing) else None


@cache
def _is_there(wing: str) -> bool:
    return find_spec(f"hegemon.{wing}") is not None


# -- other packages -------------------------------------------------------------------------------------------------


@cache
def plugins(kind: str) -> dict[str, Any]:
    """The entry points of other packages, by name; what is built in cannot be replaced."""
    from importlib.metadata import entry_points

    found = entry_points(group=f"hegemon.{kind}")
    return {point.name: point for point in found if point.name not in BUILT_IN.get(kind, {})}


def _loaded(kind: str, name: str) -> Any:
    point = plugins(kind)[name]
    try:
        return point.load()
    except Exception as error:  # a package of somebody else's may raise anything while it is imported
        package = point.dist.name if point.dist else point.value
        what = f"{type(error).__name__}: {error}"
        raise InvalidInput(f"{name} of the package {package} cannot be loaded ({what}); repair or remove it") from error


def file(kind: str, name: str) -> str:
    """The Python file of a part that is a module of another package; it is not imported."""
    point = plugins(kind)[name]
    spec = find_spec(point.module)
    if spec is None or spec.origin is None:
        raise InvalidInput(f"{name} names the module {point.module}, which is not there; repair the package")
    return spec.origin


def loaded(kind: str) -> Iterator[tuple[str, Any]]:
    """Every part of other packages that can be loaded, with its name."""
    for name in plugins(kind):
        with suppress(InvalidInput):  # who uses it by name gets the reason
            yield name, part(kind, name)
