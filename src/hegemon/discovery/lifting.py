"""What becomes of protocols that were found, at larger n: right there too, or counterexamples worth keeping."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from hegemon import display
from hegemon.discovery.discover import Discovery, Found
from hegemon.discovery.judge import FAILS, HOLDS, judge
from hegemon.discovery.search import TableSearch
from hegemon.discovery.specifications import parse_sizes


@dataclass(frozen=True)
class Lifted:
    """The protocols that are right at every further n, those that fail at one, and those that use a further rule."""

    sizes: tuple[int, ...]
    right: tuple[Found, ...]
    wrong: tuple[tuple[Found, int, tuple[int, ...]], ...]  # with the first n, and a configuration without hope
    undecided: tuple[Found, ...]  # a rule that was never used before matters there

    def record(self, best: int = 10) -> dict:
        wrong = [
            {"rules": found.rules, "tables": found.tables, "n": n, "stuck": list(stuck)}
            for found, n, stuck in self.wrong[:best]
        ]
        return {
            "n": list(self.sizes),
            "right": len(self.right),
            "wrong": len(self.wrong),
            "undecided": len(self.undecided),
            "counterexamples": wrong,
        }


def lift(discovery: Discovery, n: Sequence[int] | int | str, progress: display.Show | None = None) -> Lifted:
    """Judge everything that was found at further n, by the same specification."""
    sizes = parse_sizes(n, "then")
    larger = {problem.outputs: problem for problem in replace(discovery.question, n=sizes).problems}
    keeps = {outputs: TableSearch(problem).keeps for outputs, problem in larger.items()}
    right: list[Found] = []
    wrong: list[tuple[Found, int, tuple[int, ...]]] = []
    undecided: list[Found] = []
    for number, found in enumerate(discovery.found):
        if progress is not None and number % 50 == 0:
            progress("judging what was found at larger n", number, len(discovery.found))
        problem = larger[found.problem.outputs]
        verdict = judge(found.table, keeps[problem.outputs], problem.cases)
        if verdict.status == FAILS:
            arena = problem.cases[verdict.case].arena
            wrong.append((found, arena.n, arena.configurations[verdict.witness]))
        else:
            (right if verdict.status == HOLDS else undecided).append(found)
    return Lifted(sizes, tuple(right), tuple(wrong), tuple(undecided))
