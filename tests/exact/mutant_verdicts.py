"""What the exact verification says of every mutant; run as a script, it writes docs/mutants.md."""

import importlib
import linecache
import math
import sys
from dataclasses import dataclass
from functools import cache
from types import ModuleType

from mutants import INSTANCES, LARGER, LEMMA_5, MUTANTS, Mutant

from hegemon.exact.verification import Verification, verify
from hegemon.protocols import CATALOGUE


def module_of(protocol: str) -> ModuleType:
    return importlib.import_module(CATALOGUE[protocol].__module__)


def mutated_class(mutant: Mutant):
    """The protocol with the mutation built in."""
    module = module_of(mutant.protocol)
    with open(module.__file__) as file:
        source = file.read()
    if source.count(mutant.old) != 1:
        raise LookupError(f"{mutant.id}: {mutant.old!r} occurs {source.count(mutant.old)} times, not once")
    name = f"mutant_of_{module.__name__.rpartition('.')[2]}"
    made = ModuleType(name)
    sys.modules[name] = made
    text, file = source.replace(mutant.old, mutant.new), f"{name}_{mutant.id}.py"
    linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file  # functions are read from their text
    exec(compile(text, file, "exec"), made.__dict__)
    return getattr(made, CATALOGUE[mutant.protocol].__name__)


@dataclass(frozen=True)
class Verdict:
    answer: Verification
    elected: float | None  # for quick elimination: the probability that one leader is left

    @property
    def refuted(self) -> bool:
        return not self.answer.ok or (self.elected is not None and self.elected < LEMMA_5)

    def figures(self) -> str:
        """Mean and worst expected steps to the safe set, worst expected holding, probability of one leader."""
        hitting, holding = self.answer.hitting, self.answer.holding
        text = f"{hitting.mean:.5g}, worst {hitting.worst:.5g}"
        if holding and math.isfinite(holding.worst):
            text += f", holding {holding.worst:.5g}"
        if self.elected is not None:
            text += f", one leader {self.elected:.5f}"
        return text


def judge(protocol_class, instance: dict) -> Verdict:
    protocol = protocol_class(**instance)
    elected = verify(protocol, property="time:elected").hitting.probability if "elected" in protocol.sets else None
    return Verdict(verify(protocol), elected)


def instance_of(mutant: Mutant) -> dict:
    return LARGER.get(mutant.id, INSTANCES[mutant.protocol])


@cache
def original(protocol: str, instance: tuple) -> Verdict:
    return judge(CATALOGUE[protocol], dict(instance))


def describe(mutant: Mutant, verdict: Verdict) -> str:
    """One row of the table in docs/mutants.md."""
    if verdict.answer.refuted:
        first = verdict.answer.refuted[0]
        length = len(first.counterexample.interactions)
        story = f"{length} interaction{'s' * (length != 1)}" if length else "a configuration"
        others = len(verdict.answer.refuted) - 1
        more = f", and {others} more" if others else ""
        return f"| {mutant.name} | refuted | {first.question} {first.set}: {first.sentence} ({story}{more}) |"
    if verdict.refuted:
        return f"| {mutant.name} | refuted | Lemma 5: one leader is left with probability {verdict.elected:.5f} only |"
    same = original(mutant.protocol, tuple(instance_of(mutant).items())).figures()
    return f"| {mutant.name} | survives | {mutant.why}. Steps {same} → {verdict.figures()} |"


def section(protocol: str) -> tuple[list[str], dict[str, Verdict]]:
    """The lines about one protocol, and the verdicts behind them."""
    chosen = [mutant for mutant in MUTANTS if mutant.protocol == protocol]
    verdicts = {mutant.id: judge(mutated_class(mutant), instance_of(mutant)) for mutant in chosen}
    sizes = ", ".join(f"{name} = {value}" for name, value in INSTANCES[protocol].items())
    lines = [f"## {protocol} ({sizes})", "", "| mutation | verdict | because |", "| --- | --- | --- |"]
    lines += [describe(mutant, verdicts[mutant.id]) for mutant in chosen]
    return lines, verdicts


HEAD = """# Mutants: what the exact verification catches

Each row changes one line of a protocol of the catalogue (`tests/exact/mutants.py` has the changes) and lets
`hegemon verify` judge the result. A mutant that breaks a claim is refuted with a shortest counterexample;
one that survives breaks none, and the row says why, with the exact figures before and after: mean and worst
expected steps to the safe set, worst expected holding, probability that one leader is left. This file is
written by `PYTHONPATH=src python tests/exact/mutant_verdicts.py > docs/mutants.md`, and a test compares it.
"""


if __name__ == "__main__":
    print(HEAD)
    print("\n\n".join("\n".join(section(protocol)[0]) for protocol in CATALOGUE if protocol in INSTANCES))
