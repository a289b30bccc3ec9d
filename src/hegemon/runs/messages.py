"""One run of a message-passing protocol, from the wake-up to a Run."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from hegemon.engines.choice import choose_for_messages
from hegemon.graphs.topology import Topology
from hegemon.models.authors import unchanging
from hegemon.models.messages import MessageProtocol
from hegemon.process.messages.surroundings import OPTIONS, surroundings_of
from hegemon.process.stopping import never
from hegemon.runs.capabilities import supporting
from hegemon.runs.plan import RunPlan
from hegemon.runs.record import MadeRecord
from hegemon.runs.run import Run
from hegemon.runs.setting import topology_for
from hegemon.runs.trajectory import Trajectory
from hegemon.runs.trial import Course, Trial

if TYPE_CHECKING:  # other engines do not need it
    from hegemon.engines.messages.nodes import Nodes


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

    def begin(self, trial: Trial) -> Trajectory:
        """Round by round, where the engine shows every round."""
        made: Any = partial(self.chosen, self.protocol, self.topology, self.around, self.record.seed, trial.trial)
        engine: Any = RoundByRound(made)
        return Trajectory(round_by_round(self.protocol, self.topology), engine, progress=trial.progress)

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


class RoundByRound:
    """An engine that plays messages round by round, as a trajectory moves it: also to rounds in which nothing happens.

    It goes back to the beginning alone, from where a new engine plays again with the same coins.
    """

    hopeless = ""
    horizon: int | None = None
    heartbeat: Callable[[], None] = staticmethod(lambda: None)
    met: Callable[[], bool] | None = None

    def __init__(self, make: "Callable[[], Nodes]"):
        self._make = make
        self.restore((0,))

    @property
    def is_silent(self) -> bool:
        return self.nodes.next_round is None

    def counts_hold(self) -> bool:
        return bool(self.met and self.met())

    def advance(self, limit: int) -> bool:
        """Play the next round that has events, or go to the limit if that comes first."""
        ahead = self.nodes.next_round
        if ahead is not None and ahead <= limit:
            self.nodes.play_next()
            self.step = ahead
        else:
            self.step = limit
        return self.counts_hold()

    def snapshot(self, into: tuple[int] | None = None) -> tuple[int]:
        return (0,)

    def restore(self, snapshot: tuple[int]) -> None:
        self.nodes, self.step = self._make(), 0


def round_by_round(protocol: MessageProtocol, topology: Topology) -> RunPlan:
    """The plan of a run that is followed round by round."""
    kind: Any = RoundByRound
    return RunPlan(protocol, topology, kind, never("never"))
