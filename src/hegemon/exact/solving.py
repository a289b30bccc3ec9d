"""Expected steps as solutions of (I - P) x = 1, with an error bound that is proved, not hoped for.

I - P restricted to the transient configurations has a nonnegative inverse. If the residual 1 - (I - P) x of
an approximate x is at most e everywhere, then the true solution differs from x by at most e times itself: so
the largest residual, computed in doubled precision, is a bound on the relative error.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from hegemon.errors import InvalidInput
from hegemon.exact.chain import matrix
from hegemon.exact.graph_kernels import components
from hegemon.exact.linear_kernels import (
    add_to,
    eliminate,
    gmres,
    residuals,
    solve_components,
    substitute,
    substitute_transposed,
)

TOLERANCE = 1e-12  # of the residual, after which no further refinement is tried
REQUIRED = 1e-6
ROUNDING = 2.0**-53  # of the solution to one double
SWEEPS = 20_000_000  # configurations swept by Gauss-Seidel before another method takes over
SHRINKS = 1e-4  # by so much a solution must reduce the residual in every component that is swept
LARGEST_ELIMINATED = 2500  # configurations of one component: elimination works on a full matrix
KRYLOV, RESTARTS = 40, 60
STALLED = 1e-4  # of the right side, left by GMRES: then factors are tried
FILLING, LARGEST_FACTORS = 50, 2e8  # times as many entries as the matrix has; entries in all, 12 bytes each


def unreliable(error: float, where: str) -> InvalidInput:
    """Says that the solver gave up, and where: the expected steps themselves may be of any size."""
    return InvalidInput(
        f"the expected steps could not be computed reliably: the solver gives up {where} with a residual of "
        f"{error:.2g}, and {REQUIRED:g} is required; take a smaller n or smaller parameters"
    )


@dataclass(frozen=True)
class Solution:
    """Expected steps; `error` bounds the relative error of every one of them."""

    values: np.ndarray
    error: float


class LinearSystem:
    """(I - W/denominator) x = b over the active configurations; x is 0 elsewhere.

    The rows of W sum to at most the denominator; of a `transposed` system its columns do.
    """

    def __init__(
        self, offsets: np.ndarray, targets: np.ndarray, weights: np.ndarray, denominator: int, active: np.ndarray,
        transposed: bool = False,
    ):  # fmt: skip
        self.transposed = transposed
        self.offsets, self.targets, self.weights, self.active = offsets, targets, weights, active
        self.denominator = float(denominator)
        label, self.order, number = components(offsets, targets, active)
        self.bounds = np.searchsorted(label[self.order], np.arange(number + 1))
        self._hard: set[int] = set()  # the components that sweeps alone do not settle
        self._factors: dict = {}
        self._triangles: dict = {}  # of the components at which GMRES stalls

    def expected_steps(self) -> Solution:
        """The solution for b = 1."""
        values, error = self.refined(self.denominator * self.active)
        if not error < REQUIRED:
            raise unreliable(error, f"on {self._hardest():,} configurations that lead to each other")
        return Solution(values, error / (1 - error) + ROUNDING)

    def _hardest(self) -> int:
        """The size of the largest component that sweeps alone do not settle, or of the largest of all."""
        sizes = np.diff(self.bounds)
        return int(max((sizes[c] for c in self._hard), default=sizes.max(initial=0)))

    def refined(self, numerators: np.ndarray) -> tuple[np.ndarray, float]:
        """The solution for b = numerators/denominator, improved until its residual is tiny or stops shrinking;
        and the largest residual."""
        high, low = np.zeros(len(self.active)), np.zeros(len(self.active))
        right = numerators / self.denominator
        error = np.inf
        for _ in range(12):
            best = high.copy(), low.copy()
            add_to(high, low, self.solve(right))
            before = float(np.abs(right).max(initial=0.0))
            right = residuals(
                self.offsets, self.targets, self.weights, self.denominator, self.active, numerators, high, low
            )
            now = float(np.abs(right).max(initial=0.0))
            found_hard = self._mark_hard(right, SHRINKS * before)
            if now >= error and not found_hard:
                high, low = best
                break
            error = now
            if error <= TOLERANCE:
                break
        return high, error

    def _mark_hard(self, residual: np.ndarray, limit: float) -> bool:
        """Components whose sweeps settled far from the solution; whether there are new ones."""
        if not len(self.order):
            return False
        largest = np.maximum.reduceat(np.abs(residual[self.order]), self.bounds[:-1])
        slow = np.flatnonzero((largest > limit) & (np.diff(self.bounds) > 1))
        new = [int(c) for c in slow if c not in self._hard]
        self._hard.update(new)
        return bool(new)

    def solve(self, right: np.ndarray) -> np.ndarray:
        """One solution in ordinary precision, component by component, those that lead nowhere else first."""
        x = np.zeros(len(self.active))
        component = 0
        while component < len(self.bounds) - 1:
            hard = np.array(sorted(self._hard), np.int64)
            component = solve_components(
                component, self.bounds, self.order, self.offsets, self.targets, self.weights, self.denominator, right,
                x, SWEEPS, hard, LARGEST_ELIMINATED,
            )  # fmt: skip
            if component < len(self.bounds) - 1:
                self._solve_component(component, right, x)
                component += 1
        return x

    def _solve_component(self, component: int, right: np.ndarray, x: Any) -> None:
        """By elimination without subtractions, or for a large component by GMRES after Gauss-Seidel.

        What makes sweeps slow is one eigenvalue close to 1, the rare escape from the component: Krylov
        methods remove a few such eigenvalues at once, and elimination does not mind. Where GMRES stalls, as on long
        cycles, the matrix is factored as far as memory allows.
        """
        self._hard.add(component)
        members = self.order[self.bounds[component] : self.bounds[component + 1]]
        guess = x[members].copy()
        x[members] = 0.0
        known = right[members] + self._rows(members) @ x / self.denominator
        if len(members) <= LARGEST_ELIMINATED:
            if component not in self._factors:
                inner = self._inner(members)
                forward = inner.T if self.transposed else inner
                leak = self.denominator - forward.sum(axis=1)  # exact: whole numbers
                self._factors[component] = eliminate(np.ascontiguousarray(forward.toarray()), leak)
            by_factors = substitute_transposed if self.transposed else substitute
            x[members] = by_factors(*self._factors[component], known * self.denominator)
            return
        if component not in self._factors:
            identity = matrix(np.ones(len(members)), np.arange(len(members)), np.arange(len(members) + 1))
            self._factors[component] = (identity - self._inner(members) / self.denominator).tocsr()
        block = self._factors[component]
        scale = float(np.abs(known).max(initial=0.0)) or 1.0
        if component not in self._triangles:
            block_of = block.indptr, block.indices, block.data
            x[members] = gmres(*block_of, known / scale, guess / scale, KRYLOV, RESTARTS, 1e-8) * scale
            if np.abs(known - block @ x[members]).max() <= STALLED * scale:
                return
            self._triangles[component] = _triangles(block)
        if self._triangles[component] is not None:
            x[members] = self._triangles[component].solve(known)

    def _inner(self, members: np.ndarray) -> Any:
        """The weights within a component."""
        return self._rows(members).tocsc()[:, members].tocsr()

    def _rows(self, members: np.ndarray) -> Any:
        return matrix(self.weights, self.targets, self.offsets)[members].astype(float)


def _triangles(block: Any) -> Any:
    """Triangular factors that fill at most their share of memory, which makes them inexact; None where that is too
    little to be of use. What they solve badly, refinement shows."""
    from scipy.sparse.linalg import spilu

    filling = min(FILLING, LARGEST_FACTORS / max(1, block.nnz))
    if filling < 2:
        return None
    try:
        return spilu(block.tocsc(), drop_tol=0, fill_factor=filling, diag_pivot_thresh=0)
    except (MemoryError, RuntimeError):  # a pivot that is exactly zero
        return None
