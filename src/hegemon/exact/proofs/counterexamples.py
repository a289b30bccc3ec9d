"""Where no proof is found: the smallest population on which the statement is false, from its exact chain."""

import dataclasses
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from hegemon.display import Show
from hegemon.errors import InvalidInput
from hegemon.exact.chain import estimate
from hegemon.exact.configurations import Configurations
from hegemon.exact.verification import verify
from hegemon.graphs.families import path
from hegemon.runs.setting import topology_for

if TYPE_CHECKING:
    from hegemon.exact.proofs.prover import Statement
    from hegemon.exact.proofs.system import System


LARGEST = 5  # agents, by default
LARGEST_CHAIN = 200_000  # configurations: a size with more is skipped


def smallest_counterexample(
    statement: "Statement", system: "System", start: str | None, parameters: dict[str, Any], connected: bool,
    largest: int, progress: Show | None = None,
) -> "Statement":  # fmt: skip
    """The statement refuted by a concrete run, or unchanged, with the sizes on which it is true."""
    if start and "(" in start:
        return statement  # exact chains start at configurations, not at conditions
    tried = []
    for n in range(system.smallest, largest + 1):
        answers = []
        for protocol in instances(system, parameters, n):
            graph = path(n) if connected else topology_for(protocol)
            if estimate(Configurations(protocol, graph)).configurations > LARGEST_CHAIN:
                continue
            if progress:
                progress(f"a counterexample with n = {n}", 0, None)
            question = f"{statement.question}:{statement.set}"
            answers.append((protocol, verify(protocol, graph=graph, start=start, property=question).findings))
        for protocol, findings in answers:
            for finding in findings:
                if not finding.holds:
                    name = protocol.input_parameter
                    given_input = f", {name} = {protocol.values[name]}" if name else ""
                    where = f"false for n = {n}{given_input}{' on a path' if connected else ''}: {finding.sentence}"
                    return dataclasses.replace(
                        statement, status="refuted", sentence=where, counterexample=finding.counterexample
                    )
        tried += [n] if answers else []
    sizes = f" (true for n = {', '.join(map(str, tried))})" if tried else ""
    return dataclasses.replace(statement, sentence=statement.sentence + sizes)


def instances(system: "System", parameters: dict[str, Any], n: int) -> Iterator[Any]:
    """The protocol at one size, once for every input that belongs to the system."""
    protocol_class = type(system.protocol)
    name = protocol_class.input_parameter
    choices = [parameters]
    if system.inputs is not None:
        allowed = (k for k in range(n + 1) if all(a * n + b * k + c >= 0 for a, b, c in system.inputs))
        choices = [{**parameters, name: value} for value in allowed]
    for choice in choices:
        try:
            yield protocol_class(n, **choice)
        except InvalidInput:  # these parameters do not allow this n
            continue
