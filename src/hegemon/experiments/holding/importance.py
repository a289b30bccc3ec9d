"""How close a configuration is to the loss of its leader: a number that grows on the way there.

Splitting is unbiased whatever this number is; a good one makes it fast.
"""

import contextlib
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hegemon.compute.compilation import specialize
from hegemon.errors import InvalidInput

# ruff: noqa: F821 - `danger` is bound by specialize


def danger_of(population, model):
    """The author's line, on the agents' records."""
    states, agents = model.tables
    for i in range(len(population)):
        agents[i] = states[population[i]]
    return float(danger(agents, model.parameters[0]))


@dataclass(frozen=True)
class Danger:
    """The author's own: `danger = lambda agents, p: …` in the protocol's class."""

    name: ClassVar[str] = "danger"
    sentence: ClassVar[str] = "given by the protocol's author"
    allocates: ClassVar[bool] = True  # an author may make arrays
    vouched: ClassVar[bool] = False  # that it grows on every way to a loss: nobody has proved that of any yet

    def compiled(self, process) -> tuple:
        protocol = process.protocol
        danger = getattr(protocol, "danger", None)
        if danger is None:
            raise InvalidInput(
                f"{protocol.id} gives no danger of its own; write `danger = lambda agents, p: …` in its class, "
                "or take another importance"
            )
        space = process.space
        states = space.decode_array(np.arange(space.size))
        function = specialize(danger_of, protocol.record_types, danger=danger)
        return function, (states, np.zeros(protocol.n, space.dtype))


NAMES = ("danger", "derived", "learnt", "found", "rarity")


def find_importance(name: str, process, seed: int, tell):
    """The importance of that name; `auto` takes the author's, and otherwise finds one."""
    from hegemon.experiments.holding import derived, learning

    if name == "auto":
        name = "danger" if hasattr(process.protocol, "danger") else "learnt"
    if name == "danger":
        return Danger()
    if name == "rarity":
        return learning.rarity(process, seed)
    if name == "derived":
        return derived.derived(process, seed, tell)
    if name == "learnt":
        return learning.learnt(process, seed, tell)
    if name == "found":
        tables = [learning.learnt(process, seed, tell)]
        with contextlib.suppress(InvalidInput):  # no small chain
            tables.append(derived.derived(process, seed, tell))
        return learning.combined(tables)
    raise InvalidInput(f"the importance {name[:40]!r} is not known; choose auto, {', '.join(NAMES)}")
