"""How configurations are told apart on the way to a loss: by what is rare about them, or by the author's own line.

A weighted ensemble is unbiased whatever its cells are; good ones make it precise.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hegemon.compute.compilation import part
from hegemon.errors import InvalidInput, meant
from hegemon.experiments.holding import derived, sketch

NAMES = ("rarity", "surprise", "derived", "danger")
LEVELS = 256  # degrees of rarity, one for every factor of e
STEPS = 8  # cells of a danger between its usual low and high

# ruff: noqa: F821 - `danger`, `rarest_trait` are bound by part


def cell_of_rarity(population, model, weight, learns):
    moment, trait = rarest_trait(population, model.cells, weight, learns)
    return moment * model.cells.rarity.shape[1] + trait


def cell_of_surprise(population, model, weight, learns):
    """How rare, and of which class of agents, whatever it is that is rare about them."""
    moment, trait = rarest_trait(population, model.cells, weight, learns)
    classes = len(model.cells.sizes)
    here = moment * classes + trait * classes // model.cells.rarity.shape[1]
    return here * LEVELS + np.int64(min(model.cells.rarity[moment, trait], LEVELS - 1.0))


def cell_of_danger(population, model, weight, learns):
    """The author's line on the agents' records, in steps of a width that the pilot finds."""
    states, agents, scale, span = model.cells
    for i in range(len(population)):
        agents[i] = states[population[i]]
    value = float(danger(agents, model.parameters[0]))
    if learns:
        span[0], span[1] = min(span[0], value), max(span[1], value)
    return np.int64(np.floor(value / scale[0]))


@dataclass(frozen=True)
class Rarity:
    """Found by the pilot: a cell for every rare trait at every moment."""

    name: ClassVar[str] = "rarity"
    sentence: ClassVar[str] = "cells by what is rarest about a configuration, found by a pilot"
    allocates: ClassVar[bool] = False
    vouched: ClassVar[bool] = True  # cells on every way
    guides: ClassVar[bool] = True  # its cells can be listed, so that walkers can be guided among them
    each: ClassVar[int] = 8  # walkers in every cell

    cell: ClassVar = staticmethod(cell_of_rarity)

    def compiled(self, process) -> tuple:
        noted = part(sketch.note, allocates=False, added=sketch.added)
        rarest = part(sketch.rarest_trait, allocates=False, note=noted)
        return part(self.cell, allocates=False, rarest_trait=rarest), sketch.blank(process)

    def keys(self, cells) -> int:
        """How many cells there can be."""
        return cells.rarity.size

    def begin(self, cells) -> None:
        cells.seen[:] = sketch.NOTHING
        self.refresh(cells)

    def refresh(self, cells) -> None:
        cells.rarity[:] = sketch.rarity_of(cells.seen)

    def forget(self, cells, share: float) -> None:
        """Let what was seen so far count little beside what will be."""
        cells.seen[cells.seen > sketch.NOTHING] += np.log(share)

    def record(self, cells) -> dict:
        places = np.flatnonzero(cells.seen.ravel() > sketch.NOTHING)
        return {"places": places.tolist(), "seen": np.round(cells.seen.ravel()[places], 3).tolist()}

    def restore(self, cells, record: dict) -> None:
        cells.seen[:] = sketch.NOTHING
        cells.seen.ravel()[np.array(record["places"], np.int64)] = record["seen"]
        self.refresh(cells)

    def joined(self, records: list[dict]) -> dict:
        """What several pilots have seen, as one has."""
        seen: dict[int, float] = {}
        for record in records:
            for place, weight in zip(record["places"], record["seen"], strict=True):
                seen[place] = float(np.logaddexp(seen.get(place, -np.inf), weight))
        return {"places": list(seen), "seen": list(seen.values())}


@dataclass(frozen=True)
class Surprise(Rarity):
    """Found by the pilot as well, and coarser: at every moment, a cell for each degree of rarity in each class."""

    name: ClassVar[str] = "surprise"
    sentence: ClassVar[str] = (
        "cells by how rare the rarest trait of a configuration is, and of which class, found by a pilot"
    )
    each: ClassVar[int] = 32
    cell: ClassVar = staticmethod(cell_of_surprise)

    def keys(self, cells) -> int:
        return cells.rarity.shape[0] * len(cells.sizes) * LEVELS


@dataclass(frozen=True)
class Derived(Surprise):
    """From the exact chain of a few agents: at every moment, a cell for each degree of danger.

    Its cells do not lead along ways that a few agents do not know: at n = 100 it misses half of time-optimal's losses,
    and replications that all miss them agree with each other.
    """

    name: ClassVar[str] = "derived"
    sentence: ClassVar[str] = "cells by the chance of a loss in the exact chain of a few agents, carried over"
    vouched: ClassVar[bool] = False

    def compiled(self, process) -> tuple:
        cell, tables = super().compiled(process)
        tables.rarity[:] = derived.levels(process)
        return cell, tables

    def begin(self, cells) -> None:
        """What is dangerous is known."""

    def refresh(self, cells) -> None:
        pass

    def forget(self, cells, share: float) -> None:
        pass

    def record(self, cells) -> dict:
        return {}

    def restore(self, cells, record: dict) -> None:
        pass

    def joined(self, records: list[dict]) -> dict:
        return {}


@dataclass(frozen=True)
class Danger:
    """The author's own: `danger = lambda agents, p: …` in the protocol's class, a number that grows towards a loss."""

    name: ClassVar[str] = "danger"
    sentence: ClassVar[str] = "cells by the danger that the protocol's author gives"
    allocates: ClassVar[bool] = True  # an author may make arrays
    vouched: ClassVar[bool] = False  # a number leads along some ways, and may hide others
    guides: ClassVar[bool] = False
    each: ClassVar[int] = 16

    def compiled(self, process) -> tuple:
        protocol, space = process.protocol, process.space
        states = space.decode_array(np.arange(space.size))
        function = part(cell_of_danger, protocol.record_types, danger=protocol.danger)
        return function, (states, np.zeros(protocol.n, space.dtype), np.ones(1), np.array([np.inf, -np.inf]))

    def refresh(self, cells) -> None:
        """The width of a cell is found once: all walkers must be told apart alike."""
        _, _, scale, span = cells
        if np.isfinite(span).all() and scale[0] == 1.0 and span[1] > span[0]:
            scale[0] = (span[1] - span[0]) / STEPS

    def begin(self, cells) -> None:
        cells[2][0], cells[3][:] = 1.0, (np.inf, -np.inf)

    def forget(self, cells, share: float) -> None:
        pass

    def joined(self, records: list[dict]) -> dict:
        return records[0]

    def record(self, cells) -> dict:
        return {"scale": float(cells[2][0])}

    def restore(self, cells, record: dict) -> None:
        cells[2][0] = record["scale"]


def find_importance(name: str, protocol):
    """The importance of that name; `auto` takes what the pilot finds, which needs no author."""
    if name in ("auto", "rarity"):
        return Rarity()
    if name == "surprise":
        return Surprise()
    if name == "derived":
        derived.chances(derived.small(protocol))  # what cannot be derived is refused now
        return Derived()
    if name != "danger":
        raise InvalidInput(
            f"the importance {name[:40]!r} is not known; choose auto, {', '.join(NAMES)}{meant(name, NAMES)}"
        )
    if getattr(protocol, "danger", None) is None:
        raise InvalidInput(
            f"{protocol.id} gives no danger of its own; write `danger = lambda agents, p: …` in its class, "
            "or take the importance rarity"
        )
    return Danger()
