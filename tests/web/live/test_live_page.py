"""A live page in a real Chromium: opened from a file, without a network."""

import contextlib
import io
import json
import re
import shlex

import numpy as np
import pytest

import hegemon as hg
from hegemon.cli.main import main
from hegemon.runs.disturbances import read_disturbances
from hegemon.runs.record import RunRecord
from hegemon.web.live.page import LivePage
from hegemon.web.session import Session
from tests.web.browser import WAIT, chromium, open_page, state, until


@pytest.fixture(scope="module")
def browser():
    with chromium() as found:
        yield found


@pytest.fixture
def open_live(browser, tmp_path):
    """Opens the page of a record from a file, offline; every request to elsewhere and every error is an error."""
    contexts = []

    def opened(record, **options):
        file = tmp_path / "lab.html"
        LivePage(record).save(file)
        context = browser.new_context(offline=True, accept_downloads=True, **options)
        contexts.append(context)
        asked = []
        context.on("request", lambda request: asked.append(request.url))
        page = open_page(context, file.as_uri())
        page.asked = asked
        page.on("console", lambda message: page.errors.append(message.text) if message.type == "error" else None)
        return page

    yield opened
    for context in contexts:
        for page in context.pages:
            assert not page.errors
            assert not [url for url in page.asked if not url.startswith(("file:", "blob:", "data:"))]
        context.close()


def session_of(record, seed) -> Session:
    options = {name: value for name, value in record.given.items() if name not in ("seed", "engine")}
    return Session(record.protocol, **options, seed=seed, engine="agents")


@pytest.mark.parametrize(
    "protocol", [hg.Pairwise(n=40), hg.TimeOptimal(n=12), hg.FischerJiang(n=12), hg.Ring(n=12), hg.Epidemic(n=200)],
    ids=lambda protocol: protocol.id,
)  # fmt: skip
def test_the_page_shows_the_run(open_live, protocol):
    """The picture, the values and the sentence of a step are those of the page that Python serves."""
    record = RunRecord(protocol, seed=1)
    page, look = (
        open_live(record),
        session_of(record, 1).world.look,
    )
    for seed in (1, 2, 3, 2**40 + 5):
        assert not page.evaluate("seed => window.hegemon.ask({do: 'start', values: {seed}})", str(seed)).get("refused")
        until(page, f"h.greeting.seed === '{seed}' && h.step === 0")
        page.evaluate("window.hegemon.ask({do: 'goto', step: 777})")
        until(page, "h.step === 777")
        session = session_of(record, seed)
        session.go_to(777)
        assert page.evaluate("Array.from(window.hegemon.picture)") == look.of_codes(session.world.engine.codes).tolist()
        head, lines = page.evaluate("[window.hegemon.head, window.hegemon.greeting.listing.length]")
        assert head["last"]["text"] == session.last["text"] and head["last"]["pair"] == list(session.last["pair"])
        assert {**head["values"]} == pytest.approx(
            {name: session.readings()["values"][name] for name in head["values"]}
        )
        assert lines


def test_play_pause_back_and_the_command(open_live):
    page = open_live(RunRecord(hg.FischerJiang(n=12), seed=3))
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    until(page, "h.step === 3 && h.head.last.pair")
    assert page.locator("#source .hit").count() > 0
    page.evaluate("() => { const s = document.getElementById('speed'); s.value = 7; s.oninput(); }")
    page.keyboard.press("Space")
    until(page, "h.playing && h.step > 5000")
    page.keyboard.press("Space")
    until(page, "!h.playing")
    step, values, command = state(page, "step", "values", "command")
    run = hg.simulate(hg.FischerJiang(n=12), seed=3, engine="agents", until=f"steps:{step}")
    assert values["leaders"] == run.leaders
    assert command == f"hegemon run fischer-jiang --n 12 --start random --until steps:{step} --seed 3 --engine agents"
    page.keyboard.press("ArrowLeft")
    until(page, f"h.step === {step - 1}")
    page.keyboard.press("n")
    until(page, "!h.head.jump")
    page.keyboard.press("Home")
    until(page, "h.step === 0")


def test_disturbances_are_repeated_by_their_file(open_live, tmp_path, monkeypatch):
    page = open_live(RunRecord(hg.TimeOptimal(n=12), seed=3, start="safe"))
    page.keyboard.press("Shift+ArrowRight")
    until(page, "h.step === 12 && h.lamps.safe")
    page.click("#kill")
    until(page, "h.values.leaders === 0 && !h.lamps.safe")
    page.fill("#victims", "4")
    page.click("#corrupt")
    until(page, "h.head.disturbances === 5")
    page.evaluate("window.hegemon.ask({do: 'step', count: 500})")
    until(page, "h.step === 512")
    monkeypatch.chdir(tmp_path)
    with page.expect_download() as download:
        page.click("#disturbances")
    download.value.save_as(tmp_path / "disturbances.json")
    picture, command, leaders = page.evaluate(
        "[Array.from(window.hegemon.picture), window.hegemon.command, window.hegemon.values.leaders]"
    )
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        assert main([*shlex.split(command)[1:], "--json"]) == 0
    trial = json.loads(out.getvalue())["trials"][0]
    assert trial["steps"] == 512 and trial["leaders"] == leaders
    faults = read_disturbances("disturbances.json")
    again = Session(hg.TimeOptimal(n=12), seed=3, start="safe", engine="agents", faults=faults)
    again.go_to(512)
    assert again.world.picture().tolist() == picture


def test_healing_is_exact(open_live):
    page = open_live(RunRecord(hg.Pairwise(n=20), seed=3))
    page.check("#stopsafe")
    page.evaluate("() => { const s = document.getElementById('speed'); s.value = 4; s.oninput(); }")
    page.click("#play")
    run = hg.simulate(hg.Pairwise(n=20), seed=3, engine="agents")
    until(page, f"!h.playing && !h.head.jump && h.step === {run.steps} && h.lamps.safe")
    healing = state(page, "healing")[0]
    assert healing == {"since": 0, "disturbed": False, "step": run.steps, "exact": True, "steps": run.steps}


def test_another_n_start_and_seed_and_what_the_page_has_not(open_live):
    page = open_live(RunRecord(hg.Pairwise(n=40), seed=3))
    page.fill("#setup-n", "5000")
    page.click("#restart")
    until(page, "h.greeting.n === 5000 && h.greeting.kind === 'raster'")
    page.fill("#setup-n", "7")
    page.click("#restart")
    page.wait_for_selector("#setuprefused:has-text('n = 7 is not on this page; choose one of 2, 3,')", timeout=WAIT)
    page.fill("#setup-n", "8")
    page.select_option("#starts", "safe")
    page.click("#restart")
    until(page, "h.greeting.n === 8 && h.greeting.places.length === 8 && h.lamps.safe")
    assert page.is_hidden("#setup-graph") and page.is_hidden("#film")
    assert "Films need Python." in page.text_content("#absent")


def test_the_places_of_another_n_are_those_of_python(open_live):
    page = open_live(RunRecord(hg.Pairwise(n=40)))
    for n in (8, 100):
        assert not page.evaluate("n => window.hegemon.ask({do: 'start', values: {n}})", str(n)).get("refused")
        until(page, f"h.greeting.n === {n}")
        told = LivePage(RunRecord(hg.Pairwise(n=n)))
        served = told._greeting(
            session_of(RunRecord(hg.Pairwise(n=n)), 0), {"sizes": {n: {"starts": {}}}, "observables": {}}
        )
        assert np.allclose(page.evaluate("window.hegemon.greeting.places"), served["places"], atol=2e-4)
        assert page.evaluate("window.hegemon.greeting.edges") == served["edges"]


def test_a_chosen_step_becomes_a_story(open_live, tmp_path, monkeypatch, capsys):
    page = open_live(RunRecord(hg.FischerJiang(n=6), seed=3))
    page.click("#nextbox summary")
    page.locator("#successors button").first.click()
    until(page, "h.step === 1 && h.head.chosen === 1")
    page.locator("#successors button").first.click()
    until(page, "h.step === 2 && h.head.chosen === 2")
    with page.expect_download() as download:
        page.click("#story")
    monkeypatch.chdir(tmp_path)
    download.value.save_as(tmp_path / "story.json")
    command, leaders = page.evaluate("[window.hegemon.command, window.hegemon.values.leaders]")
    assert "--start story.json --until steps:2" in command
    assert main([*shlex.split(command)[1:], "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["trials"][0]["leaders"] == leaders


def test_many_runs_grow_into_a_histogram(open_live):
    page = open_live(RunRecord(hg.Pairwise(n=20), seed=3))
    page.click("#manybox summary")
    page.click("#manyrun")
    until(page, "h.many && !h.many.busy && h.many.done === 1000")
    steps = page.evaluate("window.hegemon.many.steps")
    assert steps == [run.steps for run in hg.run_trials(hg.Pairwise(n=20), 1000, seed=3, engine="agents").runs]
    assert page.is_visible("#manyplot") and page.locator("#manystrip figure").count() == 12
    assert page.text_content("#manycommand").endswith("--seed 3 --engine agents --trials 1000")
    until(page, "h.step === 0")  # the run itself has not moved
    page.fill("#setup-seed", "4")
    page.click("#restart")
    until(page, "h.greeting.seed === '4'")
    assert page.is_hidden("#manyplot")


def test_sets_that_python_decides_have_no_many_runs(open_live):
    page = open_live(RunRecord(hg.Ring(n=12), seed=3))
    page.click("#manybox summary")
    page.click("#manyrun")
    page.wait_for_selector("#manytold:has-text('runs to safe need a set `safe` that is made of counts')", timeout=WAIT)


EVIL = "</script><script>window.stolen = 1</script><img src=x onerror='window.stolen = 1'><!-- </SCRIPT >"


class Attacker(hg.PopulationProtocol):
    __doc__ = f"{EVIL} `{EVIL}`"
    reference = EVIL
    class_names = {"kind=a": EVIL}

    class State:
        kind: hg.Choice("a", "b") = "a"
        leader: hg.Bit = 1

    def interact(a, b, p):
        b.leader = 0

    def label(a, p):
        return EVIL


def test_texts_of_a_protocol_are_never_code(open_live):
    page = open_live(RunRecord(Attacker(n=6)))
    page.keyboard.press("ArrowRight")
    until(page, "h.step === 1")
    page.select_option("#write", "label")
    until(page, "h.head.texts")
    assert page.evaluate("window.stolen") is None
    assert "onerror" in page.text_content("#summary")
    assert page.locator("img").count() == 0


def test_nothing_of_a_page_is_code_from_data():
    """The policy allows the two scripts of the page and a Worker made of its text, and no request."""
    text = LivePage(RunRecord(Attacker(n=6))).html()
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)[1]
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == "'none'" and "connect-src" not in rules
    allowed = rules["script-src"].split()
    assert allowed[2:] == ["'wasm-unsafe-eval'"] and all(one.startswith("'sha256-") for one in allowed[:2])
    assert not re.search(r"\beval\(|new Function|innerHTML|document\.write|https?://(?!www\.w3\.org/)", text)
    assert "stolen" not in text  # what is known of the protocol is compressed


def test_the_policy_stops_another_script(browser, tmp_path):
    """A twin: the page with one more script, which does not run."""
    file = tmp_path / "lab.html"
    file.write_text(
        LivePage(RunRecord(hg.Pairwise(n=6))).html().replace("</body>", "<script>window.stolen = 1</script></body>")
    )
    context = browser.new_context(offline=True)
    page = open_page(context, file.as_uri())
    assert page.evaluate("window.stolen") is None
    context.close()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_on_a_phone_nothing_sticks_out(open_live, theme):
    page = open_live(RunRecord(hg.TimeOptimal(n=100)), viewport={"width": 390, "height": 800}, color_scheme=theme)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert page.evaluate("document.documentElement.dataset.theme") == theme


def test_the_command_makes_a_page(tmp_path, capsys):
    assert main(["watch", "pairwise", "--n", "30", "--seed", "5", "--live", str(tmp_path / "lab.html")]) == 0
    assert "lab.html: pairwise, " in capsys.readouterr().out
    assert main(["watch", "pairwise", "--n", "9", "--live", str(tmp_path / "lab.html"), "--each"]) == 2
    assert "--live makes a page that runs by itself, without --each; leave --each out" in capsys.readouterr().err
    assert main(["watch", "pairwise", "--n", "9", "--live", str(tmp_path / "lab.png")]) == 2
    assert "a live page is saved as .html" in capsys.readouterr().err


def test_the_python_function(tmp_path):
    made = hg.live(hg.Pairwise(n=30), seed=5)
    made.save(tmp_path / "lab.html", dark=True)
    assert 'HEGEMON_THEME = "dark"' in (tmp_path / "lab.html").read_text()
    assert len((tmp_path / "lab.html").read_text()) < 400_000
