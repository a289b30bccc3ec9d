"""First visits, holding and closure of a small population by hand: labelled agents, dictionaries, fractions.

Nothing here is shared with the package: no symmetry, no chains, no solvers.
"""

import itertools
from fractions import Fraction


class ByHand:
    """Every configuration of n agents with states 0..size-1 that meet along arcs, as a table of pairs says."""

    def __init__(self, size, n, arcs, table, inside, start=None):
        self.arcs, self.n = arcs, n
        every = list(itertools.product(range(size), repeat=n))
        self.inside = {c: bool(inside(c)) for c in every}
        self.after = {c: [self.step(c, arc, size, table) for arc in arcs] for c in every}
        self.starts = every if start is None else [start]
        self.reachable = self.follow(self.starts, lambda c: True)
        self.before = self.follow([c for c in self.starts if not self.inside[c]], lambda c: not self.inside[c])
        self.able = {c for c in every if any(self.inside[d] for d in self.follow([c], lambda d: True))}

    @staticmethod
    def step(c, arc, size, table):
        after = list(c)
        after[arc[0]], after[arc[1]] = table[c[arc[0]] * size + c[arc[1]]]
        return tuple(after)

    def follow(self, starts, allowed):
        seen, queue = set(starts), list(starts)
        for c in queue:
            for d in self.after[c]:
                if d not in seen and allowed(d):
                    seen.add(d)
                    queue.append(d)
        return seen

    @property
    def certain(self):
        """Whether every run from the starts visits the set: what can come before a visit can still reach it."""
        return self.before <= self.able

    @property
    def closed(self):
        return all(self.inside[d] for c in self.reachable if self.inside[c] for d in self.after[c])

    def probability(self):
        """Of a visit, the mean over the starts."""
        unknown = [c for c in self.before if c in self.able]
        into = {c: Fraction(sum(self.inside[d] for d in self.after[c]), len(self.arcs)) for c in unknown}
        found = solve(unknown, self.after, into, len(self.arcs))
        return sum(Fraction(1) if self.inside[c] else found.get(c, Fraction(0)) for c in self.starts) / len(self.starts)

    def expected(self):
        """Steps to the first visit from each start, where every visit is certain."""
        found = solve(list(self.before), self.after, dict.fromkeys(self.before, Fraction(1)), len(self.arcs))
        return [found.get(c, Fraction(0)) for c in self.starts]

    def within(self, steps):
        """P(visited within t steps) for t = 0..steps, from each start."""
        reached = {c: Fraction(int(one)) for c, one in self.inside.items()}
        rows = [reached]
        for _ in range(steps):
            reached = {
                c: Fraction(1) if self.inside[c] else sum(reached[d] for d in self.after[c]) / len(self.arcs)
                for c in reached
            }
            rows.append(reached)
        return [[row[c] for c in self.starts] for row in rows]

    def holding(self, output):
        """Steps from each configuration of the set with one leader until an output changes; None: perhaps never."""
        safe = [c for c in self.reachable if self.inside[c] and sum(map(output, c)) == 1]
        kept = {
            c: [d for d in after if list(map(output, c)) == list(map(output, d))] for c, after in self.after.items()
        }
        ends = {c for c in kept if len(kept[c]) < len(self.arcs)}
        follows = {c: reach(kept, c) for c in kept}
        found = {}
        for c in safe:
            if any(not follows[d] & ends for d in follows[c]):
                found[c] = None
            else:
                unknown = list(follows[c])
                found[c] = solve(unknown, kept, dict.fromkeys(unknown, Fraction(1)), len(self.arcs))[c]
        return found


def reach(after, c):
    seen, queue = {c}, [c]
    for one in queue:
        for d in after[one]:
            if d not in seen:
                seen.add(d)
                queue.append(d)
    return seen


def solve(unknown, after, right, arcs):
    """x = right + the mean of x over the successors that are unknown (0 elsewhere), by elimination in fractions."""
    place = {c: k for k, c in enumerate(unknown)}
    rows = []
    for c in unknown:
        row = [Fraction(0)] * (len(unknown) + 1)
        row[place[c]] += 1
        row[-1] = Fraction(right[c])
        for d in after[c]:
            if d in place:
                row[place[d]] -= Fraction(1, arcs)
        rows.append(row)
    for k in range(len(rows)):
        pivot = next(r for r in range(k, len(rows)) if rows[r][k])
        rows[k], rows[pivot] = rows[pivot], rows[k]
        rows[k] = [value / rows[k][k] for value in rows[k]]
        for r in range(len(rows)):
            if r != k and rows[r][k]:
                factor = rows[r][k]
                rows[r] = [a - factor * b for a, b in zip(rows[r], rows[k], strict=True)]
    return {c: rows[k][-1] for c, k in place.items()}
