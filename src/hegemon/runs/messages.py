"""One run of a message-passing protocol, from the wake-up to a Run."""

from typing import cast

from hegemon.engines.choice import choose_for_messages
from hegemon.engines.messages.surroundings import surroundings_of
from hegemon.models.messages import MessageProtocol
from hegemon.runs.record import MadeRecord
from hegemon.runs.run import Run
from hegemon.runs.setting import topology_for
from hegemon.runs.trial import Course, Trial


def course_of_messages(asked: MadeRecord) -> Course:
    """Each trial runs until no message is in transit and no node waits, or for `max_steps` rounds.

    The run has reached its end when exactly one node is elected.
    """
    seed, checkpoint = asked.seed, asked.checkpoint
    topology = topology_for(asked.protocol, asked.graph, seed)
    protocol = cast(MessageProtocol, asked.protocol).adapt(topology)
    around = surroundings_of(asked, protocol)
    chosen, reason = choose_for_messages(asked.engine, protocol, topology, around)

    def one(trial: Trial) -> Run:
        running = chosen(protocol, topology, around, seed, trial.trial)
        if checkpoint and checkpoint.state:
            running.thaw(checkpoint.state["engine"])
        rest = (lambda: checkpoint.offer(running)) if checkpoint else None
        outcome = running.run(asked.max_steps, trial.progress, rest)
        return Run(
            protocol=protocol.id,
            n=protocol.n,
            unit=protocol.time_unit,
            steps=outcome.rounds,
            reached=outcome.finished and outcome.leaders == 1,
            leaders=outcome.leaders,
            engine=chosen.name,
            reason=reason,
            seed=seed,
            trial=trial.trial,
            measures=outcome.measures,
            interrupted=outcome.interrupted,
        )

    return one
