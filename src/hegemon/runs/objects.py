"""One run of a protocol whose states are Python objects, from a start to a Run."""

import random
from collections.abc import Callable
from typing import Any, cast
from weakref import WeakKeyDictionary

from hegemon.compute.randomness import START, generator
from hegemon.engines.choice import choose_watched
from hegemon.errors import InvalidInput, choose, meant
from hegemon.models.expressions import parse, whole_number
from hegemon.models.functions import names_in
from hegemon.models.grammar import Logic, Name, Tree, shown
from hegemon.models.objects import ObjectProtocol
from hegemon.models.sets import ConfigurationSet
from hegemon.runs.record import MadeRecord
from hegemon.runs.run import Run
from hegemon.runs.setting import topology_for
from hegemon.runs.trial import Course, Trial

_tried: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()  # protocols, and the starts from which they were tried


def course_of_objects(asked: MadeRecord) -> Course:
    """Each trial runs until the stop is met or `max_steps` steps are made. The set is evaluated after every step."""
    protocol = cast(ObjectProtocol, asked.protocol)
    seed, checkpoint = asked.seed, asked.checkpoint
    topology = topology_for(protocol, asked.graph, seed)
    chosen, reason = choose_watched(asked.engine, protocol, topology, protocol.n)
    met, limit = _stop(asked.until, protocol, asked.max_steps)
    fixed = str(asked.until).startswith("steps:")
    name = str(asked.start or protocol.default_start)
    tried = _tried.setdefault(protocol, set())

    def one(trial: Trial) -> Run:
        agents = protocol.agents_of(name, generator(seed, trial.trial, START))
        if name not in tried:  # once for all trials: it takes longer than a short run
            protocol.check_interact(random.Random(0), agents)
            tried.add(name)
        running = chosen(protocol, topology, agents, seed, trial.trial)
        if checkpoint and checkpoint.state:
            running.thaw(checkpoint.state["engine"])
        interrupted = False
        reached = met(running.agents)
        while not reached and not interrupted and (limit is None or running.step < limit):
            running.advance(running.step + 1)
            reached = met(running.agents)
            if running.step % 64 == 0:
                if checkpoint:
                    checkpoint.offer(running)
                interrupted = bool(trial.progress and trial.progress(running.step))
        return Run(
            protocol=protocol.id,
            n=protocol.n,
            unit=protocol.time_unit,
            steps=running.step,
            reached=reached or (fixed and running.step == limit),
            leaders=protocol.count_leaders(running.agents),
            engine=running.name,
            reason=reason,
            seed=seed,
            trial=trial.trial,
            interrupted=interrupted,
        )

    return one


def _stop(until: Any, protocol: ObjectProtocol, max_steps: int | None) -> tuple[Callable[..., Any], int | None]:
    """Whether agents meet the stop, and the step that ends the run at the latest."""
    if isinstance(until, ConfigurationSet):
        return lambda agents: protocol.holds(until, agents), max_steps
    text = str(until).strip()
    if text.startswith("steps:"):
        return lambda agents: False, whole_number(text.removeprefix("steps:"), "until steps")
    tree = parse(text)
    unknown = names_in(tree) - set(protocol.sets)
    if unknown or not _is_of_sets(tree):
        raise InvalidInput(
            f"until {shown(text)} is not known to {protocol.id}; {choose(['steps:K', *protocol.sets])}"
            f"{', or sets joined by `and`, `or`, `not`' if protocol.sets else ''}: its states are Python objects, "
            f"which a text cannot count{meant(text, protocol.sets)}"
        )
    return lambda agents: _truth(tree, lambda name: protocol.holds(protocol.sets[name], agents)), max_steps


def _is_of_sets(tree: Tree) -> bool:
    return isinstance(tree, Name) or isinstance(tree, Logic) and all(map(_is_of_sets, tree.operands))


def _truth(tree: Tree, holds: Callable[[str], bool]) -> bool:
    if isinstance(tree, Name):
        return holds(tree.name)
    assert isinstance(tree, Logic)
    answers = (_truth(operand, holds) for operand in tree.operands)
    return not next(answers) if tree.operator == "not" else all(answers) if tree.operator == "and" else any(answers)
