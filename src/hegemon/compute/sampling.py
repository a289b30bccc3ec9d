"""Exact compiled samplers of counts: hypergeometric and binomial, one at a time and over arrays.

Right for populations up to 2**60. *Exact* means to double precision: acceptance ratios never subtract large
log-factorials but sum deviances from the mean (Loader 2000), so they stay right to about 1e-12, and the
uniforms behind them have 53 bits.

Wide laws are drawn by transformed rejection (Hörmann, J. Stat. Comput. Simul. 1993), narrow ones by inversion.
The constants of the hat are this project's own: tests/engines/test_hat.py checks that it covers the laws.
"""

import math

import numpy as np

from hegemon.compute.compilation import lean
from hegemon.compute.randomness import next_double

_LONGEST_URN = 8  # up to this many draws, taking agents out of the urn one by one is fastest
_NARROWEST = 4.0  # variance from which the hat covers the law
_SQUEEZE = 0.43  # |u| up to here is accepted at once while v stays below the law everywhere
_SERIES = 0.03  # relative deviation up to which the series of `deviance` are right to 1e-12

# ln k! minus Stirling's formula, for k = 1..15; the series takes over at 16.  At 0 it is never used.
_STIRLING_ERRORS = np.array(
    [0.0] + [math.lgamma(k + 1) - (k + 0.5) * math.log(k) + k - 0.5 * math.log(2 * math.pi) for k in range(1, 16)]
)

_LISTED = 1024  # agents whose factorials are listed: their logarithms are right to a few 1e-12 in the sum
_LOG_FACTORIALS = np.array([math.lgamma(k + 1) for k in range(_LISTED)])


@lean
def smaller(a, b):
    """As `min`, which Numba compiles to machine code by itself for every type, three times as long."""
    return a if a <= b else b


@lean
def larger(a, b):
    return a if a >= b else b


@lean
def stirling_error(x):
    """ln x! - (x ln x - x + ln(2 pi x) / 2), for a whole number x >= 1."""
    if x < 16:
        return _STIRLING_ERRORS[np.int64(x)]
    r = 1.0 / float(x)
    y = r * r
    return (1 / 12 - y * (1 / 360 - y * (1 / 1260 - y * (1 / 1680 - y * (1 / 1188))))) * r


@lean
def deviance(mean, deviation):
    """ln x! minus its tangent at the mean, for the whole number x = mean + deviation >= 0.

    The tangent is that of Stirling's formula: m ln m - m + ln(2 pi m) / 2 + deviation ln m for mean m. Summed over
    the cells of a table the terms in ln m cancel, and what is left is never larger than it has to be.
    """
    x = round(mean + deviation)
    if x < 1:
        return mean - 0.5 * math.log(2 * math.pi * mean)
    t = deviation / mean
    if abs(t) > _SERIES:
        return (x + 0.5) * math.log(x / mean) - deviation + stirling_error(x)
    # (1 + t) ln(1 + t) - t and ln(1 + t)
    growth = t * t * (1 / 2 - t * (1 / 6 - t * (1 / 12 - t * (1 / 20 - t * (1 / 30 - t * (1 / 42 - t * (1 / 56)))))))
    logarithm = t * (1 - t * (1 / 2 - t * (1 / 3 - t * (1 / 4 - t * (1 / 5 - t * (1 / 6 - t * (1 / 7)))))))
    return mean * growth + 0.5 * logarithm + stirling_error(x)


@lean
def _candidate(state, width):
    """A real deviation and the height it must stay under; height 0 if it is accepted at once."""
    b = 1.15 + 2.53 * width
    a = 0.0248 * b - 0.0873
    # two divisions side by side take less time than one behind the other
    certain, inverse = 0.925 - 3.6 / (b - 2), (b - 2) / (0.925 * (b - 2) - 3.6)
    v = next_double(state)
    if v < 2 * _SQUEEZE * certain:
        u = v * inverse - _SQUEEZE
        return (2 * a / (0.5 - abs(u)) + b) * u, 0.0
    if v >= certain:
        u = next_double(state) - 0.5
    else:
        u = v * inverse - (_SQUEEZE + 0.5)
        u = (0.5 if u >= 0 else -0.5) - u
        v = next_double(state) * certain
    edge = larger(0.5 - abs(u), 1e-17)
    return (2 * a / edge + b) * u, v * (1.125 + 1.4 / (b - 3.4)) / (a / (edge * edge) + b)


@lean
def whole_and_fraction(x, y, total):
    """x * y / total as a whole number and a fraction, exactly: for x, y <= total < 2**61."""
    estimate = float(x) * (float(y) / float(total))
    if estimate < 2.0**51:
        whole = np.int64(estimate)
        return whole, (x * y - whole * total) / total  # the wrapped difference is small, so it is right
    high, rest = x >> 31, x & 0x7FFFFFFF
    first = np.int64(float(high) * (float(y) / float(total)))
    carried = high * y - first * total
    second = np.int64(float(carried) / float(total) * 2.0**31)
    third = np.int64(float(rest) * (float(y) / float(total)))
    remainder = (carried << 31) - second * total + (rest * y - third * total)
    return (first << 31) + second + third, remainder / total


@lean
def _log_table(good, bad, draws, mean, deviation):
    """ln of the chance that mean + deviation of the draws are good, without the factor 1 / sqrt(2 pi variance)."""
    wrong = draws - mean
    cells = deviance(mean, deviation) + deviance(good - mean, -deviation)
    cells += deviance(wrong, -deviation) + deviance(bad - wrong, deviation)
    margins = stirling_error(good) + stirling_error(bad) + stirling_error(draws)
    return margins + stirling_error(good + bad - draws) - stirling_error(good + bad) - cells


@lean
def _log_of_few(good, bad, draws, count):
    """ln of the chance that `count` of the draws are good, among fewer agents than are listed in _LOG_FACTORIALS."""
    ways = _LOG_FACTORIALS[good] + _LOG_FACTORIALS[bad] + _LOG_FACTORIALS[draws] + _LOG_FACTORIALS[good + bad - draws]
    cells = _LOG_FACTORIALS[count] + _LOG_FACTORIALS[good - count]
    cells += _LOG_FACTORIALS[draws - count] + _LOG_FACTORIALS[bad - draws + count]
    return ways - _LOG_FACTORIALS[good + bad] - cells


@lean
def _invert_table(state, good, bad, draws, mean, variance):
    """The number of good draws by summing probabilities from 0: for narrow laws, whose mean is small."""
    u = next_double(state)
    if u < 1.0 - mean:  # P(0) >= 1 - mean: rare states are rarely met
        return np.int64(0)
    mass = math.exp(_log_table(good, bad, draws, mean, -mean)) / math.sqrt(2 * math.pi * variance)
    count = np.int64(0)
    while u >= mass and count < draws:
        u -= mass
        count += 1
        mass *= float(good - count + 1) * float(draws - count + 1) / (float(count) * float(bad - draws + count))
    return count


@lean
def _few_draws(state, good, total, draws):
    """Take agents out of the urn one by one."""
    left = good
    for taken in range(draws):
        if next_double(state) * (total - taken) < left:
            left -= 1
    return good - left


@lean
def _hypergeometric(state, good, bad, draws):
    """As `hypergeometric`, once 1 <= draws <= good <= (good + bad) / 2."""
    total = good + bad
    if draws <= _LONGEST_URN:
        return _few_draws(state, good, total, draws)
    scale = 1.0 / total
    mean = draws * (good * scale)
    variance = mean * (bad * scale) * ((total - draws) * scale)
    if variance < _NARROWEST:
        return _invert_table(state, good, bad, draws, mean, variance)
    whole, fraction = whole_and_fraction(draws, good, total)
    width = math.sqrt(variance)
    while True:
        deviation, height = _candidate(state, width)
        shift = math.floor(deviation + fraction + 0.5)
        count = whole + np.int64(shift)
        if height == 0.0:
            return count
        if 0 <= count <= draws:
            if total < _LISTED:
                if math.log(height) <= _log_of_few(good, bad, draws, count):
                    return count
            elif math.log(height * math.sqrt(2 * math.pi) * width) <= _log_table(
                good, bad, draws, mean, shift - fraction
            ):
                return count


@lean
def hypergeometric(state, good, bad, draws):
    """How many of `draws` agents, taken without replacement from good + bad, are good."""
    if good == 0 or draws == 0:
        return np.int64(0)
    if bad == 0:
        return np.int64(draws)
    # Three mirrors of the two-by-two table: left out for drawn, bad for good, drawn for good.
    total = good + bad
    fewer = smaller(draws, total - draws)
    if fewer == 0:
        return np.int64(good)
    rarer = smaller(good, bad)
    marked = larger(rarer, fewer)
    count = _hypergeometric(state, marked, total - marked, smaller(rarer, fewer))
    if rarer != good:
        count = fewer - count
    if fewer != draws:
        count = good - count
    return count


@lean
def _invert_binomial(state, trials, p):
    """The number of successes by summing probabilities from 0: for narrow laws."""
    u = next_double(state)
    if u < 1.0 - trials * p:
        return np.int64(0)
    mass = math.exp(trials * math.log1p(-p))
    odds = p / (1.0 - p)
    count = np.int64(0)
    while u >= mass and count < trials:
        u -= mass
        count += 1
        mass *= odds * float(trials - count + 1) / float(count)
    return count


@lean
def _binomial(state, trials, p):
    """As `binomial`, once p <= 1/2."""
    mean = trials * p
    variance = mean * (1.0 - p)
    if variance < _NARROWEST:
        return _invert_binomial(state, trials, p)
    width = math.sqrt(variance)
    margin = stirling_error(trials)
    whole = np.int64(mean)
    fraction = mean - whole
    while True:
        deviation, height = _candidate(state, width)
        shift = math.floor(deviation + fraction + 0.5)
        count = whole + np.int64(shift)
        if height == 0.0:
            return count
        if 0 <= count <= trials:
            deviation = shift - fraction
            cells = deviance(mean, deviation) + deviance(trials - mean, -deviation)
            if math.log(height * math.sqrt(2 * math.pi) * width) <= margin - cells:
                return count


@lean
def binomial(state, trials, p):
    """The number of successes in `trials` independent trials of probability p."""
    if trials == 0 or p <= 0.0:
        return np.int64(0)
    if p >= 1.0:
        return trials
    if p > 0.5:
        return trials - _binomial(state, trials, 1.0 - p)
    return _binomial(state, trials, p)


@lean
def take(state, counts, cells, total, draws, taken):
    """Move `draws` agents, chosen without replacement, from the first cells of `counts` to `taken`.

    Those cells sum to `total`.
    """
    for i in range(cells):
        count = hypergeometric(state, counts[i], total - counts[i], draws) if draws else 0
        total -= counts[i]
        draws -= count
        taken[i] = count
        counts[i] -= count


@lean
def multinomial(state, trials, weights, counts):
    """Throw `trials` balls into cells of the given weights (any positive scale); `counts` is filled."""
    weight = weights.sum()
    last = len(weights) - 1
    for i in range(last):
        counts[i] = binomial(state, trials, smaller(weights[i] / weight, 1.0)) if trials else 0
        trials -= counts[i]
        weight -= weights[i]
    counts[last] = trials
