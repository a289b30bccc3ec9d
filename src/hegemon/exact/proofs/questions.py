"""Questions about counts for z3: all of linear arithmetic over the numbers of agents in each state.

A proof step is a formula that must have no solution. Every interaction on any graph is one between two agents whose
states are present, so what is impossible for all counts is impossible on every graph.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

from hegemon.exact.proofs.symbols import solver_library
from hegemon.exact.proofs.system import Goal, Linear, Rule, Start, System

PATIENCE = 20_000  # milliseconds for one question; a timeout never counts as a proof


class Questions:
    """Formulas over the counts of one system, on complete graphs or on every connected graph."""

    def __init__(self, system: System, connected: bool):
        self.z3 = solver_library()
        self.system, self.connected = system, connected
        self.counts = [self.z3.Int(f"c{state}") for state in range(system.size)]
        self.total = self.sum(self.counts)
        self.size = self.z3.And(*(count >= 0 for count in self.counts), self.total >= system.smallest)

    def value(self, vector: Sequence[int], shift: int = 0) -> Any:
        terms = [weight * count for weight, count in zip(vector, self.counts, strict=True) if weight]
        return self.sum([*terms, self.z3.IntVal(shift)])

    def holds(self, constraint: Linear, rule: Rule | None = None) -> Any:
        """The constraint now, or after an interaction."""
        return self.value(constraint.vector, rule.change(constraint.vector) if rule else 0) >= constraint.low

    def all_hold(self, constraints: Any, rule: Rule | None = None) -> Any:
        return self.both(self.holds(constraint, rule) for constraint in constraints)

    def both(self, formulas: Any) -> Any:
        """All of the formulas: plain z3 writes an empty conjunction in a way that other solvers do not read."""
        return self.z3.And([self.z3.BoolVal(True), *formulas])

    def either(self, formulas: Any) -> Any:
        return self.z3.Or([self.z3.BoolVal(False), *formulas])

    def sum(self, terms: Any) -> Any:
        return self.z3.Sum(terms) if len(terms) > 1 else terms[0]

    def inside(self, goal: Goal, rule: Rule | None = None) -> Any:
        return self.either(self.all_hold(row, rule) for row in goal) if len(goal) > 1 else self.all_hold(goal[0], rule)

    def outside(self, goal: Goal, rule: Rule | None = None) -> Any:
        return self.z3.Not(self.inside(goal, rule))

    def leaving(self, goal: Goal) -> list[Any]:
        """How an interaction can lead out of a set, one formula each."""
        if len(goal) == 1:
            broken = [formula for constraint in goal[0] for formula, _ in self.breaks(constraint)]
        else:
            moving = [rule for rule in self.system.rules if not rule.is_silent]
            broken = [self.z3.And(self.enabled(rule.pair), self.outside(goal, rule)) for rule in moving]
        return [self.z3.And(self.inside(goal), formula) for formula in broken]

    def enabled(self, pair: tuple[int, int]) -> Any:
        """Two agents in these states are present."""
        a, b = pair
        if a == b:
            return self.counts[a] >= 2
        return self.z3.And(self.counts[a] >= 1, self.counts[b] >= 1)

    def dead(self, pairs: Any, rule: Rule | None = None) -> Any:
        """None of these pairs can meet. On a connected graph neighbours are compatible, that is, not in `pairs` either
        way around; so all states that are present lie in one component of the compatible states."""
        if not self.connected:
            return self.z3.Not(self.either(self._enabled_after(pair, rule) for pair in sorted(pairs)))
        options = []
        for component in components(self.system.size, pairs):
            if len(component) == 1 and (component[0], component[0]) in pairs:
                continue  # with all agents in this one state, neighbours can meet
            others = [0 if state in component else -1 for state in range(self.system.size)]
            options.append(self.holds(Linear(tuple(others), 0), rule))
        return self.either(options)

    def _enabled_after(self, pair: tuple[int, int], rule: Rule | None) -> Any:
        if rule is None:
            return self.enabled(pair)
        a, b = pair
        units = [tuple(int(place == state) for place in range(self.system.size)) for state in pair]
        after = [self.value(unit, rule.change(unit)) for unit in units]
        return after[0] >= 2 if a == b else self.z3.And(after[0] >= 1, after[1] >= 1)

    def breaks(self, constraint: Linear) -> Iterator[Any]:
        """How an interaction can break a constraint, one formula per amount that its left side falls by."""
        falls = defaultdict(list)
        for rule in self.system.rules:
            change = rule.change(constraint.vector)
            if change < 0:
                falls[change].append(rule)
        for change, rules in sorted(falls.items()):
            broken = self.value(constraint.vector, change) < constraint.low
            yield self.z3.And(broken, self.either(self.enabled(rule.pair) for rule in rules)), rules

    def begins(self, start: Start) -> Any:
        """The counts are those of a start; inputs and groups are further unknowns."""
        z3, formulas = self.z3, [self.all_hold(start.constraints)]
        unknown = z3.Int("input")
        if self.system.inputs is not None:
            formulas += [unknown >= 0, unknown <= self.total]
            formulas += [size * self.total + share * unknown + rest >= 0 for size, share, rest in self.system.inputs]
        if start.groups:
            parts: dict[int, list[Any]] = defaultdict(list)
            for number, (support, count) in enumerate(start.groups):
                members = [z3.Int(f"g{number}_{state}") for state in support]
                for state, member in zip(support, members, strict=True):
                    parts[state].append(member)
                    formulas.append(member >= 0)
                formulas.append(self.sum(members) == count.size * self.total + count.share * unknown + count.constant)
            formulas += [count == self.sum([z3.IntVal(0), *parts[state]]) for state, count in enumerate(self.counts)]
        return self.both(formulas)

    def lowest(self, vector: Sequence[int], start: Start) -> int | None:
        """The least value of a linear form over all starts; None if there is none."""
        optimizer = self.z3.Optimize()
        optimizer.set("timeout", PATIENCE)
        optimizer.add(self.size, self.begins(start))
        goal = optimizer.minimize(self.value(vector))
        if optimizer.check() != self.z3.sat:
            return None
        bound = optimizer.lower(goal)
        return bound.as_long() if self.z3.is_int_value(bound) else None

    def impossible(self, solver: Any, *assumptions: Any) -> bool:
        """Whether the solver has proved that there is no solution; "unknown" does not count."""
        answer = solver.check(*assumptions)
        if answer == self.z3.unknown and "interrupted" in solver.reason_unknown():
            raise KeyboardInterrupt
        return answer == self.z3.unsat

    def refuted(self, solver: Any, formula: Any, *assumptions: Any) -> bool:
        """Whether the solver's assertions exclude the formula."""
        solver.push()
        solver.add(formula)
        answer = self.impossible(solver, *assumptions)
        solver.pop()
        return answer

    def solver(self) -> Any:
        solver = self.z3.Solver()
        solver.set("timeout", PATIENCE)
        solver.add(self.size)
        return solver


def components(size: int, pairs: Any) -> list[list[int]]:
    """The components of the states, two states being joined unless they are a pair either way around."""
    left, parts = set(range(size)), []
    while left:
        component = [left.pop()]
        for state in component:
            near = {member for member in left if (state, member) not in pairs and (member, state) not in pairs}
            component += sorted(near)
            left -= near
        parts.append(sorted(component))
    return parts
