"""Exact compiled samplers of waiting times: until an agent is met again, until something changes."""

import math
from functools import lru_cache

import numpy as np

from hegemon.compute.compilation import lean
from hegemon.compute.randomness import next_open_double, next_word, open_double
from hegemon.compute.sampling import deviance, larger, smaller

FOREVER = np.int64(2**63 - 1)
_WORD = 1.0 / 2**64
_LARGEST = 1.0 - 2.0**-53
_SMALL, _MODERATE = 2.0**-10, 2.0**-5
_RARE = 2.0**-30
_LISTED = 2**16  # agents met whose cost is listed: half a megabyte
_PER_ROOT = 16  # listed costs, divided by the square root of n: an epoch among few states meets fewer agents


@lean
def _minus_log(x):
    """-ln(1 - x), by a series where it is right to the last bit and several times faster."""
    if x < _SMALL:
        return x * (1 + x * (1 / 2 + x * (1 / 3 + x * (1 / 4 + x * (1 / 5)))))
    if x < _MODERATE:  # twice the area tangent of t
        t = x / (2.0 - x)
        y = t * t
        return 2.0 * t * (1 + y * (1 / 3 + y * (1 / 5 + y * (1 / 7 + y * (1 / 9 + y * (1 / 11))))))
    return -math.log1p(-x)


@lean
def null_rate(chance):
    """The divisor of waiting times for an event of this chance; it may be kept while the chance is the same."""
    return -_minus_log(chance)


@lean
def wait_of(word, chance, rate):
    """How many interactions change nothing before one that does, if each does with this chance in (0, 1); a float,
    from 64 random bits.

    Whole up to 2**53, and beyond that as whole as a float can be. `rate` is `null_rate(chance)`.
    """
    if chance > _RARE:
        return np.floor(math.log(open_double(word)) / rate)
    # All 64 bits count: a uniform near zero must be fine-grained.
    return np.floor(math.log1p(-smaller((word + 0.5) * _WORD, _LARGEST)) / rate)


@lean
def null_wait(state, chance, rate):
    """The same from the next word, for a chance in (0, 1]."""
    return 0.0 if chance >= 1.0 else wait_of(next_word(state), chance, rate)


@lean
def null_run(word, chance, rate):
    """As `wait_of`, as a 64-bit integer, FOREVER if it does not fit."""
    wait = wait_of(word, chance, rate)
    return np.int64(wait) if wait < 2.0**63 else FOREVER


@lean
def cost_of_run(n, used, length):
    """-ln of the chance that `length` interactions in a row meet 2 * length agents, none twice, none used.

    The chance is (n - used)! / (n - used - 2 length)! / (n (n - 1))^length; 2 * length <= n - used.
    """
    size, share = float(n), 1.0 / n
    p, added = used * share, 2.0 * length * share
    q = p + added
    if q >= _MODERATE:
        cost = deviance(size, -float(used + 2 * length)) - deviance(size, -float(used))
        return cost - length * _minus_log(share)
    # The same difference of deviances, divided by q - p: terms (q^j - p^j) / (j (j - 1) (q - p)).
    p2, p3 = p * p, p * p * p
    s2 = q + p
    s3 = q * s2 + p2
    s4 = q * s3 + p3
    s5 = q * s4 + p2 * p2
    s6 = q * s5 + p2 * p3
    growth = s2 * (1 / 2) + s3 * (1 / 6) + s4 * (1 / 12) + s5 * (1 / 20) + s6 * (1 / 30)
    fewer = added / (1 - p)
    inverse = 1.0 / (size - used - 2.0 * length)
    stirling = fewer * inverse * (1 / 12)
    if q >= _SMALL:
        p6 = p3 * p3
        s7 = q * s6 + p6
        s8 = q * s7 + p6 * p
        s9 = q * s8 + p6 * p2
        s10 = q * s9 + p6 * p3
        s11 = q * s10 + p6 * p2 * p2
        growth += s7 * (1 / 42) + s8 * (1 / 56) + s9 * (1 / 72) + s10 * (1 / 90) + s11 * (1 / 110)
        # of a hundred agents the next term of Stirling's series still counts
        stirling -= fewer * (3 - fewer * (3 - fewer)) * inverse * inverse * inverse * (1 / 360)
    return 2.0 * length * growth - 0.5 * _minus_log(fewer) + stirling - length * _minus_log(share)


@lean
def _cost_of_next(n, met):
    """-ln of the chance that one more interaction meets two fresh agents, after `met` were met: with probability
    (1 - met / n) (1 - met / (n - 1)) it does."""
    first = met / n
    if first > _MODERATE:
        return _minus_log(first) + _minus_log(met / (n - 1.0))
    second = first + first / (n - 1.0)
    return _minus_log(first + second - first * second)


@lean
def fresh_run(state, n, used, limit):
    """How many interactions, at most `limit`, pass before one meets an agent that was met before.

    n >= 2 agents, of which `used` count as met already (Berenbrink et al., ESA 2020).  By inversion: the
    longest run whose cost is below an exponential variable.  The first guess is off by about one; Newton's
    method on the convex cost repairs any guess, and cannot cross its goal from above.
    """
    longest = (n - used) // 2
    wait = -math.log(next_open_double(state))
    p = used / n
    q = math.sqrt(p * p * (1 + p / 3) + 2 * wait / n)
    q *= 1 - q / 6
    guess = 0.5 * (n * (q - p) + 1 - p / q)
    length = smaller(np.int64(larger(guess, 0.0)), longest)
    cost = cost_of_run(n, used, length)
    while True:
        if cost < wait:
            if length == longest:
                break
            step = _cost_of_next(n, used + 2.0 * length)
            if cost + step >= wait:
                break
            jump = (wait - cost) / step
            if jump < 2:
                length += 1
                cost += step
                continue
            length = np.int64(smaller(length + jump, float(longest)))
        else:
            step = _cost_of_next(n, used + 2.0 * (length - 1))
            length -= np.int64(larger(1.0, (cost - wait) / step))
            if length == 0 or cost - step < wait:
                break
        cost = cost_of_run(n, used, length)
    return smaller(length, limit)


@lru_cache(maxsize=8)
def listed_costs(n: int) -> np.ndarray:
    """For every m up to some number, -ln of the chance that m agents in a row are fresh, in pairs: the difference of
    two entries is `cost_of_run`. Summed in long doubles, since thousands of terms are."""
    met = np.arange(min(n, _LISTED, int(_PER_ROOT * math.sqrt(n))))
    terms = -np.log1p(-(met / np.longdouble(n)))
    terms += 0.5 * np.log1p(-1 / np.longdouble(n))  # pairs are of two different agents
    costs = np.concatenate([[0.0], np.cumsum(terms)]).astype(np.float64)
    costs.flags.writeable = False
    return costs


@lean
def listed_run(state, n, used, limit, costs):
    """As `fresh_run` with the costs of `listed_costs`, of which there are more than used + 2 * limit: three times as
    fast."""
    wait = -math.log(next_open_double(state))
    goal = wait + costs[used]
    share = 1.0 / n
    p = used * share
    q = math.sqrt(p * p * (1 + p * (1 / 3)) + 2 * wait * share)
    length = np.int64(smaller(0.5 * n * larger(q * (1 - q * (1 / 6)) - p, 0.0), float(limit)))
    at = used + 2 * length
    if costs[at] < goal:
        while length < limit and costs[at + 2] < goal:
            length += 1
            at += 2
    else:
        while length and costs[at] >= goal:
            length -= 1
            at -= 2
    return length
