"""Compiled linear algebra on chains: Gauss-Seidel by components, residuals in doubled precision."""

import numpy as np
from numba import njit

SMALL = 2e-14  # change in one sweep, relative, at which a component is done


@njit(cache=True, nogil=True)
def solve_components(
    first, bounds, order, offsets, targets, weights, denominator, right, x, sweeps, factorized
):
    """x_i = (b_i + sum of w_ij x_j) / (1 - w_ii), swept within each component until it no longer moves.

    Answers the first component that is listed in `factorized` or does not settle within `sweeps`.
    """
    for component in range(first, len(bounds) - 1):
        begin, end = bounds[component], bounds[component + 1]
        listed = np.searchsorted(factorized, component)
        if listed < len(factorized) and factorized[listed] == component:
            return component
        settled = False
        for _ in range(sweeps):
            change = 0.0
            for k in range(begin, end):
                i = order[k]
                total = right[i] * denominator
                rest = denominator
                for e in range(offsets[i], offsets[i + 1]):
                    if targets[e] == i:
                        rest -= weights[e]
                    else:
                        total += weights[e] * x[targets[e]]
                value = total / rest
                change = max(change, abs(value - x[i]) - SMALL * abs(value))
                x[i] = value
            if change <= 0.0 or end - begin == 1:
                settled = True
                break
        if not settled:
            return component
    return len(bounds) - 1


@njit(cache=True, nogil=True)
def two_sum(a, b):
    """The rounded sum and what rounding lost (Knuth)."""
    s = a + b
    t = s - a
    return s, (a - (s - t)) + (b - t)


@njit(cache=True, nogil=True)
def two_product(a, b):
    """The rounded product and what rounding lost (Dekker)."""
    p = a * b
    c = 134217729.0 * a
    a_high = c - (c - a)
    a_low = a - a_high
    c = 134217729.0 * b
    b_high = c - (c - b)
    b_low = b - b_high
    return p, ((a_high * b_high - p) + a_high * b_low + a_low * b_high) + a_low * b_low


@njit(cache=True, nogil=True)
def add_to(high, low, extra):
    """high + low += extra, in doubled precision."""
    for i in range(len(high)):
        s, lost = two_sum(high[i], extra[i])
        high[i], low[i] = two_sum(s, lost + low[i])


@njit(cache=True, nogil=True)
def residuals(offsets, targets, weights, denominator, active, high, low):
    """1 - x_i + sum of w_ij x_j / denominator, for x = high + low, at every active configuration."""
    result = np.zeros(len(active))
    for i in range(len(active)):
        if not active[i]:
            continue
        total, lost = denominator, 0.0
        own = denominator
        for e in range(offsets[i], offsets[i + 1]):
            j = targets[e]
            if j == i:
                own -= weights[e]
            elif active[j]:
                product, error = two_product(float(weights[e]), high[j])
                total, more = two_sum(total, product)
                lost += error + more + weights[e] * low[j]
        product, error = two_product(-float(own), high[i])
        total, more = two_sum(total, product)
        lost += error + more - own * low[i]
        result[i] = (total + lost) / denominator
    return result
