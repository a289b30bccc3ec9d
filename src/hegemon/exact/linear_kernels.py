"""Compiled linear algebra on chains: Gauss-Seidel by components, residuals in doubled precision.

A number in doubled precision is a pair: x[i, 0] + x[i, 1].
"""

import numpy as np

from hegemon.compute.caching import kernel

FEWEST_SWEEPS, MOST_SWEEPS = 40, 4000
LOOK = 8  # sweeps between two checks of how fast a component converges
PATIENCE = 200  # further sweeps at which another method is no slower
SMALL = 1e-9  # change in one sweep, relative, at which a component is done; refinement does the rest
ROUNDS = 12  # of refinement, at most
NOTHING = 2.0**-53  # a residual that is no larger than the rounding of the solution


@kernel
def two_sum(a, b):
    """The rounded sum and the rounding error (Knuth)."""
    s = a + b
    t = s - a
    return s, (a - (s - t)) + (b - t)


@kernel
def two_product(a, b):
    """The rounded product and the rounding error (Dekker)."""
    p = a * b
    c = 134217729.0 * a
    a_high = c - (c - a)
    a_low = a - a_high
    c = 134217729.0 * b
    b_high = c - (c - b)
    b_low = b - b_high
    return p, ((a_high * b_high - p) + a_high * b_low + a_low * b_high) + a_low * b_low


@kernel
def add_product(total, lost, weight, x, j):
    """total + lost += weight * x_j."""
    product, error = two_product(weight, x[j, 0])
    total, rounding = two_sum(total, product)
    return total, lost + (error + rounding + weight * x[j, 1])


@kernel
def worse(error, residual):
    """The larger of `error` and |residual|; infinity if the residual is not a number."""
    return max(error, abs(residual)) if residual == residual else np.inf


@kernel
def settles_soon(change, before, wanted):
    """Whether at most PATIENCE further sweeps, at the rate of the last LOOK ones, reduce the change to `wanted`."""
    return change < before and np.log(change / wanted) / np.log(before / change) * LOOK <= PATIENCE


@kernel
def solve_alone(v, offsets, targets, weights, denominator, numerator, x):
    """Compute x_v from its successors, if v is a component by itself; returns the residual of its equation."""
    total, lost, own = numerator, 0.0, denominator
    for e in range(offsets[v], offsets[v + 1]):
        if targets[e] == v:
            own -= weights[e]
        else:
            total, lost = add_product(total, lost, float(weights[e]), x, targets[e])
    first = (total + lost) / own
    product, error = two_product(-own, first)
    rest = (total + product) + (lost + error)
    x[v, 0], x[v, 1] = two_sum(first, rest / own)
    total, lost = add_product(total, lost, -own, x, v)
    return worse(0.0, (total + lost) / denominator)


@kernel
def gather(members, begin, place, offsets, targets, weights, denominator, numerators, x):
    """The equations within a component: the entries of every row that stay in it (offsets, places, weights), the weight
    of x itself, and the rest of the sum in doubled precision. `place`: where each configuration is in the order."""
    size, entries = len(members), 0
    for v in members:
        for e in range(offsets[v], offsets[v + 1]):
            if targets[e] != v and begin <= place[targets[e]] < begin + size:
                entries += 1
    rows, columns, inner = np.zeros(size + 1, np.int64), np.empty(entries, np.int32), np.empty(entries, weights.dtype)
    own, base = np.empty(size), np.empty((size, 2))
    entries = 0
    for k in range(size):
        v = members[k]
        total, lost, kept = numerators[v] if len(numerators) > 1 else numerators[0], 0.0, denominator
        for e in range(offsets[v], offsets[v + 1]):
            j = targets[e]
            if j == v:
                kept -= weights[e]
            elif begin <= place[j] < begin + size:
                columns[entries], inner[entries] = place[j] - begin, weights[e]
                entries += 1
            else:
                total, lost = add_product(total, lost, float(weights[e]), x, j)
        rows[k + 1], own[k], base[k, 0], base[k, 1] = entries, kept, total, lost
    return rows, columns, inner, own, base


@kernel
def residuals(rows, columns, inner, own, base, denominator, y, right):
    """Write the residuals of y in the equations of a component, in doubled precision; returns the largest."""
    largest = 0.0
    for k in range(len(own)):
        total, lost = base[k, 0], base[k, 1]
        for e in range(rows[k], rows[k + 1]):
            total, lost = add_product(total, lost, float(inner[e]), y, columns[e])
        total, lost = add_product(total, lost, -own[k], y, k)
        right[k] = (total + lost) / denominator
        largest = worse(largest, right[k])
    return largest


@kernel
def add_to(y, extra):
    """y += extra, in doubled precision."""
    for k in range(len(extra)):
        s, lost = two_sum(y[k, 0], extra[k])
        y[k, 0], y[k, 1] = two_sum(s, lost + y[k, 1])


@kernel
def sweep(rows, columns, inner, own, denominator, right, work, large):
    """Gauss-Seidel from zero until it converges; whether it did within `work` updates. A component of more than `large`
    configurations is given up as soon as the rate shows that it will not converge soon."""
    size = len(own)
    d, before = np.zeros(size), 0.0
    for turn in range(max(FEWEST_SWEEPS, min(MOST_SWEEPS, work // size))):
        change, largest = 0.0, 0.0
        for k in range(size):
            total = right[k] * denominator
            for e in range(rows[k], rows[k + 1]):
                total += inner[e] * d[columns[e]]
            value = total / own[k]
            change, largest = max(change, abs(value - d[k])), max(largest, abs(value))
            d[k] = value
        if change <= SMALL * largest:
            return True, d
        if turn % LOOK == LOOK - 1:
            if size > large and turn > LOOK and not settles_soon(change, before, SMALL * largest):
                break
            before = change
    return False, d


@kernel
def solve_by_sweeps(rows, columns, inner, own, base, denominator, y, tolerance, shrinks, work, large):
    """The solution within a component, improved until its residual is tiny or stops shrinking; the largest residual,
    or infinity where sweeps do not converge, or far from the solution. A residual up to `tolerance` that no longer
    shrinks is accepted."""
    right = np.empty(len(own))
    error = before = residuals(rows, columns, inner, own, base, denominator, y, right)
    for turn in range(ROUNDS):
        settled, d = sweep(rows, columns, inner, own, denominator, right, work, large)
        if not settled:
            return np.inf
        best = y.copy()
        add_to(y, d)
        now = residuals(rows, columns, inner, own, base, denominator, y, right)
        if now > max(shrinks * before, tolerance):
            return np.inf
        if turn > 0 and now >= error:
            for k in range(len(best)):
                y[k, 0], y[k, 1] = best[k, 0], best[k, 1]
            break
        error = before = now
        if error <= NOTHING:
            break
    return error


@kernel
def solve_components(
    first, error, bounds, order, place, offsets, targets, weights, denominator, numerators, x, tolerance, shrinks, work,
    hard, large,
):  # fmt: skip
    """x_i = (b_i + sum of w_ij x_j) / (1 - w_ii), component by component, those that lead nowhere else first.

    Returns the first component that is listed in `hard` or is not solved by sweeps, and the largest residual of those
    before; `hard` ascends. A solved component is never changed again, so every residual is final.
    """
    listed = 0
    for component in range(first, len(bounds) - 1):
        begin, end = bounds[component], bounds[component + 1]
        if end - begin == 1:
            v = order[begin]
            numerator = numerators[v] if len(numerators) > 1 else numerators[0]
            error = max(error, solve_alone(v, offsets, targets, weights, denominator, numerator, x))
            continue
        while listed < len(hard) and hard[listed] < component:
            listed += 1
        if listed < len(hard) and hard[listed] == component:
            return component, error
        members = order[begin:end]
        system = gather(members, begin, place, offsets, targets, weights, denominator, numerators, x)
        rows, columns, inner, own, base = system
        y = np.zeros((end - begin, 2))
        left = solve_by_sweeps(
            rows, columns, inner, own, base, denominator, y, tolerance, shrinks, work, large
        )  # fmt: skip
        if left == np.inf:
            return component, error
        error = max(error, left)
        for k in range(end - begin):
            x[members[k], 0], x[members[k], 1] = y[k, 0], y[k, 1]
    return len(bounds) - 1, error


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
    plain loops: for an assignment of an array to a slice, Numba compiles an error message about shapes, which takes
    longer than all of this.
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
