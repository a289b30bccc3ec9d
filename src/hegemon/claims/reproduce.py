"""Runs claims through the executors of studies, one claim a task, and keeps every finished one on disk."""

import dataclasses
import json
import os
import tempfile
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any

from hegemon.claims.family import LEVEL, by_chance, judged, judged_records
from hegemon.claims.laboratory import SEED, Laboratory
from hegemon.claims.registry import HOLDS, UNDECIDED, VIOLATED, Check, Claim, Outcome, choose, claims_of
from hegemon.claims.store import ClaimsFolder
from hegemon.errors import InvalidInput, sentence
from hegemon.experiments.executors.local import Processes
from hegemon.experiments.executors.pool import Pool, open_pool
from hegemon.experiments.worker import sees_folder
from hegemon.files import reserve
from hegemon.protocols.loading import name_protocol
from hegemon.runs import kinds
from hegemon.runs.option import seed_of

if TYPE_CHECKING:
    from hegemon.runs.option import Seed

NOTE_SECONDS = 1.0
MOST_DEATHS = 3  # of workers, before the work is given up
LONGEST = (  # begun first, so that nobody waits long at the end
    "to.table1", "ring.table1", "trains.thm1.2", "survey.timer", "ring.thm1", "to.thm17.holding", "sub.thm3",
)  # fmt: skip


class ClaimsListener:
    """Hears what happens; the command line draws it."""

    def started(self, claim: Claim) -> None: ...

    def noted(self, claim: Claim, text: str) -> None: ...

    def finished(self, claim: Claim, record: dict[str, Any], again: bool) -> None: ...


@kinds.door(file=kinds.FILE, full=kinds.FLAG, only=kinds.TEXT, paper=kinds.TEXT, jobs=kinds.WORKERS)
def reproduce(
    file: str | Path | None = None,
    *,
    full: bool = False,
    only: str | None = None,
    paper: str | None = None,
    out: str | Path | None = None,
    jobs: int | None = None,
    cluster: str | None = None,
    seed: "Seed" = SEED,
) -> dict[str, Any]:
    """Check the papers' claims on this machine, write the report, and return the verdicts.

    file   your own claims, stated by `hegemon.claim` in a Python file; without it, those of the five papers.
    full   large sizes, most of an hour; without it small ones, about a minute.
    only   these claims, such as "to.lemma5,ring.thm1"; `paper`: those of one paper, such as "ring".
    out    the folder of the report and of the measurements, by default reproduction-quick or -full (with a file, its
           name and -quick or -full); the same call again goes on from there.
    seed   as in `simulate`; the verdicts keep it.
    jobs   processes, by default one per core; `cluster`: where they run instead (docs/clusters.md).
    """
    scale, seed = "full" if full else "quick", seed_of(seed)
    file = None if file is None else str(file)
    claims, folder = choose(only, paper, file), make_folder(out or default_folder(file, scale))
    records = make_claims(claims, scale, folder, jobs or os.cpu_count() or 1, seed, cluster=cluster)
    lost = keep_report(records, scale, seed, folder)
    if lost:
        raise InvalidInput(f"not everything could be stored: {lost}")
    return summary(records, scale, seed)


def default_folder(file: str | None, scale: str) -> str:
    return f"{Path(file).stem if file else 'reproduction'}-{scale}"


def keep_report(records: list[dict[str, Any]], scale: str, seed: int, folder: Path) -> str:
    """Write the report; what could not be stored, as a sentence."""
    from hegemon.claims.report import write_report  # with Matplotlib, which takes long to load

    lost = next((record["unsaved"] for record in records if "unsaved" in record), "")
    try:
        if records:
            seconds = sum(record["seconds"] for record in records)
            write_report(records, scale, seed, seconds, folder / "report.html")
    except InvalidInput as error:
        lost = lost or str(error)
    return lost


def make_folder(name: str | Path) -> Path:
    """Before any work: the folder of the results exists and can be written to."""
    folder = Path(name)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        raise InvalidInput(f"the folder {name} cannot be made ({error}); give --out another folder") from None
    reserve(folder / "report.html")
    return folder


def make_claims(
    claims: Iterable[Claim],
    scale: str,
    out: str | Path,
    jobs: int,
    seed: int = SEED,
    listener: ClaimsListener | None = None,
    cluster: str | None = None,
) -> list[dict[str, Any]]:
    """The records of all claims in their order, those that were finished before among them, judged as one family.

    While they come in, the listener hears the verdict that each has by itself. An interrupt stops the workers;
    what they have finished, and the measurements of what they have not, stay.
    """
    listener = listener or ClaimsListener()
    folder = ClaimsFolder(out)
    folder.sweep()
    records, waiting = {}, []
    for claim in claims:
        record = folder.load(claim, scale, seed)
        if record is None:
            waiting.append(claim)
        else:
            records[claim.id] = record
            listener.finished(claim, record, again=True)
    try:
        if waiting:
            pool = open_pool(cluster, jobs) if cluster else Processes(min(jobs, len(waiting)))
            _run_all(waiting, scale, folder, pool, seed, listener, records)
    finally:
        ordered = judged_records([records[claim.id] for claim in claims if claim.id in records])
        _write_summary(folder, ordered, scale, seed)
    return ordered


def _write_summary(folder: ClaimsFolder, records: list[dict[str, Any]], scale: str, seed: int) -> None:
    try:
        folder.write("claims.json", json.dumps(summary(records, scale, seed), indent=1, allow_nan=False))
    except InvalidInput as error:
        for record in records:
            record.setdefault("unsaved", str(error))  # the records themselves are what matters, and they are here


def summary(records: list[dict[str, Any]], scale: str, seed: int) -> dict[str, Any]:
    """What `claims.json` holds: everything but the plots' points, which are in the claims' own files."""
    records = judged_records(records)
    kept = ("paper", "place", "title", "statement", "verdict", "headline", "checks", "notes", "seconds", "rows")
    claims = [{"id": record["identity"]["id"], **{key: record[key] for key in kept}} for record in records]
    verdicts = [record["verdict"] for record in records]
    counts = {verdict: verdicts.count(verdict) for verdict in dict.fromkeys(verdicts)}
    correction = {"method": "Holm", "level": LEVEL, "checks": by_chance(records)}
    return {"scale": scale, "seed": seed, "verdicts": counts, "correction": correction, "claims": claims}


def _run_all(
    waiting: list[Claim],
    scale: str,
    folder: ClaimsFolder,
    pool: Pool,
    seed: int,
    listener: ClaimsListener,
    records: dict[str, dict[str, Any]],
) -> None:
    """Every claim is one task of the pool. A worker that dies takes its claim with it, which begins again from what
    is in the store."""
    deaths = 0
    executor = pool.start()
    answers: SimpleQueue[Any] = SimpleQueue()
    running: dict[Future[dict[str, Any]], Claim] = {}
    task = {
        "scale": scale,
        "out": str(folder.root.resolve()),
        "name": folder.name,
        "seed": seed,
    }

    upcoming = deque(_in_order(waiting))
    ended, failure = False, None
    try:
        while upcoming or running:
            while upcoming and len(running) < max(1, pool.slots()):
                claim = upcoming.popleft()
                # A thread is a core: as long as every core has a claim, further threads only wait for one another.
                threads = 1 if upcoming else pool.slots()
                named = {"claim": claim.id, "file": claim.file, "workers": threads}
                future = executor.submit(work_on_claim, {**task, **named})
                running[future] = claim
                future.add_done_callback(answers.put)
                listener.started(claim)
            try:
                future = answers.get(timeout=NOTE_SECONDS)
            except Empty:
                _note(folder, running, listener)
                continue
            if future not in running:
                continue  # it went with a pool that broke
            claim = running.pop(future)
            try:
                answer = future.result()
            except pool.lost as error:
                deaths += 1
                if deaths > MOST_DEATHS:
                    raise InvalidInput(
                        "a worker was ended by the system again and again, probably for lack of memory; what is "
                        "finished is kept: try again with fewer --jobs"
                    ) from error
                upcoming.extendleft([claim, *running.values()])
                running.clear()
                executor = pool.start()
                continue
            if "failed" in answer:
                if claim.file and answer["sentence"]:
                    raise InvalidInput(f"the claim {claim.id} of {claim.file} cannot be tested: {answer['sentence']}")
                failure = failure or RuntimeError(f"the experiment of {claim.id} failed:\n{answer['failed']}")
                continue  # the others are made and kept first: they may take an hour
            if answer["record"]["identity"] != folder.identity(claim, scale, seed):
                raise InvalidInput(f"{claim.file or 'hegemon'} was changed while it was used; give the command again")
            records[claim.id] = folder.keep(answer["record"], answer["table"])
            listener.finished(claim, records[claim.id], again=False)
        ended = True
    finally:
        pool.close() if ended else pool.abandon()
    if failure:
        raise failure


def _in_order(claims: list[Claim]) -> list[Claim]:
    """The longest; then first, last, second …: neighbours share kernels, and two workers seldom compile the same at the
    same time."""
    ordered: list[Claim] = [claim for name in LONGEST for claim in claims if claim.id == name]
    rest = deque(claim for claim in claims if claim.id not in LONGEST)
    while rest:
        ordered.append(rest.popleft() if len(ordered) % 2 == 0 else rest.pop())
    return ordered


def _note(folder: ClaimsFolder, running: dict[Future[dict[str, Any]], Claim], listener: ClaimsListener) -> None:
    """What the store shows of claims that are not finished."""
    folder.memory.refresh()
    for claim in running.values():
        listener.noted(claim, f"{folder.memory.rows:,} rows measured so far")


def work_on_claim(task: dict[str, Any]) -> dict[str, Any]:
    """A worker's part: one experiment, to its record and its table."""
    seen = sees_folder(task["out"], task["name"])
    with tempfile.TemporaryDirectory(prefix="hegemon-") as scratch:  # where the driver's folder does not reach
        folder = ClaimsFolder(task["out"] if seen else scratch)
        try:
            if task["file"]:
                name_protocol(task["file"])  # the driver has imported it: somebody named it there
            claim = claims_of(task["file"])[task["claim"]]
            record, table = run_claim(claim, task["scale"], folder, task["seed"], task["workers"])
        except Exception as error:  # a process of its own reports whatever a claim raises, with its trace
            return {"failed": traceback.format_exc(), "sentence": sentence(error)}
        finally:
            folder.memory.close()
    return {"record": record, "table": table}


def run_claim(
    claim: Claim,
    scale: str,
    folder: ClaimsFolder,
    seed: int,
    workers: int | None,
    report: Callable[[str], object] | None = None,
) -> tuple[dict[str, Any], str]:
    """Make one experiment: its record, and its rows as a table."""
    begin = time.perf_counter()
    laboratory = Laboratory(seed, workers, folder.parts(claim, scale, seed), report)
    outcome = claim.experiment(laboratory, **claim.sizes(scale))
    if claim.file:
        outcome = with_twin(claim, scale, folder, seed, workers, outcome)
    outcome = dataclasses.replace(outcome, checks=judged(outcome.checks))
    return folder.describe(claim, scale, seed, outcome, laboratory.rows, time.perf_counter() - begin)


def with_twin(
    claim: Claim, scale: str, folder: ClaimsFolder, seed: int, workers: int | None, found: Outcome
) -> Outcome:
    """The outcome of a user's claim and what became of its broken twin. A claim that does not call the twin violated
    cannot tell a wrong protocol from a right one, so it does not hold."""
    what, claimed = "a broken twin is caught", "its verdict is violated"
    if claim.twin is None:
        said = "no twin was given: nothing shows that this claim can fail"
        check = Check(what, claimed, f"{said}; give one with a fault (twin=…)", UNDECIDED)
    else:
        name = claim.twin.__name__
        laboratory = Laboratory(seed, workers, folder.parts(claim, scale, seed, of_twin=True))
        checks = judged(claim.experiment(laboratory, protocol=claim.twin, **claim.sizes(scale)).checks)
        caught = next((one for one in checks if one.verdict == VIOLATED), None)
        if caught is not None:
            said = f"twin {name} is caught"
            check = Check(what, claimed, f"{name}: {caught.what}: {caught.measured}", HOLDS)
        else:
            said = f"twin {name} is NOT CAUGHT: this claim cannot tell it from the protocol"
            check = Check(what, claimed, f"{name} is not caught; test more, or give a twin that breaks this", UNDECIDED)
    headline = found.headline if found.verdict == VIOLATED else f"{found.headline}; {said}"  # a claim that fails can
    return dataclasses.replace(found, checks=[*found.checks, check], headline=headline)
