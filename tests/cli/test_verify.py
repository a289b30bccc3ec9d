"""`hegemon verify` and `hegemon search-worst` as a user meets them."""

import hashlib
import inspect
import json
from pathlib import Path

import numpy as np
import pytest

from hegemon.cli.main import main
from hegemon.cli.verify import verify_protocol
from hegemon.exact.configurations import Configurations
from hegemon.graphs.families import complete
from hegemon.protocols import Pairwise
from tests.cli import sentences

BROKEN = '''
from hegemon.models import Bit, Group, PopulationProtocol, exactly


class BothYield(PopulationProtocol):
    """Two leaders meet and both give up."""

    arbitrary_start = False
    default_start = "all-leaders"

    class State:
        leader: Bit

    def interact(a, b, p):
        if a.leader == 1 and b.leader == 1:
            a.leader = b.leader = 0

    def start_all_leaders(self, rng):
        return [Group(self.n, {"leader": 1})]

    safe = exactly(1, lambda a, p: a.leader == 1).described("one leader", closed=True)
'''


def as_json(capsys, *arguments) -> tuple[int, dict]:
    code = main([*arguments, "--json"])
    return code, json.loads(capsys.readouterr().out)


def test_the_table_and_the_json_say_the_same(capsys):
    arguments = ("verify", "pairwise", "--n", "6", "--quantiles", "0.5,0.9")
    code, content = as_json(capsys, *arguments)
    assert code == 0 and content["ok"] and content["expected_steps"]["worst"] == pytest.approx(25, abs=1e-9)
    assert main(list(arguments)) == 0
    text = capsys.readouterr().out
    assert "3 claims hold (" in text and "worst                   25" in text
    half = content["expected_steps"]["quantiles"]["worst"]["0.5"]
    assert f"0.5: {half}" in text


def test_a_broken_protocol_of_the_user_is_refuted_and_replayed(capsys, tmp_path):
    file, story = tmp_path / "mine.py", tmp_path / "story.json"
    file.write_text(BROKEN)
    name = f"{file}:BothYield"
    code, content = as_json(capsys, "verify", name, "--n", "4", "--counterexample", str(story))
    assert code == 1 and not content["ok"] and content["files"] == [str(story)]
    refuted = [row for row in content["findings"] if row["claimed"] and not row["holds"]]
    assert [row["question"] for row in refuted] == ["reached"]
    steps = len(json.loads(story.read_text())["interactions"])
    code, run = as_json(capsys, "run", name, "--n", "4", "--start", str(story), "--until", f"steps:{steps}")
    assert code == 0 and run["trials"][0]["steps"] == steps
    assert main(["verify", name, "--n", "4"]) == 1
    assert "refuted" in capsys.readouterr().out


@pytest.mark.parametrize("form", ["tra", "drn", "chain", "prism", "dot", "svg", "latex"])
def test_export(capsys, tmp_path, form):
    out = tmp_path / "chain.out"
    code, content = as_json(capsys, "export", "timer", "--n", "3", "--set", "s=2", "--to", form, "--out", str(out))
    assert code == 0 and content["files"]
    for path in content["files"]:
        assert Path(path).read_text()


def test_holding_and_predicate_are_printed(capsys):
    assert main(["verify", "timer", "--n", "3", "--set", "s=4"]) == 1  # the set is not closed
    text = capsys.readouterr().out
    assert "351" in text and "most likely way it ends" in text
    assert main(["verify", "threshold", "--n", "4", "--set", "k=2", "--property", "predicate"]) == 0
    assert "marked = 4: the right output is reached and kept" in " ".join(capsys.readouterr().out.split())


def test_search(capsys, tmp_path):
    out = tmp_path / "worst.json"
    code, content = as_json(
        capsys, "search-worst", "timer", "--n", "3", "--set", "s=4", "--evaluations", "60", "--trials", "32",
        "--final", "300", "--exact", "--out", str(out),
    )  # fmt: skip
    assert code == 0 and content["exact"]["found"] == pytest.approx(content["exact"]["worst"])
    assert json.loads(out.read_text())["agents"] == content["start"]
    assert (
        main(["search-worst", "epidemic", "--n", "4", "--evaluations", "5", "--final", "50", "--max-steps", "99"]) == 0
    )
    assert "lower bound" in capsys.readouterr().out  # without any source it never ends


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("verify", "timer"), "how many agents"),
        (("verify", "timer", "--n", "3", "--property", "safety"), "property 'safety' is not known"),
        (("verify", "timer", "--n", "40"), "more than can be numbered"),
        (("verify", "timer", "--n", "4", "--set", "s=30", "--memory", "0.01"), "GiB"),
        (("verify", "timer", "--n", "3", "--memory", "-1"), "memory = -1"),
        (("export", "timer", "--n", "3", "--to", "png", "--out", "x"), "give one of latex, dot, svg, prism, drn"),
        (("verify", "timer", "--n", "3", "--quantiles", "half"), "numbers between 0 and 1"),
        (("verify", "timer", "--n", "3", "--start", "somewhere"), "no start 'somewhere'"),
        (("verify", "timer", "--n", "3", "--counterexample", "x.txt"), "must end in .json"),
        (("verify", "ring", "--n", "3", "--graph", "path:3"), "directed rings only"),
        (("search-worst", "timer", "--n", "3", "--until", "broken"), "not a set"),
        (("search-worst", "pairwise", "--n", "3"), "made for the start all-leaders"),
    ],
)
def test_bad_input_is_one_sentence_and_code_2(capsys, arguments, message):
    assert main(list(arguments)) == 2
    error = capsys.readouterr().err
    assert message in error and len(sentences(error)) == 1


def test_a_thousand_agents_are_no_obstacle(capsys):
    """There are more arrays of agents than floating point has numbers; up to symmetry there are n + 1."""
    code, content = as_json(capsys, "verify", "pairwise", "--n", "1100", "--start", "all", "--property", "time")
    assert code == 0 and content["configurations"] == 1101 and content["labelled_configurations"] is None
    assert content["expected_steps"]["from"]["all-leaders"] == pytest.approx(1099**2, rel=1e-12)


def test_shares_are_the_same_beyond_floating_point(monkeypatch):
    space = Configurations(Pairwise(n=9), complete(9))
    keys = space.all_keys()
    direct = space.shares(keys)
    monkeypatch.setattr(Configurations, "labelled", lambda self, keys: np.full(len(keys), np.inf))
    assert space.shares(keys) == pytest.approx(direct, rel=1e-12) and direct.sum() == pytest.approx(1)


def test_a_file_for_a_counterexample_that_there_is_not_is_reported_and_not_written(capsys, tmp_path):
    place = tmp_path / "story.json"
    code, content = as_json(capsys, "verify", "pairwise", "--n", "3", "--counterexample", str(place))
    assert code == 0 and content["files"] == [] and not place.exists()
    assert any("was not written" in note and str(place) in note for note in content["notes"])
    place.with_name("broken.py").write_text(BROKEN)
    broken = f"{place.with_name('broken.py')}:BothYield"
    code, content = as_json(capsys, "verify", broken, "--n", "2", "--counterexample", str(place))
    assert code == 1 and place.exists() and not any("was not written" in note for note in content["notes"])


def test_a_story_names_the_file_and_the_digest_of_its_protocol(capsys, tmp_path, monkeypatch):
    """The story alone names the file that it needs, and its digest shows whether a file is the same."""
    (tmp_path / "mine.py").write_text(BROKEN)
    monkeypatch.chdir(tmp_path)
    assert main(["verify", "mine.py", "--n", "2", "--counterexample", "story.json"]) == 1
    told = json.loads(Path("story.json").read_text())
    digest = hashlib.sha256(BROKEN.encode()).hexdigest()
    assert (told["file"], told["sha256"]) == ("mine.py:BothYield", digest)
    capsys.readouterr()
    assert main(["run", "--start", "story.json", "--until", "steps:1"]) == 2
    (said,) = sentences(capsys.readouterr().err)
    assert "mine.py:BothYield" in said and digest[:16] in said and "ask for that file" in said
    assert main(["run", "mine.py", "--start", "story.json", "--until", "steps:1", "--quiet"]) == 0
    assert main(["verify", "pairwise", "--graph", "path:4", "--counterexample", "known.json"]) == 1
    assert "file" not in json.loads(Path("known.json").read_text())  # whoever has hegemon has the catalogue
    assert main(["run", "--start", "known.json", "--until", "steps:1", "--quiet"]) == 0


def headings(capsys, *arguments) -> list[str]:
    main(["verify", *arguments])
    return [line for line in capsys.readouterr().out.splitlines() if ": a " in line]


def test_only_what_does_not_hold_is_headed_a_counterexample(capsys, tmp_path):
    (tmp_path / "mine.py").write_text(BROKEN)
    assert headings(capsys, str(tmp_path / "mine.py"), "--n", "2") == ["reached safe: a shortest counterexample"]
    holds = headings(capsys, "huang", "--n", "3", "--property", "reached", "--coins", "adversary")
    assert holds == ["reached safe: a longest schedule"]


def test_crashes_are_read_as_run_reads_them(capsys):
    """Three nodes in a ring: a crash keeps messages from going around; one that comes too late does not."""
    early, late = "round=2,node=1", "round=1e3,nodes=1"
    for given, code, chance in (([early, late], 1, 0), ([late], 0, 1)):
        options = [word for one in given for word in ("--crash", one)]
        found = as_json(capsys, "verify", "peterson", "--n", "3", *options)
        assert (found[0], found[1]["one_leader"]["value"]) == (code, chance)


VALUES = {
    "--n": "4", "--graph": "ring:4", "--start": "all", "--quantiles": "0.5", "--within": "3", "--memory": "2",
    "--scheduler": "central", "--coins": "adversary", "--rate": "leave=1/9", "--loss": "0.3", "--one-sided": "0.3",
    "--wake": "random", "--identifiers": "increasing", "--delay": "uniform:1..2", "--order": "arbitrary",
    "--duplicate": "0.1", "--crash": "round=1,nodes=1", "--checkpoint": "x.npz", "--distribution": "x.csv",
    "--counterexample": "x.json", "--worst": "x.json", "--best": "x.json", "--no-symmetry": None,
}  # fmt: skip
TAKEN = ("--set", "--property", "--every-graph", "--json", "--quiet")


def test_every_option_of_verify_has_a_value_here():
    shared = set(inspect.signature(verify_protocol).parameters) - {"protocol"}
    assert len(shared) == len(VALUES) + len(TAKEN)


@pytest.mark.parametrize("option", VALUES)
def test_every_graph_refuses_what_it_does_not_take(option, capsys, tmp_path, monkeypatch):
    """It once took them all, and answered another question."""
    monkeypatch.chdir(tmp_path)
    given = [option] if VALUES[option] is None else [option, VALUES[option]]
    assert main(["verify", "trains", "--every-graph", "2", *given]) == 2
    assert "every-graph" in (error := capsys.readouterr().err) and "has no meaning" in error


@pytest.mark.parametrize("text", ["safe", "closed", "closed:safe"])
def test_every_graph_takes_a_set_as_other_questions_do(text, capsys):
    assert main(["verify", "trains", "--every-graph", "2", "--property", text, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["set"] == "safe"
    assert main(["verify", "trains", "--every-graph", "2", "--property", "time:safe"]) == 2
    assert "decides whether a set is closed, not time" in capsys.readouterr().err


THRESHOLD = ["verify", "threshold", "--n", "4", "--set", "k=3", "--property", "predicate"]


@pytest.mark.parametrize(
    "given",
    [
        ["--scheduler", "fair"], ["--scheduler", "central"], ["--start", "no-such-start"], ["--start", "all"],
        ["--quantiles", "0.5"], ["--within", "3"], ["--coins", "adversary"], ["--checkpoint", "x.npz"],
        ["--distribution", "x.csv"], ["--worst", "x.json"], ["--rate", "leave=1/9"], ["--wake", "random"],
    ],
    ids=" ".join,
)  # fmt: skip
def test_a_predicate_refuses_what_it_does_not_take(given, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main([*THRESHOLD, *given]) == 2
    assert len(sentences(capsys.readouterr().err)) == 1


def test_a_predicate_is_decided_under_the_scheduler_that_is_given(capsys, tmp_path):
    """Under a schedule in which two agents meet nobody, a predicate fails that holds under uniform pairs."""
    record = tmp_path / "meetings.csv"
    record.write_text("initiator,responder\n0,1\n1,0\n")
    assert main(THRESHOLD) == 0
    assert main([*THRESHOLD, "--scheduler", f"recorded:{record}"]) == 1
    assert "a wrong output is visited" in capsys.readouterr().out


def test_quantiles_of_another_question_are_refused(capsys):
    assert main(["verify", "timer", "--n", "3", "--property", "closed", "--quantiles", "0.5"]) == 2
    assert "quantiles are of the question time" in capsys.readouterr().err
