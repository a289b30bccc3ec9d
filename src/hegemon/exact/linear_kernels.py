"""Compiled linear algebra on chains: Gauss-Seidel by components, residuals in doubled precision."""

import numpy as np

from hegemon.compute.caching import kernel

FEWEST_SWEEPS, MOST_SWEEPS = 40, 4000
LOOK = 8  # sweeps between two looks at how fast a component settles
PATIENCE = 200  # further sweeps at which another method is no slower
SMALL = 1e-8  # change in one sweep, relative, at which a component is done; refinement does the rest


@kernel
def settles_soon(change, before, wanted):
    """Whether sweeps that reduced the change so much in LOOK sweeps will reduce it to what is wanted."""
    return change < before and np.log(change / wanted) / np.log(before / change) * LOOK <= PATIENCE


@kernel
def solve_components(first, bounds, order, offsets, targets, weights, denominator, right, x, work, hard, large):
    """x_i = (b_i + sum of w_ij x_j) / (1 - w_ii), swept within each component until it no longer moves.

    Answers the first component that is listed in `hard` or does not settle within `work` updates; one of more than
    `large` configurations also when it is seen that it will not soon. `hard` ascends.
    """
    listed = 0
    for component in range(first, len(bounds) - 1):
        begin, end = bounds[component], bounds[component + 1]
        while listed < len(hard) and hard[listed] < component:
            listed += 1
        if listed < len(hard) and hard[listed] == component:
            return component
        settled, before = False, 0.0
        for sweep in range(max(FEWEST_SWEEPS, min(MOST_SWEEPS, work // (end - begin)))):
            change, largest = 0.0, 0.0
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
                change, largest = max(change, abs(value - x[i])), max(largest, abs(value))
                x[i] = value
            if change <= SMALL * largest or end - begin == 1:
                settled = True
                break
            if sweep % LOOK == LOOK - 1:
                if end - begin > large and sweep > LOOK and not settles_soon(change, before, SMALL * largest):
                    break
                before = change
        if not settled:
            return component
    return len(bounds) - 1


@kernel
def lower_solve(offsets, columns, values, right):
    """The solution of L x = b for the lower triangle L of a matrix: one sweep from zero."""
    x = np.empty(len(right))
    for i in range(len(right)):
        total, own = right[i], 1.0
        for e in range(offsets[i], offsets[i + 1]):
            j = columns[e]
            if j < i:
                total -= values[e] * x[j]
            elif j == i:
                own = values[e]
        x[i] = total / own
    return x


@kernel
def swept_residual(offsets, columns, values, right, x):
    """What is left of b - A x after one sweep from zero: the residual that GMRES makes small."""
    left = np.empty(len(x))
    for i in range(len(x)):
        total = right[i]
        for e in range(offsets[i], offsets[i + 1]):
            total -= values[e] * x[columns[e]]
        left[i] = total
    return lower_solve(offsets, columns, values, left)


@kernel
def inner(a, b):
    total = 0.0
    for i in range(len(a)):
        total += a[i] * b[i]
    return total


@kernel
def gmres(offsets, columns, values, right, x, kept, restarts, tolerance):
    """Improve x as a solution of A x = b by GMRES after Gauss-Seidel (Saad and Schultz 1986), `kept` vectors at a time.

    Compiled as one piece: with vectors of some ten thousand numbers, calls from Python cost more than the work. In
    plain loops: where one array is assigned to a part of another, Numba compiles a sentence about shapes, for longer
    than all of this.
    """
    size = len(right)
    nothing = np.zeros(size)
    basis = np.empty((kept + 1, size))
    triangle, cosine, sine, rest = np.zeros((kept + 1, kept)), np.zeros(kept), np.zeros(kept), np.zeros(kept + 1)
    first = swept_residual(offsets, columns, values, right, nothing)
    enough = tolerance * np.sqrt(inner(first, first))
    for _ in range(restarts):
        now = swept_residual(offsets, columns, values, right, x)
        length = np.sqrt(inner(now, now))
        if not length > enough:
            break
        for k in range(size):
            basis[0, k] = now[k] / length
        for k in range(1, kept + 1):
            rest[k] = 0.0
        rest[0] = length
        used = 0
        for j in range(kept):
            new = swept_residual(offsets, columns, values, nothing, basis[j])
            for k in range(size):
                new[k] = -new[k]
            for i in range(j + 1):
                triangle[i, j] = inner(basis[i], new)
                for k in range(size):
                    new[k] -= triangle[i, j] * basis[i, k]
            length = np.sqrt(inner(new, new))
            for i in range(j):  # the rotations so far, and one that removes what is below the triangle
                above, below = triangle[i, j], triangle[i + 1, j]
                triangle[i, j] = cosine[i] * above + sine[i] * below
                triangle[i + 1, j] = cosine[i] * below - sine[i] * above
            whole = np.hypot(triangle[j, j], length)
            if whole == 0.0:
                break
            cosine[j], sine[j] = triangle[j, j] / whole, length / whole
            triangle[j, j] = whole
            rest[j + 1] = -sine[j] * rest[j]
            rest[j] *= cosine[j]
            used = j + 1
            if abs(rest[j + 1]) <= enough or length == 0.0:
                break
            for k in range(size):
                basis[j + 1, k] = new[k] / length
        for i in range(used - 1, -1, -1):
            for j in range(i + 1, used):
                rest[i] -= triangle[i, j] * rest[j]
            rest[i] /= triangle[i, i]
            for k in range(size):
                x[k] += rest[i] * basis[i, k]
    return x


@kernel
def eliminate(weights, leak):
    """Factors of the system: sum over j of w_ij (x_i - x_j) + leak_i x_i = b_i, in place of `weights`.

    Grassmann, Taksar and Heyman (Operations Research 1985): no subtraction ever, so that every entry keeps
    its full relative precision however rarely the component is left.
    """
    size = len(weights)
    pivots = np.empty(size)
    for k in range(size):
        pivots[k] = leak[k] + weights[k, k + 1 :].sum()
        for i in range(k + 1, size):
            if weights[i, k] > 0:
                factor = weights[i, k] / pivots[k]
                weights[i, k] = factor
                leak[i] += factor * leak[k]
                for j in range(k + 1, size):
                    weights[i, j] += factor * weights[k, j]
    return weights, pivots


@kernel
def substitute(factors, pivots, right):
    """The solution of an eliminated system."""
    size = len(pivots)
    x = right.copy()
    for i in range(size):
        for k in range(i):
            x[i] += factors[i, k] * x[k]
    for k in range(size - 1, -1, -1):
        for j in range(k + 1, size):
            x[k] += factors[k, j] * x[j]
        x[k] /= pivots[k]
    return x


@kernel
def substitute_transposed(factors, pivots, right):
    """The solution of the transposed system, from the same factors: no subtraction here either."""
    size = len(pivots)
    x = right.copy()
    for k in range(size):
        for j in range(k):
            x[k] += factors[j, k] * x[j]
        x[k] /= pivots[k]
    for k in range(size - 1, -1, -1):
        for i in range(k + 1, size):
            x[k] += factors[i, k] * x[i]
    return x


@kernel
def two_sum(a, b):
    """The rounded sum and what rounding lost (Knuth)."""
    s = a + b
    t = s - a
    return s, (a - (s - t)) + (b - t)


@kernel
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


@kernel
def add_to(high, low, extra):
    """high + low += extra, in doubled precision."""
    for i in range(len(high)):
        s, lost = two_sum(high[i], extra[i])
        high[i], low[i] = two_sum(s, lost + low[i])


@kernel
def residuals(offsets, targets, weights, denominator, active, numerators, high, low):
    """b_i - x_i + sum of w_ij x_j / denominator, for x = high + low and b = numerators / denominator."""
    result = np.zeros(len(active))
    for i in range(len(active)):
        if not active[i]:
            continue
        total, lost = float(numerators[i]), 0.0
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
