"""The best parameters of a protocol, and the best of its alternative rules: fast convergence, long holding, few states.

Alternative rules are a parameter with both bounds, such as Parameter(0, low=0, high=1), which `interact` reads. Where
the chain of a size fits, convergence and holding are exact: expected steps from the worst configuration to `safe`, and
from the worst configuration of `safe` until the leader is lost. Elsewhere they are measured, by trials that a study's
folder keeps. Nothing is extrapolated.
"""

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hegemon import display, doors
from hegemon.discovery.specifications import parse_sizes
from hegemon.errors import InvalidInput, meant
from hegemon.exact.verification import verify
from hegemon.experiments.axes import parse_axis, split
from hegemon.experiments.sweep import sweep
from hegemon.models.parameters import Parameter
from hegemon.models.population import PopulationProtocol
from hegemon.protocols.loading import find_protocol
from hegemon.runs import kinds

MOST_CONFIGURATIONS = 200_000  # configurations of a chain that is built
MOST_VARIANTS = 5_000
MOST_VALUES = 12  # values of a parameter for which none are given
EXACT, MEASURED = "exact", "measured"


@dataclass(frozen=True)
class TriedParameters:
    """One choice of the free parameters at one n. Times are steps."""

    parameters: dict[str, Any]
    n: int
    states: int
    kind: str
    convergence: float
    holding: float  # infinite if the leader is never lost
    at_least: bool = False  # measured, and some runs were stopped before the leader was lost
    published: bool = False  # the parameters that the protocol has by default

    def dominates(self, other: "TriedParameters") -> bool:
        better = (self.convergence, -self.holding, self.states), (other.convergence, -other.holding, other.states)
        return all(map(float.__le__, *(tuple(map(float, criteria)) for criteria in better))) and better[0] != better[1]

    def record(self) -> dict[str, Any]:
        return {
            "n": self.n, "parameters": self.parameters, "states": self.states, "kind": self.kind,
            "convergence": self.convergence, "holding": None if math.isinf(self.holding) else self.holding,
            "holds_forever": math.isinf(self.holding), "at_least": self.at_least, "published": self.published,
        }  # fmt: skip


@dataclass(frozen=True)
class Improvement:
    """All tried choices, those left out, and the front for each n."""

    protocol: str
    free: dict[str, list[Any]]
    tried: tuple[TriedParameters, ...]
    refused: int  # combinations that the protocol does not allow
    too_large: tuple[tuple[int, dict[str, Any]], ...]  # n and parameters whose chain was not built
    hold: float | None = None

    def front(self, n: int) -> list[TriedParameters]:
        """The choices that no other of this n beats in convergence, holding and states at once, the fastest first."""
        here = [tried for tried in self.tried if tried.n == n]
        kept = [tried for tried in here if not any(rival.dominates(tried) for rival in here)]
        return sorted(kept, key=lambda tried: (tried.convergence, -tried.holding, tried.states))

    def fastest(self, n: int) -> TriedParameters | None:
        """The fastest that holds for at least `hold` steps; a measured lower bound counts as what it is."""
        return next((tried for tried in self.front(n) if tried.holding >= (self.hold or 0)), None)

    @property
    def sizes(self) -> list[int]:
        return sorted({tried.n for tried in self.tried})

    def __str__(self) -> str:
        rows = {
            f"n = {n}: {', '.join(f'{name} = {value}' for name, value in choice.parameters.items())}":
                f"{display.figure(choice.convergence)} steps, held {'at least ' * choice.at_least}"
                f"{'forever' if math.isinf(choice.holding) else display.figure(choice.holding)}, "
                f"{choice.states:,} states"
            for n in self.sizes
            for choice in self.front(n)
        }  # fmt: skip
        tried = display.counted(len(self.tried), "choice")
        return display.plain(f"{self.protocol}: the front of {tried} of parameters", rows)

    def record(self) -> dict[str, Any]:
        return {
            "protocol": self.protocol,
            "free": self.free,
            "tried": [choice.record() for choice in self.tried],
            "refused": self.refused,
            "too_large": [{"n": n, "parameters": parameters} for n, parameters in self.too_large],
            "hold": self.hold,
            "fronts": {str(n): [choice.record() for choice in self.front(n)] for n in self.sizes},
            "fastest": {str(n): choice.record() if (choice := self.fastest(n)) else None for n in self.sizes},
        }


@kinds.door(
    protocol=doors.text | kinds.PROTOCOL_CLASS,
    free=doors.text,
    hold=doors.real(above=0, says="a number of steps") | doors.none,
    measure=kinds.SIZES | doors.none,
    most=doors.whole(1),
)
@display.with_progress
def improve(
    protocol: str | type[PopulationProtocol],
    free: str,
    *,
    n: Sequence[int] | int | str = 3,
    hold: float | None = None,
    measure: Sequence[int] | int | str | None = None,
    trials: int = 20,
    max_steps: int = 10**6,
    store: str | Path | None = None,
    workers: int | None = 1,
    cluster: str | None = None,
    most: int = MOST_CONFIGURATIONS,
    progress: display.Show | None = None,
) -> Improvement:
    """The Pareto front of convergence, holding and states over parameters and alternative rules.

    free     such as "s=2..8, r_max=4,6,8, rule:count_down": values of parameters; a name alone stands for up to 12
             values from its lowest to its default; `rule:NAME` for all values of a parameter with both bounds.
    n        sizes at which everything is exact; chains of more than `most` configurations are left out, and listed.
    hold     steps: `fastest(n)` is then the fastest that holds at least that long.
    measure  further sizes, at which `trials` runs per choice are made (of at most `max_steps` steps), which the folder
             `store` keeps.
    """
    kind = find_protocol(protocol) if isinstance(protocol, str) else protocol
    _require(kind)
    sizes = parse_sizes(n)
    values = parse_free(free, kind, sizes[0])
    choices = list(_combinations(values))
    tried: list[TriedParameters] = []
    too_large: list[tuple[int, dict[str, Any]]] = []
    made = [allowed for size in sizes for allowed in _allowed(kind, size, choices)]
    for number, (variant, parameters, published) in enumerate(made):
        if progress is not None:
            progress("exact chains", number, len(made))
        if math.comb(variant.n + variant.states - 1, variant.n) > most:
            too_large.append((variant.n, parameters))
        else:
            tried.append(_exact(variant, parameters, published))
    if measure is not None:
        tried += _measured(kind, choices, parse_sizes(measure, "measure"), trials, max_steps, store, workers, cluster)
    if not tried:
        raise InvalidInput(
            f"no chain of {kind.id} has at most {most:,} configurations; free smaller values, allow a larger chain "
            "(--largest), or give --measure N"
        )
    refused = len(sizes) * len(choices) - sum(parameters in choices for _, parameters, _ in made)
    return Improvement(kind.id, values, tuple(tried), refused, tuple(too_large), hold)


def _allowed(kind: Any, n: int, choices: list[dict[str, Any]]) -> Iterator[tuple[Any, dict[str, Any], bool]]:
    """The combinations that the protocol allows, and the published one."""
    default, seen = kind(n=n), False
    for parameters in choices:
        try:
            made = kind(n=n, **parameters)
        except InvalidInput:
            continue
        published = made.values == default.values
        seen |= published
        yield made, parameters, published
    if not seen:
        yield default, {name: default.values[name] for name in choices[0]}, True


def _require(kind: Any) -> None:
    if not (isinstance(kind, type) and issubclass(kind, PopulationProtocol)):
        raise InvalidInput("improve is for protocols whose agents meet in pairs")
    if kind.needs_graph not in ("", "complete"):
        raise InvalidInput(f"improve runs on complete graphs, and {kind.id} needs a {kind.needs_graph}")
    if "safe" not in kind.sets or kind.outputs != ("follower", "leader"):
        raise InvalidInput(f"{kind.id} has no leader and set `safe` to converge to; improve needs both")


def _exact(made: Any, parameters: dict[str, Any], published: bool) -> TriedParameters:
    answer = verify(made, property="safe")
    assert answer.hitting is not None
    held = answer.holding.worst if answer.holding is not None else math.inf
    return TriedParameters(parameters, made.n, made.states, EXACT, answer.hitting.worst, held, published=published)


def _measured(
    kind: Any,
    choices: list[dict[str, Any]],
    sizes: Sequence[int],
    trials: int,
    max_steps: int,
    store: str | Path | None,
    workers: int | None,
    cluster: str | None,
) -> list[TriedParameters]:
    """Means of runs; a leader that was not lost before the limit counts as held at least that long."""
    if "safe" not in kind.starts:
        raise InvalidInput(f"{kind.id} has no start `safe`, from which holding is measured; leave --measure out")
    variants = [allowed for size in sizes for allowed in _allowed(kind, size, choices)]
    rows = []
    for made, parameters, _ in variants:
        row = {"n": made.n, **parameters, "max_steps": max_steps}
        rows += [row, {**row, "start": "safe", "until": "broken"}]
    table = sweep(kind, cases=rows, trials=trials, out=store, workers=workers, cluster=cluster)
    tried = []
    for number, (made, parameters, published) in enumerate(variants):
        converged, held = (table[table["case"] == 2 * number + k] for k in (0, 1))
        if not converged["reached"].all():
            continue  # the mean is unknown
        tried.append(
            TriedParameters(
                parameters, made.n, made.states, MEASURED, float(converged["steps"].mean()),
                float(held["steps"].mean()), not bool(held["reached"].all()), published,
            )
        )  # fmt: skip
    return tried


def parse_free(text: str, kind: Any, n: int) -> dict[str, list[Any]]:
    """The values of every free parameter."""
    parts: list[list[str]] = []
    for part in split(text):
        if parts and "=" in parts[-1][0] and "=" not in part and part[0] in "0123456789-.":
            parts[-1].append(part)
        else:
            parts.append([part])
    known: dict[str, Parameter] = kind.parameter_declarations
    free: dict[str, list[Any]] = {}
    for first, *more_values in parts:
        name, equals, value = first.removeprefix("rule:").partition("=")
        name = name.strip()
        if name not in known:
            names = ", ".join(known) or "none"
            raise InvalidInput(f"{kind.id} has no parameter {name!r}; it has {names}{meant(name, tuple(known))}")
        if first.startswith("rule:") and not isinstance(known[name].high, int):
            raise InvalidInput(f"rule:{name} names a parameter without bounds; declare Parameter(0, low=0, high=1)")
        if name in free:
            raise InvalidInput(f"--free names {name} twice; name it once")
        if equals:
            free[name] = parse_axis(name, ",".join([value, *more_values]))
        else:
            free[name] = _rules(known[name]) if first.startswith("rule:") else _all_values(name, kind, n)
    if (count := math.prod(len(values) for values in free.values())) > MOST_VARIANTS:
        raise InvalidInput(
            f"--free has {count:,} combinations; at most {MOST_VARIANTS:,} are tried, so give fewer values"
        )
    return free


def _rules(parameter: Parameter) -> list[int]:
    return list(range(int(parameter.low or 0), int(parameter.high or 0) + 1))


def _all_values(name: str, kind: Any, n: int) -> list[Any]:
    """Up to 12 values from the lowest to the default."""
    default = kind(n=n).values[name]
    if not isinstance(default, int):
        raise InvalidInput(f'{kind.id}: {name} = {default} is no whole number; give its values, --free "{name}=…"')
    for low in range(default + 1):
        try:
            kind(n=n, **{name: low})
        except InvalidInput:
            continue
        break
    step = max(1, math.ceil((default - low) / (MOST_VALUES - 1)))
    return [*range(low, default, step), default]


def _combinations(values: dict[str, list[Any]]) -> Iterator[dict[str, Any]]:
    for row in itertools.product(*values.values()):
        yield dict(zip(values, row, strict=True))


def draw(improvement: Improvement, path: str | Path) -> None:
    """Holding against convergence, one panel per n: everything that was tried, the front, and the published choice."""
    from hegemon.analysis import pictures

    sizes = improvement.sizes
    figure, axes = pictures.new_figure(len(sizes), width=4.6)
    for axis, n in zip(axes, sizes, strict=True):
        here = [tried for tried in improvement.tried if tried.n == n and not math.isinf(tried.holding)]
        front = [tried for tried in improvement.front(n) if not math.isinf(tried.holding)]
        for shown, style, label in (
            (here, {"color": pictures.GRID, "marker": "o"}, "tried"),
            (front, {"color": pictures.COLOURS[0], "marker": "o"}, "front"),
            ([tried for tried in here if tried.published], {"color": pictures.COLOURS[1], "marker": "*"}, "published"),
        ):
            if shown:
                axis.plot(
                    [tried.convergence for tried in shown], [tried.holding for tried in shown], linestyle="none",
                    markersize=7, label=label, **style,
                )  # fmt: skip
        axis.set(xlabel="convergence (steps)", ylabel="holding (steps)", title=f"{improvement.protocol}, n = {n}")
        axis.set_yscale("log")
        pictures.legend_below(axis)
    pictures.save(figure, pictures.check_picture_path(path))
