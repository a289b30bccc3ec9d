"""Where the walkers of an ensemble are worth most: on the ways that led to losses before, in proportion to how much is
decided there.

Given the chance h of a loss from every configuration, the best share of a cell is its weight times the standard
deviation of h after one more stretch of steps (Aristoff and Zuckerman 2020). Nobody knows h. It is estimated from the
genealogy of a pilot's walkers: the weight that the descendants of a cell's walkers lost, over the cell's own weight. A
chain on cells would be less noisy and wrong: what a cell does not tell matters, and a walker's own history keeps it.

Shares change how much an estimate scatters, never what it is on average.
"""

from typing import Any, NamedTuple

import numpy as np

ROUNDED = 1e-9  # less than this is rounding
LARGEST_PART = 0.1  # of all that was lost, that a single loss may count for: a heavy one says little about the next


class Generation(NamedTuple):
    """The walkers between two looks."""

    cells: np.ndarray  # at the end
    weights: np.ndarray  # logarithms
    lost: np.ndarray  # the logarithm of what each lost, -inf for nothing
    parents: np.ndarray  # of the next generation: whose clone each one is

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
    places = np.cumsum(seen) - 1  # cells that are there, numbered
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
    """The most that a single loss may count for: its part of all, none of which counts for more."""
    ascending = np.sort(losses)
    largest = float(ascending[-1])
    if len(losses) * LARGEST_PART <= 1:
        return float(ascending[0])
    cut = 0
    while largest > LARGEST_PART * np.minimum(ascending, largest).sum() * (1 + ROUNDED):  # cut those one by one
        cut += 1
        largest = float(LARGEST_PART * ascending[:-cut].sum() / (1 - LARGEST_PART * cut))
    return largest


def _chances(generations: Any, weights: Any, losses: Any, cells: int) -> np.ndarray:
    """Of a loss from every cell, as far as the generations reach: what descendants lost, over the weight."""
    lost, weight = np.zeros(cells), np.zeros(cells)
    later = np.zeros(len(generations[-1].parents))
    for one, mass, loss in zip(reversed(generations), reversed(weights), reversed(losses), strict=True):
        mine = loss + np.bincount(one.parents, later, len(one.cells))
        alive = loss == 0
        lost += np.bincount(one.cells[alive], mine[alive], cells)
        weight += np.bincount(one.cells[alive], mass[alive], cells)
        later = mine
    return np.divide(lost, weight, out=np.zeros(cells), where=weight > 0)
