"""What a study says: its trials in groups, with intervals, as a tidy table."""

from hegemon.analysis.statistics import summarize, wilson
from hegemon.errors import InvalidInput
from hegemon.experiments.filters import choose_rows
from hegemon.experiments.store.folder import Folder
from hegemon.experiments.study import Study

QUANTILES = (0.1, 0.9)


def measured_columns(table) -> list[str]:
    """The columns that were measured: those after `trial`."""
    return list(table.columns)[list(table.columns).index("trial") + 1 :]


def axes_of(study: Study) -> list[str]:
    """The axes along which the cases of a study differ, as columns of its table; n always."""
    rows = [case.settings for case in study.cases]
    names = dict.fromkeys(name for row in rows for name in row)
    varying = [name for name in names if name == "n" or len({str(row.get(name)) for row in rows}) > 1]
    return ["engine_asked" if name == "engine" else name for name in varying] or ["n"]


def default_measure(table) -> str:
    return "steps" if "steps" in table.columns else "rounds"


def summarize_table(table, by: list[str], of: str | None = None, where: str | None = None) -> list[dict]:
    """One row per group: trials, how many met the stop, and the measure over those that did.

    Trials cut off by a limit are counted (`trials` - `reached`) and never dropped silently: their times are not in
    the mean, which is then a mean of the others alone.
    """
    if where:
        table = choose_rows(table, where)
    if not len(table):
        raise InvalidInput("no trial is left; ask for less in --where")
    of = of or default_measure(table)
    by = [name if f"{name}_given" not in table.columns else f"{name}_given" for name in by]
    for name in (*by, of):
        if name not in table.columns:
            raise InvalidInput(f"there is no column {name!r}; the columns are {', '.join(table.columns)}")
    if of not in measured_columns(table) or table[of].dtype.kind not in "iufb":
        raise InvalidInput(f"{of} is no measured number; choose {', '.join(_numbers(table))}")
    rows = []
    for values, group in table.groupby(by, sort=False, dropna=False, observed=True) if by else [((), table)]:
        reached = group[group["reached"]] if of in ("steps", "rounds", "parallel_time") else group
        counted = reached[of].dropna()
        low, high = wilson(int(group["reached"].sum()), len(group))
        row = {name: _plain(value) for name, value in zip(by, values, strict=True)}
        row |= {"trials": len(group), "reached": int(group["reached"].sum()), "share_reached_ci95": [low, high]}
        row |= summarize(counted.to_numpy(float))
        spread = counted.quantile(list(QUANTILES), interpolation="higher") if len(counted) else {}
        row |= {f"q{round(100 * q)}": float(spread[q]) if len(counted) else None for q in QUANTILES}
        rows.append(row)
    return rows


def _numbers(table) -> list[str]:
    return [name for name in measured_columns(table) if table[name].dtype.kind in "iuf"]


def _plain(value):
    value = value.item() if hasattr(value, "item") else value
    return None if value != value else value


def load_table(root):
    """The table of a study's folder."""
    import pandas

    folder = Folder(root)
    folder.study()  # says what is wrong if this is no study
    if not folder.table.is_file():
        raise InvalidInput(f"{root} has no table yet; run its `hegemon sweep` to the end")
    return pandas.read_parquet(folder.table)
