"""Why a goal is reached with probability 1: pairs of states that meet only finitely often, found in stages.

Weights on the states that no interaction raises, seen over a whole run, fall only finitely often; a pair whose meeting
makes them fall therefore meets finitely often, and as every possible meeting has a fixed positive probability, from
some time on it is impossible. Such pairs are *dead*. Where the dead pairs are impossible, other pairs may be too, or
have no successor (they are *starved*, and dead as well); the rules that are left may allow new weights. When no
configuration outside the goal is left, the goal has been reached.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np

from hegemon.display import Show
from hegemon.exact.proofs.questions import PATIENCE, Questions
from hegemon.exact.proofs.symbols import solver_library
from hegemon.exact.proofs.system import Goal, Linear, Rule

LARGEST_DENOMINATOR = 10_000


@dataclass(frozen=True)
class Stage:
    """Either weights, and the pairs at whose meetings they fall; or pairs that are starved (no weights)."""

    pairs: tuple[tuple[int, int], ...]
    weights: tuple[int, ...] = ()


@dataclass(frozen=True)
class Stuck:
    """The first stage that could not be found, and rules that no weights can make fall."""

    stage: int
    rules: tuple[Rule, ...]


def find_stages(
    questions: Questions, goal: Goal, invariants: list[Linear], progress: Show | None = None
) -> tuple[list[Stage], Stuck | None]:
    """The stages up to the goal, or those that were found and where the search ended."""
    solver = questions.solver()
    solver.add(questions.all_hold(invariants), questions.outside(goal))
    moving = [rule for rule in questions.system.rules if not rule.is_silent]
    dead: set[Any] = set()
    stages: list[Stage] = []
    while True:
        if progress:
            progress("stages", len(stages), None)
        if questions.refuted(solver, questions.dead(dead)):
            return stages, None
        living = [rule for rule in moving if rule.pair not in dead]
        weights, falling = find_weights(questions.system.size, living)
        if falling:
            pairs = tuple(dict.fromkeys(rule.pair for rule in falling))
            stages.append(Stage(pairs, weights))
        else:
            pairs = _starved(questions, solver, goal, invariants, living, dead)
            if not pairs:
                return stages, Stuck(len(stages) + 1, tuple(living))
            stages.append(Stage(pairs))
        dead |= set(pairs)


def _starved(
    questions: Questions, solver: Any, goal: Any, invariants: Any, rules: list[Rule], dead: Any
) -> tuple[tuple[int, int], ...]:
    """The pairs that cannot meet any more; if there are none, those whose meetings have no successor."""
    solver.push()
    solver.add(questions.dead(dead))
    alive = _alive(questions, solver, rules)
    solver.pop()
    pairs = {rule.pair for rule in rules} - {rule.pair for rule in alive}
    return tuple(sorted(pairs)) or _without_successor(questions, solver, goal, invariants, alive, dead)


def _alive(questions: Questions, solver: Any, rules: list[Rule]) -> list[Rule]:
    """The rules whose pair is present in some configuration that the solver allows."""
    waiting, alive = dict.fromkeys(rule.pair for rule in rules), set()
    while waiting:
        pair = next(iter(waiting))
        solver.push()
        solver.add(questions.enabled(pair))
        if questions.impossible(solver):
            del waiting[pair]
        else:
            alive.add(pair)
            alive |= _present(questions, solver, waiting)
            waiting = dict.fromkeys(pair for pair in waiting if pair not in alive)
        solver.pop()
    return [rule for rule in rules if rule.pair in alive]


def _present(questions: Questions, solver: Any, pairs: Any) -> set[Any]:
    """The pairs that can meet in the configuration just found: one solution decides several pairs."""
    try:
        model = solver.model()
    except questions.z3.Z3Exception:  # no model in time: nothing is known
        return set()
    counts = [model.eval(count, model_completion=True).as_long() for count in questions.counts]
    return {(a, b) for a, b in pairs if counts[a] >= 1 and counts[b] >= 1 + (a == b)}


def _without_successor(
    questions: Questions, solver: Any, goal: Any, invariants: Any, alive: Any, dead: Any
) -> tuple[Any, ...]:
    """Pairs whose meeting always leads into the goal or revives a dead pair: they meet finitely often too."""
    left: dict[str, Any] = {}
    for rule in alive:
        left.setdefault(rule.pair, []).append(rule)
    return tuple(
        pair
        for pair, rules in left.items()
        if all(questions.refuted(solver, starved(questions, goal, invariants, dead, rule)) for rule in rules)
    )


def starved(questions: Questions, goal: Goal, invariants: list[Linear], dead: set[tuple[int, int]], rule: Rule) -> Any:
    """The rule can happen outside the goal while the dead pairs are impossible, before and after."""
    before = questions.z3.And(questions.dead(dead), questions.enabled(rule.pair))
    after = questions.z3.And(
        questions.all_hold(invariants, rule), questions.outside(goal, rule), questions.dead(dead, rule)
    )
    return questions.z3.And(before, after)


def find_weights(size: int, rules: list[Rule]) -> tuple[tuple[int, ...], list[Rule]]:
    """Whole weights >= 0 that no rule raises, and the rules that lower them: as many as any weights can.

    Weights that each lower some rule lower all of these rules when added up, so one linear program finds the largest
    set; a second one finds small weights for it, which are made whole and checked exactly.
    """
    from scipy.optimize import linprog  # only here: it takes long to load

    if not rules:
        return (), []
    effects = np.zeros((len(rules), size))
    for row, rule in enumerate(rules):
        for state, sign in ((rule.a, -1), (rule.b, -1), (rule.c, 1), (rule.d, 1)):
            effects[row, state] += sign
    slack = np.hstack([effects, np.eye(len(rules))])  # change + fall <= 0, 0 <= fall <= 1
    price = np.concatenate([np.zeros(size), -np.ones(len(rules))])
    bounds = [(0, None)] * size + [(0, 1)] * len(rules)
    largest = linprog(price, A_ub=slack, b_ub=np.zeros(len(rules)), bounds=bounds, method="highs")
    if largest.status != 0:
        return (), []
    falls = largest.x[size:] > 0.5
    if not falls.any():
        return (), []
    small = linprog(np.ones(size), A_ub=effects, b_ub=-falls.astype(float), bounds=[(0, None)] * size, method="highs")
    weights = _whole(small.x) if small.status == 0 else ()
    if not _lowers(weights, rules, falls):
        weights = _by_solver(size, rules, falls)
    return (weights, [rule for rule in rules if rule.change(weights) < 0]) if weights else ((), [])


def _whole(values: np.ndarray) -> tuple[int, ...]:
    """Floating-point weights as whole numbers in the same proportions, if they are simple fractions."""
    fractions = [Fraction(float(value)).limit_denominator(LARGEST_DENOMINATOR) for value in values]
    scale = lcm(*(fraction.denominator for fraction in fractions))
    return tuple(int(fraction * scale) for fraction in fractions)


def _lowers(weights: Any, rules: Any, falls: Any) -> bool:
    """The exact check: no rule raises the weights, and those that should lower them do."""
    return bool(weights) and all(
        rule.change(weights) <= (-1 if fall else 0) for rule, fall in zip(rules, falls, strict=True)
    )


def _by_solver(size: int, rules: Any, falls: Any) -> tuple[int, ...]:
    """The same weights by exact arithmetic, where rounding has failed."""
    z3 = solver_library()
    weights = [z3.Int(f"w{state}") for state in range(size)]
    solver = z3.Solver()
    solver.set("timeout", PATIENCE)
    solver.add(*(weight >= 0 for weight in weights))
    for rule, fall in zip(rules, falls, strict=True):
        before, after = weights[rule.a] + weights[rule.b], weights[rule.c] + weights[rule.d]
        solver.add(after < before if fall else after <= before)
    if solver.check() != z3.sat:
        return ()
    model = solver.model()
    return tuple(model.eval(weight, model_completion=True).as_long() for weight in weights)
