"""Kutten, Pandurangan, Peleg, Robinson, Trehan, Sublinear Bounds for Randomized Leader Election: Lemma 1, the sentence
after equation (5), and the mixing time of a complete graph. Exact, with fractions. Needs Python alone.

    python sublinear.py [sub.lemma1 | sub.eq5 | sub.tau]
"""

import sys
from fractions import Fraction
from itertools import combinations
from math import e


def no_common_bin(p, balls):
    """The probability that two candidates, who throw this many balls each into bins with probabilities p, share none:
    over all sets S, the first hits exactly S (by inclusion and exclusion), and the second hits nothing of S."""
    bins, total = range(len(p)), Fraction(0)
    for size in range(1, len(p) + 1):
        for chosen in combinations(bins, size):
            exactly = sum(
                (-1) ** (size - smaller) * sum(p[i] for i in part) ** balls
                for smaller in range(size + 1)
                for part in combinations(chosen, smaller)
            )
            total += exactly * (1 - sum(p[i] for i in chosen)) ** balls
    return total


def lemma1():
    for p, balls in (((2, 2, 1), 5), ((1, 1, 0), 10), ((5, 5, 1, 1), 15)):
        p = [Fraction(x, sum(p)) for x in p]
        uniform, this = no_common_bin([Fraction(1, len(p))] * len(p), balls), no_common_bin(p, balls)
        print(f"{len(p)} bins, {balls} balls each: uniform {float(uniform):.6e},", end=" ")
        print(f"({', '.join(map(str, p))}) {float(this):.6e}")
        assert this > uniform, "the uniform distribution is the maximum, as Lemma 1 says"
    x = Fraction(1, 2)
    assert 1 - (1 - e ** -float(x)) ** 2 > 1 - float(x) ** 2, "the step of the proof"


def eq5():
    for c in (1, 2, 3, 10, 100, 1000):
        p = Fraction(1, c)
        largest = c * p * (1 - p) ** (c - 1)
        print(f"c = {c}: c p (1 - p)^(c - 1) = {float(largest):.6f} at p = 1/c; 1/e = {1 / e:.6f}")
        assert largest > Fraction(1 / e), "at most 1/e for any c"
        assert c == 1 or float(largest) <= (1 + 1 / (c - 1)) / e, "the repaired bound"


def distance(n, steps):
    """How far the walk on the complete graph of n nodes is from uniform after so many steps, in the maximum norm."""
    here, elsewhere = Fraction(1), Fraction(0)  # the probability of the start, and of each other node
    for _ in range(steps):
        here, elsewhere = elsewhere, (here + (n - 2) * elsewhere) / (n - 1)
    return max(abs(here - Fraction(1, n)), abs(elsewhere - Fraction(1, n)))


def tau():
    for n in (3, 10, 100, 1000):
        mixing = next(k for k in range(100) if distance(n, k) <= Fraction(1, 2 * n))
        print(f"n = {n}: after one step {distance(n, 1)} from uniform, allowed {Fraction(1, 2 * n)}; tau = {mixing}")
        assert distance(n, 1) > Fraction(1, 2 * n) and mixing == 2


def main(names):
    known = {"sub.lemma1": lemma1, "sub.eq5": eq5, "sub.tau": tau}
    for name in names or known:
        print(name)
        known[name]()


if __name__ == "__main__":
    main(sys.argv[1:])
