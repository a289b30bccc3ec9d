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
    ROUNDS,
    add_to,
    eliminate,
    gather,
    gmres,
    residuals,
    solve_components,
    substitute,
    substitute_transposed,
)

TOLERANCE = 1e-12  # of the residual, after which no further refinement is tried
REQUIRED = 1e-6
BLOCK = 1 << 16
ROUNDING = 2.0**-53  # of the solution to one double
SWEEPS = 20_000_000  # configurations swept by Gauss-Seidel before another method takes over
SHRINKS = 1e-4  # a solution must reduce the residual by this factor in every component that is swept
LARGEST_ELIMINATED = 2500  # configurations of one component: elimination works on a full matrix
KRYLOV, RESTARTS = 40, 60
STALLED = 1e-4  # of the right side, left by GMRES: then factors are tried
FILLING, LARGEST_FACTORS = 50, 2e8  # times as many entries as the matrix has; entries in all, 12 bytes each


def unreliable(error: float, where: str) -> InvalidInput:
    """The error for a solver that gave up, and where: the expected steps themselves may be of any size."""
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

    The rows of W sum to at most the denominator; of a `transposed` system its columns do. `parts` are labels and order
    of components, where they are known: those of any configurations of which the active ones are whole components.
    """

    def __init__(
        self, offsets: np.ndarray, targets: np.ndarray, weights: np.ndarray, denominator: int, active: np.ndarray,
        transposed: bool = False, parts: tuple[np.ndarray, np.ndarray] | None = None,
    ):  # fmt: skip
        self.transposed = transposed
        self.offsets, self.targets, self.weights, self.size = offsets, targets, weights, len(active)
        self.denominator = float(denominator)
        label, order = parts or components(offsets, targets, active)[:2]
        self.order = order if len(order) == np.count_nonzero(active) else order[active[order]]
        labels = label[self.order]
        ends = np.flatnonzero(labels[1:] != labels[:-1])
        self.bounds = np.zeros(len(ends) + 1 + bool(len(labels)), np.int32)
        self.bounds[1:-1], self.bounds[-1] = ends + 1, len(labels)
        self.place = np.full(self.size, -1, np.int32)
        self.place[self.order] = np.arange(len(self.order), dtype=np.int32)
        self._hard: set[int] = set()  # the components that sweeps alone do not solve
        self._factors: dict[int, Any] = {}
        self._triangles: dict[int, Any] = {}  # of the components at which GMRES stalls

    def expected_steps(self) -> Solution:
        """The solution for b = 1."""
        values, error = self.refined(np.array([self.denominator]))
        if not error < REQUIRED:
            raise unreliable(error, f"on {self._hardest():,} configurations that lead to each other")
        return Solution(values, error / (1 - error) + ROUNDING)

    def _hardest(self) -> int:
        """The size of the largest component that sweeps alone do not solve; if they solve all, of the largest."""
        sizes = np.diff(self.bounds)
        return int(max((sizes[c] for c in self._hard), default=sizes.max(initial=0)))

    def refined(self, numerators: np.ndarray) -> tuple[np.ndarray, float]:
        """The solution for b = numerators/denominator (one number: the same for all), and the largest residual.

        Component by component, those that lead nowhere else first, each in doubled precision: improved until its
        residual is tiny or stops shrinking.
        """
        doubled = np.zeros(2 * self.size)
        x = doubled.reshape(self.size, 2)
        numerators = np.asarray(numerators, float)
        component, error = 0, 0.0
        while component < len(self.bounds) - 1:
            hard = np.array(sorted(self._hard), np.int64)
            component, error = solve_components(
                component, error, self.bounds, self.order, self.place, self.offsets, self.targets, self.weights,
                self.denominator, numerators, x, TOLERANCE, SHRINKS, SWEEPS, hard, LARGEST_ELIMINATED,
            )  # fmt: skip
            if component < len(self.bounds) - 1:
                self._hard.add(component)
                error = max(error, self._solve_hard(component, numerators, x))
                component += 1
        for first in range(0, self.size, BLOCK):  # without the rests, in the same memory
            doubled[first : first + BLOCK][: self.size - first] = x[first : first + BLOCK, 0]
        del x
        doubled.resize(self.size, refcheck=False)
        return doubled, error

    def _solve_hard(self, component: int, numerators: np.ndarray, x: np.ndarray) -> float:
        """Solve a component that sweeps do not solve, improved in the same way; returns its largest residual."""
        begin, end = self.bounds[component : component + 2]
        members = self.order[begin:end]
        system = gather(
            members, begin, self.place, self.offsets, self.targets, self.weights, self.denominator, numerators, x
        )
        y, right, error = np.zeros((len(members), 2)), np.zeros(len(members)), np.inf
        residuals(*system, self.denominator, y, right)
        for _ in range(ROUNDS):
            best = y.copy()
            rows, columns, inner, own, _ = system
            add_to(y, self._solved(component, rows, columns, inner, own, right))
            now = residuals(*system, self.denominator, y, right)
            if now >= error:
                y = best
                break
            error = now
            if error <= TOLERANCE:
                break
        x[members] = y
        return error

    def _solved(
        self, component: int, rows: np.ndarray, columns: np.ndarray, inner: np.ndarray, own: np.ndarray,
        right: np.ndarray,
    ) -> np.ndarray:  # fmt: skip
        """By elimination without subtractions, or for a large component by GMRES after Gauss-Seidel.

        Sweeps are slow because of one eigenvalue close to 1, the rare escape from the component: Krylov
        methods remove a few such eigenvalues at once, and elimination is not affected. Where GMRES stalls, as on long
        cycles, the matrix is factored as far as memory allows.
        """
        if len(own) <= LARGEST_ELIMINATED:
            if component not in self._factors:
                within = matrix(inner.astype(float), columns, rows)
                forward = within.T.tocsr() if self.transposed else within
                leak = own - forward.sum(axis=1)  # exact: whole numbers
                self._factors[component] = eliminate(forward.toarray(), leak)
            by_factors = substitute_transposed if self.transposed else substitute
            return by_factors(*self._factors[component], right * self.denominator)
        if component not in self._factors:
            diagonal = matrix(own, np.arange(len(own), dtype=np.int32), np.arange(len(own) + 1))
            within = matrix(inner.astype(float), columns, rows)
            self._factors[component] = ((diagonal - within) / self.denominator).tocsr()
        block = self._factors[component]
        scale = float(np.abs(right).max(initial=0.0)) or 1.0
        solution = np.zeros(len(own))
        if component not in self._triangles:
            block_of = block.indptr, block.indices, block.data
            solution = gmres(*block_of, right / scale, solution, KRYLOV, RESTARTS, 1e-8) * scale
            if np.abs(right - block @ solution).max() <= STALLED * scale:
                return solution
            self._triangles[component] = _triangles(block)
        factors = self._triangles[component]
        return solution if factors is None else factors.solve(right)


def _triangles(block: Any) -> Any:
    """Triangular factors that fill at most their share of memory, which makes them inexact; None where that is too
    little to be useful. Refinement corrects their errors, or shows that it cannot."""
    from scipy.sparse.linalg import spilu

    filling = min(FILLING, LARGEST_FACTORS / max(1, block.nnz))
    if filling < 2:
        return None
    try:
        return spilu(block.tocsc(), drop_tol=0, fill_factor=filling, diag_pivot_thresh=0)
    except (MemoryError, RuntimeError):  # a pivot that is exactly zero
        return None
