"""How configurations are distinguished on the way to a loss: by what is rare about them.

A weighted ensemble is unbiased whatever its cells are; good ones make it precise.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from hegemon.compute.compilation import part
from hegemon.errors import InvalidInput, meant
from hegemon.experiments.holding import sketch

if TYPE_CHECKING:
    from hegemon.experiments.holding.process import Process


NAMES = ("rarity", "surprise")
LEVELS = 256  # degrees of rarity, one per factor of e

# ruff: noqa: F821 - `rarest_trait` is bound by part


def cell_of_rarity(population, model, weight, learns):
    moment, trait = rarest_trait(population, model.cells, weight, learns)
    return moment * model.cells.rarity.shape[1] + trait


def cell_of_surprise(population, model, weight, learns):
    """The cell: the moment, the class of the rarest trait, and how rare this trait is."""
    moment, trait = rarest_trait(population, model.cells, weight, learns)
    classes = len(model.cells.sizes)
    here = moment * classes + trait * classes // model.cells.rarity.shape[1]
    return here * LEVELS + np.int64(min(model.cells.rarity[moment, trait], LEVELS - 1.0))


@dataclass(frozen=True)
class Rarity:
    """Learnt by the pilot: a cell for every rare trait at every moment."""

    name: ClassVar[str] = "rarity"
    sentence: ClassVar[str] = "cells by what is rarest about a configuration, found by a pilot"
    each: ClassVar[int] = 8  # walkers in every cell

    cell: ClassVar = staticmethod(cell_of_rarity)

    def compiled(self, process: "Process") -> tuple[Any, ...]:
        noted = part(sketch.note, allocates=False, added=sketch.added)
        rarest = part(sketch.rarest_trait, allocates=False, note=noted)
        return part(self.cell, allocates=False, rarest_trait=rarest), sketch.blank(process)

    def keys(self, cells: Any) -> int:
        """The number of possible cells."""
        return cells.rarity.size

    def moments(self, cells: Any, keys: np.ndarray, knots: int) -> np.ndarray:
        """The moments of cells, with the clock divided into this many parts."""
        crowd, knot = np.divmod(keys // (self.keys(cells) // cells.rarity.shape[0]), sketch.KNOTS)
        return crowd * knots + knot * knots // sketch.KNOTS

    def begin(self, cells: Any) -> None:
        cells.seen[:] = sketch.NOTHING
        self.refresh(cells)

    def refresh(self, cells: Any) -> None:
        cells.rarity[:] = sketch.rarity_of(cells.seen)

    def forget(self, cells: Any, share: float) -> None:
        """Reduce the weight of past observations to this share."""
        cells.seen[cells.seen > sketch.NOTHING] += np.log(share)

    def record(self, cells: Any) -> dict[str, Any]:
        places = np.flatnonzero(cells.seen.ravel() > sketch.NOTHING)
        return {"places": places.tolist(), "seen": np.round(cells.seen.ravel()[places], 3).tolist()}

    def restore(self, cells: Any, record: dict[str, Any]) -> None:
        cells.seen[:] = sketch.NOTHING
        cells.seen.ravel()[np.array(record["places"], np.int64)] = record["seen"]
        self.refresh(cells)

    def joined(self, records: list[dict[str, Any]]) -> dict[str, Any]:
        """The observations of several pilots, combined into one record."""
        seen: dict[int, float] = {}
        for record in records:
            for place, weight in zip(record["places"], record["seen"], strict=True):
                seen[place] = float(np.logaddexp(seen.get(place, -np.inf), weight))
        return {"places": list(seen), "seen": list(seen.values())}


@dataclass(frozen=True)
class Surprise(Rarity):
    """Also learnt by the pilot, and coarser: at every moment, a cell for each degree of rarity in each class."""

    name: ClassVar[str] = "surprise"
    sentence: ClassVar[str] = (
        "cells by how rare the rarest trait of a configuration is, and of which class, found by a pilot"
    )
    each: ClassVar[int] = 32
    cell: ClassVar = staticmethod(cell_of_surprise)

    def keys(self, cells: Any) -> int:
        return cells.rarity.shape[0] * len(cells.sizes) * LEVELS


def find_importance(name: str) -> Rarity:
    """The importance of that name; `auto` is rarity."""
    if name not in ("auto", *NAMES):
        raise InvalidInput(
            f"the importance {name[:40]!r} is not known; choose auto, {', '.join(NAMES)}{meant(name, NAMES)}"
        )
    return Surprise() if name == "surprise" else Rarity()
