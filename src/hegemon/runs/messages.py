"""One run of a message-passing protocol, from the wake-up to a Run."""

from typing import cast

from hegemon.engines.choice import choose_for_messages
from hegemon.engines.messages.surroundings import OPTIONS, surroundings_of
from hegemon.models.authors import unchanging
from hegemon.models.messages import MessageProtocol
from hegemon.runs.capabilities import supporting
from hegemon.runs.record import MadeRecord
from hegemon.runs.run import Run
from hegemon.runs.setting import topology_for
from hegemon.runs.trial import Course, Trial


class MessageCourse(Course):
    """Each trial runs until no message is in transit and no node waits, or for `max_steps` rounds.

    The run has reached its end when exactly one node is elected.
    """

    supports = supporting("a run that sends messages", f"graph seed max_steps engine checkpoint {' '.join(OPTIONS)}")

    def __init__(self, record: MadeRecord):
        self.record, self.topology = record, topology_for(record.protocol, record.graph, record.seed)
        self.protocol = cast(MessageProtocol, record.protocol).adapt(self.topology)
        self.around = surroundings_of(record, self.protocol)
        self.chosen, self.reason = choose_for_messages(record.engine, self.protocol, self.topology, self.around)

    def __call__(self, trial: Trial) -> Run:
        record, protocol, checkpoint = self.record, self.protocol, self.record.checkpoint
        running = self.chosen(protocol, self.topology, self.around, record.seed, trial.trial)
        if checkpoint and checkpoint.state:
            running.thaw(checkpoint.state["engine"])
        rest = (lambda: checkpoint.offer(lambda: {"engine": running.freeze()})) if checkpoint else None
        with unchanging(protocol):
            outcome = running.run(record.max_steps, trial.progress, rest)
        return Run(
            protocol=protocol.id,
            n=protocol.n,
            unit=protocol.time_unit,
            steps=outcome.rounds,
            reached=outcome.finished and outcome.leaders == 1,
            leaders=outcome.leaders,
            engine=self.chosen.name,
            reason=self.reason,
            seed=record.seed,
            trial=trial.trial,
            measures=outcome.measures,
            interrupted=outcome.interrupted,
        )
