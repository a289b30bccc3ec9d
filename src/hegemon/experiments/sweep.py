"""`sweep`: a study from its definition to its table. Run the same again to go on; nothing finished is redone."""

import tempfile
import threading
import warnings
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hegemon import display, doors
from hegemon.errors import InvalidInput
from hegemon.experiments.case import Case
from hegemon.experiments.executors.pool import open_pool
from hegemon.experiments.fingerprints import code_fingerprint
from hegemon.experiments.goals import goals_of
from hegemon.experiments.names import AXES, PREFIX
from hegemon.experiments.probe import probe
from hegemon.experiments.store.folder import DamagedStudy, Folder
from hegemon.experiments.store.provenance import Provenance, drivers
from hegemon.experiments.store.table import compact, read_table
from hegemon.experiments.study import Study, make_study, protocol_name
from hegemon.experiments.study_driver import StudyDriver, StudyListener
from hegemon.protocols.loading import Unnamed, name_protocol
from hegemon.runs import kinds

if TYPE_CHECKING:
    import pandas

    from hegemon.runs.option import Seed


NONE = {name: one.none for name, one in AXES.items() if one.none is not None}
ROUNDS = 5  # how often missing trials are measured again before giving up


@dataclass(frozen=True)
class StudyOutcome:
    """The study's folder, how many trials its table has, and the cases that failed with their errors."""

    study: Study
    folder: Folder
    trials: int
    failed: list[tuple[Case, str]]


NAME = doors.text | kinds.PROTOCOL_CLASS
NAMES = NAME | doors.several(NAME, fewest=1)
AXIS = kinds.VALUE | doors.several(kinds.VALUE)
ZIP = doors.several(doors.text | doors.several(doors.text))
CASES = doors.path | doors.several(doors.mapping(kinds.VALUE | kinds.PROTOCOL_CLASS))


@kinds.door(
    protocol=NAMES | doors.none,
    trials=kinds.TRIALS | doors.none,
    relative=doors.share | doors.none,
    zip=ZIP,
    cases=CASES,
    extend=kinds.FLAG,
    axes=AXIS,
)
def sweep(
    protocol: Any = None, *, trials: int | None = None, seed: "Seed" = 0, out: str | Path | None = None,
    workers: int | None = None, cluster: str | None = None, relative: float | str | None = None, zip: Any = (),
    cases: Any = (), extend: bool = False, **axes: Any,
) -> "pandas.DataFrame":  # fmt: skip
    """Run every case of a study and answer all trials as a dataframe, one row per trial.

    protocol: an id such as "time-optimal", "your_file.py:YourClass", a class, or a list of these.
    axes:     n, any parameter, or an option of `hegemon sweep` (graph, start, until, max_steps, …): a value, a
              list, or a text such as "1e2..1e6:log". All are crossed; `zip=[("n", "tau")]` walks these side
              by side; `cases` is an explicit table, as a list of dictionaries or a CSV file. A parameter that is
              called like an option is written as `**{"p.loss": [1, 100]}`.
    trials:   of every case, by default 1; with `relative="2%"` at most that many, until the mean is within 2 %.
    out:      the study's folder. The same call again goes on; `extend=True` adds trials or values to what is there.
    workers, cluster: processes of this machine, or "dask:tcp://host:8786", "slurm:partition=…".

    Cases that failed cause a warning and are listed in `table.attrs["failed"]`, each with its error.

    >>> table = hegemon.sweep("pairwise", n="16..256:x2", trials=100, workers=1)
    >>> table.groupby("n")["steps"].mean()
    """
    for one in protocol if isinstance(protocol, list | tuple) else [protocol]:
        if one is not None:
            name_protocol(protocol_name(one))
    for row in [] if isinstance(cases, str | Path) else cases:
        name_protocol(str(row.get("protocol")))
    study = make_study(protocol, trials=trials, seed=seed, axes=axes, zip=zip, cases=cases, relative=relative)
    with tempfile.TemporaryDirectory(prefix="hegemon-") as scratch:
        with display.notebook_progress() as shown:
            listener = _Shown(shown) if shown else None
            outcome = run_study(
                study, out or scratch, workers=workers, cluster=cluster, extend=extend, listener=listener
            )
        table = read_table(outcome.folder) if outcome.trials else None
    if outcome.failed:
        case, error = outcome.failed[0]
        sentence = f"{len(outcome.failed)} cases failed; the first is {case.label()}: {error}"
        if table is None:
            raise InvalidInput(sentence)
        warnings.warn(sentence, stacklevel=3)
        table.attrs["failed"] = [{**case.shown, "error": error} for case, error in outcome.failed]
    return table


def run_study(
    study: Study, out: str | Path, *, workers: int | None = None, cluster: str | None = None, extend: bool = False,
    listener: StudyListener | None = None, command: list[str] | None = None,
) -> StudyOutcome:  # fmt: skip
    """Make or go on with the study in the folder `out`, to the end or to an interrupt."""
    folder = Folder(out)
    if extend and folder.exists:
        with suppress(DamagedStudy):
            study = folder.study().joined(study)
    sound, failed = check_cases(study.cases)
    pool = open_pool(cluster, workers)
    folder.open(study, extend, {c.label(): {"key": key, "columns": says(c)} for c, key in sound if c.file})
    folder.clean()
    provenance = Provenance(folder.drivers, command, pool.name, code_fingerprint())
    backwards = any(driver["alive"] for driver in drivers(folder.drivers))
    goals = _goals(study)
    folder.read_again()
    listener = listener or StudyListener()
    ended = "failed"
    try:
        for turn in range(ROUNDS):
            broken = {key for _, key, _ in failed}
            waiting = [(case, key) for case, key in sound if key not in broken and _missing(folder, key, goals)]
            if not waiting:
                break
            provenance.beat()
            if turn == 0:
                estimate = probe(folder, waiting, goals, pool.local_slots)
                pool = pool.suited(estimate.in_blocks)
                provenance.works_in(pool.name)
                listener.planned(estimate, pool)
                threading.Thread(target=_load_libraries, daemon=True).start()  # while the workers run
            driver = StudyDriver(folder, waiting, goals, pool, _Ears(listener, provenance), backwards)
            driver.run()
            failed += [(state.case, state.key, state.error) for state in driver.states if state.error]
            folder.read_again()
        broken = {key for _, key, _ in failed}
        told = fill([says(case) for case, key in sound if key not in broken])
        finished = [key for _, key in sound if key not in broken]
        rows = [(said, key, goals.final(key, folder)) for said, key in zip(told, finished, strict=True)]
        short = [key for _, key, limit in rows if folder.done[key].count(limit) < limit]
        if short:
            raise InvalidInput(
                f"{folder.root} does not keep what is written to it: {len(short)} cases have gaps; give another folder"
            )
        trials = compact(folder, rows, study.content())
        ended = "finished"
        return StudyOutcome(study, folder, trials, [(case, error) for case, _, error in failed])
    except KeyboardInterrupt:
        ended = "interrupted"
        raise
    finally:
        provenance.beat(ended)


def check_cases(cases: list[Case]) -> tuple[list[tuple[Case, str]], list[tuple[Case, str | None, str]]]:
    """The cases that can run, with their keys, and those that cannot, with the reason."""
    sound: list[tuple[Case, str]] = []
    failed: list[tuple[Case, str | None, str]] = []
    seen: dict[str, Case] = {}
    for case in cases:
        try:
            case.check()
            case.key  # noqa: B018 - reads the files that the runs will read
        except Unnamed:
            raise
        except InvalidInput as error:
            failed.append((case, None, str(error)))
            continue
        if case.key in seen:
            raise InvalidInput(f"two cases are the same: {seen[case.key].label()}; and {case.label()}")
        seen[case.key] = case
        sound.append((case, case.key))
    if not sound:
        raise InvalidInput(failed[0][2])
    return sound, failed


def says(case: Case) -> dict[str, Any]:
    """The columns of the table that are the same for every trial of a case."""
    protocol = case.protocol
    course = {k: float(Fraction(v)) if isinstance(NONE.get(k), float) else v for k, v in case.course.items()}
    parameters = {f"{PREFIX}{name}": value for name, value in protocol.parameters.items()}
    return {"protocol": protocol.id, "n": protocol.n, **parameters, **course, "seed": case.seed}


def fill(told: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """These columns of all cases. Where some cases have a fault or losses, the others get a value for "none"."""
    names = {name for said in told for name in said}
    return [{**said, **{name: said.get(name, none) for name, none in NONE.items() if name in names}} for said in told]


def _goals(study: Study) -> Any:
    return goals_of(study.relative, study.trials)


def _load_libraries() -> None:
    """Import what only the table and its summary need."""
    import pandas  # noqa: F401
    import pyarrow.parquet  # noqa: F401
    import scipy.special  # noqa: F401


def _missing(folder: Folder, key: str, goals: Any) -> bool:
    goal = goals.goal(key, folder)
    return folder.done[key].count(goal) < goal


class _Ears(StudyListener):
    """Passes events on, and writes the driver's progress from time to time."""

    def __init__(self, listener: StudyListener, provenance: Provenance):
        self.listener, self.provenance = listener, provenance

    def moved(self, driver: StudyDriver) -> None:
        done = sum(state.done for state in driver.states)
        self.provenance.beat(measured=driver.measured, done=done, goal=sum(state.goal for state in driver.states))
        self.listener.moved(driver)


class _Shown(StudyListener):
    """A progress bar in a notebook: trials done out of those wanted."""

    def __init__(self, show: display.Show):
        self._show = show

    def moved(self, driver: StudyDriver) -> None:
        done, goal = (sum(getattr(state, name) for state in driver.states) for name in ("done", "goal"))
        self._show("trials", done, goal)
