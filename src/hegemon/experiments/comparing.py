"""`compare`: protocols side by side at the same sizes, each from the slowest of its own starts; kept like a study.

The slowest start is chosen by trials of all of them and measured by fresh trials: those that chose it flatter it.
"""

import math
import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from hegemon import doors
from hegemon.analysis.pictures import COLOURS, INK, LINES, MARKERS, Picture, legend_below, logarithmic, new_figure
from hegemon.analysis.statistics import sample_quantile, sublinear_scale, summarize_times
from hegemon.errors import InvalidInput
from hegemon.experiments.axes import parse_axis, split
from hegemon.experiments.compared_holding import HOWS, holding_of
from hegemon.experiments.compared_trials import Comparer, Key, Settings
from hegemon.experiments.names import PREFIX
from hegemon.experiments.request import NAMING, maker
from hegemon.experiments.study import protocol_name
from hegemon.experiments.study_driver import StudyListener
from hegemon.files import write_text
from hegemon.models.description import describe_assumptions
from hegemon.models.expressions import assignments, whole_number
from hegemon.protocols.loading import name_protocol
from hegemon.runs import kinds
from hegemon.runs.option import seed_of, whole

if TYPE_CHECKING:
    import pandas

    from hegemon.runs.option import Seed

COLUMNS = ("protocol", "n", "start", "trials", "censored", "unit", "mean", "median", "p90", "p99", "parallel_time",
           "one_leader", "messages", "messages_per_scale", "moves", "states", "bits", "stays", "holding",
           "holding_kind", "holding_low", "holding_high", "grade", "assumes")  # fmt: skip
TABLE = ("protocol", "n", "start", "trials", "mean", "median", "p90", "parallel_time", "states", "bits", "holding",
         "messages", "messages_per_scale", "moves", "one_leader", "grade")  # fmt: skip
GROWING = ("mean", "parallel_time", "messages", "messages_per_scale", "moves")  # in trials that are stopped: lower ends
MAX_STEPS = 10**8
# The elections by messages on complete graphs, each with the largest n that a laptop simulates in seconds.
ELECTIONS = ("flood-max,diameter=1,n=..1000", "afek-gafni,n=..30000", "referees", "referees,variant=explicit",
             "walks,n=..1e7")  # fmt: skip
ELECTION_SIZES = "100,300,1e3,3e3,1e4,3e4,1e5,1e6,1e7"
LATEX = str.maketrans({"≥": r"$\geq$", "≤": r"$\leq$", "≈": r"$\approx$", "–": "--", "_": r"\_"})


@dataclass(frozen=True)
class ProtocolComparison:
    """A row for every protocol and n; `failed` are the cases that could not be run, with the reason."""

    rows: list[dict[str, Any]]
    failed: list[dict[str, Any]]
    seed: int
    parts: "Sequence[pandas.DataFrame]" = ()

    @cached_property
    def frame(self) -> "pandas.DataFrame":
        import pandas

        return pandas.DataFrame(self.rows, columns=list(COLUMNS))

    def __str__(self) -> str:
        columns = self.columns
        cells = [
            [name.replace("_", " ") for name in columns],
            *([shown(row, one) for one in columns] for row in self.rows),
        ]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        table = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in cells] if self.rows else []
        return "\n".join([*table, *(f"{row['protocol']}, n = {row['n']}: {row['error']}" for row in self.failed)])

    def record(self) -> dict[str, Any]:
        """The content that `--json` prints."""
        return {"seed": self.seed, "rows": self.rows, "failed": self.failed}

    def csv(self) -> str:
        return self.frame.to_csv(index=False, lineterminator="\n")

    def each(self) -> str:
        """Every trial as CSV."""
        return "" if self.trials is None else self.trials.to_csv(index=False, lineterminator="\n")

    @cached_property
    def trials(self) -> "pandas.DataFrame | None":
        """Every trial of every start that was tried: those of the rows are `shown`, the others chose the slowest."""
        import pandas

        return pandas.concat(self.parts, ignore_index=True).drop(columns=["case", "_time"]) if self.parts else None

    @property
    def columns(self) -> list[str]:
        """The columns of the printed table: those with a value in some row."""
        wanted = {name for row in self.rows for name in TABLE if shown(row, name) != "–"}
        if all(row["one_leader"] in (None, 1) for row in self.rows) and "messages" not in wanted:
            wanted.discard("one_leader")  # trivial: runs stop at one leader
        return [name for name in TABLE if name in wanted]

    def latex(self, columns: Sequence[str] | None = None) -> str:
        """The table for a paper (booktabs)."""
        return latex_table(self.rows, columns or self.columns)

    def plot(self, ax: Any = None) -> Picture:
        """Time over n, states against time at the largest n of each, and messages over n, where measured; with `ax`,
        time over n is drawn there."""
        return picture(self.rows, ax)


@kinds.door(
    protocols=doors.text | kinds.PROTOCOL_CLASS,
    starts=doors.one_of("worst", "default"),
    holding=doors.one_of(*HOWS),
    listener=doors.instance("a StudyListener", "hegemon.experiments.study_driver:StudyListener") | doors.none,
)
def compare(
    *protocols: Any, n: Any, trials: int = 20, seed: "Seed" = 0, max_steps: int | float = MAX_STEPS,
    starts: str = "worst", holding: str = "exact", out: str | Path | None = None, workers: int | None = None,
    listener: StudyListener | None = None,
) -> ProtocolComparison:  # fmt: skip
    """Compare protocols, one's own included, at the same n, with the same clock and seeds.

    protocols  ids, classes, or "your_file.py:YourClass". Parameters may follow, as in "referees,variant=explicit", and
               so may the largest n that one protocol is run at: "flood-max,n=..1000".
    n          sizes: a number, a list, or a range such as "16..1024:x2".
    max_steps  a trial that has not met its stop by then is censored: its time is at least that.
    starts     worst: all starts of protocols that start anywhere, of which the slowest is measured again by fresh
               trials and shown; default: only the default start.
    holding    exact: how long a leader is held, where all configurations can be followed; estimate: elsewhere measured,
               as `hegemon holding` does it, which takes minutes for each; none.
    out        a folder that keeps all trials; the same call again goes on there.
    """
    if not protocols:
        raise InvalidInput("compare needs protocols, such as compare('pairwise', 'timer', n=64)")
    sizes = parse_axis("n", n)
    instances: dict[Key, Any] = {}
    cases: dict[Key, list[Settings]] = {}
    failed: list[dict[str, Any]] = []
    seen: set[tuple[Any, ...]] = set()
    for one in protocols:
        name, settings, most = read_protocol(protocol_name(one))
        if (asked := (name, *sorted(settings.items()))) in seen:
            raise InvalidInput(f"{name} is compared with itself; name every protocol once, or with other parameters")
        seen.add(asked)
        make = maker(name, settings, NAMING)
        for size in sizes:
            if size > most:
                continue
            try:
                instance = make(int(size))
            except InvalidInput as error:
                failed.append({"protocol": name, "n": int(size), "error": str(error)})
                continue
            key = (",".join([instance.id, *(f"{key}={value}" for key, value in settings.items())]), instance.n)
            if instances.setdefault(key, instance) is not instance:
                raise InvalidInput(f"two protocols are both called {key[0]}; rename one of their classes")
            given = {f"{PREFIX}{name}": value for name, value in settings.items()}
            cases[key] = [{**case, **given} for case in _cases(name, instance, starts, max_steps)]
    if not cases:
        raise InvalidInput(failed[0]["error"] if failed else "every n is above the limits n=..N; give a smaller one")
    seed = seed_of(seed)
    with tempfile.TemporaryDirectory(prefix="hegemon-") as scratch:
        measured = Comparer(trials, seed, Path(out or scratch), workers, listener).compare(cases)
    rows = [_row(key, instances[key], part) for key, part in measured.rows.items()]
    for row in rows:
        row |= holding_of(instances[row["protocol"], row["n"]], holding, seed, out)
    order = {name: k for k, name in enumerate(dict.fromkeys(name for name, _ in instances))}
    rows.sort(key=lambda row: (order[row["protocol"]], row["n"]))
    return ProtocolComparison(rows, failed + measured.failed, seed, measured.every)


@kinds.door()
def compare_messages(
    n: Any = ELECTION_SIZES, *, trials: int = 5, seed: "Seed" = 0, workers: int | None = None
) -> ProtocolComparison:
    """`compare` of the elections by messages on complete graphs, sublinear against classical."""
    return compare(*ELECTIONS, n=n, trials=trials, seed=seed, workers=workers)


def read_protocol(word: str) -> tuple[str, dict[str, Any], float]:
    """`referees,variant=explicit,n=..1e6`: the name, the parameters, and the largest n."""
    name, rest = re.fullmatch(r"(.*?)(?:,(\s*\w+\s*=.*))?", word, re.DOTALL).groups()  # type: ignore[union-attr]
    try:
        settings = assignments(split(rest) if rest else ())
    except InvalidInput as error:
        raise InvalidInput(f"{word}: {str(error).replace('--set ', '')}") from None
    limit = str(settings.pop("n", "..inf"))
    if not limit.startswith(".."):
        raise InvalidInput(
            f"{word}: n={limit} is not understood; write n=..1000 for the sizes up to 1,000, and --n for all"
        )
    most = math.inf if limit == "..inf" else whole_number(limit[2:], "n", low=1)
    return name_protocol(name), settings, most


def _cases(name: str, instance: Any, starts: str, max_steps: Any) -> list[dict[str, Any]]:
    """The runs of one protocol at one n: every start of a stabilizing protocol, the start of any other."""
    case = {"protocol": name, "n": instance.n, "max_steps": whole("max_steps", low=1)(max_steps)}
    if not instance.model.has_starts or not instance.starts:
        return [case]
    several = starts == "worst" and instance.arbitrary_start
    return [{**case, "start": start} for start in (instance.starts if several else [instance.default_start])]


def _row(key: tuple[str, int], instance: Any, part: "pandas.DataFrame") -> dict[str, Any]:
    times, reached = part["_time"].to_numpy(float), part["reached"].to_numpy(bool)
    if instance.model.wakes:  # an election that ended without a leader took its time, too
        reached = reached | (times < part["max_steps"].to_numpy(float))
    found = summarize_times(times, reached)
    infinite = np.where(reached, times, np.inf)
    tails = {f"p{level}": sample_quantile(infinite, level / 100) for level in (90, 99)}
    mean = found["mean"] if found["mean"] is not None else found["mean_at_least"]
    scale = instance.n if instance.time_unit == "steps" else 1
    led = part["leaders"].dropna() if "leaders" in part and instance.elects_leader else []
    states = instance.states if instance.fields else None
    safe = instance.sets.get("safe")
    stays = instance.elects_leader and safe is not None and safe.closed
    messages = _mean_of(part, "messages")
    return {
        "protocol": key[0],
        "n": instance.n,
        "start": str(part["start"].iloc[0]) or None,
        "trials": len(part),
        "censored": found["censored"],
        "unit": instance.time_unit,
        "mean": mean,
        "median": found["median"],
        **{name: value if math.isfinite(value) else None for name, value in tails.items()},
        "parallel_time": mean / scale,
        "one_leader": float(np.mean(led == 1)) if len(led) else None,
        "messages": messages,
        "messages_per_scale": None if messages is None else messages / sublinear_scale(instance.n),
        "moves": _mean_of(part, "moves"),
        "states": states,
        "bits": None if states is None else max(1, (states - 1).bit_length()),
        "stays": ("forever" if stays else "not claimed") if instance.elects_leader and safe is not None else None,
        "grade": instance.grade or None,
        "assumes": "; ".join(describe_assumptions(instance)) or None,
    }


def _mean_of(part: "pandas.DataFrame", name: str) -> float | None:
    found = part[name].dropna() if name in part else []
    return float(np.mean(found)) if len(found) else None


def shown(row: dict[str, Any], name: str) -> str:
    """A readable cell. With censored trials the mean is a lower bound, and a holding time may be one too."""
    value = row[name]
    if name == "holding":
        kind = row.get("holding_kind") or "–"
        bound = {"at least": "≥ ", "at most": "≤ ", "estimate": "≈ "}.get(kind, "")
        return f"{bound}{value:,.4g}" if value is not None else "forever" if kind == "forever" else "–"
    if value is None:
        return "–"
    if not isinstance(value, int | float):
        return str(value)
    least = "≥ " if row["censored"] and name in GROWING else ""
    return f"{least}{value:,.4g}" if isinstance(value, float) and value < 1000 else f"{least}{value:,.0f}"


def latex_table(rows: list[dict[str, Any]], columns: Sequence[str]) -> str:
    kinds = "".join("r" if any(isinstance(row[name], int | float) for row in rows) else "l" for name in columns)
    lines = [rf"\begin{{tabular}}{{{kinds}}}", r"\toprule"]
    lines += [" & ".join(name.replace("_", " ") for name in columns) + r" \\", r"\midrule"]
    for row in rows:
        cells = (shown(row, name).translate(LATEX) for name in columns)
        lines.append(" & ".join(cells) + r" \\")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", ""])


def picture(rows: list[dict[str, Any]], ax: Any = None) -> Picture:
    if not rows:
        raise InvalidInput("nothing was measured, so there is nothing to draw")
    sizes = sorted({row["n"] for row in rows})
    stateful, sending = (ax is None and any(row[name] for row in rows) for name in ("states", "messages"))
    figure, (left, *more) = new_figure(1 + stateful + sending, height=5.4) if ax is None else (ax.figure, [ax])
    right, sent = more[0] if stateful else None, more[-1] if sending else None
    for k, name in enumerate(dict.fromkeys(row["protocol"] for row in rows)):
        mine = [row for row in rows if row["protocol"] == name]
        style = {"color": COLOURS[k % len(COLOURS)], "marker": MARKERS[k % len(MARKERS)], "markersize": 5}
        line = LINES[k // len(COLOURS) % len(LINES)]
        for axis, key in ((left, "parallel_time"), (sent, "messages")):
            found = [row for row in mine if row[key] is not None]
            if axis is not None and found:
                axis.plot([row["n"] for row in found], [max(row[key], 0.1) for row in found], line, label=name, **style)
        last = mine[-1]
        if right is not None and last["states"]:
            place = (last["states"], max(last["parallel_time"], 0.1))
            right.plot(*[[value] for value in place], linestyle="", **style)
            right.annotate(f"{name}\nn = {last['n']:,}", place, xytext=(6, 4), textcoords="offset points", fontsize=8,
                           color=style["color"])  # fmt: skip
    left.set_ylabel("mean parallel time, or rounds")
    if right is not None:
        right.set_xlabel("states of one agent")
        right.set_ylabel("mean parallel time, or rounds")
        right.margins(0.25)
    if sent is not None:
        sent.set_ylabel("mean number of messages")
        for law, line, label in ((float, ":", "n"), (sublinear_scale, "--", "√n ln^(3/2) n")):
            sent.plot(sizes, [law(n) for n in sizes], color=INK, linestyle=line, linewidth=1, label=label)
        legend_below(sent)
    for axis in (left, *more):
        if axis is not right:
            axis.set_xlabel("n")
        for direction in ("x", "y"):
            logarithmic(axis, direction)
    if len(sizes) <= 8:
        left.set_xticks(sizes, [f"{size:,}" for size in sizes])
    left.set_title("time from the slowest start of each (censored trials: a lower end)", loc="left", fontsize=10)
    legend_below(left)
    return Picture(figure)


def save(comparison: ProtocolComparison, **places: Any) -> None:
    """Write the requested files: `csv=`, `latex=` and `plot=`."""
    for kind, place in places.items():
        if place is not None:
            if kind == "plot":
                comparison.plot().save(place)
            else:
                write_text(place, getattr(comparison, kind)())
