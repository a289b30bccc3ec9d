"""The models of computation: what each has, and how sentences speak of it."""

from dataclasses import dataclass


@dataclass(frozen=True)
class ComputationModel:
    """`kind` is how a sentence speaks of its protocols. The traits say what a run of it can be asked."""

    name: str
    kind: str
    has_starts: bool = False  # a run goes from a start until a stop
    has_configurations: bool = False  # every agent has a state made of fields, which can be recorded and corrupted
    has_rounds: bool = False  # all nodes move at once
    can_lose: bool = False  # two agents meet, and their interaction may be lost
    wakes: bool = False  # an adversary wakes the nodes up

    def knows(self, trait: str) -> bool:
        """Whether it has a trait; every model has none."""
        return not trait or bool(getattr(self, trait))


MODELS = {
    model.name: model
    for model in (
        ComputationModel(
            "population", "of the population model", has_starts=True, has_configurations=True, can_lose=True
        ),
        ComputationModel("rounds", "of the rounds model", has_starts=True, has_configurations=True, has_rounds=True),
        ComputationModel("messages", "of the messages model", wakes=True),
        ComputationModel("objects", "whose states are Python objects", has_starts=True),
    )
}
