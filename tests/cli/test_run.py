"""The command line as a user meets it."""

import _thread
import json

import pytest

import hegemon as hg
from hegemon.cli.main import main
from hegemon.cli.run_report import drawn_title
from hegemon.models.model import MODELS
from hegemon.runs import trials
from hegemon.runs.setting import topology_for
from hegemon.runs.simulate import course_of
from hegemon.runs.trial import Course
from tests.cli import sentences

MAJORITY = '''
from hegemon.models import Choice, Group, Parameter, PopulationProtocol, everywhere

X, Y, BLANK = 0, 1, 2


class ApproximateMajority(PopulationProtocol):
    """Three-state approximate majority."""

    default_start = "inputs"
    x_inputs = Parameter("2*n//3", low=0, high="n")

    class State:
        opinion: Choice("X", "Y", "blank")

    def interact(a, b, p):
        if a.opinion != BLANK and b.opinion == BLANK:
            b.opinion = a.opinion
        elif a.opinion != BLANK and b.opinion != a.opinion:
            b.opinion = BLANK

    def start_inputs(self, rng):
        """So many X, the rest Y."""
        return [Group(self.x_inputs, {"opinion": "X"}), Group(self.n - self.x_inputs, {"opinion": "Y"})]

    safe = everywhere(lambda a, p: a.opinion == X)
'''


def run_json(capsys, *arguments):
    assert main([*arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def refused(capsys, *arguments):
    """The one sentence that a bad command prints."""
    assert main(list(arguments)) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("hegemon: ") == 1 == len(sentences(captured.err))
    assert "Traceback" not in captured.err
    return captured.err


def test_json_has_what_programs_need(capsys):
    content = run_json(capsys, "run", "pairwise", "--n", "50", "--trials", "8", "--seed", "1")
    promised = "protocol n parameters states start until engine seed trials summary wall_seconds"
    assert set(promised.split()) <= set(content)
    assert content["n"] == 50 and content["states"] == 2 and content["start"] == "all-leaders"
    assert len(content["trials"]) == content["summary"]["trials"] == 8
    for trial in content["trials"]:
        assert trial["reached"] and trial["leaders"] == 1
        assert trial["parallel_time"] == trial["steps"] / 50
    assert content["summary"]["mean"] == sum(t["steps"] for t in content["trials"]) / 8
    low, high = content["summary"]["ci95"]
    assert low < content["summary"]["mean"] < high
    again = run_json(capsys, "run", "pairwise", "--n", "50", "--trials", "8", "--seed", "1", "--workers", "1")
    assert again["trials"] == content["trials"]
    other = run_json(capsys, "run", "pairwise", "--n", "50", "--trials", "8", "--seed", "2")
    assert other["trials"] != content["trials"]


def test_tables_have_the_same_figures(capsys):
    content = run_json(capsys, "run", "epidemic", "--n", "1e2", "--trials", "3", "--seed", "7")
    command = ["run", "epidemic", "--n", "100", "--trials", "3", "--seed", "7"]
    assert main([*command, "--each"]) == 0
    text = capsys.readouterr().out
    for trial in content["trials"]:
        assert f"{trial['steps']:,}" in text
    assert main(command) == 0
    lines = capsys.readouterr().out.splitlines()
    (row,) = (line for line in lines if line.startswith("steps"))
    steps = [trial["steps"] for trial in content["trials"]]
    assert row.split()[-2:] == [f"{min(steps):,}", f"{max(steps):,}"] and "--each shows every trial" in lines[-1]


def test_few_words_for_few_trials(capsys):
    """One trial is one line; equal trials have no interval, and a histogram would say nothing."""
    assert main(["run", "pairwise", "--n", "20", "--seed", "1"]) == 0
    assert "median" not in capsys.readouterr().out
    assert main(["run", "timer", "--n", "5", "--start", "safe", "--until", "steps:7", "--trials", "30"]) == 0
    shown = capsys.readouterr().out
    (row,) = (line for line in shown.splitlines() if line.startswith("steps"))
    assert row.split() == ["steps", "7", "–", "7", "7", "7"]
    assert "█" not in shown and "30 of 30 trials met the stop" in shown
    assert main(["run", "pairwise", "--n", "20", "--trials", "30", "--seed", "1"]) == 0
    bars = [line for line in capsys.readouterr().out.splitlines() if "█" in line]
    assert 2 <= len(bars) <= 8 and sum(int(line.split()[-1]) for line in bars) == 30


def test_list_and_show(capsys):
    listed = run_json(capsys, "list")
    population = [row["id"] for row in listed if row["model"] == "population"]
    assert {"threshold", "pairwise", "timer", "epidemic", "countdown"} <= set(population)
    assert {"quick-elimination", "time-optimal", "ring"} <= set(population)
    for name in population:
        shown = run_json(capsys, "show", name)
        assert shown["reference"] and shown["states"] > 1 and shown["starts"] and shown["fields"]
        assert main(["show", name]) == 0
        assert shown["summary"][:30] in capsys.readouterr().out
    for row in listed:  # of every model, and those that are only quoted
        assert run_json(capsys, "show", row["id"])["grade"] == row["grade"] != ""


def test_a_cited_row_is_shown_and_not_run(capsys):
    assert main(["show", "izumi-2015"]) == 0
    assert "could not be recovered" in capsys.readouterr().out
    assert "cited, not run" in refused(capsys, "run", "izumi-2015", "--n", "9")


def test_a_protocol_from_a_file(tmp_path, capsys):
    path = tmp_path / "majority.py"
    path.write_text(MAJORITY)
    picture = tmp_path / "majority.png"
    table = tmp_path / "history.csv"
    content = run_json(
        capsys, "run", f"{path}:ApproximateMajority", "--n", "200", "--set", "x_inputs=150", "--trials", "3",
        "--plot", str(picture), "--history", str(table), "--observe", "opinion=X,opinion=blank",
    )  # fmt: skip
    assert content["states"] == 3 and content["summary"]["reached"] == 3
    assert content["history"]["opinion=X"][0] == 150 and content["history"]["opinion=X"][-1] == 200
    assert picture.read_bytes().startswith(b"\x89PNG") and picture.stat().st_size > 10_000
    assert table.read_text().startswith("step,parallel_time,opinion=X,opinion=blank\n")
    assert run_json(capsys, "show", str(path))["protocol"] == "approximate-majority"
    on_a_graph = run_json(capsys, "run", str(path), "--graph", "grid:4x5", "--until", 'none(opinion == "blank")')
    assert on_a_graph["n"] == 20


def test_faults_and_final_configurations(tmp_path, capsys):
    final = tmp_path / "final.json"
    content = run_json(
        capsys, "run", "timer", "--n", "30", "--start", "safe", "--fault", "step=100,agents=5,leader=1",
        "--final", str(final), "--seed", "3",
    )  # fmt: skip
    assert content["trials"][0]["recovery_steps"] == content["trials"][0]["steps"] - 100
    again = run_json(capsys, "run", "timer", "--n", "30", "--start", str(final))
    assert again["trials"][0]["steps"] == 0


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["run", "pairwise", "--n", "1"], "n = 1"),
        (["run", "pairwise", "--n", "many"], "n = many"),
        (["run", "pairwise"], "--n N"),
        (["run", "nothing", "--n", "5"], "hegemon list"),
        (["run", "pairwise", "--n", "5", "--set", "k=3"], "no parameter 'k'"),
        (["run", "pairwise", "--n", "5", "--set", "k"], "name=value"),
        (["run", "timer", "--n", "5", "--set", "s=-1"], "s = -1 is out of range; it must be a whole number >= 1"),
        (["run", "ring", "--n", "10", "--set", "N=9"], "N = 9 is out of range; it must be a whole number >= 10"),
        (["run", "ring", "--graph", "ring:10"], "directed-ring:10"),
        (["run", "epidemic", "--graph", "gnp:60,0.01"], "connected"),
        (["run", "epidemic", "--graph", "torus:banana"], "torus"),
        (["run", "epidemic", "--graph", "nowhere.txt"], "nowhere.txt"),
        (["run", "epidemic", "--graph", "ring:8", "--n", "9"], "9"),
        (["run", "pairwise", "--n", "5", "--start", "absent.json"], "absent.json"),
        (["run", "--start", "absent.json"], "there is no file absent.json"),
        (["run", "pairwise", "--n", "5", "--start", "sideways"], "all-leaders"),
        (["run", "pairwise", "--n", "5", "--until", "never"], "choose safe"),
        (["run", "pairwise", "--n", "5", "--until", "steps:few"], "steps"),
        (["run", "pairwise", "--n", "5", "--trials", "0"], "trials = 0"),
        (["run", "pairwise", "--n", "5", "--engine", "steam"], "steam"),
        (["run", "pairwise", "--n", "5", "--fault", "now"], "step=K,agents=J"),
        (["run", "pairwise", "--n", "5", "--fault", "step=1,agents=9"], "1..5"),
        (["run", "pairwise", "--n", "5", "--plot", "picture.bmp"], ".png"),
        (["run", "pairwise", "--n", "5", "--plot", "no/such/folder/p.png"], "no folder"),
        (["run", "pairwise", "--n", "5", "--observe", "weather"], "leaders"),
        (["run", "pairwise", "--n", "5", "--nonsense"], "--nonsense"),
        (["run", "absent.py:X", "--n", "5"], "absent.py"),
        (["dance"], "dance"),
    ],
)
def test_bad_input_gets_one_sentence(capsys, arguments, part):
    assert part in refused(capsys, *arguments)


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("class Broken(:\n", "line 1"),
        ("import hegemon.nothing\n", "line 1: ModuleNotFoundError"),
        ("x = 1\n", "defines no protocol"),
        (MAJORITY.replace("b.opinion = a.opinion", "b.opinion = 7"), "wrote opinion = 7, outside 0..2"),
        (MAJORITY.replace("b.opinion = a.opinion", "b.opinion = a.colour"), "colour"),
        (MAJORITY.replace('Choice("X", "Y", "blank")', "int"), "use Bit"),
    ],
)
def test_a_users_file_with_an_error_gets_one_sentence(tmp_path, capsys, text, part):
    path = tmp_path / "own.py"
    path.write_text(text)
    assert part in refused(capsys, "run", f"{path}:ApproximateMajority", "--n", "20")


def test_an_interrupt_keeps_what_is_finished(capsys, monkeypatch):
    """Ctrl-C after the third trial, while the others would go on for hours."""
    finished = []

    def interrupting(asked):
        course = course_of(asked)

        class Interrupting(Course):
            supports = course.supports

            def __init__(self):
                """Of the same record."""

            def begin(self, trial):
                return course.begin(trial)

            def __call__(self, trial):
                finished.append(trial.trial)
                if len(finished) % 100 == 4:  # and again later, should Python lose the first one in a callback
                    _thread.interrupt_main()
                return course(trial)

        return Interrupting()

    monkeypatch.setattr(trials, "course_of", interrupting)
    assert main(["run", "pairwise", "--n", "1000", "--trials", "100000", "--workers", "1", "--json"]) == 130
    captured = capsys.readouterr()
    content = json.loads(captured.out)
    assert content["interrupted"] and 3 <= len(content["trials"]) < 1000
    assert content["trials"][0]["reached"]
    assert captured.err.startswith(f"hegemon: interrupted after {len(content['trials'])} of 100,000 trials, as printed")
    assert "hegemon sweep" in captured.err and captured.err.count("\n") == 1


def test_a_graph_of_a_protocol_without_leaders_counts_none():
    for protocol, said in ((hg.Epidemic(n=4), "steps"), (hg.Pairwise(n=4), "steps; leaders: 1")):
        run = hg.simulate(protocol, seed=1)
        title = drawn_title(protocol, topology_for(protocol, None), run)
        assert title == f"{protocol.id} on complete:4 after {run.steps} {said}"


def test_what_is_not_recorded_is_not_promised_to_be_drawn(capsys, tmp_path):
    line = ["run", "sublinear-ranking", "--n", "4", "--plot", str(tmp_path / "p.png")]
    assert main(line) == 2 and "--trials 20" in capsys.readouterr().err
    assert main([*line, "--trials", "3", "--max-steps", "2000"]) in (0, 1) and (tmp_path / "p.png").exists()
    assert main([*line[:4], "--every", "5"]) == 2 and "--every" in capsys.readouterr().err


def test_nodes_of_a_rounds_protocol_are_counted_as_nodes():
    assert hg.simulate(hg.BFW(n=5), observe=True).history.attrs["units"]["leaders"] == "nodes"
    assert hg.simulate(hg.Pairwise(n=5), observe=True).history.attrs["units"]["leaders"] == "agents"


def test_trials_that_were_stopped_leave_no_mean_without_the_word(capsys):
    command = ["run", "pairwise", "--n", "30", "--trials", "40", "--seed", "3", "--max-steps", "600", "--quiet"]
    assert main(command) == 1
    shown = " ".join(capsys.readouterr().out.split())
    assert (
        "censored" in shown and "mean at least" in shown and "did not meet the stop" in shown and " mean 4" not in shown
    )
    assert main([*command, "--json"]) == 1
    summary = json.loads(capsys.readouterr().out)["summary"]
    assert summary["mean"] is None and summary["censored"] == 40 - summary["reached"] > 0
    assert main([*command[:-3], "--quiet"]) == 0 and "censored" not in capsys.readouterr().out


def test_waiting_for_a_lost_leader_names_what_does_not_wait(capsys, monkeypatch):
    from hegemon.cli import run as command

    words = ["run", "timer", "--n", "10", "--set", "s=20", "--start", "safe", "--max-steps", "1000"]
    assert main([*words, "--until", "broken", "--json"]) == 1
    assert any("hegemon holding" in note for note in json.loads(capsys.readouterr().out)["notes"])
    shown = []
    monkeypatch.setattr(command, "LONG", 0.0)
    monkeypatch.setattr(command.progress.Progress, "show", lambda self, stage, *rest: shown.append(stage))
    main([*words[:-1], "3e7", "--until", "broken", "--json"])
    assert any("hegemon holding" in stage for stage in shown)


def test_runs_of_every_model_are_traced(capsys):
    examples = {"population": "pairwise", "rounds": "herman", "messages": "flood-max", "objects": "sublinear-ranking"}
    assert examples.keys() == MODELS.keys()
    for name in examples.values():
        assert main(["run", name, "--n", "5", "--trace", "-3", "--json", "--quiet"]) == 0
        content = json.loads(capsys.readouterr().out)
        (trial,) = content["trials"]
        assert content["trace"] and f" {trial[content['unit']]}: " in content["trace"][-1]
