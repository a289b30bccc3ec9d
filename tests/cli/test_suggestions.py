"""Whatever is misspelt is answered with the nearest word that there is, on the command line and from Python alike."""

import re
from pathlib import Path

import pytest

import hegemon as hg
from hegemon.cli import failures
from hegemon.cli.main import main
from hegemon.errors import InvalidInput, choose, meant
from hegemon.models.objects import agent
from tests.cli import sentences

MISSPELT = {
    "run parwise --n 5": "pairwise",
    "runn pairwise": "run",
    "run pairwise --n 5 --trails 3": "--trials",
    "list --jsn": "--json",
    "run time-optimal --n 5 --set tua=2": "tau",
    "prove pairwise --set nn=2": "",
    "run pairwise --graph rnig:5": "ring",
    "run pairwise --n 5 --start al-leaders": "all-leaders",
    "sweep pairwise --n 5 --start al-leaders": "all-leaders",
    "prove pairwise --start al-leaders": "all-leaders",
    "run pairwise --n 5 --until saef": "safe",
    "run pairwise --n 5 --until count(laeder==1)==1": "leader",
    "run pairwise --n 5 --engine agnets": "agents",
    "run referees --n 9 --engine nods": "nodes",
    "run referees --n 9 --variant explict": "explicit",
    "run referees --n 9 --wake rnadom": "random",
    "run pairwise --n 5 --observe leeders": "leaders",
    "run timer --n 5 --fault step=5,agents=2,tmier=3": "timer",
    "verify pairwise --n 3 --property clsoed": "closed",
    "verify ring --n 3 --property closed:C_BP": "C_PB",
    "verify pairwise --n 3 --scheduler fiar": "fair",
    "export pairwise --n 3 --to pirsm --out x": "prism",
    "prove pairwise --property raeched": "reached",
    "prove pairwise --graphs conected": "connected",
    "holding timer --n 5 --importance rairty": "rarity",
    "mixing-time ring:9 --method spectrl": "spectral",
    "reproduce --only survey.pairwse": "survey.pairwise",
    "reproduce --paper rnig": "ring",
    "new mine.py --model populaton": "population",
}


@pytest.mark.parametrize("line", MISSPELT)
def test_the_nearest_word_is_suggested(capsys, monkeypatch, tmp_path, line):
    monkeypatch.chdir(tmp_path)
    assert main(line.split()) == failures.BAD_INPUT
    (said,) = sentences(capsys.readouterr().err)
    suggestion = said.lower().replace("'", "").partition("did you mean ")[2].partition("?")[0]
    assert suggestion == MISSPELT[line].lower(), said


def test_the_same_words_from_python():
    for protocol, options in ((hg.Pairwise, {"start": "al-leaders"}), (hg.Timer, {"until": "saef"})):
        with pytest.raises(hg.InvalidInput, match="did you mean (all-leaders|safe)"):
            hg.simulate(protocol(n=4), **options)
    with pytest.raises(hg.InvalidInput, match=r"did you mean tau\?"):
        hg.TimeOptimal(n=9, tua=2)
    with pytest.raises(hg.InvalidInput, match=r"did you mean seed\?"):
        hg.simulate(hg.Pairwise(n=4), sede=1)


def test_a_word_far_from_all_suggests_nothing():
    assert meant("bogus", ["--loss", "--n", "--set"]) == "" and meant("x" * 10_000, ["safe"]) == ""
    assert meant("R_MAX", ["r_mid", "r_max"]) == " (did you mean r_max?)"


def test_a_wrong_option_names_the_command_whose_help_tells_more(capsys):
    assert main(["verify", "pairwise", "--bogus"]) == failures.BAD_INPUT
    assert "hegemon verify has no option --bogus; see hegemon verify --help" in capsys.readouterr().err


def test_a_member_refuses_in_one_sentence_too(capsys):
    from hegemon.cli.agent import main as be_member

    for arguments, said in ((["timer", "--pers", "x"], "--pers"), (["timer", "--n", "many"], "many")):
        assert be_member(arguments) == failures.BAD_INPUT
        (sentence,) = capsys.readouterr().err.splitlines()
        assert said in sentence and sentence.endswith("see hegemon agent --help")


class Dull(hg.RoundsProtocol):
    """No leader, no set, no observable: every list of names is empty."""

    class State:
        bit: hg.Bit = 0

    def update(me, neighbours, coins, p):
        pass


@pytest.mark.parametrize(
    "ask",
    [
        lambda: hg.simulate(Dull(n=3), until="safe", graph="ring:3"),
        lambda: hg.simulate(Dull(n=3), until="rounds:2", graph="ring:3", observe=["leaders"]),
        lambda: hg.check(Dull(n=3), graph="ring:3"),
    ],
)
def test_no_sentence_has_an_empty_list_or_names_what_the_protocol_does_not_have(ask):
    try:
        said = str(ask())
    except InvalidInput as error:
        said = str(error)
    assert not re.search(r"choose ,|choose  |, ,|one of ,|: ;|leader ==", said), said


class Things(hg.ObjectProtocol):
    """Its agents are objects, which have no fields, and it has no set."""

    def interact(a, b, p, coins):
        a.seen = max(a.seen, b.seen)

    def output(a, p):
        return a.seen

    def start_random(self, rng):
        return [agent(seen=k == 0) for k in range(self.n)]


class Records(hg.PopulationProtocol):
    """It has leaders and no set."""

    default_start = "random"

    class State:
        leader: hg.Bit

    def interact(a, b, p):
        if a.leader == 1 and b.leader == 1:
            b.leader = 0


class Bits(hg.PopulationProtocol):
    """It elects nobody."""

    default_start = "random"

    class State:
        bit: hg.Bit

    def interact(a, b, p):
        b.bit = a.bit


def advised(kind) -> str:
    """What `check` says to write."""
    rows = {row["what"]: row for row in hg.check(kind(n=3))["checks"]}
    assert rows["safe"]["ok"] is False
    return re.search(r"write `safe = (.*)`", rows["safe"]["found"])[1]


def followed(kind, advice: str) -> bool:
    """Whether the class is right if that is written into it."""
    safe = eval(advice.replace("…", "1"), {"whole": hg.whole, "exactly": hg.exactly, "everywhere": hg.everywhere})
    try:
        return hg.check(type(kind.__name__, (kind,), {"safe": safe, "__doc__": kind.__doc__})(n=3))["ok"]
    except InvalidInput:
        return False


def test_what_check_advises_fits_the_model():
    """The twins are given the advice for a class with leaders."""
    assert all(followed(kind, advised(kind)) for kind in (Things, Records, Bits))
    assert not any(followed(kind, advised(Records)) for kind in (Things, Bits))


def test_lists_of_names_are_made_in_one_place():
    """Which never makes an empty one."""
    assert choose([]) == "there is none to choose, so leave it out" and choose(["", "a", "b"]) == "choose a, b"
    for file in (Path(hg.__file__).parent).rglob("*.py"):
        if file.name != "errors.py":
            assert not re.search(r"""choose \{(', '|", ")\.join""", file.read_text("utf-8")), file
