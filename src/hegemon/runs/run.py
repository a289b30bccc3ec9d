"""The record of one run."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from hegemon import display, doors
from hegemon.analysis import pictures
from hegemon.errors import InvalidInput
from hegemon.models.configuration import Configuration
from hegemon.runs.history import Watched

if TYPE_CHECKING:
    import pandas

AGENTS = doors.whole() | doors.several(doors.whole(), fewest=1)  # how many, or which
STATE = doors.mapping(doors.field) | doors.none


@dataclass(frozen=True)
class Fault:
    """At `step`, `agents` randomly chosen agents get the given values; without any, uniformly random states.

    `agents` may also name them, as a tuple of their numbers; or `of` is the state that the chosen ones are in.
    With `kind="leave"` they leave, and with `kind="join"` that many join, with these values or random states.
    """

    step: int
    agents: int | tuple[int, ...]
    values: dict[str, Any] | None = None
    of: dict[str, Any] | None = None
    kind: str = "corrupt"

    def __post_init__(self) -> None:
        doors.require_fields(
            self,
            step=doors.whole(),
            agents=AGENTS,
            values=STATE,
            of=STATE,
            kind=doors.one_of("corrupt", "join", "leave"),
        )

    @property
    def size(self) -> int:
        return self.agents if isinstance(self.agents, int) else len(self.agents)


@dataclass(frozen=True)
class Run:
    """What happened: `reached` says whether the stop was met; `steps` is when, or when the run was stopped.

    One record for all models: `unit` says what `steps` counts (steps or rounds), and `measures` holds what
    only some models measure (messages, recovery), under the names that JSON uses. `ended` says why a run was
    given up that could not have met its stop; `configuration` is where it ended, if that was kept, and `watched` what
    was recorded on the way.
    """

    protocol: str
    n: int
    unit: str
    steps: int
    reached: bool
    leaders: int | None
    engine: str
    reason: str
    seed: int
    trial: int
    configuration: Configuration | None = None
    watched: Watched | None = None
    measures: dict[str, Any] = field(default_factory=dict)
    interrupted: bool = False
    ended: str = ""

    @property
    def history(self) -> "pandas.DataFrame | None":
        """What was recorded, as a dataframe with a row per look."""
        return None if self.watched is None else self.watched.frame

    @property
    def rounds(self) -> int:
        return self.steps

    @property
    def parallel_time(self) -> float:
        return self.steps / self.n if self.unit == "steps" else float(self.steps)

    def record(self) -> dict[str, Any]:
        """The trial as it appears in JSON."""
        row: dict[str, Any] = {"trial": self.trial, self.unit: self.steps}
        if self.unit == "steps" and "moves" not in self.measures:
            row["parallel_time"] = self.parallel_time
        row |= {"reached": self.reached, "leaders": self.leaders, **self.measures}
        return row | ({"ended": self.ended} if self.ended else {})

    def plot(self, ax: Any = None) -> "pictures.Picture":
        """What was watched, over time: shown in a notebook, and `save(path)` writes it. With `ax`, axes of Matplotlib,
        the first panel is drawn there."""
        return plot_runs([self], ax)

    def __str__(self) -> str:
        leaders = "" if self.leaders is None else f", {self.leaders:,} leader{'' if self.leaders == 1 else 's'}"
        met = "stop met" if self.reached else "stop not met"
        measures = {name.replace("_", " "): value for name, value in self.measures.items() if value is not None}
        about = {self.unit: f"{self.steps:,} ({met}{leaders})", **measures}
        about |= {"engine": f"{self.engine} ({self.reason})", "seed": f"{self.seed}, trial {self.trial}"}
        return display.plain(f"{self.protocol}, n = {self.n:,}", about | ({"ended": self.ended} if self.ended else {}))

    def _repr_html_(self) -> str:
        about = {"n": self.n, **self.record(), "engine": f"{self.engine} ({self.reason})", "seed": self.seed}
        drawn = pictures.as_html(self.plot()) if self.watched is not None else ""
        return display.heading(self.protocol) + display.facts(about) + drawn


def made_like(
    run: Run, trial: int, steps: int, reached: bool, leaders: int | None, configuration: Configuration | None
) -> Run:
    """Another trial of the same run that measured nothing else. Fields are copied at once: of short trials there are
    many, and setting a dozen of them one by one takes half as long as such a trial."""
    made = object.__new__(Run)
    vars(made).update(vars(run))
    vars(made).update(
        trial=trial, steps=steps, reached=reached, leaders=leaders, configuration=configuration, measures={}
    )
    return made


def plot_runs(runs: "list[Run]", ax: Any = None) -> "pictures.Picture":
    """The picture of `--plot`; what was not recorded cannot be drawn."""
    if not runs:
        raise InvalidInput("no trial was finished, so there is nothing to draw")
    first = runs[0]
    title = f"{first.protocol}, n = {first.n:,}"
    if "messages" in first.measures:
        return pictures.picture_of_elections(runs, title, ax)
    if first.watched is None and len(runs) == 1:
        raise InvalidInput("nothing was recorded; run again with observe=True, and then plot")
    return pictures.picture_of_runs(runs, title, ax)
