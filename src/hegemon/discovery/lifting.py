"""Protocols that were found, judged at larger n: they are correct there too, or give counterexamples.

Where the configurations of an n fit, all are judged by the same specification. At larger n the best are run. The
best are also given to the prover, which decides some of them for every n.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from hegemon import display
from hegemon.discovery.discover import Discovery, Found
from hegemon.discovery.guided import GuidedDiscovery
from hegemon.discovery.judge import FAILS, HOLDS, judge
from hegemon.discovery.search import TableSearch
from hegemon.discovery.specifications import SearchQuestion, parse_sizes
from hegemon.discovery.writing import protocol_text
from hegemon.errors import InvalidInput
from hegemon.exact.proofs.prover import prove
from hegemon.models.rule_writing import protocol_of
from hegemon.runs.trials import run_trials

TRIALS = 10
STEPS = 20  # the limit of a run at larger n, in n^2 steps


@dataclass(frozen=True)
class Simulated:
    """Runs of one protocol at an n that is too large to judge: how many became correct within the limit."""

    solution: Found
    n: int
    trials: int
    reached: int
    max_steps: int


@dataclass(frozen=True)
class Lifted:
    """The protocols that are correct at every further n, those that fail at one, and those that use a further rule."""

    sizes: tuple[int, ...]  # sizes that were judged
    right: tuple[Found, ...]
    wrong: tuple[tuple[Found, int, tuple[int, ...]], ...]  # with the first n that fails, and a hopeless configuration
    undecided: tuple[Found, ...]  # a rule that was not used at smaller n is used there
    simulated: tuple[Simulated, ...] = ()
    proofs: tuple[tuple[Found, tuple[tuple[str, str], ...]], ...] = ()  # questions about `safe`, and their results

    def record(self, best: int = 10) -> dict[str, Any]:
        wrong = [
            {"rules": solution.rules, "tables": solution.tables, "n": n, "stuck": list(stuck)}
            for solution, n, stuck in self.wrong[:best]
        ]
        runs = [
            {"rules": run.solution.rules, "n": run.n, "trials": run.trials, "reached": run.reached,
             "max_steps": run.max_steps}
            for run in self.simulated
        ]  # fmt: skip
        return {
            "n": list(self.sizes),
            "right": len(self.right),
            "wrong": len(self.wrong),
            "undecided": len(self.undecided),
            "counterexamples": wrong,
            "simulated": runs,
            "proofs": [{"rules": proved.rules, "statements": dict(statements)} for proved, statements in self.proofs],
        }


def lift(
    discovery: Discovery | GuidedDiscovery,
    n: Sequence[int] | int | str,
    progress: display.Show | None = None,
    best: int = 3,
    trials: int = TRIALS,
) -> Lifted:
    """Judge everything that was found at further n; run the best at those n that are too large; prove the best."""
    sizes = parse_sizes(n, "then")
    judged = tuple(size for size in sizes if _fits(discovery.question, size))
    right: list[Found] = list(discovery.found)
    wrong: list[tuple[Found, int, tuple[int, ...]]] = []
    undecided: list[Found] = []
    if judged:
        larger = {problem.outputs: problem for problem in replace(discovery.question, n=judged).problems}
        keeps = {outputs: TableSearch(problem).keeps for outputs, problem in larger.items()}
        right = []
        for number, solution in enumerate(discovery.found):
            if progress is not None and number % 50 == 0:
                progress("judging what was found at larger n", number, len(discovery.found))
            problem = larger[solution.problem.outputs]
            verdict = judge(solution.table, keeps[problem.outputs], problem.cases)
            if verdict.status == FAILS:
                arena = problem.cases[verdict.case].arena
                wrong.append((solution, arena.n, arena.configurations[verdict.witness]))
            else:
                (right if verdict.status == HOLDS else undecided).append(solution)
    simulated, proofs = [], []
    for solution in right[:best]:
        kind = protocol_of(protocol_text(solution, "Survivor", discovery.question.command), "Survivor", "survivor")
        for size in sizes:
            if size not in judged:
                limit = STEPS * size * size
                runs = run_trials(kind(n=size), trials, seed=0, max_steps=limit).runs
                simulated.append(Simulated(solution, size, trials, sum(run.reached for run in runs), limit))
        if solution.problem.anonymous:
            proofs.append((solution, _proved(kind)))
    return Lifted(judged, tuple(right), tuple(wrong), tuple(undecided), tuple(simulated), tuple(proofs))


def _fits(question: SearchQuestion, n: int) -> bool:
    """Whether an n can be judged; an n too small for the graph, or too large to run, is refused."""
    try:
        replace(question, n=(n,))
    except InvalidInput:
        if (
            n <= max(question.n)
            or question.daemon
            or question.graph not in ("complete", "directed-ring", "ring", "path")
        ):
            raise
        return False
    return True


def _proved(kind: Any) -> tuple[tuple[str, str], ...]:
    """The questions of the prover, and `proved`, `refuted` or `not found`; the least of what its cases say."""
    verdicts: dict[str, str] = {}
    for part in prove(kind).parts:
        for statement in part.statements:
            known = verdicts.get(statement.question, "proved")
            verdicts[statement.question] = statement.status if known == "proved" else known
    return tuple(verdicts.items())
