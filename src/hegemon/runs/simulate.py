"""The front door of the engines: one call for every model of computation."""

import inspect
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Never

from hegemon import display
from hegemon.errors import InvalidInput, meant
from hegemon.models.protocol import Protocol
from hegemon.models.sets import ConfigurationSet
from hegemon.runs.checkpoint import Checkpoint
from hegemon.runs.course import simulate_states
from hegemon.runs.history import MOST_ROWS
from hegemon.runs.messages import simulate_messages
from hegemon.runs.objects import simulate_objects
from hegemon.runs.run import Fault, Run
from hegemon.runs.setting import Graph, Start, Wake

MODELS: dict[str, Callable[..., Run]] = {
    "population": simulate_states,
    "rounds": simulate_states,
    "messages": simulate_messages,
    "objects": simulate_objects,
}
OTHERS = {
    "population": ("fast_forward", "threads"),
    "rounds": ("loss", "one_sided"),
}  # what a model does not know although its function does


def simulate(
    protocol: Protocol,
    *,
    graph: Graph = None,
    start: Start = None,
    until: str | ConfigurationSet = "safe",
    seed: int = 0,
    trial: int = 0,
    max_steps: int | None = None,
    engine: str = "auto",
    faults: Sequence[Fault] = (),
    loss: float | str = 0,
    one_sided: float | str = 0,
    observe: dict | bool = False,
    at: Sequence[int] | None = None,
    every: int | None = None,
    wake: Wake = "all",
    fast_forward: bool = True,
    threads: int | None = None,
    keep: bool = True,
    most_rows: int = MOST_ROWS,
    progress: Callable[[int], object] | None = None,
    checkpoint: Checkpoint | None = None,
    **unknown: Never,
) -> Run:
    """Run a protocol once, exactly, and answer a `Run`: `simulate(hegemon.Pairwise(n=100), seed=1).steps`.

    Where, from what, until when:

    - `graph`: a text such as "ring:64", "grid:8x8" or "regular:1000,4", a file, a `Topology`, or a NetworkX graph;
      by default the protocol's own (mostly the complete graph). A random graph depends on `seed` alone.
    - `start`: the name of one of the protocol's starts, a .json or .csv file, a `Configuration`, or a list of states
      such as `[{"leader": 1}, …]`.
    - `until`: "safe" or another set of the protocol, "broken" (an agent's output changes), "steps:K" (or "rounds:K"),
      a text such as "count(leader == 1) == 1", or a set itself. The answer is the exact first step of it.
    - `max_steps`: the run is given up there, with `reached = False`. Without it, a run whose stop can be proved out
      of reach ends too, and `ended` says why.

    How:

    - `seed`, `trial`: the same pair gives the same run, on any machine and with any number of threads.
    - `engine`: "auto", or one by name: agents, events, batch; rounds; nodes, contacts, tokens.
    - `faults`: each a `Fault(step, agents, values)`; those beyond the limit do not happen. The stop is looked for
      after the last one, and `measures["recovery_steps"]` says how long that took.
    - `loss`, `one_sided` (populations): the probability that an interaction is lost, and that one that is not changes
      the responder alone, as in a bad network: decimals, or texts such as "1/3". Lost ones count as steps.
    - `wake` (messages): "all", "one-by-one", "random", a file, or the round in which each node wakes up.
    - `fast_forward`, `threads` (rounds): whether to jump exactly over rounds that repeat; how many threads.

    What to keep:

    - `observe`: True for the protocol's observables, or a dictionary of them, recorded in `Run.history` at the
      steps `at`, or `every` so many steps, or spread evenly; `most_rows` bounds what `every` may take.
    - `keep`: whether the final configuration is kept in the Run.
    - `checkpoint`: a `hegemon.runs.checkpoint.Checkpoint` to keep the run in, and to go on from.
    - `progress(step)` is called several times a second; a true answer interrupts the run.
    """
    if unknown:
        raise unknown_option("simulate", unknown, simulate)
    given = {name: value for name, value in locals().items() if name in OPTIONS}
    with display.notebook_progress() as shown:
        if shown and not progress and hasattr(protocol, "time_unit"):
            given["progress"] = lambda step: shown(f"{protocol.id}: {protocol.time_unit}", step, max_steps)
        return run_model(protocol, given)


def unknown_option(function: str, unknown: dict, door: Callable) -> InvalidInput:
    known = [name for name, one in inspect.signature(door).parameters.items() if one.kind is one.KEYWORD_ONLY]
    word = next(iter(unknown))
    return InvalidInput(f"{function} has no option {word!r}; its options are {', '.join(known)}{meant(word, known)}")


def run_model(protocol, given: dict[str, Any]) -> Run:
    """Hand the options to the function of the protocol's model; one that means nothing there is refused."""
    model = None if isinstance(protocol, type) else getattr(protocol, "model", None)
    if model not in MODELS:
        what = "a class: make an instance of it with n=…" if isinstance(protocol, type) else "not a protocol"
        raise InvalidInput(f"{protocol!r} is {what}; the models are {', '.join(MODELS)}")
    function = MODELS[model]
    known = _options_of(model)
    for name, value in given.items():
        if name not in known and not _is_default(value, OPTIONS[name]):
            kind = "whose states are Python objects" if model == "objects" else f"of the {model} model"
            raise InvalidInput(f"{name} means nothing to {protocol.id}, a protocol {kind}; leave it out")
    return function(protocol, **{name: value for name, value in given.items() if name in known})


@cache
def _options_of(model: str) -> frozenset[str]:
    return frozenset(inspect.signature(MODELS[model]).parameters) - set(OTHERS.get(model, ()))


def _is_default(value, default) -> bool:
    if isinstance(value, str | int | float | tuple | list):
        return value == default or not (value or default)
    return value is default


OPTIONS: dict[str, Any] = {
    name: one.default for name, one in inspect.signature(simulate).parameters.items() if one.kind is one.KEYWORD_ONLY
}
