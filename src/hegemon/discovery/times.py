"""Exact times to a settled configuration, as fractions: expected steps, or the most moves that a daemon can make."""

from collections.abc import Sequence
from fractions import Fraction

from hegemon.discovery.judge import Outlook, Requirement


def exact_times(
    table: Sequence[int], keeps: Sequence[Sequence[bool]], cases: Sequence[Requirement]
) -> dict[int, tuple[Fraction, Fraction]]:
    """For each n: the time from the worst start, and the mean over all arrays of agents that are starts, all graphs."""
    starts: dict[int, list[tuple[Fraction, int]]] = {}
    for case in cases:
        outlook = Outlook(table, keeps, case)
        order, _, undecided = outlook.reached()
        assert undecided < 0, "a table that holds decides every rule that can be used"
        unsettled = [here for here in order if not outlook.settled >> here & 1]
        times = _longest(outlook, unsettled) if case.daemon else _solve(table, case, unsettled)
        weighted = starts.setdefault(case.arena.n, [])
        weighted += [(times.get(start, Fraction(0)), case.arena.arrays[start]) for start in case.starts]
    return {n: (max(time for time, _ in weighted), _mean(weighted)) for n, weighted in starts.items()}


def _mean(weighted: Sequence[tuple[Fraction, int]]) -> Fraction:
    return sum((time * weight for time, weight in weighted), Fraction(0)) / sum(weight for _, weight in weighted)


def _longest(outlook: Outlook, unsettled: list[int]) -> dict[int, Fraction]:
    """The most moves from each unsettled configuration. There is no cycle."""
    times: dict[int, Fraction] = {}
    left = set(unsettled)
    while left:
        for here in [configuration for configuration in left if not left.intersection(outlook.moves(configuration))]:
            times[here] = 1 + max(times.get(there, Fraction(0)) for there in outlook.moves(here))
            left.remove(here)
    return times


def _solve(table: Sequence[int], case: Requirement, unsettled: list[int]) -> dict[int, Fraction]:
    """Expected steps from each unsettled configuration, by eliminating one after the other, the last found first."""
    inside = set(unsettled)
    rows: dict[int, dict[int, Fraction]] = {}  # leaving weights; time in a configuration is total / leaving
    spent: dict[int, Fraction] = {}
    for here in unsettled:
        row: dict[int, Fraction] = {}
        leaving = 0
        for move in case.arena.moves[here]:
            there = move.after[table[move.rule]]
            if there != here:
                leaving += move.weight
                if there in inside:
                    row[there] = row.get(there, Fraction(0)) + move.weight
        rows[here] = {there: weight / leaving for there, weight in row.items()}
        spent[here] = Fraction(case.arena.total, leaving)
    for gone in reversed(unsettled):  # later rows then do not contain the eliminated configuration
        row = rows[gone]
        again = row.pop(gone, Fraction(0))
        if again:
            rows[gone] = row = {there: weight / (1 - again) for there, weight in row.items()}
            spent[gone] /= 1 - again
        for here in unsettled:
            if here == gone:
                break
            part = rows[here].pop(gone, None)
            if part is not None:
                spent[here] += part * spent[gone]
                for there, weight in row.items():
                    rows[here][there] = rows[here].get(there, Fraction(0)) + part * weight
    times: dict[int, Fraction] = {}
    for here in unsettled:
        times[here] = spent[here] + sum((weight * times[there] for there, weight in rows[here].items()), Fraction(0))
    return times
