"""A study gives the same table from any number of workers, after any kill, in pieces or at once."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import hegemon as hg
from hegemon.cli.main import main
from hegemon.cli.results import pace
from hegemon.errors import InvalidInput
from hegemon.experiments.store.folder import Folder
from hegemon.experiments.study import make_study, read_study
from hegemon.experiments.sweep import run_study, sweep
from hegemon.kept import read_kept
from hegemon.protocols.loading import name_protocol
from hegemon.runs.trials import run_trials
from tests.patience import wait_for
from tests.sentences import is_one_sentence

STUDY = {"axes": {"n": [8, 12], "until": ["safe", "steps:50"]}, "trials": 60}
OWN = '''
from hegemon.models import Bit, PopulationProtocol, exactly

class Mine(PopulationProtocol):
    """Leaders fight."""
    class State:
        leader: Bit = 1
    def interact(a, b, p):
        if a.leader and b.leader:
            b.leader = 0
    safe = exactly(1, lambda a, p: a.leader == 1)
'''


def table_of(study, root, **options) -> bytes:
    return run_study(study, root, **options).folder.table.read_bytes()


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    study = make_study("pairwise", **STUDY)
    root = tmp_path_factory.mktemp("study") / "one"
    return study, root, table_of(study, root, workers=1)


def test_the_trials_are_those_of_run_trials(reference):
    import pandas

    from hegemon import Pairwise

    study, root, _ = reference
    table = pandas.read_parquet(root / "table.parquet")
    assert len(table) == 240 and list(table["case"].unique()) == [0, 1, 2, 3]
    for number, case in enumerate(study.cases):
        mine = table[table["case"] == number]
        direct = run_trials(Pairwise(n=case.settings["n"]), 60, seed=case.seed, until=case.settings["until"], workers=1)
        assert list(mine["steps"]) == [run.steps for run in direct.runs]
        assert set(mine["seed"]) == {case.seed} and set(mine["n"]) == {case.settings["n"]}
    assert len({case.seed for case in study.cases}) == 4


def test_processes_killed_at_any_moment_change_nothing(reference, tmp_path):
    """Kill -9 of the driver, of a worker; then go on: the same bytes. No process stays behind."""
    study, _, expected = reference
    code = (
        "import sys\nfrom hegemon.experiments.study import make_study\n"
        "from hegemon.experiments.sweep import run_study\n"
        "from hegemon.experiments.executors.local import Processes\n"
        "Processes.seconds = 0.0  # every trial a task\n"
        "from hegemon.experiments import probe\n"
        "Processes.suited, probe.BLOCK = lambda self, in_blocks: self, 1  # and no trials in threads\n"
        f"if __name__ == '__main__': run_study(make_study('pairwise', **{STUDY!r}), sys.argv[1], workers=2)"
    )
    script = tmp_path / "drive.py"
    script.write_text(code)
    root = tmp_path / "killed"
    said = tmp_path / "said"
    for victim in ("driver", "worker"):
        with open(said, "w") as file:
            process = subprocess.Popen([sys.executable, str(script), str(root)], stderr=file)
        before = records_in(root)
        wait_for(lambda before=before: records_in(root) > before + 20)
        children = children_of(process.pid)
        if victim == "driver":
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
            wait_for(lambda children=children: not any(alive(child) for child in children))
            assert said.read_text() == ""  # nothing fills the terminal behind a driver that is gone
        else:
            workers = [child for child in children if b"spawn_main" in command_of(child)]
            os.kill(workers[0], signal.SIGKILL)
            assert process.wait(timeout=300) == 0
    assert (root / "table.parquet").read_bytes() == expected
    assert table_of(study, root, workers=1) == expected


def test_threads_killed_or_interrupted_at_any_moment_change_nothing(reference, tmp_path):
    """Short trials on several workers: threads of one process, which has no children."""
    study, _, expected = reference
    code = (
        "import sys, time\nfrom hegemon.experiments import probe, study_driver, worker\n"
        "from hegemon.experiments.executors.local import Threads\n"
        "from hegemon.experiments.study import make_study\nfrom hegemon.experiments.sweep import run_study\n"
        "Threads.seconds, probe.BLOCK = 0.0, 1  # every trial a task, which takes a moment\n"
        "study_driver.work = lambda task: time.sleep(0.02) or worker.work(task)\n"
        f"run_study(make_study('pairwise', **{STUDY!r}), sys.argv[1], workers=3)"
    )
    root = tmp_path / "threads"
    for stop in (signal.SIGKILL, signal.SIGINT, None):
        command = [sys.executable, "-c", code, str(root)]
        process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        before = records_in(root)
        if stop is not None:
            wait_for(lambda before=before: records_in(root) > before + 20)
            assert not children_of(process.pid)
            process.send_signal(stop)
        assert (process.wait(timeout=300) == 0) == (stop is None)
    drivers = [read_kept(path, "driver") for path in (root / "drivers").iterdir()]
    assert {driver["pool"] for driver in drivers} == {"3 threads"}
    assert {driver["ended"] for driver in drivers} == {None, "interrupted", "finished"}
    assert (root / "table.parquet").read_bytes() == expected


@pytest.mark.full
def test_eight_workers_give_the_same_bytes(reference, tmp_path):
    study, _, expected = reference
    assert table_of(study, tmp_path / "eight", workers=8) == expected


def records_in(root: Path) -> int:
    return sum(path.read_bytes().count(b"\n") for path in root.glob("records/*.jsonl"))


def children_of(pid: int) -> list[int]:
    found = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        found += [int(child) for child in task.read_text().split()]
    return found


def command_of(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def alive(pid: int) -> bool:
    return bool(command_of(pid))


def test_damage_is_measured_again(reference, tmp_path):
    study, root, expected = reference
    other = tmp_path / "damaged"
    folder = Folder(other)
    folder.open(study)
    for path in (root / "records").iterdir():
        text = path.read_bytes()
        (folder.records / path.name).write_bytes(text[: len(text) // 2].replace(b"[1", b"[2") + b"\nrubbish\n")
    assert table_of(study, other, workers=1) == expected


def test_two_drivers_on_one_folder(reference, tmp_path):
    """The second works from the back and both believe each other's records."""
    import threading

    study, _, expected = reference
    both = tmp_path / "both"
    results = []
    threads = [threading.Thread(target=lambda: results.append(table_of(study, both, workers=1))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [expected, expected]


def test_a_case_that_another_driver_finishes_while_costs_are_measured(reference):
    from hegemon.experiments.goals import Fixed
    from hegemon.experiments.probe import probe

    study, root, _ = reference
    folder = Folder(root)
    folder.read_again()
    waiting = [(case, case.key) for case in study.cases]  # as it was when the driver began
    assert probe(folder, waiting, Fixed(study.trials), 1).trials == 0


def test_extending_redoes_nothing(reference, tmp_path):
    study, root, expected = reference
    part = make_study("pairwise", axes={"n": 8, "until": ["safe", "steps:50"]}, trials=20)
    grown = tmp_path / "grown"
    run_study(part, grown, workers=1)
    kept = {path: path.read_bytes() for path in (grown / "records").iterdir()}
    more = Folder(grown).study().extended({"n": [12]}, 60)
    assert more.content() == study.content()
    assert table_of(more, grown, workers=1, extend=True) == expected
    assert all(path.read_bytes().startswith(text) for path, text in kept.items())
    folder = Folder(grown)
    folder.refresh()
    measured = [
        (key, first)
        for key, found in folder.entries.items()
        for first, count, _ in found.values()
        for first in range(first, first + count)
    ]
    assert len(measured) == len(set(measured)) == 240


def test_extending_from_python_adds_to_what_is_there(tmp_path):
    sweep("pairwise", n=[4, 5], trials=3, workers=1, out=tmp_path / "s")
    table = sweep("pairwise", n=6, workers=1, out=tmp_path / "s", extend=True)
    assert list(table.groupby("n").size().items()) == [(4, 3), (5, 3), (6, 3)]
    with pytest.raises(InvalidInput, match="another seed"):
        sweep("pairwise", n=6, seed=1, workers=1, out=tmp_path / "s", extend=True)


def test_a_failing_case_is_reported_and_the_rest_goes_on(tmp_path):
    study = make_study("pairwise", axes={"n": [8], "start": ["all-leaders", "nobody"]}, trials=5)
    outcome = run_study(study, tmp_path / "a", workers=1)
    assert outcome.trials == 5 and len(outcome.failed) == 1 and "nobody" in outcome.failed[0][1]
    study = make_study("pairwise", axes={"n": [8], "graph": ["complete", "regular:{n},20"]}, trials=5)
    outcome = run_study(study, tmp_path / "b", workers=1)
    assert outcome.trials == 5 and "regular" in str(outcome.failed[0][0].settings) and outcome.failed[0][1]
    assert main(["sweep", "--status", str(tmp_path / "b")]) == 0
    with pytest.warns(UserWarning, match="1 cases failed"):
        table = sweep("pairwise", n=8, start=["all-leaders", "nobody"], trials=2, workers=1)
    assert len(table) == 2 and "nobody" in table.attrs["failed"][0]["error"]


def test_every_model_and_ones_own_protocol(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(OWN)
    mine = sweep(f"{file}:Mine", n=[6, 9], trials=4, workers=1, out=tmp_path / "mine")
    assert len(mine) == 8 and mine["reached"].all()
    messages = sweep("referees", n=[50, 60], trials=3, workers=1)
    assert {"messages", "rounds", "wake"} <= set(messages.columns) and len(messages) == 6
    rounds = sweep("trains", graph=["ring:5", "ring:6"], trials=2, workers=1)
    assert sorted(rounds["n"].unique()) == [5, 6] and rounds["reached"].all()
    before = records_in(tmp_path / "mine")
    file.write_text(OWN.replace("b.leader = 0", "a.leader = 0"))  # another protocol: its results are others
    sweep(f"{file}:Mine", n=[6, 9], trials=4, workers=1, out=tmp_path / "mine")
    assert records_in(tmp_path / "mine") > before


def test_a_number_from_a_file_beside_belongs_to_the_protocol(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    file, beside = tmp_path / "mine.py", tmp_path / "numbers_beside.py"
    beside.write_text("LOST = 0\n")
    file.write_text("from numbers_beside import LOST\n" + OWN.replace("b.leader = 0", "b.leader = LOST"))
    name_protocol(f"{file}:Mine")
    before = make_study(f"{file}:Mine", axes={"n": 5}).cases[0].key
    assert make_study(f"{file}:Mine", axes={"n": 5}).cases[0].key == before
    beside.write_text("LOST = 1\n")
    monkeypatch.delitem(sys.modules, "numbers_beside")  # as another process would find it
    assert make_study(f"{file}:Mine", axes={"n": 5}).cases[0].key != before


def test_values_as_python_has_them(tmp_path):
    import numpy as np

    table = sweep("timer", n=np.array([4, 6]), s=[np.int64(5), 7], zip=("n", "s"), trials=1, workers=1)
    assert list(zip(table["n"], table["s"], strict=True)) == [(4, 5), (6, 7)]
    for wrong in ({"workers": 0}, {"relative": 2}, {"zip": ("n", "t")}):
        with pytest.raises(InvalidInput):
            sweep("pairwise", n=5, out=tmp_path, **wrong)


def test_losses_are_axes(tmp_path):
    """A share of 0 is the case without losses, with its seed and its trials; others are cases of their own."""
    study = make_study("pairwise", axes={"n": 8, "loss": "0,1/2", "one_sided": [0, 0.25]}, trials=3)
    cases = study.cases
    plain = make_study("pairwise", axes={"n": 8}).cases[0]
    assert cases[0].key == plain.key and cases[0].seed == plain.seed and len({case.key for case in cases}) == 4
    assert cases[3].record.loss == "1/2" and cases[3].record.one_sided == "1/4"
    table = sweep("pairwise", n=8, loss="0,1/2", trials=20, workers=1)
    assert list(table.groupby("loss").size().items()) == [(0.0, 20), (0.5, 20)] and table["reached"].all()
    table = sweep("pairwise", n=8, fault=["none", "step=5,agents=1"], trials=2, workers=1)
    assert list(table["fault"].unique()) == ["none", "step=5,agents=1"]
    with pytest.raises(InvalidInput, match="probability"):
        sweep("pairwise", n=8, loss=2, workers=1)


def test_a_study_file(tmp_path):
    path = tmp_path / "study.toml"
    path.write_text('protocol = "pairwise"\ntrials = 60\n[axes]\nn = "8..12:+4"\nuntil = ["safe", "steps:50"]\n')
    assert read_study(path).content() == make_study("pairwise", **STUDY).content()
    (tmp_path / "cases.csv").write_text("n,start\n8,random\n9,all-leaders\n")
    path.write_text('protocol = "pairwise"\ncases = "cases.csv"\n')
    assert [case.protocol.n for case in read_study(path).cases] == [8, 9]
    for text in (
        "protocol = 1\nx",
        'protocol = "pairwise"\nsize = 3',
        '[axes]\nn = "5"',
        "protocol = 'a'\n[axes.n]\nb=1",
        'protocol = "pairwise"\nzip = 3\n[axes]\nn = 4',
        'protocol = "pairwise"\ncases = 7\n[axes]\nn = 4',
        "protocol = 3\n[axes]\nn = 4",
    ):
        path.write_text(text)
        with pytest.raises(InvalidInput):
            read_study(path)


def test_the_command_line(tmp_path, capsys, monkeypatch):
    out = str(tmp_path / "s")
    command = ["sweep", "pairwise", "--n", "8,12", "--trials", "10", "--workers", "1", "--out", out]
    assert main([*command, "--json"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert content["trials"] == 20 and [row["n"] for row in content["cases"]] == [8, 12]
    assert main(["sweep", "--status", out, "--json"]) == 0
    state = json.loads(capsys.readouterr().out)["states"][0]
    assert state["ci95"] == pytest.approx(content["cases"][0]["ci95"])
    assert main(["sweep", "--extend", out, "--trials", "15", "--workers", "1"]) == 0
    assert "30 trials" in capsys.readouterr().out
    assert main(["sweep", "--status", out, "--json"]) == 0
    status = json.loads(capsys.readouterr().out)
    assert status["trials"] == status["of"] == 30 and status["finished"] == 2 and status["other_trials"] == 0
    monkeypatch.setattr("hegemon.experiments.case.code_fingerprint", lambda: "another version")
    assert main(["sweep", "--status", out]) == 0
    told = " ".join(capsys.readouterr().out.split())  # a long name of the folder breaks lines elsewhere
    assert "0 of 30 trials" in told and "30 more trials stand there" in told
    assert read_kept(next((tmp_path / "s" / "drivers").iterdir()), "driver")["ended"] == "finished"


def test_an_interrupt_says_that_nothing_is_lost(tmp_path, capsys, monkeypatch):
    def interrupt(task):
        raise KeyboardInterrupt

    monkeypatch.setattr("hegemon.experiments.probe.worker.work", interrupt)
    assert main(["sweep", "pairwise", "--n", "8", "--workers", "1", "--out", str(tmp_path / "s")]) == 130
    assert "the same command continues" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["pairwise"], "how many"),
        (["nobody", "--n", "5"], "nobody"),
        (["pairwise", "--n", "5..1"], "range"),
        (["pairwise", "--n", "8", "--set", "x"], "--set"),
        (["pairwise", "--n", "8", "--set", "nope=1"], "nope"),
        (["pairwise", "--n", "8", "--trials", "0"], "trials"),
        (["pairwise", "--n", "8", "--trials", "1e12"], "trials"),
        (["pairwise", "--n", "8", "--cluster", "moon"], "moon"),
        (["pairwise", "--n", "8", "--fault", "step=1"], "agents"),
        (["pairwise", "--n", "8", "--wake", "all"], "wake"),
        (["pairwise", "--n", "8", "--cases", "no.csv"], "no.csv"),
        (["pairwise", "--n", "8", "--out", os.devnull], os.devnull),
        (["pairwise", "--graph", "ring", "--engine", "agents", "--n", "8,8"], "twice"),
        (["--status", "nowhere"], "nowhere"),
        (["--extend", "nowhere"], "nowhere"),
        ([], "protocol"),
    ],
)
def test_bad_input_is_one_sentence(arguments, word, capsys, tmp_path):
    arguments = arguments if "--out" in arguments else [*arguments, "--out", str(tmp_path / "o")]
    if "--extend" in arguments or "--status" in arguments:
        arguments = arguments[:2]
    assert main(["sweep", *arguments]) == 2
    message = capsys.readouterr().err
    assert word in message and is_one_sentence(message)


def test_a_pace_is_never_nothing():
    assert [pace(rate) for rate in (40.2, 0.5, 0.004)] == [
        "40 trials per second", "30 trials per minute", "14 trials per hour",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["sweep", "--status", "s", "--n", "5"], "--status takes a folder"),
        (["sweep", "pairwise", "--n", "4", "--protocol", "mine.py"], "named by no case"),
        (["sweep", "pairwise", "--n", "4", "--graph", ""], "--graph has an empty value"),
        (["sweep", "sublinear-ranking", "--n", "4", "--until", "zork"], "until 'zork' is not known"),
        (["verify", "chang-roberts", "--n", "3", "--order", ""], "--order has an empty value"),
        (["results", "s", "--csv", "--json"], "give one of them"),
        (["results", "s"], "every case failed, the first with: mine: the start own fails"),
    ],
)
def test_what_a_command_does_not_take_is_refused(words, said, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    own = OWN.replace(
        "    def interact", "    def start_own(self, rng):\n        raise ValueError('no')\n    def interact"
    )
    Path("mine.py").write_text(own)
    if words[-1] == "s":
        assert main(["sweep", "mine.py", "--n", "4", "--start", "own", "--workers", "1", "--out", "s"]) == 1
        capsys.readouterr()
    assert main(words) == 2
    message = capsys.readouterr().err
    assert said in message and is_one_sentence(message)


def test_observables_are_measured_at_the_end_of_every_trial():
    given = {"n": [6, 10], "s": 8, "until": "steps:300", "trials": 12, "workers": 1}
    table = hg.sweep("timer", **given, observe="leaders,highest_timer")
    plain = hg.sweep("timer", **given)
    assert list(table["steps"]) == list(plain["steps"]) and list(table["seed"]) == list(plain["seed"])
    assert (table["o.leaders"] == table["leaders"]).all()
    for row in table.to_dict("records"):
        protocol = hg.Timer(row["n"], s=8)
        run = hg.simulate(protocol, until="steps:300", seed=row["seed"], trial=row["trial"])
        assert max(run.configuration.agents["timer"]) == row["highest_timer"]
    with pytest.raises(InvalidInput, match="timer has no observable 'boss'; choose leaders"):
        hg.sweep("timer", **given, observe=["boss"])


@pytest.mark.parametrize(
    ("axes", "name", "texts"),
    [
        ({"graph": "edges", "n": 4}, "edges", ["0 1\n1 2\n2 3\n3 0\n", "0 1\n1 2\n2 3\n3 0\n0 2\n1 3\n"]),
        (
            {"scheduler": "recorded:rec.csv", "n": 4},
            "rec.csv",
            ["time,u,v\n0,0,1\n1,1,2\n2,2,3\n", "time,u,v\n0,2,3\n"],
        ),
        ({"scheduler": "weighted:w.csv", "n": 2}, "w.csv", ["agent,rate\n0,1\n1,2\n", "agent,rate\n0,1\n1,3\n"]),
        ({"start": "s.json", "n": 2}, "s.json", ['[{"leader": 1}, {"leader": 1}]', '[{"leader": 1}, {"leader": 0}]']),
    ],
)
def test_a_changed_file_makes_other_cases(axes, name, texts, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    seen = []
    for text in (*texts, texts[0]):
        Path(name).write_text(text)
        [case] = make_study("pairwise", axes={**axes, "max_steps": 20}).cases
        seen.append((case.key, case.seed, list(case.files)))
    assert seen[0] == seen[2] and seen[0][0] != seen[1][0] and seen[0][1] != seen[1][1]
    assert seen[0][2] == [str(tmp_path / name)]
    other = "else" + Path(name).suffix  # start files and rates have an ending
    Path(name).rename(other)
    axes = {one: str(value).replace(name, other) for one, value in axes.items()}
    assert make_study("pairwise", axes={**axes, "max_steps": 20}).cases[0].key == seen[0][0]


def test_a_file_that_no_run_reads_changes_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    axes = {"graph": "ring", "n": 4, "start": "random"}
    before = make_study("pairwise", axes=axes).cases[0].key
    for name in ("ring", "random"):
        Path(name).write_text("0 1\n")
    assert make_study("pairwise", axes=axes).cases[0].key == before
