"""Message passing on the command line."""

import json

import pytest

from hegemon.cli.main import main
from tests.cli import sentences


def run_json(capsys, *arguments, code=0):
    assert main([*arguments, "--json"]) == code
    return json.loads(capsys.readouterr().out)


def refused(capsys, *arguments):
    assert main(list(arguments)) == 2
    captured = capsys.readouterr()
    assert captured.out == "" and len(sentences(captured.err)) == 1 and "Traceback" not in captured.err
    return captured.err


def test_json_has_what_an_election_by_messages_measures(capsys):
    content = run_json(capsys, "run", "referees", "--n", "1e4", "--trials", "20", "--seed", "1")
    promised = {"rounds", "messages", "bits", "leaders", "candidates", "largest_message", "cause", "clouds"}
    assert promised <= set(content["trials"][0])
    summary = content["summary"]
    assert summary["success_rate"] == 1 and summary["success_rate_ci95"][1] == 1
    assert 5 < summary["messages_per_scale"] < 9
    assert content["wake"] == "all" and content["engine"] == "contacts"


def test_variants_and_wake_up(capsys, tmp_path):
    explicit = run_json(capsys, "run", "referees", "--n", "500", "--variant", "explicit", "--seed", "1")
    assert explicit["trials"][0]["rounds"] == 3 and explicit["trials"][0]["informed"] == 500
    schedule = tmp_path / "wake.txt"
    schedule.write_text("\n".join(str(1 + v % 9) for v in range(500)))
    for wake in ("all", "one-by-one", "random", str(schedule)):
        arguments = ("run", "referees", "--n", "500", "--variant", "wakeup", "--wake", wake, "--seed", "1")
        assert run_json(capsys, *arguments)["trials"][0]["leaders"] == 1


def test_a_budget_of_messages(capsys):
    content = run_json(capsys, "run", "referees", "--n", "1e6", "--set", "messages=n^0.4", "--trials", "20", code=1)
    assert content["summary"]["success_rate"] == 0
    assert content["summary"]["causes"] == {"several ranks elected": 20}
    assert all(trial["messages"] <= 252 and trial["disjoint_clouds"] for trial in content["trials"])


def test_walks_with_a_mixing_time(capsys):
    exact = run_json(capsys, "run", "walks", "--graph", "hypercube:6", "--mixing-time", "exact", "--seed", "1")
    assert exact["trials"][0]["mixing_time"] == 15 and exact["trials"][0]["rounds"] == 30
    bound = run_json(capsys, "run", "walks", "--graph", "hypercube:6", "--mixing-time", "spectral", "--seed", "1")
    assert bound["trials"][0]["mixing_time"] == 27
    assert main(["run", "walks", "--graph", "hypercube:6", "--mixing-time", "2", "--trials", "3"]) == 1
    assert "guarantee in every trial: void: the mixing time is 15" in capsys.readouterr().out


def test_mixing_time(capsys):
    content = run_json(capsys, "mixing-time", "torus:16x16")
    assert (content["mixing_time"], content["exact"], content["lazy"]) == (114, True, True)
    bound = run_json(capsys, "mixing-time", "torus:16x16", "--method", "spectral")
    assert (bound["at_least"], bound["mixing_time"], bound["exact"]) == (37, 325, False)
    assert run_json(capsys, "mixing-time", "complete:10", "--lazy")["lazy"]
    assert main(["mixing-time", "ring:5"]) == 0
    assert "mixing time" in capsys.readouterr().out


def test_lower_bound_and_comparison(capsys, tmp_path):
    rows = run_json(capsys, "lower-bound", "--n", "1e3", "--exponents", "0.2:0.4:0.1", "--trials", "5")
    assert [row["exponent"] for row in rows] == [0.2, 0.3, 0.4] * 2
    few = ["--n", "100", "--exponents", "0.5", "--trials", "5"]
    assert main(["lower-bound", *few, "--plot", f"{tmp_path}/b.png"]) == 0
    assert main(["compare-messages", "--n", "50,100", "--trials", "2", "--plot", f"{tmp_path}/c.png"]) == 0
    assert "afek-gafni" in capsys.readouterr().out
    assert (tmp_path / "b.png").stat().st_size > 10_000 and (tmp_path / "c.png").stat().st_size > 10_000


def test_a_picture_of_elections(capsys, tmp_path):
    assert main(["run", "referees", "--n", "100", "--trials", "10", "--plot", f"{tmp_path}/e.png"]) == 0
    assert (tmp_path / "e.png").is_file()


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["run", "referees", "--n", "1"], "n = 1"),
        (["run", "referees", "--n", "50", "--variant", "loud"], "implicit, explicit, wakeup"),
        (["run", "referees", "--n", "50", "--wake", "one-by-one"], "the variant wakeup"),
        (["run", "referees", "--n", "50", "--wake", "nowhere.txt", "--variant", "wakeup"], "neither a file"),
        (["run", "referees", "--graph", "ring:50"], "complete graphs only"),
        (["run", "referees", "--n", "50", "--start", "random"], "--start"),
        (["run", "referees", "--n", "50", "--until", "safe2"], "--until"),
        (["run", "referees", "--n", "50", "--mixing-time", "3"], "no parameter 'mixing_time'"),
        (["run", "walks", "--graph", "gnp:50,0.01"], "connected components"),
        (["run", "walks", "--n", "50", "--mixing-time", "soon"], "mixing_time"),
        (["run", "walks", "--graph", "ring:6", "--set", "lazy=no"], "bipartite"),
        (["run", "pairwise", "--n", "50", "--wake", "all"], "--wake"),
        (["mixing-time", "gnp:50,0.01"], "connected components"),
        (["mixing-time", "nonsense:3"], "neither a known family"),
        (["lower-bound", "--exponents", "1:0:2"], "exponents"),
        (["lower-bound", "--n", "ten"], "n = ten"),
    ],
)
def test_bad_input_is_one_sentence(capsys, arguments, part):
    assert part in refused(capsys, *arguments)


def test_show_knows_message_passing(capsys):
    content = run_json(capsys, "show", "referees", "--n", "1000")
    assert content["model"] == "messages" and content["states"] is None
    assert {row["name"] for row in content["parameters"]} == {"variant", "candidates", "referees", "messages"}
