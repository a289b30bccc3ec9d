"""The controls of the page: values change the run, and nothing else does."""

import json
import shlex
import threading
from multiprocessing import Pipe
from pathlib import Path

import pytest

import hegemon as hg
from hegemon.errors import InvalidInput
from hegemon.protocols import CATALOGUE
from hegemon.runs.record import RunRecord
from hegemon.web import making
from hegemon.web.session import Session
from hegemon.web.setup import changed, choices, offered, shown
from hegemon.web.simulation import Simulation
from hegemon.web.watch import Builder, Watching
from tests.patience import PATIENCE
from tests.web.same_run import finish

from .browser import WAIT, chromium, open_page, state, until

RECORD = RunRecord(hg.Timer(n=10, s=20), seed=3, start="safe")


def test_what_the_page_shows_unchanged_is_the_same_record():
    mine = RunRecord(hg.Ring(n=8), graph="directed-ring:8", start=[{}] * 8, engine="agents", seed=2)
    for record in (RECORD, mine, RunRecord(hg.FloodMax(n=9, diameter=4), graph="grid:3x3"), RunRecord(hg.Herman(n=9))):
        for again in (changed(record, shown(record)), changed(record, {})):
            assert {name: repr(value) for name, value in vars(again).items()} == {
                name: repr(value) for name, value in vars(record).items()
            }


@pytest.mark.parametrize(
    ("given", "command"),
    [
        ({"n": "1e2"}, "hegemon run timer --n 100 --set s=20 --start safe --seed 3"),
        ({"parameters": {"s": "2*n"}}, "hegemon run timer --n 10 --set s=20 --start safe --seed 3"),
        ({"parameters": {"s": ""}}, "hegemon run timer --n 10 --start safe --seed 3"),
        ({"graph": "ring:12"}, "hegemon run timer --n 12 --set s=20 --graph ring:12 --start safe --seed 3"),
        ({"graph": "ring", "seed": "7"}, "hegemon run timer --n 10 --set s=20 --graph ring --start safe --seed 7"),
        ({"start": "random", "engine": "events"},
         "hegemon run timer --n 10 --set s=20 --start random --seed 3 --engine events"),
        ({"scheduler": "uniform"}, "hegemon run timer --n 10 --set s=20 --start safe --seed 3"),
        ({"protocol": "herman", "n": "9"}, "hegemon run herman --n 9 --seed 3"),
        ({"protocol": "flood-max", "n": "9", "graph": "grid:3x3", "parameters": {"diameter": "4"}, "wake": "all"},
         "hegemon run flood-max --n 9 --set diameter=4 --graph grid:3x3 --seed 3"),
    ],
)  # fmt: skip
def test_values_make_the_record_that_the_command_line_makes(given, command):
    assert changed(RECORD, given).command() == command


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"n": "many"}, "n = many"), ({"n": "1"}, "n = 1"), ({"n": "-5"}, "n = -5"),
        ({"n": ""}, "n ="), ({"n": 7}, "n must be text"),
        ({"parameters": {"s": "0"}}, "s = 0"), ({"parameters": {"t": "1"}}, "no parameter 't'"),
        ({"parameters": {"s": "__import__('os')"}}, "s ="),
        ({"graph": "circle:9"}, "circle:9"), ({"graph": "/etc/passwd"}, "not files"),
        ({"graph": "grid:3y3"}, "grid:3y3"),
        ({"graph": "ring:12", "n": "11"}, "12 nodes"),
        ({"start": "here"}, "no start 'here'"), ({"start": "secret.json"}, "no start 'secret.json'"),
        ({"engine": "warp"}, "no engine 'warp'"), ({"engine": "rounds"}, "no engine 'rounds'"),
        ({"scheduler": "nobody"}, "no scheduler 'nobody'"), ({"scheduler": "weighted:rates.json"}, "not files"),
        ({"scheduler": "weighted:/etc/passwd"}, "not files"), ({"scheduler": "function:os"}, "code"),
        ({"wake": "random"}, "no wake"), ({"seed": "x"}, "seed = x"), ({"protocol": "rong"}, "did you mean ring"),
        ({"protocol": "mine.py:Mine"}, "mine.py"), ({"max_steps": "3"}, "max_steps"), ({"n": "1" * 300}, "characters"),
        ({"graph": "ring:2000000", "engine": "agents"}, "too large"),
    ],
)  # fmt: skip
def test_a_bad_value_is_one_sentence(given, says):
    with pytest.raises(InvalidInput) as refused:
        Session(**vars(changed(RECORD, given)))
    assert says in str(refused.value) and "\n" not in str(refused.value) and len(str(refused.value)) < 400


def test_no_file_is_read_that_a_page_names(tmp_path, monkeypatch):
    """Not even one that is there and fits."""
    monkeypatch.chdir(tmp_path)
    Path("rates").write_text("0 1\n")
    Path("start.json").write_text(json.dumps([{"leader": 1}] * 10))
    for given in ({"graph": "rates"}, {"start": "start.json"}, {"scheduler": "weighted:rates"}):
        with pytest.raises(InvalidInput):
            changed(RECORD, given)
    kept = RunRecord(hg.Pairwise(n=10), start="start.json")  # named on the command line
    assert changed(kept, {**shown(kept), "seed": "5"}).start == "start.json"
    with pytest.raises(InvalidInput, match="no start"):
        changed(kept, {"protocol": "timer", "start": "start.json"})


class Louder(hg.Pairwise):
    """A protocol of this very file."""


def test_the_protocols_of_the_file_that_was_opened_and_the_catalogue_are_offered():
    assert {"louder", "pairwise"} <= set(offered(Louder)) and "louder" not in offered(hg.Pairwise)
    assert type(changed(RunRecord(Louder(n=4)), {"protocol": "pairwise"}).protocol) is hg.Pairwise
    assert type(changed(RunRecord(Louder(n=4)), {"n": "5"}).protocol) is Louder
    with pytest.raises(InvalidInput, match="louder"):
        changed(RECORD, {"protocol": "louder"})


@pytest.mark.parametrize("name", CATALOGUE)
def test_every_protocol_of_the_catalogue_says_what_its_controls_offer(name):
    found = choices(CATALOGUE[name])
    assert json.loads(json.dumps(found))["protocol"] == name and found["engines"][0] == "auto"
    assert all(one["default"] != "None" for one in found["parameters"])


def test_a_refused_change_leaves_the_run_as_it_was():
    here, there = Pipe()
    simulation = Simulation(here, Session(hg.Pairwise(n=6), seed=1))
    before = simulation.session
    before.go_to(3)
    simulation._take_now(2, {"do": "start", "values": {"n": "0"}})
    assert simulation.session is before and before.step == 3
    simulation._take_now(3, {"do": "start", "values": {"n": "7", "protocol": "timer", "parameters": {"s": "9"}}})
    finish(simulation)
    assert simulation.session.protocol.n == 7 and simulation.session.branch > before.branch
    there.close()


def test_a_page_is_answered_while_another_run_is_made(monkeypatch):
    """A dense graph of 20,000 nodes takes 14 seconds; here it takes until the test allows it."""
    here, there = Pipe()
    before = Session(hg.Pairwise(n=6), seed=1)
    simulation = Simulation(here, before)
    allowed = threading.Event()

    def slow(**options):
        assert allowed.wait(PATIENCE)
        return Session(**options)

    monkeypatch.setattr(making, "Session", slow)

    def reply(number, command):
        simulation._take(number, json.dumps(command))
        while there.poll():
            if (message := there.recv())[:2] == ("answer", number):
                return message[2]
        return None

    larger = {"do": "start", "values": {"n": "7"}}
    assert reply(1, larger) is None and simulation._frame()[0]["making"]
    assert reply(2, {"do": "state", "agent": 5})["agent"] == 5
    assert reply(3, {"do": "pause"}) == {} and not simulation._frame()[0]["making"]
    assert "given up" in reply(4, larger)["refused"] and simulation.session is before
    allowed.set()
    simulation._maker._thread.join(PATIENCE)
    assert reply(5, larger) in (None, {})
    finish(simulation)
    assert simulation.session.protocol.n == 7


def test_the_controls_in_a_browser():
    watching = Watching(Builder(RunRecord(hg.Pairwise(n=6), seed=1))).start()
    try:
        with chromium() as browser:
            page = open_page(browser, watching.url, viewport={"width": 1280, "height": 900})
            page.fill("#setup-n", "20")
            page.select_option("#protocols", "timer")
            page.wait_for_selector("input[data-parameter=s]", timeout=WAIT)
            page.fill("input[data-parameter=s]", "0")
            page.click("#restart")
            page.wait_for_selector("#setuprefused:has-text('s = 0')", timeout=WAIT)
            assert state(page, "greeting")[0]["protocol"] == "pairwise"
            page.fill("input[data-parameter=s]", "30")
            page.fill("#setup-graph", "ring:20")
            page.select_option("#starts", "safe")
            page.select_option("#setup-engine", "agents")
            page.press("#setup-seed", "Enter")
            until(page, "h.greeting.protocol === 'timer' && h.step === 0 && h.values")
            page.evaluate("document.getElementById('round').click()")
            until(page, "h.step === 20")
            command, values = state(page, "command", "values")
            made = "hegemon run timer --n 20 --set s=30 --graph ring:20 --start safe"
            assert command == f"{made} --until steps:20 --seed 1 --engine agents"
            assert page.inner_text("#command") == command and page.inner_text("#setuprefused") == ""
            same = hg.simulate(
                hg.Timer(n=20, s=30), graph="ring:20", start="safe", seed=1, engine="agents", until="steps:20"
            )
            assert values["leaders"] == same.leaders and shlex.split(command)[2] == "timer"
            assert page.input_value("#setup-graph") == "ring:20" and page.input_value("#starts") == "safe"
            page.select_option("#protocols", "herman")
            page.wait_for_selector("[data-parameter=s]", state="detached", timeout=WAIT)
            page.fill("#setup-n", "9")
            page.click("#restart")
            until(page, "h.greeting.protocol === 'herman' && h.greeting.n === 9 && h.values")
            assert page.is_hidden("#kill") and not page.errors
    finally:
        watching.stop()
