"""The trials of one study or of several as one table, with what is missing: finished studies and unfinished ones."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hegemon.errors import InvalidInput
from hegemon.experiments.names import given_columns
from hegemon.experiments.precision import Precision, parse_precision
from hegemon.experiments.store.folder import Folder
from hegemon.experiments.store.table import parameters_in, read_table, require_whole
from hegemon.experiments.study import Study, study_from
from hegemon.experiments.unfinished import progress_of, table_so_far

if TYPE_CHECKING:
    import pandas

ALWAYS = ("case", "protocol", "n", "n_given", "trial", "steps", "rounds", "reached", "cause")
STUDY = "study"  # the column that names the study, where there are several


@dataclass(frozen=True)
class StudyTable:
    """`frame` has a row per trial; `missing` the cases without all of their trials, `failed` those that cannot run."""

    frame: "pandas.DataFrame"
    axes: list[str]
    precision: Precision | None = None
    missing: list[dict[str, Any]] = field(default_factory=list)
    failed: list[dict[str, Any]] = field(default_factory=list)


def axes_of(study: Study) -> list[str]:
    """The axes along which the cases of a study differ, as columns of its table; n always."""
    rows = [case.settings for case in study.cases]
    names = dict.fromkeys(name for row in rows for name in row)
    varying = [name for name in names if name == "n" or len({str(row.get(name)) for row in rows}) > 1]
    return ["engine_asked" if name == "engine" else name for name in varying] or ["n"]


def precision_of(study: Study) -> Precision | None:
    return None if study.relative is None else parse_precision(study.relative)


def load_studies(roots: Sequence[str | Path], wanted: Sequence[str] | None = None) -> StudyTable:
    """The trials of these studies together; with `wanted`, of finished ones only these columns and those that every
    summary needs."""
    if len(set(map(str, roots))) < len(roots):
        raise InvalidInput("a study is named twice; name every folder once")
    tables = [load_study(root, wanted) for root in roots]
    return tables[0] if len(tables) == 1 else _joined(list(map(str, roots)), tables)


def load_study(root: str | Path, wanted: Sequence[str] | None = None) -> StudyTable:
    """The trials of a study: its table, or the records where the table is not finished."""
    folder = Folder(root)
    study = folder.study()
    axes, precision = axes_of(study), precision_of(study)
    there = folder.table.is_file()
    if there and _study_of_table(folder).content() == study.content():
        frame = _read(folder, [*axes, *wanted] if wanted is not None else None)
        whole = frame["case"].nunique() == len(study.cases)
        return StudyTable(
            _some(folder, frame), axes, precision, failed=[] if whole else progress_of(folder, study).failed
        )
    progress = progress_of(folder, study)
    frame = table_so_far(folder, study, progress)
    if frame is None and there:
        frame = _read(folder, None)  # of the study before it was extended, or of other code
    return StudyTable(_some(folder, frame), axes, precision, progress.missing, progress.failed)


def _some(folder: Folder, frame: "pandas.DataFrame | None") -> "pandas.DataFrame":
    if frame is not None and len(frame):
        return frame
    folder.refresh()
    failed = next(iter(folder.errors.values()), None)
    why = f"every case failed, the first with: {failed}" if failed else "none is finished; run its `hegemon sweep`"
    raise InvalidInput(f"{folder.root} has no trial to show: {why}")


def _joined(names: list[str], tables: list[StudyTable]) -> StudyTable:
    """One table with a column `study`; a parameter is `p.tau` if tau is something else in another study."""
    import pandas

    if len({table.precision for table in tables}) > 1:
        raise InvalidInput(
            "these studies stopped at different --relative, so no interval holds for all; give one of them"
        )
    parameters = [table.frame.attrs["parameters"] for table in tables]
    others = {
        column for table, own in zip(tables, parameters, strict=True) for column in table.frame.columns
        if column not in own.values()
    }  # fmt: skip
    shared = {axis: column if column not in others else axis for own in parameters for axis, column in own.items()}
    frames, first = [], 0
    for name, table, own in zip(names, tables, parameters, strict=True):
        frame = table.frame.rename(columns={column: shared[axis] for axis, column in own.items()})
        frames.append(frame.assign(case=frame["case"] + first))
        frames[-1].insert(0, STUDY, name)
        first += int(frame["case"].max()) + 1
    measured = dict.fromkeys(column for frame in frames for column in measured_columns(frame))
    given = dict.fromkeys(column for frame in frames for column in frame.columns if column not in measured)
    order = [*(column for column in given if column != "trial"), "trial", *measured]
    frame = pandas.concat(frames, ignore_index=True)[order]
    frame.attrs["parameters"] = shared
    return StudyTable(
        frame,
        [STUDY, *dict.fromkeys(axis for table in tables for axis in table.axes)],
        tables[0].precision,
        [{STUDY: name, **row} for name, table in zip(names, tables, strict=True) for row in table.missing],
        [row for table in tables for row in table.failed],
    )


def measured_columns(table: "pandas.DataFrame") -> list[str]:
    """The columns that were measured: those after `trial`."""
    return list(table.columns)[list(table.columns).index("trial") + 1 :]


def _read(folder: Folder, wanted: Sequence[str] | None) -> "pandas.DataFrame":
    schema = _schema(folder)
    names = schema.names
    with _readable(folder):
        if wanted is not None:
            columns = given_columns(wanted, names, parameters_in(schema.metadata))
            if all(name in names for name in columns):
                names = [name for name in names if name in (*ALWAYS, *columns, *wanted)]
        return read_table(folder, names)


def _study_of_table(folder: Folder) -> Study:
    schema = _schema(folder)
    with _readable(folder):
        return study_from(json.loads(schema.metadata[b"hegemon.study"]))


def _schema(folder: Folder) -> Any:
    from pyarrow.parquet import read_schema

    with _readable(folder):
        require_whole(folder)
        return read_schema(folder.table.absolute())


@contextmanager
def _readable(folder: Folder) -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError, KeyError, TypeError) as error:
        if isinstance(error, InvalidInput):
            raise
        raise InvalidInput(
            f"{folder.table} is damaged; run its `hegemon sweep` again, which makes it from the records"
        ) from None
