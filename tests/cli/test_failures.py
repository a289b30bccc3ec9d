"""Whatever goes wrong ends in one sentence and a documented exit code; a signal is answered within a second."""

import inspect
import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hegemon.cli import application, failures, progress
from hegemon.cli.application import VERBS, load
from hegemon.cli.main import main
from hegemon.cli.output import Sheet
from tests.cli import sentences
from tests.patience import PATIENCE, seconds_of, wait_for

HEGEMON = [sys.executable, "-c", "from hegemon.cli.main import main; main()"]


def refused(capsys, *arguments) -> str:
    assert main(list(arguments)) == failures.BAD_INPUT
    captured = capsys.readouterr()
    assert captured.out == "" and len(sentences(captured.err)) == 1 and len(captured.err) < 700
    return captured.err


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["run", "pairwise", "--n", "5", "--set", "n=5"], "give --n N"),
        (["run", "pairwise", "--n", "5", "--set", "self=1"], "no parameter 'self'"),
        (["run", "pairwise", "--n", "5", "--trials", "1e19"], "trials = 1e19"),
        (["run", "pairwise", "--n", "5", "--workers", "1e20"], "workers = 1e20"),
        (["run", "pairwise", "--n", "1e400"], "n = 1e400"),
        (["run", "pairwise", "--n", "9" * 5000], "5000 characters"),
        (["run", "timer", "--n", "5", "--set", "s=" + "9" * 5000], "5000 characters"),
        (["run", "pairwise", "--n", "5", "--seed", "1e30"], "seed = 1e30"),
        (["run", "pairwise", "--n", "5", "--plot", "/"], "must end in"),
        (["agent", "timer", "--n", "5", "--n", "6"], "--n is given more than once"),
        (["run", "pairwise", "--n", "5", "--n", "6"], "--n is given 2 times"),
        (["reproduce", "--only", "to.lemma2", "--only", "to.lemma3"], "--only is given 2 times"),
        (["run", "pairwise", "--n", "5", "--history", "x" * 300 + ".csv"], "cannot be written"),
        (["run", "pairwise", "--n", "5", "--final", "a\0b.json"], "null byte"),
        (["run", "pairwise", "--n", "5", "--final", "\udc80.json", "--plot", "no/where.png"], "no/where.png"),
        (["run", "pairwise", "--n", "5", "--plot", "x.png", "--draw", "x.png"], "two different files"),
        (["run", "pairwise", "--n", "5", "--rate", "crash=1e-400"], "1e-300 at least"),
        (["run", "pairwise", "--n", "5", "--rate", "crash=1e-999999999"], "1e-300 at least"),
        (["run", "pairwise", "--n", "5", "--loss", "1e-999999999"], "loss = 1e-999999999 is out of range"),
        (["run", "pairwise", "--n", "5", "--scheduler", "edge-markov:1e-12,1/2"], "1e-9 at least"),
        (["run", "pairwise", "--n", "2", "--scheduler", "weighted:1e-999999999,1"], "is out of range"),
        (["run", "peterson", "--n", "5", "--crash", "rate=1e-400"], "rate=1e-400"),
        (["run", "peterson", "--n", "5", "--crash", "round=1e30,nodes=1"], "round=1e30"),
        (["run", "peterson", "--n", "5", "--delay", "exponential:1e-999999999"], "out of range"),
        (["verify", "peterson", "--n", "3", "--crash", "rate=1/9"], "no rate"),
        (["verify", "timer", "--n", "3", "--rate", "crash=1/2", "--rate", "leave=1/2"], "add up to 1"),
        (["verify", "timer", "--n", "3", "--rate", "crash=1/9", "--worst", "x.json"], "--worst has no meaning"),
        (["verify", "pairwise", "--n", "1e18"], "n = 1000000000000000000"),
        (["verify", "pairwise", "--n", "3", "--memory", "inf"], "memory = inf"),
        (["verify", "pairwise", "--n", "3", "--quantiles", "nan"], "between 0 and 1"),
        (["sweep", "pairwise", "--n", "5", "--precise", "2%"], "no option --precise, which is --relative now"),
        (["search-worst", "timer", "--n", "1e12"], "1000000000000"),
        (["search-worst", "timer", "--n", "3", "--out", "no/where.json"], "no folder"),
        (["run", "pairwise", "--n", "1e10", "--engine", "agents"], "engine batch"),
        (["lower-bound", "--exponents", "nan"], "not understood"),
        (["lower-bound", "--plot", "no/where.png"], "no folder"),
        (["reproduce", "--out", "/dev/null/x"], "folder"),
        (["run"], "which protocol"),
        (["new", "x" * 300 + ".py"], "File name too long"),
        (["agent", "x" * 10_000, "--n", "3", "--peers", "p", "--key", "k", "--listen", "[::1]:0"], "no protocol"),
        (["agent", "timer", "--n", "y" * 10_000], "invalid int value"),
        (["runn"], "run"),
    ],
)
def test_bad_input_is_refused_before_any_work(capsys, monkeypatch, tmp_path, arguments, part):
    monkeypatch.chdir(tmp_path)
    assert part in refused(capsys, *arguments)
    assert not list(tmp_path.iterdir())


def test_a_table_of_all_pairs_that_does_not_fit_is_refused(capsys, tmp_path):
    path = tmp_path / "wide.py"
    path.write_text(
        "from hegemon import Bit, Group, PopulationProtocol, Range, exactly\n\n\n"
        "class Wide(PopulationProtocol):\n    default_start = 'here'\n\n    class State:\n        leader: Bit\n"
        "        x: Range(0, 10**9)\n\n    def interact(a, b, p):\n        b.leader = 0\n\n"
        "    def start_here(self, rng):\n        return [Group(self.n, {'leader': 1, 'x': 0})]\n\n"
        "    safe = exactly(1, lambda a, p: a.leader == 1)\n"
    )
    assert "all pairs of states" in refused(capsys, "verify", str(path), "--n", "2")


def test_a_folder_is_no_output_file(capsys, tmp_path):
    (tmp_path / "folder.png").mkdir()
    assert "is a folder" in refused(capsys, "run", "pairwise", "--n", "5", "--plot", str(tmp_path / "folder.png"))


@pytest.mark.parametrize("error", [ZeroDivisionError("by zero"), GeneratorExit("x"), BaseException("y\n" * 900)])
def test_the_unexpected_is_one_sentence_with_the_details_in_a_file(capsys, monkeypatch, error):
    def fail(place):
        raise error

    monkeypatch.setattr(application, "load", fail)
    assert main(["run", "pairwise"]) == failures.UNFINISHED
    (sentence,) = sentences(capsys.readouterr().err)
    details = Path(sentence.rpartition(" ")[2])
    assert len(sentence) < 400 and "Traceback" in details.read_text()
    details.unlink()


def test_not_reached_has_its_own_exit_code(capsys):
    assert main(["run", "pairwise", "--n", "6"]) == failures.YES
    assert main(["run", "pairwise", "--n", "6", "--max-steps", "1"]) == failures.NO
    assert main(["verify", "pairwise", "--n", "3", "--property", "closed:safe"]) == failures.YES
    asked = ["verify", "pairwise", "--n", "3", "--property", "closed:count(leader == 1) == 2"]
    assert main([*asked]) == failures.NO
    assert "1 property does not hold (" in capsys.readouterr().out


@pytest.mark.parametrize("asked", [[], ["--property", "closed:safe"], ["--property", "reached:safe"]])
@pytest.mark.parametrize("protocol", ["pairwise --n 3", "timer --n 3 --set s=2", "pairwise --graph path:4"])
def test_the_exit_code_follows_the_answer_however_it_was_asked(protocol, asked, capsys):
    code = main(["verify", *protocol.split(), *asked, "--json"])
    findings = json.loads(capsys.readouterr().out)["findings"]
    assert code == (failures.YES if all(row["holds"] for row in findings) else failures.NO)
    if not asked:
        assert code == (failures.YES if protocol == "pairwise --n 3" else failures.NO)


def test_claims_are_those_that_the_system_makes(capsys):
    """Fischer and Jiang's oracle lives outside: without it `safe` is asked, and `settled` is what is claimed."""
    assert main(["verify", "fischer-jiang", "--n", "3", "--json"]) == failures.NO
    content = json.loads(capsys.readouterr().out)
    assert content["ok"]  # no claim is refuted
    answers = {(row["question"], row["set"]): (row["claimed"], row["holds"]) for row in content["findings"]}
    assert answers["reached", "safe"] == (False, False) and answers["reached", "settled"] == (True, True)
    assert "reached safe" in content["headline"]


def test_what_is_no_number_is_null_in_json(capsys):
    from hegemon.cli.output import print_json

    print_json({"a": float("inf"), "b": [float("nan"), 1.5], 3: None})
    assert json.loads(capsys.readouterr().out) == {"a": None, "b": [None, 1.5], "3": None}


def test_a_full_disk_loses_nothing():
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [*HEGEMON, "list", "--json"], stdout=full, stderr=subprocess.PIPE, text=True, timeout=PATIENCE
        )
    assert done.returncode == failures.UNFINISHED
    (sentence,) = sentences(done.stderr)
    kept = Path(sentence.rpartition(" ")[2])
    assert "No space left" in sentence and json.loads(kept.read_text())
    kept.unlink()


def test_a_file_that_fails_in_the_end_does_not_keep_the_table_back(capsys, monkeypatch, tmp_path):
    from hegemon.models.configuration import Configuration

    def fail(self, path):
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr(Configuration, "save", fail)
    assert main(["run", "pairwise", "--n", "5", "--final", str(tmp_path / "f.json"), "--json"]) == failures.BAD_INPUT
    captured = capsys.readouterr()
    assert json.loads(captured.out)["summary"]["reached"] == 1
    assert "No space left on device" in sentences(captured.err)[0]


def test_a_screen_without_letters_still_shows_figures():
    environment = os.environ | {"PYTHONIOENCODING": "ascii", "NO_COLOR": "1"}
    done = subprocess.run([*HEGEMON, "list"], capture_output=True, env=environment, timeout=PATIENCE)
    assert done.returncode == 0 and b"pairwise" in done.stdout and b"\x1b" not in done.stdout


@pytest.mark.parametrize(
    ("number", "arguments"),
    [
        (signal.SIGINT, ["run", "cai-izumi-wada", "--n", "3000", "--max-steps", "1e15", "--engine", "agents"]),
        (signal.SIGTERM, ["run", "pairwise", "--n", "1e6", "--trials", "1e6", "--engine", "agents", "--json"]),
        (signal.SIGHUP, ["search-worst", "timer", "--n", "200", "--set", "s=400", "--budget", "1e12"]),
        (signal.SIGINT, ["lower-bound", "--trials", "1e6"]),
        (signal.SIGINT, ["sweep", "pairwise", "--n", "300", "--trials", "1e6", "--workers", "2", "--quiet"]),
        (signal.SIGINT, ["network", "time-optimal", "--n", "8", "--rate", "200", "--for", "1e5"]),
    ],
)
def test_a_signal_ends_a_command_that_is_at_work(number, arguments, tmp_path):
    process = subprocess.Popen(
        [*HEGEMON, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path
    )
    wait_for(lambda: seconds_of(process.pid) > 2)  # it is at work
    process.send_signal(number)
    try:
        out, error = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
    assert process.returncode == 128 + number and "Traceback" not in error
    assert "interrupted" in error.splitlines()[-1] and len(sentences(error)) == 1
    if "--json" in arguments and out:
        assert json.loads(out)["interrupted"]


def test_a_signal_that_comes_with_the_fork_is_passed_on():
    """Between the fork and the first handler a signal would end the parent alone."""
    work = "import os, time; from hegemon.cli import guard\nreal = os.fork\n"
    work += "def fork():\n    child = real()\n    child and os.kill(os.getpid(), 15)\n    return child\n"
    work += "os.fork = fork\ncode = guard.split()\nif code is None:\n    time.sleep(60)\nraise SystemExit(code)"
    process = subprocess.run([sys.executable, "-c", work], capture_output=True, timeout=PATIENCE)
    assert process.returncode not in (-15, 0) and b"KeyboardInterrupt" in process.stderr  # the child heard it


def test_a_child_that_hears_nothing_is_ended_and_one_that_crashes_is_told(tmp_path):
    deaf = "import signal, time; from hegemon.cli import guard\n"
    deaf += "code = guard.split()\nif code is None:\n    ACTION\nraise SystemExit(code)"
    sleeping = "[signal.signal(s, signal.SIG_IGN) for s in guard.SIGNALS]; print(1, flush=True); time.sleep(60)"
    process = subprocess.Popen(
        [sys.executable, "-c", deaf.replace("ACTION", sleeping)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    process.stdout.readline()
    process.terminate()
    _, error = process.communicate(timeout=PATIENCE)
    assert process.returncode == 143 and error == b"hegemon: interrupted\n"
    crash = deaf.replace("ACTION", "import os; os.kill(os.getpid(), signal.SIGSEGV)")
    done = subprocess.run([sys.executable, "-c", crash], capture_output=True, timeout=PATIENCE)
    assert done.returncode == failures.UNFINISHED and done.stderr.count(b"\n") == 1 and b"SIGSEGV" in done.stderr


def test_the_list_of_commands_says_what_the_commands_say():
    for name, verb in VERBS.items():
        assert load(name, verb).__doc__.split("\n")[0] == verb.sentence
        assert len(verb.examples) == 2 and all(example.startswith(f"hegemon {name}") for example in verb.examples)


def test_every_long_command_can_be_told_to_be_quiet():
    long = "run check sweep watch verify prove search-worst discover reproduce mixing-time lower-bound network"
    for name in (*long.split(), "compare-messages"):
        names = inspect.signature(load(name, VERBS[name])).parameters
        assert "quiet" in names, f"{name} has no --quiet"


def test_a_condition_that_reads_an_absent_field_is_told(capsys):
    """`timer_r` exists in some states only; where it is not, the comparison is false, and the reader is told."""
    arguments = ["run", "time-optimal", "--n", "4", "--max-steps", "1", "--json", "--until"]
    main([*arguments, "count(timer_r >= 1) <= 0"])
    (note,) = json.loads(capsys.readouterr().out)["notes"]
    assert "reads timer_r" in note and "present(timer_r)" in note
    main([*arguments, "count(present(timer_r) and timer_r >= 1) <= 0"])
    assert json.loads(capsys.readouterr().out)["notes"] == []
    small = ["verify", "time-optimal", "--n", "3", "--set", "r_max=2", "--set", "r_mid=1", "--set", "b_max=2"]
    small += ["--start", "all-leaders", "--property"]
    main([*small, "closed:count(timer_r >= 1) <= 0"])
    assert "note: 'count(timer_r >= 1) <= 0' reads timer_r" in capsys.readouterr().out


def test_silence_is_explained_and_quiet_is_quiet(capsys, monkeypatch):
    """Without a terminal, a line after a second and then every few seconds."""
    monkeypatch.setattr(progress, "FIRST", 0.0)
    monkeypatch.setattr(progress, "EVERY", 0.1)

    def said(**options) -> list[str]:
        lines = []
        with progress.Progress("working", **options) as shown:
            shown.show("counting", 3, 7)
            deadline = time.monotonic() + (0.7 if options else PATIENCE)  # quiet: nothing ever comes
            while not lines and time.monotonic() < deadline:
                time.sleep(0.02)
                lines = capsys.readouterr().err.splitlines()
        return lines

    assert said()[0].startswith("… counting 3 of 7") and not said(quiet=True)


def test_a_search_ends_with_its_budget_and_says_so(capsys):
    arguments = [
        "search-worst",
        "timer",
        "--n",
        "4",
        "--set",
        "s=4",
        "--until",
        "count(leader == 1) <= 1",
        "--final",
        "40",
    ]
    assert main([*arguments, "--budget", "2000", "--json"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert content["evaluations"] < 1000 and "steps were simulated" in content["ended_early"]
    assert main([*arguments, "--evaluations", "5", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["ended_early"] == ""


def test_a_closed_stream_is_no_terminal():
    stream = io.StringIO()
    stream.close()
    assert not Sheet(stream).isatty()


@pytest.mark.parametrize(
    ("init", "part"),
    [
        ("def __init__(self, n):\n        self.mine = n", "makes no protocol"),
        ("def __init__(self):\n        pass", "unexpected keyword argument"),
        ("def __init__(self, n):\n        super().__init__(n)\n        1 / 0", "line 8): ZeroDivisionError"),
    ],
)
def test_a_constructor_of_ones_own_is_refused_in_one_sentence(init, part, tmp_path, capsys):
    text = (
        "from hegemon import Bit, PopulationProtocol, exactly\n\nclass Mine(PopulationProtocol):\n    class State:\n"
        f"        leader: Bit = 1\n    {init}\n    def interact(a, b, p):\n        b.leader = 0\n"
        "    safe = exactly(1, lambda a, p: a.leader == 1)\n"
    )
    file = tmp_path / "mine.py"
    file.write_text(text)
    for command in (["run", file, "--n", 5, "-q"], ["sweep", file, "--n", 5, "--out", tmp_path / "study", "-q"]):
        said = refused(capsys, *map(str, command))
        assert part in said and "call super().__init__(n, **given)" in said
    file.write_text(text.replace(init, "def __init__(self, n, **given):\n        super().__init__(n, **given)"))
    assert main(["run", str(file), "--n", "5", "-q"]) == 0


def test_a_key_is_written_whole_or_not_at_all(tmp_path, capsys, monkeypatch):
    from hegemon.cli.agent import main as agent

    place = tmp_path / "key"
    with monkeypatch.context() as full:

        def no_room(handle):
            raise OSError(28, "No space left on device")

        full.setattr(os, "fsync", no_room)
        assert agent(["--new-key", str(place)]) == 2
    assert "No space left" in capsys.readouterr().err and not list(tmp_path.iterdir())
    assert agent(["--new-key", str(place)]) == 0 and place.stat().st_mode & 0o777 == 0o600
    key = place.read_text()
    assert agent(["--new-key", str(place)]) == 2 and place.read_text() == key and len(list(tmp_path.iterdir())) == 1


WRITERS = [
    "run pairwise --n 6 --history full.csv --observe leaders --max-steps 50",
    "run pairwise --n 6 --final full.json --max-steps 50",
    "verify pairwise --n 3 --distribution full.csv",
    "export pairwise --n 3 --to drn --out full.drn",
    "export pairwise --n 3 --to svg --out full.svg",
    "prove pairwise --property closed:safe --certificate full.json",
    "discover leader-election --states 2 --n 2 --symmetric --certificate full.json",
    "mixing-time ring:9 --csv full.csv",
]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no device that is always full")
@pytest.mark.parametrize("line", WRITERS)
def test_a_full_disk_has_one_meaning(line, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    for ending in ("csv", "json", "drn", "svg"):
        os.symlink("/dev/full", f"full.{ending}")
    assert main([*line.split(), *(["--quiet"] if "run" in line else [])]) == failures.BAD_INPUT
    assert capsys.readouterr().err.endswith("No space left on device; give another file\n")


PLACES = [(28, "No space left on device"), (36, "File name too long"), (13, "Permission denied")]


@pytest.mark.parametrize(("number", "said"), PLACES)
def test_a_place_that_cannot_be_written_is_bad_input(number, said):
    code, text = failures.sentence(OSError(number, os.strerror(number), "results.csv"))
    assert (code, text) == (failures.BAD_INPUT, f"results.csv cannot be written or read: {said}; give another file")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the work is in the first process here")
def test_a_file_that_ends_the_program_is_reported(tmp_path):
    """os._exit in a user's file took code and output away: nobody could see that nothing was done."""
    (tmp_path / "mine.py").write_text("import os\n\nos._exit(0)\n")
    command = [*HEGEMON, "show", "mine.py"]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert ended.returncode == failures.BAD_INPUT and "drop os._exit from your file" in ended.stderr


def test_a_null_byte_has_a_line(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "nul.py").write_bytes(b"import hegemon\n\0\n")
    assert main(["show", "nul.py"]) == failures.BAD_INPUT
    assert "nul.py, line 2: " in capsys.readouterr().err


def test_a_folder_with_a_long_name_is_refused(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    line = ["discover", "leader-election", "--states", "2", "--n", "2", "--symmetric", "--out", "x" * 300]
    assert main(line) == failures.BAD_INPUT and "File name too long; give another file" in capsys.readouterr().err
