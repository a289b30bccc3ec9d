"""What may happen next, chosen on the page, and repeated by `hegemon run`."""

import contextlib
import io
import json
import math
import shlex
from fractions import Fraction
from multiprocessing import Pipe

import pytest

import hegemon as hg
from hegemon.cli.main import main
from hegemon.errors import InvalidInput
from hegemon.process.schedulers.reading import run_names
from hegemon.protocols import CATALOGUE
from hegemon.runs.record import RunRecord
from hegemon.web.choosing import prescribed, story, successors
from hegemon.web.repeating import command_of
from hegemon.web.session import Session
from hegemon.web.simulation import Simulation
from hegemon.web.watch import Builder, Watching

from .browser import WAIT, chromium, open_page, state, until
from .same_run import codes

TWO = [{"leader": 1}, {"leader": 1}, {"leader": 0}, {"leader": 0}]


def test_what_may_follow_and_how_likely_it_is():
    rows = successors(Session(hg.Pairwise(n=4), start=TWO))["successors"]
    assert [(row["share"], row["changes"]) for row in rows][0] == ("1/6", True)  # 2 of 12 arcs
    assert sum(Fraction(row["share"]) for row in rows) == 1 and not any(row["changes"] for row in rows[1:])
    assert "responder" in rows[0]["text"] and "leader 1→0" in rows[0]["text"]


def test_the_listed_probabilities_are_those_of_the_run():
    """Against many drawn steps from the same configuration."""
    protocol = hg.QuickElimination(n=3)
    session = Session(protocol, start="random", seed=4)
    begin = session.world.engine.configuration().mappings()
    found: dict = {}
    rows = successors(session)["successors"]
    for row in rows:
        other = Session(protocol, start=begin)
        other.choose(prescribed(other, row["choose"]))
        key = tuple(sorted(codes(other)))
        found[key] = found.get(key, 0) + Fraction(row["share"])
    seen: dict = {}
    trials = 2000
    for seed in range(trials):
        run = hg.simulate(protocol, start=begin, seed=seed, until="steps:1", engine="agents")
        key = tuple(sorted(protocol.space.encode_array(run.configuration.agents).tolist()))
        seen[key] = seen.get(key, 0) + 1
    assert set(seen) <= set(found) and sum(found.values()) == 1
    for key, share in found.items():
        wide = 5 * math.sqrt(trials * share * (1 - share)) + 1
        assert abs(seen.get(key, 0) - trials * share) < wide


@pytest.mark.parametrize(
    ("protocol", "graph"), [(hg.Ring(n=6), None), (hg.QuickElimination(n=5), None), (hg.Timer(n=5, s=9), "path:5")]
)
def test_the_chosen_steps_are_a_story_that_run_repeats(protocol, graph, tmp_path):
    session = Session(protocol, graph=graph, seed=2)
    for k in range(5):
        rows = successors(session)["successors"]
        session.choose(prescribed(session, rows[min(k, len(rows) - 1)]["choose"]))
    assert session.step == 5 and session.story_end == 5
    chosen = codes(session)
    session.go_to(2)
    session.go_to(5)
    assert codes(session) == chosen  # time goes back and forth over what was chosen
    session.go_to(12)  # then the seed decides
    file = tmp_path / "story.json"
    story(session).save(file)
    assert repeated(session, file) == codes(session)
    session.go_to(5)
    assert repeated(session, file) == chosen


def repeated(session, file) -> tuple:
    words = shlex.split(command_of(session, story_file=str(file)))
    out, final = io.StringIO(), file.with_name("final.json")
    with contextlib.redirect_stdout(out):
        assert main([*words[1:], "--json", "--final", str(final)]) == 0
    states = json.loads(final.read_text())
    states = states["agents"] if isinstance(states, dict) else states
    space = session.protocol.space
    return tuple(int(space.code(space.parse(one))) for one in states)


def test_a_story_begins_where_the_choices_do_and_a_disturbance_ends_it(tmp_path):
    session = Session(hg.Pairwise(n=5), seed=1)
    session.go_to(4)
    session.choose((0, 1, 0))
    session.choose((1, 2, 0))
    assert session.story_start[0] == 4 and "--until steps:2" in command_of(session)
    told = story(session).record()
    assert told["interactions"] == [[0, 1], [1, 2]] and len(told["agents"]) == 5
    session.go_to(9)
    assert command_of(session).startswith("# story.json has the chosen steps 4 to 6")
    session.go_to(5)
    session.choose((3, 4, 0))  # another second step
    assert story(session).record()["interactions"] == [[0, 1], [3, 4]]
    session.corrupt(2)
    session.choose((0, 1, 0))
    assert session.story_start[0] == 6 and story(session).record()["interactions"] == [[0, 1]]


def test_rounds_are_chosen_whole_or_node_by_node(tmp_path):
    session = Session(hg.Herman(n=3), start="random", seed=5)
    rows = successors(session)["successors"]
    assert sum(Fraction(row["share"]) for row in rows) == 1
    session.choose(prescribed(session, rows[0]["choose"]))
    session.choose(prescribed(session, successors(session, node=1)["successors"][0]["choose"]))
    assert session.step == 2
    file = tmp_path / "story.json"
    story(session).save(file)
    assert repeated(session, file) == codes(session)
    with pytest.raises(InvalidInput, match="click a node"):
        successors(Session(hg.Herman(n=31), start="random"))


def test_under_a_daemon_every_node_that_would_change_is_listed_and_nothing_is_called_likely(tmp_path):
    session = Session(CATALOGUE["beauquier"](n=7), seed=3)
    assert session.world.engine.name == "daemon"
    for _ in range(3):
        rows = successors(session)["successors"]
        assert len(rows) > 1 and all(row["changes"] and row["probability"] is None for row in rows)
        assert all(len(row["choose"]["changes"]) == 1 for row in rows)
        session.choose(prescribed(session, rows[-1]["choose"]))
    file = tmp_path / "story.json"
    story(session).save(file)
    assert repeated(session, file) == codes(session)
    asked = Session(hg.Herman(n=3), start="random", seed=5)
    asked.record = RunRecord(asked.protocol, scheduler=next(n for n in run_names(hg.Herman) if n != "synchronous"))
    assert not any(row["probability"] for row in successors(asked)["successors"])


@pytest.mark.parametrize(
    ("session", "command"),
    [
        (Session(hg.Pairwise(n=4), graph="path:4"), {"pair": [0, 2]}),
        (Session(hg.Pairwise(n=4)), {"pair": [1, 1]}),
        (Session(hg.Pairwise(n=4)), {"pair": [0, 9]}),
        (Session(hg.Pairwise(n=4)), {"pair": [0, 1], "coin": 1}),
        (Session(hg.Pairwise(n=4)), {"pair": [0, "1"]}),
        (Session(hg.Pairwise(n=4)), {"pair": 3}),
        (Session(hg.Herman(n=3), seed=5), {"changes": [[0, 999]]}),
        (Session(hg.FloodMax(n=4, diameter=2), graph="ring:4"), {"pair": [0, 1]}),
        (Session(hg.Pairwise(n=4), engine="events"), {"pair": [0, 1]}),
    ],
)
def test_what_cannot_happen_cannot_be_chosen(session, command):
    here, there = Pipe()
    simulation = Simulation(here, session)
    simulation._take_now(1, {"do": "choose", **command})
    assert session.step == 0 and session.story_start is None
    answers = []
    while there.poll():
        answers.append(there.recv())
    assert "refused" in answers[-1][2]


def test_choices_in_a_browser(tmp_path):
    watching = Watching(Builder(RunRecord(hg.Pairwise(n=4), graph="ring:4", seed=1, start="all-leaders"))).start()
    try:
        with chromium() as browser:
            page = open_page(browser, watching.url, viewport={"width": 1280, "height": 900})
            page.click("#nextbox summary")
            page.wait_for_selector("#successors button:has-text('100 %')", timeout=WAIT)
            page.click("#successors button")
            until(page, "h.step === 1 && h.values.leaders === 3 && h.head.chosen === 1")
            page.check("#choosing")
            points = page.evaluate("window.hegemon.points()")
            box = page.locator("#canvas").bounding_box()

            def click(x, y):
                page.mouse.click(box["x"] + x, box["y"] + y)

            click(*points[2])
            page.wait_for_selector("#nexthint:has-text('agent 2 is the initiator')", timeout=WAIT)
            click(*points[3])
            until(page, "h.step === 2 && h.values.leaders === 2 && h.head.last.pair.join() === '2,3'")
            middle = [points[0][k] * 0.6 + points[1][k] * 0.4 for k in (0, 1)]  # on the arc, nearer to 0
            click(*middle)
            until(page, "h.step === 3 && h.head.last.pair.join() === '0,1'")
            click(*points[0])
            click(*points[2])
            page.wait_for_selector("#nexthint:has-text('not joined')", timeout=WAIT)
            command = state(page, "command")[0]
            with page.expect_download() as download:
                page.click("#story")
            download.value.save_as(tmp_path / "story.json")
            told = json.loads((tmp_path / "story.json").read_text())
            assert told["interactions"][1:] == [[2, 3], [0, 1]] and "--until steps:3" in command and not page.errors
            run = hg.simulate(
                hg.Pairwise(n=4), graph="ring:4", start=str(tmp_path / "story.json"), until="steps:3", seed=1
            )
            assert run.leaders == state(page, "values")[0]["leaders"]
    finally:
        watching.stop()
