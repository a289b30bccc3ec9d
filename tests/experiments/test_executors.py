"""Real schedulers: Dask's scheduler and workers as processes of their own on loopback, and submitit's local jobs."""

import math
import os
import random
import signal
import subprocess
import sys
from types import SimpleNamespace

import pytest

from hegemon.cli.failures import UNFINISHED, sentence
from hegemon.errors import InvalidInput, Unfinished
from hegemon.experiments.executors.pool import open_pool
from hegemon.experiments.study import make_study
from hegemon.experiments.sweep import run_study
from tests.patience import PATIENCE, wait_for

QUIET = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}


class DaskProcesses:
    """A scheduler and workers on loopback, each of which may be killed."""

    def __init__(self, folder, workers: int):
        self.folder = folder
        self.file = folder / "scheduler.json"
        command = ["--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(self.file)]
        self.scheduler = subprocess.Popen([sys.executable, "-m", "distributed.cli.dask_scheduler", *command], **QUIET)
        self.workers = []
        wait_for(self.file.exists)
        for _ in range(workers):
            self.add_worker()

    def add_worker(self) -> None:
        command = ["--scheduler-file", str(self.file), "--nthreads", "1", "--no-nanny", "--no-dashboard",
                   "--local-directory", str(self.folder), "--death-timeout", "60"]  # fmt: skip
        self.workers.append(subprocess.Popen([sys.executable, "-m", "distributed.cli.dask_worker", *command], **QUIET))

    @property
    def address(self) -> str:
        import json

        return "dask:" + json.loads(self.file.read_text())["address"]

    def stop(self) -> None:
        for process in (*self.workers, self.scheduler):
            process.kill()
        for process in (*self.workers, self.scheduler):
            process.wait()


@pytest.fixture
def dask(tmp_path):
    crew = DaskProcesses(tmp_path, 2)
    yield crew
    crew.stop()


def one_trial_per_task(monkeypatch) -> None:
    monkeypatch.setattr("hegemon.experiments.study_driver.LONGEST_FIRST", 1)
    monkeypatch.setattr("hegemon.experiments.probe.BLOCK", 1)
    monkeypatch.setattr("hegemon.experiments.study_driver.MOST_TRIALS", 1)


def killing(dask, seed: int, kills: int, every: float):
    """A thread that kills workers at random and starts others in their place."""
    import threading

    def kill() -> None:
        chance = random.Random(seed)
        for _ in range(kills):
            if stop.wait(chance.uniform(0.5, 1.5) * every):
                return
            victim = chance.randrange(len(dask.workers))
            os.kill(dask.workers[victim].pid, signal.SIGKILL)
            dask.workers[victim].wait()
            del dask.workers[victim]
            dask.add_worker()

    stop = threading.Event()
    thread = threading.Thread(target=kill, daemon=True)
    thread.start()
    return stop, thread


@pytest.mark.full  # of holding, a quick one is in test_teams
def test_dask_gives_the_same_table(dask, tmp_path, monkeypatch):
    study = make_study("pairwise", axes={"n": [8, 12]}, trials=20)
    expected = run_study(study, tmp_path / "here", workers=1).folder.table.read_bytes()
    one_trial_per_task(monkeypatch)
    stop, thread = killing(dask, seed=1, kills=1, every=3)
    outcome = run_study(study, tmp_path / "there", cluster=dask.address)
    stop.set()
    thread.join()
    assert outcome.folder.table.read_bytes() == expected
    assert sum(path.read_bytes().count(b"\n") for path in (tmp_path / "there" / "records").iterdir()) >= 38
    dask.scheduler.kill()
    dask.scheduler.wait()
    with pytest.raises(InvalidInput, match="Dask scheduler"):
        run_study(make_study("pairwise", axes={"n": 9}), tmp_path / "gone", cluster=dask.address)


@pytest.mark.full
def test_ten_thousand_tasks_with_workers_killed_at_random(dask, tmp_path, monkeypatch):
    study = make_study("pairwise", axes={"n": [8, 12, 16, 20]}, trials=2_500)
    expected = run_study(study, tmp_path / "here", workers=1).folder.table.read_bytes()
    one_trial_per_task(monkeypatch)
    stop, thread = killing(dask, seed=2, kills=12, every=5)
    outcome = run_study(study, tmp_path / "there", cluster=dask.address)
    stop.set()
    thread.join()
    assert outcome.folder.table.read_bytes() == expected and outcome.trials == 10_000


def test_submitit_gives_the_same_table(tmp_path, monkeypatch):
    study = make_study("pairwise", axes={"n": 8}, trials=8)
    expected = run_study(study, tmp_path / "here", workers=1).folder.table.read_bytes()
    cluster = f"slurm:cluster=local,folder={tmp_path / 'jobs'},timeout_min=5"
    outcome = run_study(study, tmp_path / "there", cluster=cluster, workers=2)
    assert outcome.folder.table.read_bytes() == expected


def test_one_call_of_a_bundle_that_fails_fails_alone():
    from hegemon.experiments.executors.dask import _call_all

    seconds, found = _call_all([(int, ("7",), {}), (int, ("x",), {}), (int, ("ff",), {"base": 16})])
    assert seconds >= 0 and [answer for answer, _ in found] == [7, None, 255]
    assert [type(error) for _, error in found] == [type(None), ValueError, type(None)]


@pytest.mark.parametrize("text", ["dask:", "dask:host", "slurm:partition", "slurm:=3", "cloud:9", ""])
def test_places_that_are_none(text):
    with pytest.raises(InvalidInput):
        open_pool(text)


def test_no_scheduler_is_one_sentence(tmp_path, monkeypatch):
    monkeypatch.setattr("hegemon.experiments.executors.dask.PATIENCE_SECONDS", 0.5)
    with pytest.raises(InvalidInput, match="no Dask scheduler"):
        run_study(make_study("pairwise", axes={"n": 8}), tmp_path / "a", cluster="dask:tcp://127.0.0.1:9")


def test_a_scheduler_that_is_lost_on_the_way_leaves_the_study_unfinished():
    pool = open_pool("dask:tcp://127.0.0.1:9")
    pool._client = SimpleNamespace(nthreads=dict, status="running")
    assert pool.slots() == 0
    pool._client, pool._looked = SimpleNamespace(nthreads=dict, status="closed"), -math.inf
    with pytest.raises(Unfinished, match="run the same command again") as error:
        pool.slots()
    assert sentence(error.value)[0] == UNFINISHED


def test_a_worker_without_the_folder_sends_its_records_back(tmp_path, monkeypatch):
    monkeypatch.setattr("hegemon.experiments.worker.sees_folder", lambda root, name: False)
    study = make_study("pairwise", axes={"n": 8}, trials=9)
    outcome = run_study(study, tmp_path / "a", workers=1)
    assert outcome.trials == 9


def test_a_worker_with_other_code_is_refused(tmp_path):
    from hegemon.experiments import worker
    from hegemon.experiments.store.folder import Folder

    study = make_study("pairwise", axes={"n": 8}, trials=9)
    folder = Folder(tmp_path / "a")
    folder.open(study)
    task = {"folder": str(folder.root), "name": folder.name, "settings": study.cases[0].settings, "seed": 0,
            "key": "0" * 32, "first": 0, "count": 1, "seconds": 1.0}  # fmt: skip
    answer = worker.work(task)
    assert answer["done"] == 0 and "other code" in answer["error"]


def listening() -> set:
    import psutil

    return {one.laddr for one in psutil.Process().net_connections() if one.status == psutil.CONN_LISTEN}


def test_a_dask_of_our_own_opens_no_port(tmp_path):
    """Whoever can connect to a scheduler can run code in its workers, also from the same machine."""
    study = make_study("pairwise", axes={"n": 8}, trials=8)
    expected = run_study(study, tmp_path / "here", workers=1).folder.table.read_bytes()
    before, pool = listening(), open_pool("dask:local", 2)
    try:
        assert pool.start().submit(listening).result(60) == before and pool.slots() == 2
        assert pool._cluster.scheduler_address.startswith("inproc://")
    finally:
        pool.close()
    outcome = run_study(study, tmp_path / "there", cluster="dask:local", workers=2)
    assert outcome.folder.table.read_bytes() == expected


def test_an_interrupted_dask_of_our_own_leaves_one_sentence(tmp_path):
    command = [sys.executable, "-c", "from hegemon.cli.main import main; main()", "sweep", "pairwise", "--n", "300"]
    command += ["--trials", "1000000", "--cluster", "dask:local", "--workers", "2", "--out", str(tmp_path / "study")]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    wait_for(lambda: any((tmp_path / "study" / "records").glob("*.jsonl")) or process.poll() is not None)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130 and "Traceback" not in said and "resource_tracker" not in said
    lines = said.splitlines()
    assert len(lines) <= 4 and "is kept in" in lines[-1] and "the same command" in lines[-1]
