"""Runs claims in worker processes, one claim after the other in each, and keeps every finished one on disk."""

import dataclasses
import json
import multiprocessing
import os
import signal
import threading
import time
import traceback
from collections import deque
from multiprocessing.connection import wait

from hegemon.claims.family import LEVEL, by_chance, judged, judged_records
from hegemon.claims.laboratory import SEED, Laboratory
from hegemon.claims.registry import Claim, all_claims
from hegemon.claims.store import Folder
from hegemon.errors import InvalidInput

NOTES_PER_SECOND = 5


class Listener:
    """Hears what happens; the command line draws it."""

    def started(self, claim: Claim) -> None: ...

    def noted(self, claim: Claim, text: str) -> None: ...

    def finished(self, claim: Claim, record: dict, again: bool) -> None: ...


def reproduce(claims, scale: str, out, jobs: int, seed: int = SEED, listener: Listener | None = None) -> list[dict]:
    """The records of all claims in their order, those that were finished before among them, judged as one family.

    While they come in, the listener hears the verdict that each has by itself. An interrupt stops the workers;
    what they have finished, and the measurements of what they have not, stay.
    """
    listener = listener or Listener()
    folder = Folder(out)
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
        _run_all(waiting, scale, out, min(jobs, len(waiting)), jobs, seed, listener, records)
    finally:
        ordered = judged_records([records[claim.id] for claim in claims if claim.id in records])
        _write_summary(folder, ordered, scale, seed)
    return ordered


def _write_summary(folder: Folder, records: list[dict], scale: str, seed: int) -> None:
    try:
        folder.write("claims.json", json.dumps(summary(records, scale, seed), indent=1, allow_nan=False))
    except InvalidInput as error:
        for record in records:
            record.setdefault("unsaved", str(error))  # the records themselves are what matters, and they are here


def summary(records: list[dict], scale: str, seed: int) -> dict:
    """What `claims.json` holds: everything but the plots' points, which are in the claims' own files."""
    records = judged_records(records)
    kept = ("paper", "place", "title", "statement", "verdict", "headline", "checks", "notes", "seconds", "rows")
    claims = [{"id": record["identity"]["id"], **{key: record[key] for key in kept}} for record in records]
    verdicts = [record["verdict"] for record in records]
    counts = {verdict: verdicts.count(verdict) for verdict in dict.fromkeys(verdicts)}
    correction = {"method": "Holm", "level": LEVEL, "checks": by_chance(records)}
    return {"scale": scale, "seed": seed, "verdicts": counts, "correction": correction, "claims": claims}


def _run_all(waiting, scale, out, processes, workers, seed, listener, records) -> None:
    context = multiprocessing.get_context("spawn")  # compiled kernels and threads do not survive a fork
    crew, take = {}, {}
    upcoming = deque(waiting)
    try:
        for number in range(processes):
            ours, theirs = context.Pipe()
            process = context.Process(target=_work, args=(theirs, scale, str(out), seed, workers), daemon=True)
            process.start()
            theirs.close()
            crew[ours] = process
            # From both ends, so that two workers seldom compile the same kernels at the same time.
            take[ours] = upcoming.popleft if number % 2 == 0 else upcoming.pop
            _hand_out(ours, take[ours], upcoming, listener)
        claims = {claim.id: claim for claim in waiting}
        while len(records.keys() & claims.keys()) < len(claims):
            for connection in wait(list(crew), timeout=1):
                try:
                    kind, name, content = connection.recv()
                except EOFError:
                    raise InvalidInput(
                        "a worker process was ended by the system, probably for lack of memory; what is finished is "
                        "kept: try again with fewer --jobs"
                    ) from None
                if kind == "note":
                    listener.noted(claims[name], content)
                elif kind == "failed":
                    raise RuntimeError(f"the experiment of {name} failed:\n{content}")
                else:
                    records[name] = content
                    listener.finished(claims[name], content, again=False)
                    _hand_out(connection, take[connection], upcoming, listener)
    finally:
        for process in crew.values():
            process.terminate()
        for connection, process in crew.items():
            process.join()
            connection.close()


def _hand_out(connection, take, upcoming, listener) -> None:
    if upcoming:
        claim = take()
        listener.started(claim)
        connection.send(claim.id)


def _work(connection, scale: str, out: str, seed: int, workers: int) -> None:
    """A worker: takes ids until its parent is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides when to stop
    threading.Thread(target=_end_with_parent, daemon=True).start()
    claims, folder = all_claims(), Folder(out)
    while True:
        try:
            claim = claims[connection.recv()]
            record = run_claim(claim, scale, folder, seed, workers, _messenger(connection, claim.id))
            connection.send(("finished", claim.id, record))
        except (EOFError, BrokenPipeError):
            return
        except Exception:
            connection.send(("failed", claim.id, traceback.format_exc()))
            return


def _end_with_parent() -> None:
    """However the parent ends, a kill included, its workers do not go on without it."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def run_claim(claim: Claim, scale: str, folder: Folder, seed: int, workers: int | None, report=None) -> dict:
    """Make one experiment and store what it found."""
    begin = time.perf_counter()
    laboratory = Laboratory(seed, workers, folder.parts(claim, scale, seed), report)
    outcome = claim.experiment(laboratory, **claim.sizes(scale))
    outcome = dataclasses.replace(outcome, checks=judged(outcome.checks))
    return folder.save(claim, scale, seed, outcome, laboratory.rows, time.perf_counter() - begin)


def _messenger(connection, name: str):
    """Sends notes to the parent, a few per second."""
    last = 0.0

    def report(text: str) -> None:
        nonlocal last
        if time.monotonic() - last > 1 / NOTES_PER_SECOND:
            last = time.monotonic()
            connection.send(("note", name, text))

    return report
