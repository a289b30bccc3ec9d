"""Faster convergence of sweeps over a large chain: their direction, and extrapolation between them."""

import numpy as np


class Direction:
    """The order of the keys in which to sweep: some passes backwards, some forwards, then always the better of the two.

    A sweep converges fast if it visits successors before predecessors. Which order does that depends on the codes.
    """

    TRIED = 4  # passes each; the first of them is still affected by the order before

    def __init__(self) -> None:
        self.backwards = True
        self._changes: list[float] = []

    def learn(self, change: float) -> bool:
        """Take in the largest change of a pass; returns whether the direction is settled."""
        self._changes.append(change)
        if len(self._changes) == self.TRIED:
            self.backwards = False
        elif len(self._changes) == 2 * self.TRIED:
            against, along = (self._changes[end - 1] / self._changes[end - 3] for end in (self.TRIED, 2 * self.TRIED))
            self.backwards = against <= along
        return len(self._changes) > 2 * self.TRIED


class Extrapolation:
    """After some sweeps, the combination of them whose move would be least (reduced rank extrapolation).

    It removes at once what sweeps remove slowly, as restarted GMRES would. Single precision is enough for a direction.
    After one that more than doubles the change, no other is tried: sweeps alone converge too.
    """

    KEPT, BLOCK = 5, 1 << 18

    def __init__(self, size: int):
        self._moves = np.zeros((self.KEPT, size), np.float32)
        self._kept, self._before, self._trusted = 0, np.inf, True

    @property
    def moves(self) -> np.ndarray:
        """The row into which the next sweep writes its changes."""
        return self._moves[self._kept]

    def learn(self, change: float, values: np.ndarray) -> None:
        if self._kept == 0:
            self._trusted &= change <= 2 * self._before
        self._kept += 1
        if self._kept < self.KEPT:
            return
        self._kept, self._before = 0, change
        products = np.zeros((self.KEPT, self.KEPT))
        for first in range(0, self._moves.shape[1], self.BLOCK):  # not by BLAS, whose threads change the last digits
            part = self._moves[:, first : first + self.BLOCK].astype(float)
            products += np.einsum("ik,jk->ij", part, part)
        if self._trusted and products.trace() > 0:
            products = products / products.trace() + 1e-12 * np.eye(self.KEPT)
            shares = np.linalg.solve(products, np.ones(self.KEPT))
            back = np.cumsum(shares / shares.sum()) - shares / shares.sum()
            for amount, moves in zip(back, self._moves, strict=True):
                values -= np.float32(amount) * moves
