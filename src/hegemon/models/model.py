"""The models of computation: the traits of each and its name in messages. Their parts are listed in `hegemon/parts.py`.

To add a model, add its folder and one entry here; no other code tests which model a protocol has.
"""

from dataclasses import dataclass, field
from typing import Any

from hegemon import parts
from hegemon.errors import InvalidInput

PARTS = {
    "course": "there are no runs",
    "chain": "there are no exact chains",
    "member": "there are no members of a network",
    "scheduler": "there are no schedulers",
    "world": "there are no pictures on the page",
}


@dataclass(frozen=True)
class ComputationModel:
    """`kind` is the name of its protocols in messages. The traits state which options and results its runs have.

    Its parts are loaded when they are used, so that a run loads its own model alone: `course` takes a record and
    returns what makes its trials (see `runs/trial.py`), `world` is what the page watches, `chain` explores all
    configurations, `member` takes part in a network, `scheduler` reads the option of that name. `homes` are the places
    of parts of a model that is not built in.
    """

    name: str
    kind: str
    agents: str = "agents"  # the name of its agents or nodes
    follower: str = ""  # the engine in which every single step can be followed
    scheduler: str = ""  # the default scheduler of a run; empty: runs have no scheduler
    has_starts: bool = False  # a run goes from a start until a stop
    has_configurations: bool = False  # every agent has a state made of fields, which can be recorded and corrupted
    has_interactions: bool = False  # two agents with such states meet
    has_rounds: bool = False  # all nodes move at once
    has_objects: bool = False  # two agents meet whose states are Python objects
    loses: bool = False  # what is exchanged or sent may be lost
    wakes: bool = False  # an adversary wakes the nodes up
    has_template: bool = True  # `hegemon new` writes one
    daemons: tuple[str, ...] = ()  # who may act next, where an adversary chooses
    laws: dict[str, str] = field(default_factory=dict, hash=False)  # for each daemon, the scheduler of a usual run
    homes: dict[str, str] = field(default_factory=dict, hash=False)

    def __str__(self) -> str:
        return self.name

    def knows(self, trait: str) -> bool:
        """Whether it has this trait; true for the empty name."""
        return not trait or bool(getattr(self, trait))

    def has_part(self, part: str) -> bool:
        return part in self.homes or self.name in parts.BUILT_IN[part]

    def home(self, part: str) -> Any:
        """One of its parts; loads the module."""
        self.require(part)
        return parts.at(self.homes[part]) if part in self.homes else parts.part(part, self.name)

    def require(self, part: str) -> None:
        """Raise InvalidInput if the model has no such part."""
        if not self.has_part(part):
            *others, last = parts.BUILT_IN[part]
            known = f"{', '.join(others)} and {last}"
            raise InvalidInput(f"{PARTS[part]} for protocols {self.kind}; they exist for the models {known}")


POPULATION = ComputationModel(
    "population", "of the population model", follower="agents", scheduler="uniform",
    has_starts=True, has_configurations=True, has_interactions=True, loses=True, daemons=("adversary", "central"),
)  # fmt: skip
ROUNDS = ComputationModel(
    "rounds", "of the rounds model", agents="nodes", follower="rounds", scheduler="synchronous",
    has_starts=True, has_configurations=True, has_rounds=True,
    daemons=("central", "locally-central", "distributed"),
    laws={
        "central": "central:uniform",
        "locally-central": "locally-central:uniform",
        "distributed": "distributed:1/2",
    },
)  # fmt: skip
MESSAGES = ComputationModel(
    "messages", "of the messages model", agents="nodes", follower="nodes", loses=True, wakes=True,
)  # fmt: skip
OBJECTS = ComputationModel(
    "objects", "whose states are Python objects", follower="objects",
    has_starts=True, has_objects=True, has_template=False,
)  # fmt: skip
MODELS = {model.name: model for model in (POPULATION, ROUNDS, MESSAGES, OBJECTS)}
