"""Where walkers of an ensemble are most useful: on the ways that led to losses before, in proportion to how much the
chance of a loss still varies there.

Given the chance h of a loss from every configuration, the best share of a cell is its weight times the standard
deviation of h after one more stretch of steps (Aristoff and Zuckerman 2020). h is unknown. It is estimated from the
genealogy of a pilot's walkers: the weight that the descendants of a cell's walkers lost, over the cell's own weight. A
Markov chain on cells would be less noisy but wrong: details that a cell does not distinguish matter, and a walker's own
history keeps them.

Shares change the scatter of an estimate, never its mean.
"""

from typing import Any, NamedTuple

import numpy as np

ROUNDED = 1e-9  # relative variances below this are rounding errors
LARGEST_PART = 0.1  # the largest share of one loss in all: a heavy loss says little about the next


class Generation(NamedTuple):
    """The walkers between two samples."""

    cells: np.ndarray  # at the end
    weights: np.ndarray  # logarithms
    lost: np.ndarray  # the logarithm of the weight that each lost, -inf for none
    parents: np.ndarray  # for each walker of the next generation, the walker that it was cloned from

    @classmethod
    def of(cls, crowd: Any, weights: np.ndarray) -> "Generation":
        """After an iteration of the crowd, which had walkers of these weights."""
        sorting, size = crowd.sorting, len(weights)
        cells = sorting.names[sorting.keys[:size]]
        return cls(cells, weights, sorting.lost[:size].copy(), sorting.parents[: crowd.size].copy())


def merits(generations: list[Generation], cells: int) -> np.ndarray | None:
    """The merit of every cell, 1 in all; None where nothing was lost."""
    lost = np.concatenate([one.lost[one.lost > -np.inf] for one in generations])
    if not len(lost):
        return None
    heaviest = max(one.weights.max() for one in generations)
    largest = tamed(np.exp(lost - heaviest))
    weights = [np.exp(one.weights - heaviest) for one in generations]
    losses = [np.minimum(np.exp(one.lost - heaviest), largest) for one in generations]
    seen = np.zeros(cells, bool)
    for one in generations:
        seen[one.cells] = True
    places = np.cumsum(seen) - 1  # the occupied cells, numbered
    number = int(places[-1]) + 1
    generations = [one._replace(cells=places[one.cells]) for one in generations]
    chance = _chances(generations, weights, losses, number)
    weight, mean, square = np.zeros(number), np.zeros(number), np.zeros(number)
    for before, now, mass, loss in zip(generations, generations[1:], weights[1:], losses[1:], strict=False):
        origins = before.cells[before.parents]
        after = np.where(loss > 0, loss / mass, chance[now.cells])
        weight += np.bincount(origins, mass, number)
        mean += np.bincount(origins, mass * after, number)
        square += np.bincount(origins, mass * after**2, number)
    variance = weight * square - mean**2  # times the square of the weight
    found = np.zeros(cells)
    found[seen] = np.sqrt(np.where(variance > ROUNDED * weight * square, variance, 0.0))
    total = found.sum()
    return found / total if total > 0 else None


def tamed(losses: np.ndarray) -> float:
    """The largest value at which losses are capped, so that no capped loss exceeds LARGEST_PART of their sum."""
    ascending = np.sort(losses)
    largest = float(ascending[-1])
    if len(losses) * LARGEST_PART <= 1:
        return float(ascending[0])
    cut = 0
    while largest > LARGEST_PART * np.minimum(ascending, largest).sum() * (1 + ROUNDED):  # cap one more at a time
        cut += 1
        largest = float(LARGEST_PART * ascending[:-cut].sum() / (1 - LARGEST_PART * cut))
    return largest


def _chances(generations: Any, weights: Any, losses: Any, cells: int) -> np.ndarray:
    """The chance of a loss from every cell within these generations: the weight that descendants lost, over the
    weight."""
    lost, weight = np.zeros(cells), np.zeros(cells)
    later = np.zeros(len(generations[-1].parents))
    for one, mass, loss in zip(reversed(generations), reversed(weights), reversed(losses), strict=True):
        mine = loss + np.bincount(one.parents, later, len(one.cells))
        alive = loss == 0
        lost += np.bincount(one.cells[alive], mine[alive], cells)
        weight += np.bincount(one.cells[alive], mass[alive], cells)
        later = mine
    return np.divide(lost, weight, out=np.zeros(cells), where=weight > 0)
