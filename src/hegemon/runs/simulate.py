"""The public function `simulate`: one call for every model of computation."""

from dataclasses import replace

from hegemon import display
from hegemon.errors import InvalidInput
from hegemon.models.model import MODELS, ComputationModel
from hegemon.runs.doors import takes
from hegemon.runs.record import MadeRecord, TrialRecord
from hegemon.runs.run import Run
from hegemon.runs.trial import Course, Trial


@takes(TrialRecord)
def simulate(asked: TrialRecord) -> Run:
    """Run a protocol once, exactly, and return a `Run`: `simulate(hegemon.Pairwise(n=100), seed=1).steps`."""
    with display.notebook_progress() as shown:
        if shown and not asked.progress and hasattr(asked.protocol, "time_unit"):
            what = f"{asked.protocol.id}: {asked.protocol.time_unit}"
            asked = replace(asked, progress=lambda step: shown(what, step, asked.max_steps))
        return course_of(asked)(Trial(asked.trial, asked.keep, asked.most_rows, asked.progress))


def course_of(asked: MadeRecord) -> Course:
    """The function that makes trials of such a run, by its protocol's model; an option that is meaningless there is
    refused."""
    protocol = asked.protocol
    if isinstance(protocol, type) or not isinstance(getattr(protocol, "model", None), ComputationModel):
        what = "a class: make an instance of it with n=…" if isinstance(protocol, type) else "not a protocol"
        raise InvalidInput(f"{protocol!r} is {what}; the models are {', '.join(MODELS)}")
    asked.require_known()
    kind: type[Course] = protocol.model.home("course")
    kind.supports.require(asked.made_by)
    return kind(asked)
