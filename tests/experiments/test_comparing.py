"""`compare`: the slowest start of each protocol, own protocols, censored trials, and the same files again."""

import json
import re
from pathlib import Path

import pytest

import hegemon as hg
from hegemon.cli.main import main
from hegemon.experiments.comparing import save


def test_each_protocol_is_shown_from_its_slowest_start():
    found = hg.compare("timer", hg.Pairwise, n=[4, 6], trials=8, seed=3, workers=1)
    assert [(row["protocol"], row["n"]) for row in found.rows] == [
        ("timer", 4), ("timer", 6), ("pairwise", 4), ("pairwise", 6),
    ]  # fmt: skip
    timer, pairwise = found.rows[0], found.rows[2]
    means = {
        start: hg.run_trials(hg.Timer(n=4), 40, start=start, seed=1).frame["steps"].mean() for start in hg.Timer.starts
    }
    assert timer["start"] == max(means, key=means.get) == "no-leader"
    assert timer["stays"] == "not claimed" and pairwise["stays"] == "forever" and pairwise["bits"] == 1
    assert timer["states"] == hg.Timer(n=4).states and timer["assumes"] == "N >= n" and timer["grade"] == "exact"
    assert timer["parallel_time"] == pytest.approx(timer["mean"] / 4)


def test_the_slowest_start_is_measured_by_fresh_trials(tmp_path):
    """Trials that chose the slowest start are the lucky ones: a row of them would lie above the truth."""
    found = hg.compare("timer", "pairwise", n=5, trials=6, holding="none", workers=1, out=tmp_path)
    every, timer = found.trials, found.rows[0]
    mine = every[(every["protocol"] == "timer") & every["shown"]]
    assert set(mine["start"]) == {timer["start"]} and mine["steps"].mean() == timer["mean"] and len(mine) == 6
    chose = every[(every["protocol"] == "timer") & ~every["shown"]]
    means = chose.groupby("start")["steps"].mean()
    assert len(means) == len(hg.Timer.starts) and means.idxmax() == timer["start"]
    assert set(mine["seed"]).isdisjoint(chose["seed"])
    assert every[every["protocol"] == "pairwise"]["shown"].all()  # it has one start, and nothing to choose
    before = {path: path.read_bytes() for path in tmp_path.rglob("*.jsonl")}
    again = hg.compare("timer", "pairwise", n=5, trials=6, holding="none", workers=1, out=tmp_path)
    assert again.rows == found.rows and {path: path.read_bytes() for path in tmp_path.rglob("*.jsonl")} == before


def test_a_limit_holds_for_every_model(capsys):
    words = ["compare", "chang-roberts", "--n", "8", "--max-steps", "3", "--trials", "5", "--workers", "1", "--json"]
    assert main(words) == 0
    (row,) = json.loads(capsys.readouterr().out)["rows"]
    assert row["censored"] == 5 and row["mean"] == 3 and row["median"] is None
    with pytest.raises(hg.InvalidInput, match="max_steps"):
        hg.compare("pairwise", n=4, max_steps=-1, workers=1)


def test_rounds_and_messages_have_their_own_units():
    found = hg.compare("herman", "referees", n=9, trials=3, workers=1)
    assert [row["unit"] for row in found.rows] == ["rounds", "rounds"]
    assert found.rows[1]["messages"] > 0 and found.rows[1]["states"] is None


def test_the_elections_by_messages_are_one_comparison(tmp_path, monkeypatch, capsys):
    """`compare-messages` is `compare` with parameters and limits after the names; a kept comparison goes on."""
    monkeypatch.chdir(tmp_path)
    words = ["--n", "100,2000", "--trials", "2", "--seed", "1", "--workers", "1", "--out", "kept", "--json"]
    assert main(["compare-messages", *words, "--plot", "messages.svg"]) == 0
    content = json.loads(capsys.readouterr().out)
    rows = {(row["protocol"], row["n"]): row for row in content["rows"]}
    assert ("afek-gafni", 2000) in rows and ("flood-max,diameter=1", 2000) not in rows  # it has n=..1000
    sent = {name: rows[name, 100]["messages"] for name, n in rows if n == 100}
    assert sent["flood-max,diameter=1"] == 100 * 99 and rows["flood-max,diameter=1", 100]["mean"] == 1
    assert rows["referees", 2000]["messages"] < rows["afek-gafni", 2000]["messages"]
    assert {rows[name, 100]["mean"] for name in ("referees", "referees,variant=explicit")} == {2, 3}
    assert all(row["one_leader"] == 1 and row["messages_per_scale"] > 1 for row in content["rows"])
    drawn = (tmp_path / "messages.svg").read_text()
    assert "mean number of messages" in drawn and "states of one agent" not in drawn
    limits = {"flood-max,diameter=1": ",n=..1000", "afek-gafni": ",n=..30000", "walks": ",n=..1e7"}
    named = [name + limits.get(name, "") for name in dict.fromkeys(name for name, _ in rows)]
    records = {path.name: path.read_bytes() for path in (tmp_path / "kept" / "records").iterdir()}
    assert records and main(["compare", *named, *words]) == 0
    assert json.loads(capsys.readouterr().out) == content
    assert {path.name: path.read_bytes() for path in (tmp_path / "kept" / "records").iterdir()} == records


def test_parameters_follow_a_name():
    """A protocol is compared with itself under other parameters: its row is that of a run with them."""
    found = hg.compare("timer,s=2", "timer,s=3", n=4, trials=3, workers=1, holding="none")
    assert [row["protocol"] for row in found.rows] == ["timer,s=2", "timer,s=3"]
    assert [row["states"] for row in found.rows] == [hg.Timer(n=4, s=s).states for s in (2, 3)]
    assert len(hg.compare("timer,n=..4", n=[4, 6], trials=1, workers=1).rows) == 1
    for word, said in (
        ("timer,s=", "is not understood; write name=value"),
        ("timer,z=3", "no parameter 'z'"),
        ("timer,n=5", "write n=..1000"),
        ("timer,n=..3", "above the limits"),
    ):
        with pytest.raises(hg.InvalidInput, match=said):
            hg.compare(word, n=4, trials=1, workers=1)


def test_censored_trials_are_lower_ends(capsys):
    assert main(["compare", "pairwise", "--n", "12", "--trials", "4", "--max-steps", "20", "--workers", "1"]) == 0
    out = capsys.readouterr().out
    assert "≥" in out and "4 trials did not end within 20" in out
    found = hg.compare("pairwise", n=12, trials=4, max_steps=20, workers=1)
    assert found.rows[0]["median"] is None and found.rows[0]["mean"] == 20


def test_what_a_protocol_does_not_take_is_reported_and_the_others_are_compared():
    found = hg.compare("pairwise", "herman", n=[6, 7], trials=2, workers=1)
    assert [(row["protocol"], row["n"]) for row in found.rows] == [("pairwise", 6), ("pairwise", 7), ("herman", 7)]
    assert found.failed[0]["n"] == 6 and "odd" in found.failed[0]["error"]
    for bad, said in (
        ({"protocols": ()}, "needs protocols"),
        ({"protocols": ("pairwise", "pairwise")}, "compared with itself"),
        ({"protocols": ("pairwise",), "starts": "best"}, "give one of worst, default"),
    ):
        with pytest.raises(hg.InvalidInput, match=said):
            hg.compare(*bad.pop("protocols"), n=6, workers=1, **bad)


def test_own_protocols_are_compared_and_files_are_the_same_bytes_again(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(
        'import hegemon as hg\n\nMine = hg.rules({("L", "L"): ("L", "F")}, name="Mine")\n'
    )
    words = ["compare", "mine.py:Mine", "pairwise", "--n", "4,6", "--trials", "3", "--workers", "1", "--out", "kept"]
    made = []
    for turn in ("a", "b"):
        files = [f"{turn}.csv", f"{turn}.tex", f"{turn}.svg"]
        assert main([*words, "--csv", files[0], "--latex", files[1], "--plot", files[2], "--json"]) == 0
        content = json.loads(capsys.readouterr().out)
        assert [row["protocol"] for row in content["rows"]] == ["mine", "mine", "pairwise", "pairwise"]
        made.append([(tmp_path / name).read_bytes() for name in files])
    assert made[0] == made[1]
    assert b"\\toprule" in made[0][1] and made[0][0].startswith(b"protocol,n,start")
    found = hg.compare("pairwise", n=4, trials=2, workers=1)
    for name in ("c.png", "d.png"):
        save(found, plot=tmp_path / name)
    assert (tmp_path / "c.png").read_bytes() == (tmp_path / "d.png").read_bytes()


def test_a_sweep_takes_several_protocols(tmp_path, capsys):
    words = ["sweep", "pairwise", "timer", "--n", "4", "--trials", "2", "--workers", "1", "--out", str(tmp_path / "s")]
    assert main([*words, "--json"]) == 0
    assert {row["protocol"] for row in json.loads(capsys.readouterr().out)["cases"]} == {"pairwise", "timer"}
    assert main(["sweep", "study.toml", "pairwise", "--out", str(tmp_path / "t")]) == 2


def test_the_atlas_is_of_the_catalogue(tmp_path, monkeypatch):
    """Every election is placed once or listed with the reason, and every dot of the picture is a link to its page."""
    from benchmarks import atlas

    inside, outside = atlas.placed()
    left = {name for name, _ in outside}
    elections = {name for name, kind in hg.CATALOGUE.items() if kind.outputs == ("follower", "leader")}
    assert set(inside) | left == {name for name in elections if hg.CATALOGUE[name].shelf != "toolbox"}
    assert not set(inside) & left and {"ring", "time-optimal", "cai-izumi-wada"} <= set(inside)
    rows = hg.compare("pairwise", "timer", "ring", n=5, trials=2, workers=1).rows
    atlas.draw(rows, tmp_path / "atlas.svg")
    drawn = (tmp_path / "atlas.svg").read_text()
    assert all(f'href="catalogue/{name}.html" target="_top"' in drawn for name in ("pairwise", "timer", "ring"))
    assert (
        'href="atlas.html#loosely-stabilizing"' in drawn and 'href="atlas.html#self-stabilizing"' in drawn
    )  # the commands
    assert all(f'id="{part}-{name}"' in drawn for name in ("pairwise", "timer", "ring") for part in ("dot", "name"))
    text = atlas.page(rows, [], outside)
    page = Path(atlas.DOCS / "atlas.md").read_text(
        encoding="utf-8"
    )  # its site has pages NAME.html, to be read from a disk
    for shown in (text, page):
        assert (atlas.DOCS / re.search(r'<object id="atlas" data="([^"]+)"', shown)[1]).exists()
    assert '/"' not in "".join(re.findall(r'href="(?:catalogue|atlas)[^>]*', (atlas.DOCS / "atlas.svg").read_text()))
    has = json.loads(re.search(r"const has = (.*);", text)[1])
    assert "a ring" in has["ring"] and "a ring" not in has["timer"] and "nothing is known" in has["pairwise"]
    assert all(f"<option>{name}</option>" in text for names in has.values() for name in names)
    assert "[ring](catalogue/ring.md)" in text and text.index("## Self-stabilizing") < text.index("[ring]")
    assert "hegemon compare timer --n" in text.split("## Loosely-stabilizing")[1].split("## ")[0]
    measured = {"docs/atlas.md": {"a": 13.3, "b": 59, "c": 61}}
    monkeypatch.setattr(atlas, "known_times", lambda: measured)
    assert [atlas.how_long(one) for one in "abcd"] == ["   # about 20 s", "   # about 60 s", "   # about 2 min", ""]


def test_holding_is_exact_where_it_can_be_and_refused_elsewhere(monkeypatch):
    found = hg.compare("time-optimal", "pairwise", "referees", n=3, trials=2, workers=1)
    loose, forever, sent = found.rows
    exact = hg.verify(hg.TimeOptimal(n=3), property="holding").holding
    assert loose["holding_kind"] == "exact" and loose["holding"] == exact.from_starts.get("safe", exact.worst)
    assert forever["holding_kind"] == "forever" and forever["holding"] is None
    assert sent["holding_kind"] is None and sent["messages"] > 0
    large = hg.compare("timer", n=20, trials=1, workers=1).rows[0]
    assert large["holding"] is None and large["holding_kind"].startswith("not measured")
    assert hg.compare("timer", n=3, trials=1, workers=1, holding="none").rows[0]["holding_kind"] is None
    with pytest.raises(hg.InvalidInput, match="give one of exact, estimate, none"):
        hg.compare("timer", n=3, holding="guess")


@pytest.mark.full
def test_an_estimated_holding_time_is_near_the_exact_one(tmp_path):
    """The same size by both ways; the estimate is kept in the folder and read again."""
    protocol = hg.TimeOptimal(n=3)
    from hegemon.experiments import compared_holding

    exact = compared_holding.holding_of(protocol, "exact")["holding"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compared_holding, "MOST_CONFIGURATIONS", 1)
        first = compared_holding.holding_of(protocol, "estimate", seed=1, out=tmp_path)
        assert first == compared_holding.holding_of(protocol, "estimate", seed=1, out=tmp_path)
    if first["holding_kind"] == "estimate":
        assert first["holding_low"] / 1.3 <= exact <= first["holding_high"] * 1.3
    else:
        assert first["holding_low"] <= exact


def test_every_trial_and_moves_of_daemons(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    words = ["compare", "huang", "afek-gafni", "--n", "5", "--trials", "3", "--workers", "1", "--quiet"]
    assert main([*words, "--trials-csv", "trials.csv", "--plot", "three.pdf"]) == 0
    out = capsys.readouterr().out
    assert "moves" in out and "messages" in out
    lines = (tmp_path / "trials.csv").read_text().splitlines()
    huang = hg.compare("huang", n=5, trials=3, workers=1)
    assert len(lines) == 1 + 3 * len(hg.Huang.starts) + 3 and huang.rows[0]["moves"] > 0
    assert len(huang.each().splitlines()) == 1 + 3 * len(hg.Huang.starts)


def test_what_could_not_be_compared_is_printed(tmp_path):
    file = tmp_path / "own.py"
    file.write_text(
        'from hegemon import Pairwise, Group\n\n\nclass Own(Pairwise):\n    """Leaders that fight."""\n\n'
        '    id = "own"\n\n    def start_all_leaders(self, rng):\n        """All."""\n'
        "        if self.n == 6:\n            raise ValueError('too many')\n"
        "        return [Group(self.n, {'leader': 1})]\n"
    )
    found = hg.compare(f"{file}:Own", n=[4, 6], trials=2, workers=1)
    table, failed = str(found).splitlines()[:2], str(found).splitlines()[2:]
    assert table[1].startswith("own") and failed == [f"{file}:Own, n = 6: {found.failed[0]['error']}"]
    nothing = hg.compare(f"{file}:Own", n=6, trials=2, workers=1)
    assert not nothing.rows and str(nothing) == failed[0]
