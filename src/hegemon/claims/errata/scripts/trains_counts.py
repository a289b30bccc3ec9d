"""Blin, Gay, Ziccardi, Informative Trains (arXiv:2602.17541): the number of states, and how often trains are marked.
Exact. Needs Python alone.

    python trains_counts.py [trains.states | trains.marks]
"""

import sys
from fractions import Fraction
from itertools import product


def states():
    """Definitions 3.1 and 3.2: two bits, and two stations that are empty or hold (idx, bit, carry, flag)."""
    for N in (5, 10, 20):
        wagons = [None, *product(range(N), (0, 1), (0, 1), (0, 1))]
        number = sum(1 for _ in product((0, 1), (0, 1), wagons, wagons))
        print(f"N = {N}: {number} states, {number // N} for each unit of N")
        assert number == 4 * (8 * N + 1) ** 2


def marked(N, idx):
    """Definition 3.12: the probability that the next head is marked, if rand was drawn just now."""
    one = Fraction(1, 4)  # the probability that rand is 1
    while idx != N - 1:
        idx, one = idx + 1, one * Fraction(1, 4)  # rand <- rand * X
    return one  # v.L.idx = N - 1: the new head takes rand as its flag


def marks():
    for N in (5, 8, 12):
        first, later = marked(N, 1), marked(N, 0)  # New-Leader sets v.L.idx to 1 (Definition 3.11), a new head has 0
        print(f"N = {N}: first train of a new leader {first}, later ones {later}, 4^-N = {Fraction(1, 4**N)}")
        assert first == Fraction(1, 4 ** (N - 1)) and later == Fraction(1, 4**N)


if __name__ == "__main__":
    known = {"trains.states": states, "trains.marks": marks}
    for name in sys.argv[1:] or known:
        print(name)
        known[name]()
