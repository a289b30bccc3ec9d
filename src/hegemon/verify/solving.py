"""Expected steps as solutions of (I - P) x = 1, with an error bound that is proved, not hoped for.

I - P restricted to the transient configurations has a nonnegative inverse. If the residual 1 - (I - P) x of
an approximate x is at most e everywhere, then the true solution differs from x by at most e times itself: so
the largest residual, computed in doubled precision, is a bound on the relative error.
"""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csc_array, csr_array
from scipy.sparse.linalg import splu

from hegemon.errors import InvalidInput
from hegemon.verify.graph_kernels import components
from hegemon.verify.linear_kernels import add_to, residuals, solve_components

TOLERANCE = 1e-13  # of the residual, after which no further refinement is tried
REQUIRED = 1e-6
ROUNDING = 2.0**-53  # of the solution to one double
SWEEPS = 4000  # Gauss-Seidel sweeps before a component is factorized instead
LARGEST_FACTORIZED = 12_000  # configurations of one component that LU may be tried on
PATIENCE = 400_000  # sweeps for a component too large to factorize


@dataclass(frozen=True)
class Solution:
    """Expected steps; `error` bounds the relative error of every one of them."""

    values: np.ndarray
    error: float


class System:
    """(I - W/denominator) x = b over the active configurations; x is 0 elsewhere."""

    def __init__(self, offsets, targets, weights, denominator: int, active: np.ndarray):
        self.offsets, self.targets, self.weights, self.active = offsets, targets, weights, active
        self.denominator = float(denominator)
        label, self.order, number = components(offsets, targets, active)
        self.bounds = np.searchsorted(label[self.order], np.arange(number + 1))
        self._factors: dict = {}

    def expected_steps(self) -> Solution:
        """The solution for b = 1, refined until its residual is tiny or stops shrinking."""
        high, low = np.zeros(len(self.active)), np.zeros(len(self.active))
        right = self.active.astype(float)
        error = np.inf
        for _ in range(6):
            correction = self.solve(right)
            best = high.copy(), low.copy()
            add_to(high, low, correction)
            right = residuals(
                self.offsets, self.targets, self.weights, self.denominator, self.active, high, low
            )
            now = float(np.abs(right).max(initial=0.0))
            if now >= error:
                high, low = best
                break
            error = now
            if error <= TOLERANCE:
                break
        if not error < REQUIRED:
            raise InvalidInput(
                f"the expected steps are too large to be computed reliably (relative error {error:.2g}); "
                "take a smaller n or smaller parameters"
            )
        return Solution(high, error / (1 - error) + ROUNDING)

    def solve(self, right: np.ndarray) -> np.ndarray:
        """One solution in ordinary precision, component by component, those that lead nowhere else first."""
        x = np.zeros(len(self.active))
        component = 0
        while component < len(self.bounds) - 1:
            component = solve_components(
                component, self.bounds, self.order, self.offsets, self.targets, self.weights, self.denominator, right,
                x, SWEEPS, _listed(self._factors),
            )  # fmt: skip
            if component < len(self.bounds) - 1:
                self._solve_component(component, right, x)
                component += 1
        return x

    def _solve_component(self, component: int, right, x) -> None:
        members = self.order[self.bounds[component] : self.bounds[component + 1]]
        if len(members) > LARGEST_FACTORIZED:
            bounds = self.bounds[component : component + 2]
            solve_components(
                0, bounds, self.order, self.offsets, self.targets, self.weights, self.denominator, right,
                x, PATIENCE, _listed({}),
            )  # fmt: skip
            return
        if component not in self._factors:
            self._factors[component] = splu(self._block(members))
        x[members] = 0.0
        known = right[members] + self._rows(members) @ x / self.denominator
        x[members] = self._factors[component].solve(known)

    def _rows(self, members) -> csr_array:
        size = len(self.active)
        matrix = csr_array((self.weights, self.targets, self.offsets), (size, size))
        return matrix[members].astype(float)

    def _block(self, members) -> csc_array:
        block = self._rows(members).tocsc()[:, members] / self.denominator
        identity = csc_array((np.ones(len(members)), (np.arange(len(members)),) * 2))
        return csc_array(identity - block)


def _listed(factors: dict) -> np.ndarray:
    """The components that are to be factorized rather than swept, ascending."""
    return np.array(sorted(factors), np.int64)
