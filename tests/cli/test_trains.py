"""Informative Trains and a state-model protocol of one's own from the command line."""

import json

import pytest

from hegemon.cli.main import main
from tests.sentences import is_one_sentence


def answer(capsys, *arguments):
    assert main([*arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_run_as_json(capsys):
    content = answer(capsys, "run", "trains", "--graph", "ring:8", "--start", "all-leaders", "--trials", "3")
    assert content["engine"] == "rounds" and content["model"] == "rounds" and content["n"] == 8
    for trial in content["trials"]:
        assert trial["reached"] and trial["leaders"] == 1
        assert 0 <= trial["fast_forwarded_rounds"] < trial["rounds"]


def test_without_fast_forward(capsys):
    content = answer(capsys, "run", "trains", "--graph", "ring:8", "--start", "all-leaders", "--no-fast-forward")
    assert content["trials"][0]["fast_forwarded_rounds"] == 0
    assert main(["run", "pairwise", "--n", "5", "--no-fast-forward"]) == 2


def test_history_and_picture(capsys, tmp_path):
    picture, table = tmp_path / "graph.png", tmp_path / "history.csv"
    content = answer(
        capsys, "run", "trains", "--graph", "grid:3x3", "--until", "rounds:7", "--every", "1", "--draw", str(picture),
        "--observe", "leaders,marked_wagons", "--history", str(table),
    )  # fmt: skip
    assert content["history"]["step"] == list(range(8))
    assert picture.read_bytes().startswith(b"\x89PNG") and table.exists()


def test_one_node(capsys):
    content = answer(capsys, "run", "trains", "--graph", "path:1")
    assert content["trials"][0]["leaders"] == 1 and content["trials"][0]["reached"]


OWN = '''
from hegemon.models import Bit, RoundsProtocol, everywhere


class Gossip(RoundsProtocol):
    """Whoever has a neighbour that knows, knows."""

    class State:
        knows: Bit

    def update(me, neighbours, coins, p):
        for u in neighbours:
            me.knows = max(me.knows, u.knows)

    safe = everywhere(lambda a, p: a.knows == 1).described("all know", closed=True)
'''


def test_a_file_of_ones_own(capsys, tmp_path):
    path = tmp_path / "gossip.py"
    path.write_text(OWN)
    start = tmp_path / "start.json"
    start.write_text(json.dumps([{"knows": 1}, {"knows": 0, "count": 9}]))
    content = answer(capsys, "run", f"{path}:Gossip", "--graph", "path:10", "--start", str(start))
    assert content["trials"][0]["rounds"] == 9


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--graph", "ring:64", "--set", "N=5"], "N = 5 is out of range"),
        (["--graph", "directed-ring:6"], "undirected"),
        (["--graph", "gnp:30,0.001"], "components"),
        (["--graph", "ring:6", "--start", "nothing.json"], "no configuration file"),
        (["--graph", "ring:2000", "--draw", "big.png"], "at most 1000 nodes"),
        (["--graph", "ring:6", "--draw", "graph.txt"], "must end in"),
    ],
)
def test_bad_input_is_one_sentence(capsys, arguments, sentence):
    assert main(["run", "trains", *arguments]) == 2
    error = capsys.readouterr().err
    assert sentence in error and is_one_sentence(error)
