"""Before a study starts: what it will cost, from a few trials that are kept; and what cannot fit is refused."""

import pytest

from hegemon.errors import InvalidInput
from hegemon.experiments import costs, probe, worker
from hegemon.experiments.case import Case
from hegemon.experiments.goals import goals_of
from hegemon.experiments.store.folder import Folder
from hegemon.experiments.store.moments import Moments
from hegemon.experiments.store.record_files import RecordFile, encode_record
from hegemon.experiments.study import make_study
from hegemon.experiments.study_driver import StudyListener
from hegemon.experiments.sweep import check_cases, run_study


def estimate(tmp_path, monkeypatch, cost, sizes, trials=10, held=0):
    """The estimate for a study in which trial k of a case takes `cost(n, k)` seconds of a clock that tests set,
    and 1000 bytes; the process had `held` before."""
    now = [0.0]
    calls: dict[int, int] = {}

    def work(task):
        n = task["settings"]["n"]
        calls[n] = calls.get(n, 0) + 1
        seconds = cost(n, calls[n] - 1)
        now[0] += seconds
        folder.note(task["key"], task["first"], 1, ("nowhere", task["first"], 1), Moments())
        return {"done": 1, "alone": 1, "seconds": seconds, "memory": held + 1000}

    monkeypatch.setattr(worker, "work", work)
    monkeypatch.setattr(probe, "peak_memory", lambda: held)
    monkeypatch.setattr(worker, "prepare", lambda task: None)
    monkeypatch.setattr(probe.time, "perf_counter", lambda: now[0])
    study = make_study("pairwise", axes={"n": sizes}, trials=trials)
    folder = Folder(tmp_path / "study")
    folder.open(study)
    found = probe.probe(folder, check_cases(study.cases)[0], goals_of(None, trials), 1)
    monkeypatch.undo()
    return found, calls


@pytest.mark.parametrize(("held", "needed"), [(200_000_000, 200_001_000), (8 * 10**9, probe.FRESH + 1000)])
def test_what_the_process_held_before_is_not_what_a_worker_needs(tmp_path, monkeypatch, held, needed):
    """As in a notebook, or after a large verification: a study was refused for it."""
    assert estimate(tmp_path, monkeypatch, lambda n, k: 0.01, [10], held=held)[0].memory == needed


@pytest.mark.parametrize("power", [0.5, 1.0, 2.0])
def test_cases_that_were_not_tried_cost_what_a_power_says(tmp_path, monkeypatch, power):
    sizes = [10, 100, 1000, 10_000]
    found, calls = estimate(tmp_path, monkeypatch, lambda n, k: 0.02 * (n / 10) ** power, sizes)
    exact = sum(0.02 * (n / 10) ** power * 10 for n in sizes)
    assert found.cases == 4 and found.trials == 40 and found.memory == 1000
    assert 0.9 * exact < found.seconds < 1.1 * exact
    assert (len(calls) < 4) == (power >= 1)  # it gave up before the large ones


def test_a_first_trial_that_compiles_is_not_taken_for_the_usual(tmp_path, monkeypatch):
    """Half a second of compilation at n = 1000 would else look like a steep law."""
    sizes = [10, 100, 1000, 100_000]
    found, calls = estimate(tmp_path, monkeypatch, lambda n, k: 1e-4 * n + (0.5 if n == 1000 and k == 0 else 0), sizes)
    assert calls[1000] == 2 and found.seconds < 2 * sum(1e-4 * n * 10 for n in sizes)


def test_trials_of_the_probe_are_kept(tmp_path):
    heard = []

    class Ears(StudyListener):
        def planned(self, estimate, pool) -> None:
            heard.append(estimate)

    outcome = run_study(
        make_study("pairwise", axes={"n": [8, 9]}, trials=3), tmp_path / "a", workers=1, listener=Ears()
    )
    assert heard[0].cases == 2 and heard[0].trials == 6 and heard[0].seconds > 0 and heard[0].memory > 10**6
    assert outcome.trials == 6
    folder = Folder(tmp_path / "a")
    folder.refresh()
    measured = [
        first + k for found in folder.entries.values() for first, count, _ in found.values() for k in range(count)
    ]
    assert sorted(measured) == [0, 0, 1, 1, 2, 2]  # each once


def test_a_study_that_goes_on_knows_what_its_trials_cost(tmp_path, monkeypatch):
    """Its cases that are left may all take longer than the probe may."""
    study = make_study("pairwise", axes={"n": [10]}, trials=40)
    folder = Folder(tmp_path / "a")
    folder.open(study)
    [(case, key)] = check_cases(study.cases)[0]
    record = {"schema": 1, "case": key, "first": 0, "count": 4, "columns": {"steps": [9] * 4, "reached": True}}
    RecordFile(folder.records).append(encode_record({**record, "seconds": 30.0}))
    folder.refresh()
    monkeypatch.setattr(probe, "_some_trials", lambda *_: ({"done": 0, "memory": 1000}, 3.0))
    assert probe.probe(folder, [(case, key)], goals_of(None, 40), 1).seconds == 36 * 7.5


def test_what_cannot_fit_is_refused_before_anything_runs(tmp_path, monkeypatch):
    study = make_study("pairwise", axes={"n": [10**6], "engine": ["agents"]}, trials=2)
    for free, advice in ((10**5, "give a smaller n"), (15 * 10**5, "give --workers 1")):
        monkeypatch.setattr(probe, "memory_available", lambda free=free: free)
        with pytest.raises(InvalidInput, match=f"[MG]B of memory and .* [kM]B are free; {advice}"):
            run_study(study, tmp_path / "memory", workers=2)
    monkeypatch.undo()
    monkeypatch.setattr(Folder, "bytes_free", lambda self: 100)
    with pytest.raises(InvalidInput, match="trials need about .* ask for fewer"):
        run_study(make_study("pairwise", axes={"n": 8}, trials=10**6), tmp_path / "disk", workers=1)
    assert not list((tmp_path / "disk" / "records").iterdir())


@pytest.mark.parametrize("power", [1.1, 1.2, 2.0])
def test_what_every_trial_costs_is_not_taken_for_a_flat_law(power):
    """Small sizes cost little more than the setting up; a power through them alone would be too flat."""
    points = {n: 0.005 + 1e-6 * n**power for n in (100, 1000, 10_000)}
    assert costs.law(points, 10**6) == pytest.approx(0.005 + 1e-6 * 10 ** (6 * power), rel=0.01)
    noisy = {100: 0.010, 1000: 0.010001, 10_000: 0.06}
    assert costs.law(noisy, 10**6) < 0.06 * 100**1.5  # a difference of nothing is no steep law
    assert costs.law({10: 1.0}, 100) == 10 and costs.law({10: 3.0, 100: 2.0}, 1000) == 2.0


@pytest.mark.parametrize(
    ("axes", "in_blocks"),
    [
        ({"n": [8, 20]}, True),
        ({"n": [8, 2000]}, False),  # engines go on with the trials of the second case
        ({"n": 8, "fault": ["none", "step=5,agents=1"]}, False),
    ],
)
def test_short_trials_are_found_to_be_made_in_blocks(tmp_path, axes, in_blocks):
    study = make_study("pairwise", axes=axes, trials=100)
    folder = Folder(tmp_path / "study")
    folder.open(study)
    assert probe.probe(folder, check_cases(study.cases)[0], goals_of(None, 100), 1).in_blocks is in_blocks


def test_each_family_has_its_own_law():
    def case(n, tau):
        return Case({"protocol": "time-optimal", "n": n, "p.tau": tau})

    known = [(case(n, tau), n * tau) for n in (10, 100) for tau in (1, 4)]
    found = costs.Costs(known)
    assert found.of(case(1000, 4)) == pytest.approx(4000) and found.of(case(1000, 1)) == pytest.approx(1000)
    assert found.of(case(100, 2)) == pytest.approx(250)  # what the others cost
    assert costs.Costs([]).of(case(100, 2)) is None
