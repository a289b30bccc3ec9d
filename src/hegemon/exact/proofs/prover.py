"""Proofs: questions about sets, for every n. A proof is written as a certificate, which the checker confirms."""

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from hegemon import doors
from hegemon.display import Show, plain
from hegemon.errors import InvalidInput, meant
from hegemon.exact.proofs import checker
from hegemon.exact.proofs.certificates import certificate
from hegemon.exact.proofs.counterexamples import LARGEST, smallest_counterexample
from hegemon.exact.proofs.invariants import inductive, needed
from hegemon.exact.proofs.questions import Questions
from hegemon.exact.proofs.stages import Stage, Stuck, find_stages, starved
from hegemon.exact.proofs.symbols import DependsOnSize, Fact, Undecided, decided, fact_text
from hegemon.exact.proofs.system import Goal, Linear, Start, System
from hegemon.models.protocol import Protocol
from hegemon.runs import kinds
from hegemon.runs.stories import Trace

QUESTIONS = ("closed", "leader", "reached")
GRAPHS = ("complete", "connected")
PROVED, NOT_FOUND = "proved", "not found"


@dataclass(frozen=True)
class Statement:
    """One question about one set, and why it holds for every n; or where the proof attempt ends."""

    question: str
    set: str
    start: Start
    goal: Goal
    status: str
    sentence: str
    invariants: tuple[Linear, ...] = ()
    stages: tuple[Stage, ...] = ()
    counterexample: Trace | None = None

    def record(self) -> dict[str, Any]:
        row = {"question": self.question, "set": self.set, "status": self.status, "sentence": self.sentence}
        return row | {"counterexample": self.counterexample.record() if self.counterexample else None}


@dataclass(frozen=True)
class SystemStatements:
    """The statements about one system: a protocol, and one range of its inputs where it computes a predicate."""

    system: System
    statements: tuple[Statement, ...]

    @property
    def case(self) -> str:
        facts = list(self.system.inputs or ())
        for fact in tuple(facts):  # leave out what follows from the others
            others = tuple(kept for kept in facts if kept != fact)
            facts = list(others) if decided(fact, others) else facts
        return " and ".join(fact_text(fact, self.system.protocol.input_parameter) for fact in facts)


@dataclass(frozen=True)
class Proof:
    """All statements about one protocol; `certificate` holds those that were proved."""

    protocol: type[Protocol]
    graphs: str
    parts: tuple[SystemStatements, ...]
    certificate: dict[str, Any] = field(repr=False)
    checked: dict[str, Any]
    seconds: float

    @property
    def ok(self) -> bool:
        return all(statement.status == PROVED for part in self.parts for statement in part.statements)

    def __str__(self) -> str:
        about = {
            f"{statement.question} {statement.set}{' if ' * bool(part.case)}{part.case}": (
                f"{statement.status}: {statement.sentence}"
            )
            for part in self.parts
            for statement in part.statements
        }
        return plain(f"{self.protocol.id}, every n >= {self.parts[0].system.smallest}, {self.graphs} graphs", about)

    def record(self) -> dict[str, Any]:
        system = self.parts[0].system
        return {
            "protocol": self.protocol.id,
            "parameters": system.parameters,
            "states": system.size,
            "sizes": f"every n >= {system.smallest}",
            "graphs": self.graphs,
            "start": self.parts[0].statements[0].start.text,
            "ok": self.ok,
            "statements": [{"case": p.case, **s.record()} for p in self.parts for s in p.statements],
            "checked": self.checked,
            "seconds": self.seconds,
        }


@kinds.door(
    protocol=kinds.PROTOCOL_CLASS,
    start=kinds.TEXT,
    graphs=doors.one_of(*GRAPHS),
    parameters=doors.mapping(doors.scalar) | doors.none,
    largest=doors.whole(),
)
def prove(
    protocol: type[Protocol], *, property: str | None = None, start: str | None = None, graphs: str = "complete",
    parameters: dict[str, int | float | str] | None = None, largest: int = LARGEST, progress: Show | None = None,
) -> Proof:  # fmt: skip
    """Look for proofs that hold for every n at once, of a population protocol whose states do not grow with n.

    protocol    the class, such as hegemon.Pairwise: n is not given, because it is every n.
    property    a question (closed, leader, reached), a set (its name or a text of conditions), or QUESTION:SET;
                without it, all three about `safe`, and closed for every set that is claimed to be closed.
    start       a named start, "all", or conditions such as "count(leader == 1) >= 1"; without it, the default start.
    graphs      "complete", or "connected" for every connected undirected graph and every arrangement of the agents.
                Closure is always proved for every graph.
    parameters  values to fix; whatever else depends on n may not be used by the protocol's rules.
    largest     a statement without a proof is tried on all sizes up to this one, to find a counterexample.

    The result holds one statement per question with its status: "proved" (and confirmed by the checker), "refuted"
    (with a counterexample of the smallest size), or "not found", which says nothing about the truth.
    """
    begin = time.perf_counter()
    fixed = dict(parameters or {})
    parts: list[SystemStatements] = []
    waiting: list[tuple[Fact, ...]] = [()]
    while waiting:
        inputs = waiting.pop(0)
        try:
            system = System(protocol, fixed, inputs)
            questions = Questions(system, graphs == "connected")
            parts.append(
                SystemStatements(system, tuple(_statements(questions, property, start, fixed, largest, progress)))
            )
        except Undecided as split:
            waiting[:0] = [(*inputs, fact) for fact in split.cases]
    made = json.loads(json.dumps(certificate(parts, graphs)))  # what is checked is what a file would hold
    checked = checker.check(made)
    if checked["failures"]:
        raise AssertionError(f"the checker does not accept a proof: {checked['failures'][0]}")
    return Proof(protocol, graphs, tuple(parts), made, checked, time.perf_counter() - begin)


def _statements(
    questions: Questions, property: str | None, start: Any, fixed: dict[str, Any], largest: int, progress: Show | None
) -> Iterator[Statement]:
    system = questions.system
    begins = system.start(start or system.protocol.default_start or "all")
    own = system.protocol.topology
    for question, name in _asked(property, system):
        try:
            goal = system.set_named(name)
        except DependsOnSize as error:
            if property is not None or name == "safe":
                raise
            yield Statement(question, name, begins, (), NOT_FOUND, str(error))
            continue
        if question == "reached" and own != "complete":
            raise InvalidInput(f"{system.protocol.id} runs on {own} alone; only `closed` and `leader` can be proved")
        statement = FINDERS[question](questions, name, begins, goal, progress)
        if statement.status != PROVED:
            statement = smallest_counterexample(statement, system, start, fixed, questions.connected, largest, progress)
        yield statement


def _asked(property: str | None, system: System) -> Iterator[tuple[str, str]]:
    """The questions and sets that a text means."""
    protocol = system.protocol
    elects = protocol.elects_leader
    if property is None:
        if "safe" not in protocol.sets:
            raise InvalidInput(f"{protocol.id} declares no set `safe`; ask about one with --property QUESTION:SET")
        yield from (("closed", "safe"), ("reached", "safe"))
        if elects and _has_one_leader(system, system.set_named("safe")):
            yield "leader", "safe"
        for name, chosen in type(protocol).sets.items():
            if name != "safe" and chosen.closed and not chosen.whole:
                yield "closed", name
        return
    question, colon, name = property.partition(":")
    if question in QUESTIONS:
        if question == "leader" and not elects:
            raise InvalidInput(f"{protocol.id} elects no leader, so `leader` cannot be asked; ask closed or reached")
        yield question, name if colon else "safe"
        return
    if property not in protocol.sets and "(" not in property:
        raise InvalidInput(
            f"the property {property!r} is not known; give a question ({', '.join(QUESTIONS)}), a set "
            f"({', '.join(protocol.sets)}) or QUESTION:SET{meant(question, (*QUESTIONS, *protocol.sets))}"
        )
    yield from (("closed", property), ("reached", property))


def _has_one_leader(system: System, goal: Goal) -> bool:
    """Whether the set itself requires exactly one leader."""
    return all(set(one_leader(system)) <= set(row) for row in goal)


def one_leader(system: System) -> tuple[Linear, Linear]:
    return Linear(system.outputs, 1), Linear(tuple(-value for value in system.outputs), -1)


def _closed(questions: Questions, name: str, start: Start, goal: Any, progress: Show | None) -> Statement:
    """No interaction leads out of the set, on its own or within the invariants of the start."""
    invariants = _keeping(questions, start, goal, questions.leaving(goal))
    if invariants is None:
        sentence = "stage 1: an interaction may lead out of the set, as far as the constraints found can tell"
        return Statement("closed", name, start, goal, NOT_FOUND, sentence)
    within = f"among all that can follow {start.text} ({_numbered(invariants, 'invariant')})"
    where = within if invariants else "on its own"
    sentence = f"no interaction leaves the set, on any graph, {where}"
    return Statement("closed", name, start, goal, PROVED, sentence, tuple(invariants))


def _leader(questions: Questions, name: str, start: Start, goal: Any, progress: Show | None) -> Statement:
    """Exactly one leader in the set, and no interaction inside it changes an output; and it is closed."""
    system, z3 = questions.system, questions.z3
    inside = questions.inside(goal)
    changing = sorted({rule.pair for rule in system.rules if system.changes_output(rule)})
    formulas = questions.leaving(goal)
    formulas += [
        z3.And(inside, questions.outside((one_leader(system),))),
        z3.And(inside, questions.either(map(questions.enabled, changing))),
    ]
    invariants = _keeping(questions, start, goal, formulas)
    if invariants is None:
        sentence = "stage 1: a leader may be lost or added in the set, as far as the constraints found can tell"
        return Statement("leader", name, start, goal, NOT_FOUND, sentence)
    sentence = "there is one leader, and no interaction in the set, or after it, changes any agent's output"
    return Statement("leader", name, start, goal, PROVED, sentence, tuple(invariants))


def _keeping(questions: Questions, start: Start, goal: Any, formulas: Any) -> list[Linear] | None:
    """Invariants under which none of the formulas can be true, as few as needed; None if there are none."""
    solver = questions.solver()
    if all(questions.refuted(solver, formula) for formula in formulas):
        return []
    invariants = inductive(questions, start, goal)
    solver.add(questions.all_hold(invariants))
    if not invariants or not all(questions.refuted(solver, formula) for formula in formulas):
        return None
    return needed(questions, invariants, formulas)


def _reached(questions: Questions, name: str, start: Start, goal: Any, progress: Show | None) -> Statement:
    """The set is reached with probability 1: from everywhere if that can be shown, else from the start."""
    begins, invariants = Start("every configuration"), []
    stages, stuck = find_stages(questions, goal, [], progress)
    if stuck and not start.is_everything:
        begins, invariants = start, inductive(questions, start, goal)
        stages, stuck = find_stages(questions, goal, invariants, progress)
    if stuck:
        return Statement("reached", name, start, goal, NOT_FOUND, _why(questions.system, stuck))
    dead: set[Any] = set()
    formulas = []
    for stage in stages:
        if not stage.weights:
            rules = [rule for rule in questions.system.rules if rule.pair in stage.pairs]
            formulas += [
                questions.z3.And(questions.outside(goal), starved(questions, goal, invariants, dead, rule))
                for rule in rules
            ]
        dead |= set(stage.pairs)
    formulas.append(questions.z3.And(questions.outside(goal), questions.dead(dead)))
    kept = needed(questions, invariants, formulas) if invariants else []
    graphs = "on every connected graph" if questions.connected else "on complete graphs"
    how = f"reached with probability 1, {graphs}: {_numbered(stages, 'stage')}" if stages else "never outside the set"
    within = f", {_numbered(kept, 'invariant')}" if kept else ""
    return Statement(
        "reached", name, begins, goal, PROVED, f"from {begins.text} {how}{within}", tuple(kept), tuple(stages)
    )


def _why(system: System, stuck: Stuck) -> str:
    """A sentence on where the search for stages ended."""
    if not stuck.rules:
        return (
            f"stage {stuck.stage}: configurations outside the set are left in which nothing moves, as far as the "
            "constraints found can tell"
        )
    named = [[system.states[state] for state in (rule.a, rule.b, rule.c, rule.d)] for rule in stuck.rules[:3]]
    rules = ", ".join(f"({a}, {b}) → ({c}, {d})" for a, b, c, d in named)
    return f"stage {stuck.stage}: no weights fall in {rules}" + " …" * (len(stuck.rules) > 3)


def _numbered(things: Any, word: str) -> str:
    return f"{len(things)} {word}{'s' * (len(things) != 1)}"


FINDERS = {"closed": _closed, "leader": _leader, "reached": _reached}
