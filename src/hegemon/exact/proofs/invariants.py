"""Invariants: linear constraints that hold at the start, and that every interaction preserves.

Candidates are sums that a protocol's author would think of (how many agents have a value, the sum of a field, what
the sets count) and the sums that no rule changes, each bounded by its least value over the starts, by 1 and by the
bound in the set, where that is less. Those that some interaction can break are removed until the rest is inductive
(Houdini).
"""

from fractions import Fraction
from math import gcd, lcm
from typing import Any

from hegemon.exact.proofs.questions import Questions
from hegemon.exact.proofs.system import Goal, Linear, Start, System

MOST_VALUES = 12  # of a field, each of which is counted


def candidate_vectors(system: System, *goals: Goal) -> list[tuple[int, ...]]:
    space = system.protocol.space
    states = [vars(space.namespace(code)) for code in range(system.size)]
    vectors = [constraint.vector for goal in goals for row in goal for constraint in row]
    vectors += conserved(system)
    vectors.append(system.outputs)
    for name in space.names:
        low, high = space.bounds[name]
        vectors.append(tuple(state[name] for state in states))
        if high - low < MOST_VALUES:
            for value in range(low, high + 1):
                vectors.append(tuple(int(state[name] == value) for state in states))
    if system.size <= MOST_VALUES:
        vectors += [tuple(int(code == state) for code in range(system.size)) for state in range(system.size)]
    both = [vector for each in vectors for vector in (each, tuple(-weight for weight in each))]
    return list(dict.fromkeys(vector for vector in both if any(vector)))


def conserved(system: System) -> list[tuple[int, ...]]:
    """A basis of the sums that no rule changes (by exact elimination), besides n itself."""
    rows = {tuple(_effect(rule, system.size)) for rule in system.rules if not rule.is_silent}
    basis: dict[int, list[Fraction]] = {}
    for row in sorted(rows):
        reduced = [Fraction(value) for value in row]
        for place, known in basis.items():
            factor = reduced[place]
            reduced = [value - factor * known_value for value, known_value in zip(reduced, known, strict=True)]
        pivot = next((place for place, value in enumerate(reduced) if value), None)
        if pivot is not None:
            reduced = [value / reduced[pivot] for value in reduced]
            for place, known in basis.items():
                basis[place] = [v - known[pivot] * r for v, r in zip(known, reduced, strict=True)]
            basis[pivot] = reduced
    free = [place for place in range(system.size) if place not in basis]
    sums = []
    for place in free:
        vector = [Fraction(0)] * system.size
        vector[place] = Fraction(1)
        for pivot, known in basis.items():
            vector[pivot] = -known[place]
        scale = lcm(*(value.denominator for value in vector))
        whole = [int(value * scale) for value in vector]
        sums.append(tuple(value // gcd(*whole) for value in whole))
    return sums


def _effect(rule: Any, size: int) -> list[int]:
    effect = [0] * size
    for state, sign in ((rule.a, -1), (rule.b, -1), (rule.c, 1), (rule.d, 1)):
        effect[state] += sign
    return effect


def inductive(questions: Questions, start: Start, *goals: Goal) -> list[Linear]:
    """The candidates that hold at the start and that no interaction breaks while all of them hold."""
    if start.is_everything:
        return []
    z3, candidates = questions.z3, []
    for vector in candidate_vectors(questions.system, *goals):
        least = questions.lowest(vector, start)
        if least is not None:
            goal_lows = {
                constraint.low for goal in goals for row in goal for constraint in row if constraint.vector == vector
            }
            lows = {low for low in {least, 1, *goal_lows} if low <= least}
            candidates += [Linear(vector, low) for low in lows if low > 0 or any(weight < 0 for weight in vector)]
    solver = questions.solver()
    switches = {candidate: z3.Bool(f"keep{number}") for number, candidate in enumerate(candidates)}
    for candidate, switch in switches.items():
        solver.add(z3.Implies(switch, questions.holds(candidate)))
    breaks = {candidate: [formula for formula, _ in questions.breaks(candidate)] for candidate in candidates}
    settled = False
    while not settled:
        settled = True
        for candidate in list(switches):
            kept = list(switches.values())
            if not all(questions.refuted(solver, formula, *kept) for formula in breaks[candidate]):
                del switches[candidate]
                settled = False
    return list(switches)


def needed(questions: Questions, invariants: list[Linear], formulas: Any) -> list[Linear]:
    """A part of the invariants that is inductive and already refutes these formulas (by unsatisfiable cores)."""
    z3, solver = questions.z3, questions.solver()
    switches = {f"keep{number}": candidate for number, candidate in enumerate(invariants)}
    for name, candidate in switches.items():
        solver.add(z3.Implies(z3.Bool(name), questions.holds(candidate)))
    chosen: list[Linear] = []
    waiting = list(formulas)
    while waiting:
        solver.push()
        solver.add(waiting.pop())
        refuted = questions.impossible(solver, *(z3.Bool(name) for name in switches))
        core = [switches[str(name)] for name in solver.unsat_core()] if refuted else invariants
        solver.pop()
        for candidate in core:
            if candidate not in chosen:
                chosen.append(candidate)
                waiting += [formula for formula, _ in questions.breaks(candidate)]
    return [candidate for candidate in invariants if candidate in chosen]
