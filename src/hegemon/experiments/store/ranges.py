"""Sets of trial numbers as disjoint ranges."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from typing import Any


class Ranges:
    """Whole numbers, held as sorted disjoint ranges begin … end - 1 that do not touch."""

    def __init__(self, ranges: Any = ()):
        self._begins: list[int] = []
        self._ends: list[int] = []
        for begin, end in ranges:
            self.add(begin, end)

    def __iter__(self) -> Iterator[tuple[int, int]]:
        return iter(zip(self._begins, self._ends, strict=True))

    def add(self, begin: int, end: int) -> None:
        if begin >= end:
            return
        left = bisect_left(self._ends, begin)
        right = bisect_right(self._begins, end)
        if left < right:
            begin, end = min(begin, self._begins[left]), max(end, self._ends[right - 1])
        self._begins[left:right] = [begin]
        self._ends[left:right] = [end]

    def meets(self, begin: int, end: int) -> bool:
        """Whether any number of begin … end - 1 is in the set."""
        return begin < end and bisect_right(self._ends, begin) < bisect_left(self._begins, end)

    def remove(self, begin: int, end: int) -> None:
        if begin >= end:
            return
        left = bisect_right(self._ends, begin)
        right = bisect_left(self._begins, end)
        kept = [(self._begins[k], self._ends[k]) for k in range(left, right)]
        pieces = [(b, min(e, begin)) for b, e in kept if b < begin] + [(max(b, end), e) for b, e in kept if e > end]
        self._begins[left:right] = [b for b, _ in pieces]
        self._ends[left:right] = [e for _, e in pieces]

    def gap(self, limit: int, last: bool = False) -> tuple[int, int] | None:
        """The first (or the last) range below `limit` that is not in the set."""
        if last:
            place = bisect_left(self._begins, limit)  # ranges that begin below the limit
            end = limit
            while place and self._ends[place - 1] >= end:
                place -= 1
                end = self._begins[place]
            return (self._ends[place - 1] if place else 0, end) if end > 0 else None
        place = 1 if self._begins and self._begins[0] <= 0 else 0
        begin = self._ends[0] if place else 0
        if begin >= limit:
            return None
        return begin, min(limit, self._begins[place]) if place < len(self._begins) else limit

    def count(self, limit: int) -> int:
        """How many numbers below `limit` are in the set."""
        return sum(min(end, limit) - begin for begin, end in self if begin < limit)

    @property
    def prefix(self) -> int:
        """How many numbers 0, 1, 2 … are in the set without a gap."""
        return self._ends[0] if self._begins and self._begins[0] == 0 else 0
