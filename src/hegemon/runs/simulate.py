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
def simulate(record: TrialRecord) -> Run:
    """Run a protocol once, exactly, and return a `Run`: `simulate(hegemon.Pairwise(n=100), seed=1).steps`."""
    with display.notebook_progress() as shown:
        if shown and not record.progress and hasattr(record.protocol, "time_unit"):
            what = f"{record.protocol.id}: {record.protocol.time_unit}"
            record = replace(record, progress=lambda step: shown(what, step, record.max_steps))
        return course_of(record)(Trial(record.trial, record.keep, record.most_rows, record.progress))


def course_of(record: MadeRecord) -> Course:
    """The function that makes trials of such a run, by its protocol's model; an option that is meaningless there is
    refused."""
    protocol = record.protocol
    if isinstance(protocol, type) or not isinstance(getattr(protocol, "model", None), ComputationModel):
        what = "a class: make an instance of it with n=…" if isinstance(protocol, type) else "not a protocol"
        raise InvalidInput(f"{protocol!r} is {what}; the models are {', '.join(MODELS)}")
    record.require_known()
    kind: type[Course] = protocol.model.home("course")
    kind.supports.require(record.made_by)
    return kind(record)
