"""The results of a study or of several: trials in groups, with intervals, as a tidy table."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from hegemon import doors
from hegemon.analysis.scaling import Law
from hegemon.analysis.statistics import ROUND_LIMIT, finite, sample_quantile, summarize_times, wilson
from hegemon.display import counted, figure, plain
from hegemon.errors import InvalidInput, choose, meant
from hegemon.experiments.filters import choose_rows
from hegemon.experiments.laws import FEWEST_SIZES, LAWS, Fit, fit_law, read_laws
from hegemon.experiments.names import given_columns
from hegemon.experiments.precision import TIMES, Precision
from hegemon.experiments.study_tables import load_studies, measured_columns
from hegemon.runs import kinds

if TYPE_CHECKING:
    import pandas


QUANTILES = (0.1, 0.9)
GROWING = ("messages", "bits")  # incomplete in a trial that was stopped


def default_measure(table: "pandas.DataFrame", precision: Precision | None = None) -> str:
    """The measure that a study is about: the one of its `precision`, or else the time."""
    time = "steps" if "steps" in table.columns else "rounds"
    return time if precision is None else precision.measure or time


def summarize_table(
    table: "pandas.DataFrame", by: list[str], of: str | None = None, where: str | None = None,
    precision: Precision | None = None, unfinished: bool = False,
) -> list[dict[str, Any]]:  # fmt: skip
    """One row per group: trials, how many met the stop, and the measure.

    Trials that did not meet their stop are `censored`: see `summarize_times`. With a
    `precision`, trials were made until the interval was narrow enough: a group that is one whole case gets an interval
    that is valid for that, and no group gets the usual one; nor does one of an `unfinished` study, whose sequences are
    valid at their inspections alone.
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
            whole = not unfinished and group["case"].nunique() == 1 and len(group) == sizes[group["case"].iloc[0]]
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


def fit_laws(
    table: "pandas.DataFrame", by: list[str], of: str | None = None, where: str | None = None,
    laws: Sequence[Law] = LAWS,
) -> list[Fit]:  # fmt: skip
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
        samples = {int(n): group[of].dropna().to_numpy(float) for n, group in series.groupby(size)}
        samples = {n: sample for n, sample in samples.items() if len(sample) > 1 and sample.mean() > 0 and n > 2}
        if len(samples) >= FEWEST_SIZES:
            fits.append(fit_law(dict(zip(others, map(_plain, values), strict=True)), samples, laws))
    return fits


def _numbers(table: "pandas.DataFrame") -> list[str]:
    return [name for name in measured_columns(table) if table[name].dtype.kind in "iuf"]


def _plain(value: Any) -> Any:
    value = value.item() if hasattr(value, "item") else value
    return None if value != value else value


@dataclass(frozen=True)
class StudyResults:
    """The trials of a study in groups: `rows`, one per group, with intervals; `fits`, the laws along n; `missing`, the
    cases that do not have all their trials; `failed`, those that cannot run."""

    of: str
    by: list[str]
    rows: list[dict[str, Any]]
    fits: list[Fit]
    protocols: list[str]
    precision: Precision | None
    laws: Sequence[Law] = LAWS
    missing: list[dict[str, Any]] = field(default_factory=list)
    failed: list[dict[str, Any]] = field(default_factory=list)

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
        laws = {f"law {k}": fit.sentence(self.of) for k, fit in enumerate(self.fits, 1)}
        unfinished = {"unfinished": said} if (said := self.unfinished) else {}
        whose = "its 95 % interval" if about == "mean" else f"the 95 % interval of the {about}"
        title = f"mean of {self.of} and {whose}: {', '.join(self.protocols)}"
        return plain(title, groups | laws | unfinished)

    @property
    def unfinished(self) -> str:
        """What is missing, in a sentence; empty for a finished study."""
        if not self.missing:
            return ""
        trials = sum(row["goal"] - row["done"] for row in self.missing)
        first = ", ".join(f"{name} = {value}" for name, value in self.missing[0].items() if name not in PROGRESS)
        return (
            f"{counted(trials, 'trial')} of {counted(len(self.missing), 'case')} are missing, the first of {first}; "
            "missing trials may be the longer ones, so that times are too small"
        )

    def record(self) -> dict[str, Any]:
        fits = [asdict(fit) for fit in self.fits]
        content = {"of": self.of, "by": self.by, "rows": self.rows, "fits": fits}
        return content | {"missing": self.missing, "failed": self.failed}


PROGRESS = ("done", "goal", "estimate", "ci95")


@kinds.door(
    folder=doors.path | doors.several(doors.path, fewest=1),
    by=doors.text | doors.several(doors.text) | doors.none,
    where=kinds.TEXT,
    laws=doors.text | doors.several(doors.text, fewest=1) | doors.none,
)
def results(
    folder: str | Path | Sequence[str | Path], *, by: str | Sequence[str] | None = None, where: str | None = None,
    of: str | None = None, laws: str | Sequence[str] | None = None,
) -> StudyResults:  # fmt: skip
    """The trials of a study in groups, with intervals and fitted laws; also of one that is not finished.

    folder  where `sweep(…, out=folder)` keeps the study; a list of several is one table with a column `study`.
    by      groups, such as ["n", "tau"] or "n,tau"; without it, the study's axes.
    where   a condition on rows, such as "start == 'random' and n >= 1000".
    of      a measured column; without it, steps or rounds.
    laws    candidates for the growth of the means with n, such as "n**1.5, n*log(n)"; without it, ten usual ones.
    """
    candidates = read_laws(laws)
    names = by.split(",") if isinstance(by, str) else by
    asked = None if names is None else [name.strip() for name in names if name.strip()]
    folders = [folder] if isinstance(folder, str | Path) else list(folder)
    study = load_studies(folders, None if where else [*(asked or []), *([of] if of else [])])
    table, precision = study.frame, study.precision
    of = of or (precision.measure if precision else None)
    groups = given_columns(study.axes if asked is None else asked, list(table.columns), table.attrs["parameters"])
    return StudyResults(
        of=of or default_measure(table),
        by=groups,
        rows=summarize_table(table, groups, of, where, precision, bool(study.missing)),
        fits=fit_laws(table, groups, of, where, candidates) if {"n", "n_given"} & set(groups) else [],
        protocols=list(dict.fromkeys(table["protocol"])),
        precision=precision,
        laws=candidates,
        missing=study.missing,
        failed=study.failed,
    )
