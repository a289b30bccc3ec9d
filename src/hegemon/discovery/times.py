"""Exact expected steps to a settled configuration, as fractions."""

from collections.abc import Sequence
from fractions import Fraction

from hegemon.discovery.judge import Outlook, Requirement


def expected_steps(
    table: Sequence[int], keeps: Sequence[Sequence[bool]], case: Requirement
) -> tuple[Fraction, Fraction]:
    """From the worst start, and the mean over all arrays of agents that are starts."""
    outlook = Outlook(table, keeps, case)
    order, _, undecided = outlook.reached()
    assert undecided < 0, "a table that holds decides every rule that can be used"
    times = _solve(table, case, [here for here in order if not outlook.settled >> here & 1])
    starts = [(times.get(start, Fraction(0)), case.arena.arrays[start]) for start in case.starts]
    arrays = sum(weight for _, weight in starts)
    total = sum((time * weight for time, weight in starts), Fraction(0))
    return max(time for time, _ in starts), total / arrays


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
    for gone in reversed(unsettled):  # every later row is then free of what was eliminated
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
