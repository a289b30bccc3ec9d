"""Every mutant that breaks a claim is refuted, by a counterexample that plain Python confirms."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from mutant_verdicts import HEAD, mutated_class, section
from mutants import INSTANCES, MUTANTS, Mutant

from hegemon.runs.setting import topology_for

NOTES = Path(__file__).parents[2] / "docs" / "mutants.md"


def test_there_are_at_least_five_for_each_protocol():
    numbers = Counter(mutant.protocol for mutant in MUTANTS)
    assert set(numbers) == set(INSTANCES)
    assert min(numbers.values()) >= 5


def test_a_mutation_that_does_not_fit_fails():
    with pytest.raises(LookupError):
        mutated_class(Mutant("pairwise", "gone", "no such line", "pass"))


@pytest.mark.parametrize("protocol", INSTANCES)
def test_the_notes_say_what_was_found(protocol):
    lines, verdicts = section(protocol)
    text = NOTES.read_text()
    assert text.startswith(HEAD)
    assert "\n".join(lines) in text
    for mutant in MUTANTS:
        if mutant.protocol == protocol:
            verdict = verdicts[mutant.id]
            assert verdict.refuted != bool(mutant.why), mutant.id
            for finding in verdict.answer.refuted:
                confirm(verdict.answer, finding)


def confirm(answer, finding) -> None:
    """Walk along the counterexample by hand and see that it says what it claims to say."""
    protocol = answer.protocol if finding.question != "predicate" else variant(answer.protocol, finding)
    agents = [dict(state) for state in finding.counterexample.configuration]
    arcs = topology_for(protocol)
    before = agents
    for step in finding.counterexample.interactions:
        i, j = step.initiator, step.responder
        assert j in arcs.neighbours(i)
        assert (agents[i], agents[j]) == step.before
        before = [dict(state) for state in agents]
        agents[i], agents[j] = protocol.transition(agents[i], agents[j])
        assert (agents[i], agents[j]) == step.after
    chosen = protocol.sets[finding.set]
    if finding.question == "closed":
        assert contains(protocol, chosen, before) and not contains(protocol, chosen, agents)
    elif finding.question == "leader":
        outputs = [[bool(protocol.output(protocol.space.parse(s), protocol.p)) for s in c] for c in (before, agents)]
        assert outputs[0] != outputs[1] and sum(outputs[0]) == 1
    elif finding.question == "reached":
        assert not any(contains(protocol, chosen, c) for c in everything_after(protocol, agents))
    else:
        assert not all(contains(protocol, chosen, c) for c in everything_after(protocol, agents))


def variant(protocol, finding):
    value = int(finding.sentence.split(":")[0].split("=")[1])
    return type(protocol)(protocol.n, **{**protocol.parameters, protocol.input_parameter: value})


def contains(protocol, chosen, agents) -> bool:
    return chosen.contains([protocol.space.parse(state) for state in agents], protocol.p, protocol.values)


def everything_after(protocol, agents, most=400) -> list:
    """What can follow a configuration, breadth-first by plain Python, up to a number."""
    topology = topology_for(protocol)
    arcs = np.stack([topology.sources, topology.targets], axis=1).tolist()
    freeze = lambda c: tuple(tuple(s.items()) for s in c)  # noqa: E731
    seen, queue = {freeze(agents)}, [agents]
    for current in queue:
        for i, j in arcs:
            after = [dict(state) for state in current]
            after[i], after[j] = protocol.transition(after[i], after[j])
            if freeze(after) not in seen and len(queue) < most:
                seen.add(freeze(after))
                queue.append(after)
    return queue
