"""The record of one run, and the history taken along it."""

from dataclasses import dataclass, field

from hegemon.models.configuration import Configuration

POINTS = 250


@dataclass(frozen=True)
class Fault:
    """At `step`, `agents` randomly chosen agents get the given values; without any, uniformly random states.

    `agents` may also name them, as a tuple of their numbers; or `of` is the state that the chosen ones are in.
    """

    step: int
    agents: int | tuple[int, ...]
    values: dict | None = None
    of: dict | None = None

    @property
    def size(self) -> int:
        return self.agents if isinstance(self.agents, int) else len(self.agents)


@dataclass(frozen=True)
class Run:
    """What happened: `reached` says whether the stop was met; `steps` is when, or where the run was cut off.

    One record for all models: `unit` says what `steps` counts (steps or rounds), and `measures` holds what
    only some models measure (messages, bits, recovery), under the names that JSON uses.
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
    history: "pandas.DataFrame | None" = None  # noqa: F821
    measures: dict = field(default_factory=dict)
    interrupted: bool = False

    @property
    def rounds(self) -> int:
        return self.steps

    @property
    def parallel_time(self) -> float:
        return self.steps / self.n if self.unit == "steps" else float(self.steps)

    def record(self) -> dict:
        """The trial as it appears in JSON."""
        row = {"trial": self.trial, self.unit: self.steps}
        if self.unit == "steps":
            row["parallel_time"] = self.parallel_time
        return {**row, "reached": self.reached, "leaders": self.leaders, **self.measures}


class History:
    """Rows at given steps, or at evenly spread ones when the end is not known: the spacing doubles whenever
    there are twice as many rows as wanted, so that any run ends with between POINTS and 2 POINTS rows."""

    def __init__(self, watcher, n: int, at: list[int] | None = None, every: int | None = None):
        self._watcher, self._n = watcher, n
        self._at = sorted(set(at)) if at else None
        self._fixed = every is not None
        self._every = every or max(1, n // 64)
        self._rows: list[dict] = []

    def next_step(self, step: int) -> int | None:
        """The first step after `step` that is to be recorded."""
        if self._at is not None:
            return next((t for t in self._at if t > step), None)
        return (step // self._every + 1) * self._every

    def record(self, step: int, configuration: Configuration) -> None:
        if self._at is not None and step not in self._at:
            return
        if self._rows and self._rows[-1]["step"] == step:
            self._rows.pop()  # a fault changed the configuration at this step
        self._rows.append({"step": step, "parallel_time": step / self._n, **self._watcher.measure(configuration)})
        if self._at is None and not self._fixed and len(self._rows) > 2 * POINTS:
            self._every *= 2
            self._rows = [row for row in self._rows if row["step"] % self._every == 0]

    def table(self):
        """The rows as a dataframe."""
        import pandas  # only here: it takes half a second to load

        return pandas.DataFrame(self._rows)
