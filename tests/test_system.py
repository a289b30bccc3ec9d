"""What differs between operating systems: the commands work with the modules and functions of POSIX hidden."""

import asyncio
import os
import subprocess
import sys
import types
from pathlib import Path

import pytest

from hegemon import system
from hegemon.errors import InvalidInput

SOURCE = Path(__file__).parents[1] / "src" / "hegemon"
# Read by every process that is started with it: the laboratory sees neither the modules nor the functions of POSIX.
HIDING = """
import builtins, os, signal

HIDDEN = {"fcntl", "resource", "termios", "tty", "pwd", "grp"}
plain = builtins.__import__


def seen(name, globals=None, *rest, **more):
    if name in HIDDEN and str((globals or {}).get("__name__", "")).startswith("hegemon"):
        raise ImportError(f"no module named {name}")
    return plain(name, globals, *rest, **more)


builtins.__import__ = seen
for name in ("fork", "getuid", "geteuid", "sysconf", "O_NONBLOCK", "O_CLOEXEC", "register_at_fork"):
    if hasattr(os, name):
        delattr(os, name)
for name in ("SIGUSR1", "SIGUSR2", "SIGHUP", "pthread_sigmask"):
    if hasattr(signal, name):
        delattr(signal, name)
"""
COMMANDS = [
    (["run", "pairwise", "--n", "20", "--seed", "1", "--trials", "2"], 0),
    (["network", "pairwise", "--n", "3", "--for", "1"], 2),
]
LONGER = [
    (["verify", "pairwise", "--n", "4"], 0),
    (["sweep", "pairwise", "--n", "8,16", "--trials", "3", "--out", "study", "--workers", "2"], 0),
    (["prove", "pairwise"], 0),
    (["discover", "leader-election", "--states", "2", "--n", "2"], 0),
    (["watch", "pairwise", "--n", "8", "--seed", "1", "--save", "film.html"], 0),
    (["run", "flood-max", "--n", "8", "--seed", "1"], 0),
    (["sweep", "pairwise", "--n", "8", "--trials", "2", "--out", "other", "--cluster", "slurm:"], 2),
]


def outcomes(commands, folder):
    """The exit code and the output of each command, in a process that sees no POSIX."""
    (folder / "sitecustomize.py").write_text(HIDING)
    path = os.pathsep.join([str(folder), str(SOURCE.parent), os.environ.get("PYTHONPATH", "")])
    found = []
    for words in commands:
        made = subprocess.run(
            [sys.executable, "-m", "hegemon", *words, "--quiet"] if words[0] != "watch" else
            [sys.executable, "-m", "hegemon", *words],
            cwd=folder, env=os.environ | {"PYTHONPATH": path}, capture_output=True, text=True, timeout=300,
        )  # fmt: skip
        found.append((made.returncode, made.stdout + made.stderr))
    return found


def check(commands, folder):
    for (words, code), (returned, text) in zip(
        commands, outcomes([words for words, _ in commands], folder), strict=True
    ):
        assert returned == code and "Traceback" not in text, (words, text)
        if code == 2:
            assert "needs Linux or macOS" in text


def test_commands_work_where_there_is_no_posix(tmp_path):
    check(COMMANDS, tmp_path)


@pytest.mark.full
def test_the_other_commands_work_where_there_is_no_posix(tmp_path):
    check(LONGER, tmp_path)


def test_one_file_knows_the_operating_system():
    """Nothing else imports a module that one system lacks; three files need fork, and are not reached without it."""
    posix = {"guard.py", "fork_server.py", "swarm.py", "system.py"}
    for path in SOURCE.rglob("*.py"):
        text = path.read_text()
        for word in ("import fcntl", "import resource", "import msvcrt", "os.getuid", "os.sysconf", "ru_maxrss"):
            assert word not in text or path.name == "system.py", (path, word)
        for word in ("os.fork", "SIGUSR", "add_signal_handler"):
            assert word not in text or path.name in posix, (path, word)


def test_a_lock_with_the_calls_of_windows(tmp_path, monkeypatch):
    """Another process has it for a while: that is waited for; any other error is an error."""
    calls = []

    def locking(number, mode, count):
        calls.append(mode)
        if calls == ["lock"]:
            raise OSError(36, "deadlock avoided")
        if calls.count("lock") == 4:
            raise OSError(9, "bad file")

    windows = types.SimpleNamespace(locking=locking, LK_LOCK="lock", LK_UNLCK="unlock")
    monkeypatch.setattr(system, "fcntl", None)
    monkeypatch.setattr(system, "msvcrt", windows)
    with open(tmp_path / "lock", "a") as file:
        with system.locked(file):
            assert calls == ["lock", "lock"]
        assert calls[-1] == "unlock"
        with system.locked(file):
            pass
        with pytest.raises(OSError, match="bad file"), system.locked(file):
            pass
    monkeypatch.setattr(system, "msvcrt", None)
    with open(tmp_path / "lock", "a") as file, system.locked(file):
        assert True  # a system without locks: processes do not wait for each other


def test_memory_is_counted_in_bytes(monkeypatch):
    known = system.peak_memory()
    assert 10**7 < known < 10**11
    monkeypatch.setattr(sys, "platform", "darwin")
    assert known / 1100 < system.peak_memory() < known / 900
    monkeypatch.setattr(system, "resource", None)
    assert system.peak_memory() == 0


def test_what_a_system_does_not_report_has_a_usual_value(monkeypatch):
    monkeypatch.delattr(os, "sysconf")
    assert system.whole_memory() == system.USUAL_MEMORY
    monkeypatch.delattr(os, "getuid")
    monkeypatch.setenv("LOGNAME", "somebody")
    assert system.user() == "somebody" and system.is_own(Path("."))
    monkeypatch.delattr(os, "fork")
    with pytest.raises(InvalidInput, match="Slurm needs Linux or macOS"):
        system.require_posix("Slurm", "use another")


def test_signals_of_a_loop_that_has_no_handlers(monkeypatch):
    heard = []
    monkeypatch.setattr(system.signal, "signal", lambda number, handler: heard.append((number, handler)))

    async def main():
        loop = asyncio.get_running_loop()
        monkeypatch.setattr(loop, "add_signal_handler", lambda *_: (_ for _ in ()).throw(NotImplementedError))
        system.on_signal(loop, "SIGTERM", lambda: heard.append("called"))
        system.on_signal(loop, "SIGNOWHERE", lambda: heard.append("never"))
        heard[0][1](15, None)
        await asyncio.sleep(0)

    loop = asyncio.new_event_loop()
    loop.run_until_complete(main())
    loop.close()
    assert heard[0][0] == system.signal.SIGTERM and heard[1:] == ["called"]
