"""Data never becomes code: a Python file that only a data file names is not imported, through whichever door."""

import json
import subprocess
import sys

import pytest

import hegemon
from hegemon.cli.main import main
from hegemon.errors import InvalidInput
from hegemon.experiments.study import SCHEMA
from hegemon.kept import seal
from hegemon.protocols.loading import digest_of, find_protocol, name_protocol
from hegemon.runs.checkpoint import Checkpoint

TRAP = """
from pathlib import Path
Path(__file__).with_name("sprung").touch()
from hegemon import Bit, PopulationProtocol, exactly

class Mine(PopulationProtocol):
    "Every agent starts as a leader; when two meet, the responder yields."

    class State:
        leader: Bit = 1

    def interact(a, b, p):
        if a.leader == 1 and b.leader == 1:
            b.leader = 0

    safe = exactly(1, lambda a, p: a.leader == 1)
"""


class Trap:
    def __init__(self, folder):
        self.folder, self.file, self.sprung = folder, folder / "mine.py", folder / "sprung"
        self.file.write_text(TRAP)
        self.name = f"{self.file}:Mine"

    def write(self, name: str, content) -> str:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        return str(path)

    def study(self) -> str:
        """A folder as `hegemon sweep` writes it."""
        asked = {"schema": SCHEMA, "seed": 0, "trials": 2, "relative": None, "zip": [], "cases": []}
        asked["axes"] = {"protocol": [self.name], "n": [5]}
        self.write("study/study.json", seal("study", {"folder": "0" * 16, "study": asked}).decode())
        return str(self.folder / "study")

    def checkpoint(self, digest: str | None = None) -> str:
        given = {"protocol": self.name, "n": 5, "parameters": {}}
        path = self.folder / "run.npz"
        Checkpoint(path, {"run": given, "code": [], "file": digest or digest_of(str(self.file))}).write()
        return str(path)

    def story(self) -> str:
        agents = [{"leader": 1}] * 3
        return self.write("story.json", {"protocol": self.name, "parameters": {}, "agents": agents, "graph": self.name})


@pytest.fixture
def trap(tmp_path):
    return Trap(tmp_path)


DOORS = {
    "study.toml": lambda t: ["sweep", t.write("s.toml", f'protocol = "{t.name}"\n[axes]\nn = [5]\n')],
    "a table of cases": lambda t: ["sweep", "--cases", t.write("c.csv", f"protocol,n\n{t.name},5\n")],
    "the axis of a study": lambda t: ["sweep", "--extend", t.study(), "--trials", "3"],
    "sweep --status": lambda t: ["sweep", "--status", t.study()],
    "results": lambda t: ["results", t.study()],
    "watch --start": lambda t: ["watch", "--start", t.story(), "--save", str(t.folder / "film.html")],
    "run --start": lambda t: ["run", "pairwise", "--n", "3", "--start", t.story()],
    "run --resume": lambda t: ["run", "--resume", t.checkpoint()],
    "run --resume, another file": lambda t: ["run", t.name, "--resume", t.checkpoint("0" * 64)],
    "run --disturbances": lambda t: ["run", "pairwise", "--n", "5", "--disturbances", t.story()],
    "run --graph": lambda t: ["run", "pairwise", "--graph", t.write("g.txt", f"{t.name} b\nb c\n")],
    "run --wake": lambda t: ["run", "referees", "--n", "5", "--wake", t.story()],
    "verify --checkpoint": lambda t: ["verify", "pairwise", "--n", "3", "--memory", "1e-5", "--checkpoint",
                                      t.checkpoint()],
    "holding --checkpoint": lambda t: ["holding", "timer", "--n", "3", "--checkpoint", t.story()],
    "reproduce": lambda t: ["reproduce", "--quick", "--only", t.name, "--out", t.study()],
    "agent": lambda t: ["agent", "timer", "--n", "5", "--peers", t.story(), "--key", t.story(), "--listen", "[::1]:0"],
}  # fmt: skip


@pytest.mark.parametrize("door", DOORS)
def test_what_data_names_is_not_imported(door, trap, capsys, monkeypatch):
    monkeypatch.chdir(trap.folder)
    command = [*DOORS[door](trap)]
    main(command)
    error = capsys.readouterr().err
    assert not trap.sprung.exists()
    if door in ("study.toml", "a table of cases", "the axis of a study", "watch --start", "run --resume"):
        assert "named by a data file only" in error and str(trap.file) in error


def test_a_certificate_imports_nothing(trap):
    path = trap.write("certificate.json", {"protocol": trap.name, "statements": []})
    subprocess.run([sys.executable, "-m", "hegemon.exact.proofs.checker", path], capture_output=True, timeout=60)
    assert not trap.sprung.exists()


def test_what_the_user_names_is_imported(trap, capsys, monkeypatch):
    """The same doors open for the same files once they are named: a trap that never springs would prove nothing."""
    monkeypatch.chdir(trap.folder)
    with pytest.raises(InvalidInput, match="named by a data file only"):
        find_protocol(trap.name)
    toml = trap.write("s.toml", f'protocol = "{trap.name}"\ntrials = 3\n[axes]\nn = [5]\n')
    assert main(["sweep", toml, "--protocol", "mine.py", "--out", "named", "--workers", "1", "--quiet"]) == 0
    assert trap.sprung.exists() and find_protocol(trap.name).__name__ == "Mine"
    assert main(["run", trap.name, "--n", "5", "--checkpoint", "mine.npz", "--quiet"]) == 0
    capsys.readouterr()
    assert main(["sweep", "timer", "--protocol", "timer"]) == 2 and "names no Python file" in capsys.readouterr().err


def test_a_status_of_a_users_own_protocol_imports_nothing(trap, capsys, monkeypatch):
    """Another process, for which no file was named: it identifies the cases by what the driver has written."""
    monkeypatch.chdir(trap.folder)
    hegemon.sweep(trap.name, n=[4, 5], trials=3, out=trap.folder / "done", workers=1)
    trap.sprung.unlink()
    status = [sys.executable, "-c", "from hegemon.cli.main import main; main()", "sweep", "--status", "done", "--json"]
    found = json.loads(subprocess.run(status, capture_output=True, timeout=60, cwd=trap.folder).stdout)
    assert (found["trials"], found["of"], found["cases"], found["failed"]) == (6, 6, 2, [])
    assert not trap.sprung.exists()
    assert [one["same"] for one in found["protocol_files"]] == [True]
    trap.file.write_text(TRAP + "# changed\n")
    found = json.loads(subprocess.run(status, capture_output=True, timeout=60, cwd=trap.folder).stdout)
    assert [one["same"] for one in found["protocol_files"]] == [False]
    assert main(["sweep", "--status", "done"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "a status imports nothing" in shown and not trap.sprung.exists()


def test_a_checkpoint_of_ones_own_protocol_goes_on_when_it_is_named(trap, capsys, monkeypatch):
    monkeypatch.chdir(trap.folder)
    name_protocol(trap.name)
    from hegemon.cli.resuming import make_keeper
    from hegemon.experiments.request import make_record
    from hegemon.runs.checkpoint import read_checkpoint

    given = read_checkpoint(trap.checkpoint())[0]["run"]
    make_keeper("kept.npz", make_record(given), None).write()
    assert main(["run", "mine.py:Mine", "--resume", "kept.npz", "--quiet"]) == 0
    assert main(["run", "pairwise", "--resume", "kept.npz"]) == 2
    assert "keeps a run of" in capsys.readouterr().err
    trap.file.write_text(TRAP + "# changed\n")
    trap.sprung.unlink()
    assert main(["run", "mine.py:Mine", "--resume", "kept.npz"]) == 2
    assert "another mine.py" in capsys.readouterr().err and not trap.sprung.exists()
