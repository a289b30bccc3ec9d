"""The results of a study: its trials in groups, with intervals, as a tidy table."""

import json
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from hegemon.analysis.scaling import (
    CUBE,
    LINEAR,
    LOG,
    LOG_SQUARED,
    N_LOG,
    N_LOG_SQUARED,
    SQUARE,
    Law,
    between,
    exponent,
)
from hegemon.analysis.statistics import CONFIDENCE, ROUND_LIMIT, finite, sample_quantile, summarize_times, wilson
from hegemon.display import counted, figure, plain
from hegemon.errors import InvalidInput, choose, meant
from hegemon.experiments.filters import choose_rows
from hegemon.experiments.names import given_columns
from hegemon.experiments.precision import TIMES, Precision, parse_precision
from hegemon.experiments.store.folder import Folder
from hegemon.experiments.store.table import parameters_in, read_table, require_whole
from hegemon.experiments.study import Study, study_from

if TYPE_CHECKING:
    import pandas


QUANTILES = (0.1, 0.9)
GROWING = ("messages", "bits")  # incomplete in a trial that was stopped
CONSTANT = Law("1", lambda n: np.ones_like(n))
ROOT = Law("√n", np.sqrt)
SQUARE_LOG = Law("n² log n", lambda n: n**2 * np.log2(n))
LAWS = (CONSTANT, LOG, LOG_SQUARED, ROOT, LINEAR, N_LOG, N_LOG_SQUARED, SQUARE, SQUARE_LOG, CUBE)  # by growth


def measured_columns(table: "pandas.DataFrame") -> list[str]:
    """The columns that were measured: those after `trial`."""
    return list(table.columns)[list(table.columns).index("trial") + 1 :]


def axes_of(study: Study) -> list[str]:
    """The axes along which the cases of a study differ, as columns of its table; n always."""
    rows = [case.settings for case in study.cases]
    names = dict.fromkeys(name for row in rows for name in row)
    varying = [name for name in names if name == "n" or len({str(row.get(name)) for row in rows}) > 1]
    return ["engine_asked" if name == "engine" else name for name in varying] or ["n"]


def default_measure(table: "pandas.DataFrame", precision: Precision | None = None) -> str:
    """The measure that a study is about: the one of its `precision`, or else the time."""
    time = "steps" if "steps" in table.columns else "rounds"
    return time if precision is None else precision.measure or time


def summarize_table(
    table: "pandas.DataFrame", by: list[str], of: str | None = None, where: str | None = None,
    precision: Precision | None = None,
) -> list[dict[str, Any]]:  # fmt: skip
    """One row per group: trials, how many met the stop, and the measure.

    Trials that did not meet their stop are `censored`: see `summarize_times`. With a
    `precision`, trials were made until the interval was narrow enough: a group that is one whole case gets an interval
    that is valid for that, and no group gets the usual one.
    """
    sizes = table.groupby("case").size()
    if where:
        table = choose_rows(table, where)
    if not len(table):
        raise InvalidInput("no trial is left; ask for less in --where")
    of = of or default_measure(table, precision)
    by = given_columns(by, list(table.columns), table.attrs.get("parameters", {}))
    for name in (*by, of):
        if name not in table.columns:
            raise InvalidInput(
                f"there is no column {name!r}; the columns are {', '.join(table.columns)}{meant(name, table.columns)}"
            )
    if of not in measured_columns(table) or table[of].dtype.kind not in "iufb":
        raise InvalidInput(f"{of} is no measured number; {choose(_numbers(table))}")
    rows = []
    for values, group in table.groupby(by, sort=False, dropna=False, observed=True) if by else [((), table)]:
        counted = group[group[of].notna()]
        met = ~_censored(counted, of).to_numpy()
        values_of = counted[of].to_numpy(float)
        low, high = wilson(int(group["reached"].sum()), len(group))
        row = {name: _plain(value) for name, value in zip(by, values, strict=True)}
        row |= {"trials": len(group), "reached": int(group["reached"].sum()), "share_reached_ci95": [low, high]}
        row |= summarize_times(values_of, met) | _quantiles(np.where(met, values_of, np.inf))
        if precision is not None:
            whole = group["case"].nunique() == 1 and len(group) == sizes[group["case"].iloc[0]]
            row |= {"ci95": None, "standard_error": None, **(_sequence(precision, group, of) if whole else {})}
        rows.append(row)
    return rows


def _censored(table: "pandas.DataFrame", of: str) -> Any:
    """The trials that were stopped before their value was known: no time to the stop, not all messages."""
    if of in (*TIMES, "parallel_time"):
        return ~table["reached"]
    return table["cause"].eq(ROUND_LIMIT) if "cause" in table.columns and of in GROWING else table["reached"] & False


def _quantiles(values: Any) -> dict[str, float | None]:
    """The 10 % and 90 % quantiles of values that may be infinite; None for an infinite quantile."""
    return {f"q{round(100 * p)}": finite(sample_quantile(values, p)) if len(values) else None for p in QUANTILES}


def _sequence(precision: Precision, group: Any, of: str) -> dict[str, Any]:
    """The interval of a case whose number of trials was chosen by the interval's width."""
    measure = default_measure(group, precision)
    if precision.what != "share" and measure != of:
        return {}
    group = group.sort_values("trial")
    values = group[measure].to_numpy(float)
    look = precision.look(values, group["reached"].to_numpy(bool), len(group))
    label = precision.label
    if look is None:
        return {f"{label}_sequence95": None, "precise": False}
    narrow = look.relative <= precision.relative
    bounds = [bound if math.isfinite(bound) else None for bound in (look.low, look.high)]
    return {f"{label}_sequence95": bounds, "precise": narrow}


@dataclass(frozen=True)
class Fit:
    """How one series grows with n: a power, the law of the list that fits best, and its rivals."""

    series: dict[str, Any]
    exponent: tuple[float, float, float]
    law: str
    constant: float
    spread: float  # largest over smallest value / law: 1 is a perfect fit
    rivals: list[dict[str, Any]]


def fit_laws(table: "pandas.DataFrame", by: list[str], of: str | None = None, where: str | None = None) -> list[Fit]:
    """For every series (the groups without n), over at least three sizes: which law its means follow.

    A series with censored trials has no means, so it gets no law.
    """
    if where:
        table = choose_rows(table, where)
    of = of or default_measure(table)
    size = "n" if "n_given" not in table.columns else "n_given"
    others = [name for name in by if name not in ("n", size)]
    fits = []
    for values, series in table.groupby(others, sort=False, dropna=False) if others else [((), table)]:
        if _censored(series, of).any():
            continue
        samples = {n: group[of].dropna().to_numpy(float) for n, group in series.groupby(size)}
        samples = {n: sample for n, sample in samples.items() if len(sample) > 1 and sample.mean() > 0 and n > 2}
        if len(samples) >= 3:
            fits.append(_fit(dict(zip(others, map(_plain, values), strict=True)), samples))
    return fits


def _fit(series: dict[str, Any], samples: dict[str, Any]) -> Fit:
    sizes, values = list(samples), list(samples.values())
    means = np.array([sample.mean() for sample in values])
    ratios = [means / law.of(np.array(sizes, float)) for law in LAWS]
    best = min(range(len(LAWS)), key=lambda k: ratios[k].max() / ratios[k].min())
    constant = float(np.exp(np.log(ratios[best]).mean()))
    spread = float(ratios[best].max() / ratios[best].min())
    rivals = []
    for k in (best - 1, best + 1):
        if 0 <= k < len(LAWS):
            place = between(sizes, values, LAWS[best], LAWS[k])
            share = [place.share, *place.slope.interval(CONFIDENCE)]
            rivals.append({"rival": LAWS[k].name, "share": share, "spread": place.rival_spread})
    power = exponent(sizes, values)
    return Fit(series, (power.estimate, *power.interval(CONFIDENCE)), LAWS[best].name, constant, spread, rivals)


def _numbers(table: "pandas.DataFrame") -> list[str]:
    return [name for name in measured_columns(table) if table[name].dtype.kind in "iuf"]


def _plain(value: Any) -> Any:
    value = value.item() if hasattr(value, "item") else value
    return None if value != value else value


ALWAYS = ("case", "protocol", "n", "n_given", "trial", "steps", "rounds", "reached", "cause")


def load_table(root: str | Path, wanted: Any = None) -> "pandas.DataFrame":
    """The table of a study's folder; with `wanted`, only these columns and those that every summary needs."""
    schema = _schema(root)
    names = schema.names
    with _readable(root):
        if wanted is not None:
            columns = given_columns(wanted, names, parameters_in(schema.metadata))
            if all(name in names for name in columns):
                names = [name for name in names if name in (*ALWAYS, *columns, *wanted)]
        return read_table(Folder(root), names)


@dataclass(frozen=True)
class StudyResults:
    """The trials of a study in groups: `rows`, one per group, with intervals; `fits`, the laws along n."""

    of: str
    by: list[str]
    rows: list[dict[str, Any]]
    fits: list[Any]
    protocols: list[str]
    precision: Precision | None
    extended_since: bool  # the study was extended, and its table does not have all trials yet

    def __str__(self) -> str:
        about, groups = self.precision.label if self.precision else "mean", {}
        for row in self.rows:
            name = ", ".join(f"{axis} = {row[axis]}" for axis in self.by) or "all trials"
            censored = f", {row['censored']:,} censored" if row["censored"] else ""
            least = row["mean"] is None and row["mean_at_least"] is not None
            mean = row["mean_at_least"] if least else row["mean"]
            found = row.get(f"{about}_sequence95") or row["ci95"]
            interval = f"{f', {about}' * (about != 'mean')} ({figure(found)})" if found else ""
            groups[name] = f"{'at least ' * least}{figure(mean)}{interval}, {counted(row['trials'], 'trial')}{censored}"
        laws = {
            "law " + ", ".join(f"{name} = {value}" for name, value in one.series.items()):
                f"{figure(one.constant)} · {one.law}"
            for one in self.fits
        }  # fmt: skip
        whose = "its 95 % interval" if about == "mean" else f"the 95 % interval of the {about}"
        return plain(f"mean of {self.of} and {whose}: {', '.join(self.protocols)}", groups | laws)

    def record(self) -> dict[str, Any]:
        fits = [asdict(fit) for fit in self.fits]
        return {"of": self.of, "by": self.by, "rows": self.rows, "fits": fits, "extended_since": self.extended_since}


def results(
    folder: str | Path, *, by: str | Sequence[str] | None = None, where: str | None = None, of: str | None = None
) -> StudyResults:
    """The trials of a study in groups, with intervals and fitted laws.

    folder  where `sweep(…, out=folder)` keeps the study.
    by      groups, such as ["n", "tau"] or "n,tau"; without it, the study's axes.
    where   a condition on rows, such as "start == 'random' and n >= 1000".
    of      a measured column; without it, steps or rounds.
    """
    asked = study_of_table(folder)
    precision = precision_of(asked)
    names = by.split(",") if isinstance(by, str) else by
    groups = axes_of(asked) if names is None else [name.strip() for name in names if name.strip()]
    of = of or (precision.measure if precision else None)
    table = load_table(folder, None if where else [*groups, *([of] if of else [])])
    if not len(table):
        raise _without_trials(Folder(folder))
    groups = given_columns(groups, list(table.columns), table.attrs["parameters"])
    return StudyResults(
        of=of or default_measure(table),
        by=groups,
        rows=summarize_table(table, groups, of, where, precision),
        fits=fit_laws(table, groups, of, where) if "n" in groups else [],
        protocols=list(dict.fromkeys(table["protocol"])),
        precision=precision,
        extended_since=asked.content() != Folder(folder).study().content(),
    )


def _without_trials(folder: Folder) -> InvalidInput:
    folder.refresh()
    why = f"every case failed, the first with: {next(iter(folder.errors.values()))}" if folder.errors else "it is empty"
    return InvalidInput(f"{folder.root} has no trial to show: {why}")


def precision_of(study: Study) -> Precision | None:
    return None if study.relative is None else parse_precision(study.relative)


def study_of_table(root: str | Path) -> Study:
    """The study that the table belongs to: the folder's, or the one before while an extension is unfinished."""
    schema = _schema(root)
    with _readable(root):
        return study_from(json.loads(schema.metadata[b"hegemon.study"]))


def _schema(root: str | Path) -> Any:
    from pyarrow.parquet import read_schema

    folder = Folder(root)
    folder.study()  # raises InvalidInput if this is no study
    if not folder.table.is_file():
        raise InvalidInput(f"{root} has no table yet; run its `hegemon sweep` to the end")
    with _readable(root):
        require_whole(folder)
        return read_schema(folder.table.absolute())


@contextmanager
def _readable(root: str | Path) -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError, KeyError, TypeError) as error:
        if isinstance(error, InvalidInput):
            raise
        raise InvalidInput(
            f"{Folder(root).table} is damaged; run its `hegemon sweep` again, which makes it from the records"
        ) from None
