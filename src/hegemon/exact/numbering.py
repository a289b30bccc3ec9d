"""Keys and codes of many configurations at once, by NumPy: what a chain needs only once is not worth compiling.

`kernels` defines keys.
"""

import numpy as np


def smallest_rotation(key: int, q: int, n: int) -> int:
    """The least key among the rotations."""
    best, top = key, q ** (n - 1)
    for _ in range(n - 1):
        rest, digit = divmod(key, q)
        key = rest + digit * top
        best = min(best, key)
    return best


def rotation_keys(first: int, last: int, q: int, n: int) -> np.ndarray:
    """The keys in first..last-1 that are the smallest among their rotations."""
    keys = turned = np.arange(first, last)
    for _ in range(n - 1):
        rest, digit = np.divmod(turned, q)
        turned = rest + digit * q ** (n - 1)
        smallest = turned >= keys
        keys, turned = keys[smallest], turned[smallest]
    return keys


def rank(codes: np.ndarray, choose: np.ndarray) -> int:
    """The key of a multiset of codes."""
    return sum(int(choose[place, code]) for place, code in enumerate(np.sort(codes)))


def codes_of_arrays(keys: np.ndarray, q: int, n: int) -> np.ndarray:
    """The codes of every key, read as a number to the base q."""
    codes = np.empty((len(keys), n), np.int64)
    for place in range(n):
        keys, codes[:, place] = np.divmod(keys, q)
    return codes


def codes_of_multisets(keys: np.ndarray, choose: np.ndarray) -> np.ndarray:
    """The sorted codes of every key; `choose[i, c]` is the number of (i+1)-multisets of codes below c."""
    codes = np.empty((len(keys), len(choose)), np.int64)
    for place in reversed(range(len(choose))):
        codes[:, place] = np.searchsorted(choose[place], keys, side="right") - 1
        keys = keys - choose[place, codes[:, place]]
    return codes


def orderings(codes: np.ndarray) -> np.ndarray:
    """How many arrays each row of sorted codes stands for."""
    weights, run = np.ones(len(codes)), np.zeros(len(codes))
    with np.errstate(over="ignore"):  # infinity beyond floats: callers expect that
        for place in range(codes.shape[1]):
            run = np.where(codes[:, place] == codes[:, place - 1], run, 0) + 1 if place else run + 1
            weights = weights * (place + 1) / run
    return weights


def periods(codes: np.ndarray) -> np.ndarray:
    """How many different rotations each row of codes has."""
    n = codes.shape[1]
    shortest = np.full(len(codes), float(n))
    for period in (period for period in range(n - 1, 0, -1) if n % period == 0):
        shortest[(codes[:, period:] == codes[:, :-period]).all(axis=1)] = period
    return shortest


def count_marked(codes: np.ndarray, marked: np.ndarray) -> np.ndarray:
    """How many agents of every configuration have a marked state."""
    counts = np.zeros(len(codes), np.int64)
    for place in range(codes.shape[1]):
        counts += marked[codes[:, place]]
    return counts
