"""The page in a real Chromium: the state that it exposes agrees with `hegemon run` at the same seed."""

import json
import shlex
from itertools import pairwise

import pytest

import hegemon as hg
from hegemon.runs.disturbances import parse_fault, read_disturbances
from hegemon.runs.record import RunRecord
from hegemon.web.film import film_page, shoot
from hegemon.web.session import Session
from hegemon.web.watch import Builder, Watching

from .browser import WAIT, chromium, open_page, state, until

N, SEED = 12, 3


def run(step: int, faults=(), start=None):
    return hg.simulate(
        hg.FischerJiang(n=N), seed=SEED, engine="agents", until=f"steps:{step}", faults=faults, start=start
    )


@pytest.fixture(scope="module")
def browser():
    with chromium() as found:
        yield found


@pytest.fixture(autouse=True)
def cheap(browser, monkeypatch):
    """A page that stays open goes on drawing. A run of one test is a thread, as for protocols that no other process
    can import; the run that many tests share (`watching`) is a process, as are those of test_server.py."""
    monkeypatch.setattr(Builder, "can_travel", False)
    yield
    for context in browser.contexts:
        context.close()


@pytest.fixture(scope="module")
def watching():
    page = Watching(Builder(RunRecord(hg.FischerJiang(n=N), seed=SEED))).start()
    yield page
    page.stop()


@pytest.fixture
def page(browser, watching):
    page = open_page(browser, watching.url, viewport={"width": 1280, "height": 860})
    before = page.evaluate("window.hegemon.head.branch")
    page.evaluate("document.getElementById('restart').click()")
    until(page, f"h.head.branch > {before} && h.step === 0 && !h.playing && h.head.disturbances === 0 && h.values")
    yield page
    assert not page.errors
    page.close()


def test_step_back_and_round(page):
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    until(page, "h.step === 3 && h.head.last.pair")
    assert state(page, "values")[0]["leaders"] == run(3).leaders
    marked = page.locator("#source .hit").count()
    assert marked > 0
    page.keyboard.press("Shift+ArrowRight")
    until(page, f"h.step === {3 + N}")
    assert state(page, "values")[0]["leaders"] == run(3 + N).leaders
    page.keyboard.press("ArrowLeft")
    until(page, f"h.step === {2 + N}")
    page.keyboard.press("Home")
    until(page, "h.step === 0")
    assert state(page, "values")[0]["leaders"] == run(0).leaders


def test_play_and_pause(page):
    page.evaluate("() => { const s = document.getElementById('speed'); s.value = 4; s.oninput(); }")
    until(page, "h.speed === 10000")
    page.keyboard.press("Space")
    until(page, "h.playing && h.step > 500")
    page.keyboard.press("Space")
    until(page, "!h.playing")
    step, values, command = state(page, "step", "values", "command")
    assert values["leaders"] == run(step).leaders
    assert command.endswith(f"--until steps:{step} --seed {SEED} --engine agents")
    page.wait_for_selector(f"#step:text-is('{step:,}')", timeout=WAIT)


def test_disturb_and_heal(browser):
    timer = hg.Timer(n=10, s=20)
    watching = Watching(Builder(RunRecord(timer, seed=SEED, start="safe"))).start()
    try:
        page = open_page(browser, watching.url)
        page.keyboard.press("Shift+ArrowRight")
        until(page, "h.step === 10 && h.lamps.safe")
        page.click("#kill")
        until(page, "h.values.leaders === 0 && !h.lamps.safe")
        page.evaluate("window.hegemon.select(5)")
        page.wait_for_selector("input[data-field=timer]", timeout=WAIT)
        page.fill("input[data-field=timer]", "3")
        page.press("input[data-field=timer]", "Tab")
        until(page, "h.head.disturbances === 2")
        assert "not yet safe" in page.inner_text("#healing")
        page.evaluate("() => { const s = document.getElementById('speed'); s.value = 7; s.oninput(); }")
        page.click("#play")
        until(page, "h.healing && h.healing.steps !== undefined")
        healing = state(page, "healing")[0]
        with page.expect_download() as download:
            page.click("#disturbances")
        faults = read_disturbances(download.value.path())
        healed = hg.simulate(timer, seed=SEED, start="safe", engine="agents", faults=faults)
        assert healing["exact"] and healing["steps"] == healed.measures["recovery_steps"] > 0
        page.wait_for_selector("#healing:has-text('healed after')", timeout=WAIT)  # told a few times a second
        assert not page.errors
    finally:
        watching.stop()


def test_space_plays_also_after_a_click_on_a_button(browser):
    watching = Watching(Builder(RunRecord(hg.Timer(n=10, s=20), seed=SEED, start="safe"))).start()
    try:
        page = open_page(browser, watching.url)
        page.click("#kill")
        until(page, "h.head.disturbances === 1")
        page.keyboard.press("Space")
        until(page, "h.playing && h.step > 0")
        assert state(page, "head")[0]["disturbances"] == 1
        page.keyboard.press("Space")
        until(page, "!h.playing")
        page.focus("#forward")  # who comes by keyboard presses what has the focus
        stood = state(page, "step")[0]
        page.keyboard.press("Space")
        until(page, f"h.step === {stood + 1} && !h.playing")
        assert not page.errors
    finally:
        watching.stop()


def test_it_stops_at_the_first_safe_step_and_goes_on_when_told(browser):
    timer = hg.Timer(n=10, s=20)
    watching = Watching(Builder(RunRecord(timer, seed=SEED))).start()
    try:
        page = open_page(browser, watching.url)
        page.click("#stopsafe")
        until(page, "h.head.stopsAtSafe")
        page.evaluate("() => { const s = document.getElementById('speed'); s.value = 7; s.oninput(); }")
        page.keyboard.press("Space")
        until(page, "h.step > 0 && !h.playing && !h.head.jump && h.lamps.safe")
        entry = hg.simulate(timer, seed=SEED, engine="agents").steps
        assert state(page, "step")[0] == entry
        page.keyboard.press("Space")  # it is safe already: nothing to stop at
        until(page, f"h.playing && h.step > {entry + 1000}")
        assert not page.errors
    finally:
        watching.stop()


def test_curves_end_where_the_run_was_stopped_and_show_the_way(browser):
    """At the highest speed the first reading is far beyond the step at which the run stops."""
    watching = Watching(Builder(RunRecord(hg.Ring(n=8), seed=3))).start()
    try:
        page = open_page(browser, watching.url, viewport={"width": 1280, "height": 860})
        page.evaluate("() => { const s = document.getElementById('speed'); s.value = 7; s.oninput(); }")
        page.click("#stopsafe")
        page.keyboard.press("Space")
        until(page, "h.step > 0 && !h.playing && !h.head.jump && h.head.readAt === h.step && h.lamps.safe")
        entry = hg.simulate(hg.Ring(n=8), seed=3, engine="agents").steps
        page.wait_for_selector(f"#curveaxis:has-text('{entry} steps')")
        history = page.evaluate("window.hegemon.history()")
        assert history[0] == 0 and history[-1] == entry and len(history) > 20
        page.click("#nextbox summary")
        page.wait_for_selector("#successors button")
        for width in (1280, 390):
            page.set_viewport_size({"width": width, "height": 860})
            rows = "[...document.querySelectorAll('#successors button')]"
            assert page.evaluate(f"{rows}.every((row) => row.scrollHeight <= row.clientHeight + 1)")
        assert not page.errors
    finally:
        watching.stop()


def test_all_leaders_are_killed_or_the_one_that_was_clicked(browser):
    watching = Watching(Builder(RunRecord(hg.Pairwise(n=3), seed=1))).start()
    try:
        page = open_page(browser, watching.url, viewport={"width": 390, "height": 844})
        page.wait_for_selector("#kill:has-text('kill all leaders (3)')")
        below = "document.getElementById('kill').getBoundingClientRect().top"
        below += " - document.getElementById('stage').getBoundingClientRect().bottom"
        assert page.evaluate(below) < 400
        page.evaluate("window.hegemon.select(1)")
        page.click("#killone")
        until(page, "h.values.leaders === 2")
        page.wait_for_selector("#kill:has-text('kill all leaders (2)')")
        page.click("#kill")
        until(page, "h.values.leaders === 0")
        page.wait_for_selector("#kill:disabled:has-text('no leader to kill')")
        assert not page.errors
    finally:
        watching.stop()


def test_a_set_that_was_left_is_told_without_a_loss_that_did_not_happen(browser):
    watching = Watching(Builder(RunRecord(hg.Timer(n=4, s=2), seed=1, start="safe"))).start()
    try:
        page = open_page(browser, watching.url)
        for _ in range(40):
            page.keyboard.press("ArrowRight")
            until(page, "h.head.readAt === h.step && h.step > 0")
            if not state(page, "lamps")[0]["safe"]:
                break
        page.wait_for_selector("#healing:has-text('now outside safe; there')")
        assert "no longer" not in page.inner_text("#healing")
    finally:
        watching.stop()


def test_a_far_jump_is_shown_and_the_pause_button_stops_it(page):
    page.evaluate("""() => { const other = new WebSocket(new URL("socket", location.href.replace("http", "ws")));
        other.onopen = () => other.send(JSON.stringify({ do: "goto", step: 1e12 })); }""")
    until(page, "h.head.jump && h.step > 1000")
    page.wait_for_selector("#happened:has-text('on the way to step 1,000,000,000,000')")
    page.click("#play[aria-label=pause]")
    until(page, "!h.head.jump && !h.playing && h.head.note.includes('stopped on the way')")


def test_help(page):
    page.keyboard.press("?")
    page.wait_for_selector("#help[open]")
    page.keyboard.press("ArrowRight")  # the sheet has the keys
    page.keyboard.press("Escape")
    page.wait_for_selector("#help:not([open])", state="hidden")
    page.keyboard.press("ArrowRight")
    until(page, "h.step === 1")
    page.click("#helper")
    page.click("#helpclose")
    assert page.is_hidden("#help") and state(page, "step") == [1]


def test_the_first_visit_is_introduced_and_the_second_is_not(browser, watching):
    context = browser.new_context()
    page = open_page(context, watching.url)
    assert "1 of 3" in page.inner_text("#introtext")
    page.click("#intronext")
    assert "2 of 3" in page.inner_text("#introtext")
    page.click("#introclose")
    assert page.is_hidden("#intro")
    again = open_page(context, watching.url)
    assert again.is_hidden("#intro") and not page.errors and not again.errors
    context.close()


def test_what_a_protocol_does_not_have_is_not_offered(browser, page):
    assert page.is_visible("#kill") and page.is_visible("#change") and page.is_visible("#safebox")
    watching = Watching(Builder(RunRecord(hg.Herman(n=9), seed=SEED))).start()
    try:
        other = open_page(browser, watching.url)
        assert other.is_hidden("#kill") and other.is_hidden("#change") and other.is_visible("#corrupt")
        other.close()
    finally:
        watching.stop()


def test_buttons_have_words_and_the_help_tells_of_the_protocol(page):
    words = ["start", "back", "play", "step", "round", "change"]
    assert page.locator("#buttons span").all_inner_texts() == words
    assert page.inner_text("#helper").split() == ["?", "help"]
    page.keyboard.press("?")
    told = page.inner_text("#help")
    assert hg.FischerJiang.summary() in told and hg.FischerJiang.summary() in page.inner_text("#summary")
    assert all(name in told and chosen.doc in told for name, chosen in hg.FischerJiang(n=N).sets.items())
    page.click("#helpclose")


def test_texts_on_agents(page):
    before = page.evaluate("document.getElementById('canvas').toDataURL()")
    page.select_option("#write", "bullet")
    until(page, f"h.head.texts && h.head.texts.length === {N}")
    bullets = [str(a["bullet"]) for a in run(0).configuration.agents]
    assert state(page, "head")[0]["texts"] == bullets
    assert page.evaluate("document.getElementById('canvas').toDataURL()") != before
    assert page.evaluate("window.hegemon.svg()").count("<text") == N
    page.select_option("#write", "")
    until(page, "!h.head.texts")


def test_rates_are_a_control_and_the_run_is_that_of_the_command(browser):
    timer = hg.Timer(n=10, s=20)
    watching = Watching(Builder(RunRecord(timer, seed=SEED))).start()
    try:
        page = open_page(browser, watching.url)
        page.fill("#setup-rates", "corrupt=1/20")
        page.click("#restart")
        until(page, "h.greeting.hasEvents && h.step === 0")
        for _ in range(12):
            page.keyboard.press("Shift+ArrowRight")
        until(page, "h.step === 120 && h.head.events && h.head.readAt === 120")
        same = hg.simulate(timer, seed=SEED, engine="agents", rates=["corrupt=1/20"], until="steps:120")
        head = state(page, "head")[0]
        assert head["values"]["leaders"] == same.leaders and head["events"] == {"events": same.measures["events"]}
        assert head["events"]["events"] > 0 and "--rate corrupt=1/20" in page.inner_text("#command")
        assert f"{head['events']['events']} event" in page.inner_text("#healing")
        assert page.is_hidden("#disturbing") and page.is_hidden("#nextbox") and page.is_hidden("#safebox")
        page.fill("#setup-rates", "corrupt=2")
        page.click("#restart")
        page.wait_for_selector("#setuprefused:has-text('out of range')")
        assert not page.errors
    finally:
        watching.stop()


def test_bursts_on_the_page_are_those_of_the_command(browser):
    given = "step=0,leave=6; step=15,join=4,leader=1"
    watching = Watching(Builder(RunRecord(hg.Pairwise(n=10), seed=SEED))).start()
    try:
        page = open_page(browser, watching.url)
        page.fill("#setup-faults", given)
        page.click("#restart")
        until(page, "h.greeting.setup.faults && h.step === 0 && h.head.agents === 4")
        page.keyboard.press("Shift+ArrowRight")
        page.keyboard.press("Shift+ArrowRight")
        until(page, "h.step === 20 && h.head.readAt === 20")
        words = shlex.split(page.inner_text("#command"))
        faults = [parse_fault(word) for before, word in pairwise(words) if before == "--fault"]
        same = hg.simulate(hg.Pairwise(n=10), seed=SEED, engine="agents", faults=faults, until="steps:20")
        head = state(page, "head")[0]
        assert head["values"]["leaders"] == same.leaders and head["agents"] == same.measures["agents"] == 8
        assert len(faults) == 2 and "8 agents" in page.inner_text("#healing") and not page.errors
    finally:
        watching.stop()


def test_next_change_and_every_start(page):
    before = state(page, "values")[0]["leaders"]
    page.keyboard.press("n")
    until(page, "h.step > 0 && h.head.last.changed")
    step, values = state(page, "step", "values")
    assert values["leaders"] == run(step).leaders != run(step - 1).leaders == before
    page.select_option("#starts", "all-leaders")
    page.click("#restart")
    until(page, "h.step === 0 && h.head.start === 'all-leaders'")
    assert state(page, "values")[0]["leaders"] == N
    page.select_option("#starts", "random")


def test_a_refusal_is_one_sentence_and_changes_nothing(page):
    page.fill("#victims", "99")
    page.click("#corrupt")
    until(page, "h.refused")
    assert "out of range" in page.inner_text("#refused")
    assert state(page, "step")[0] == 0
    page.fill("#victims", "1")


def test_two_tabs_see_one_run(page, browser, watching):
    page.keyboard.press("ArrowRight")
    until(page, "h.step === 1")
    other = open_page(browser, watching.url)
    until(other, "h.step === 1")
    assert other.evaluate("window.hegemon.history()") == [0, 1]  # the curves of before it came
    page.keyboard.press("Shift+ArrowRight")
    until(page, f"h.step === {N + 1}")
    until(other, f"h.step === {N + 1}")
    other.close()


def test_a_dropped_configuration(page):
    states = [{"leader": 1, "bullet": 0, "shield": 1}] * 2 + [{"leader": 0, "bullet": 0, "shield": 0}] * (N - 2)
    page.evaluate(
        """text => {
        const data = new DataTransfer();
        data.items.add(new File([text], "mine.json"));
        document.getElementById("stage").dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true }));
    }""",
        json.dumps(states),
    )
    until(page, "h.step === 0 && h.values.leaders === 2 && h.head.start === 'mine.json'")


def test_pictures_and_film(page, browser, tmp_path):
    for _ in range(4):
        page.keyboard.press("ArrowRight")
    until(page, "h.step === 4")
    svg = page.evaluate("window.hegemon.svg()")
    assert svg.startswith("<svg") and svg.count("<circle") >= N
    with page.expect_download() as download:
        page.click("#film")
    film = tmp_path / "film.html"
    download.value.save_as(film)
    play_film(browser, film, last=4)


def play_film(browser, file, last: int) -> None:
    """Offline, from the file alone, to its end."""
    context = browser.new_context(offline=True)
    page = context.new_page()
    errors = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(file.as_uri())
    until(page, f"h.film && h.step === {last} && !h.playing")
    page.keyboard.press("Home")
    until(page, "h.step === 0")
    page.keyboard.press("ArrowRight")
    until(page, "h.head.index === 1")
    assert not errors
    context.close()


def test_the_pace_of_a_film_can_be_changed(browser, tmp_path):
    (tmp_path / "film.html").write_text(film_page(shoot(Session(hg.FischerJiang(n=N), seed=SEED), until="steps:4")))
    page = open_page(browser, (tmp_path / "film.html").as_uri())
    assert page.inner_text("#speedtext") == "×1" and page.is_hidden("#safebox")
    page.keyboard.press("ArrowUp")
    until(page, "h.speed === 100")
    assert page.inner_text("#speedtext") == "×10" and not page.errors


def test_a_dark_film_is_dark_wherever_it_is_opened(browser, tmp_path):
    film = shoot(Session(hg.FischerJiang(n=N), seed=SEED), until="steps:4")
    for dark, theme in ((True, "dark"), (None, "light")):
        (tmp_path / "film.html").write_text(film_page(film, dark))
        page = browser.new_page(color_scheme="light")
        page.goto((tmp_path / "film.html").as_uri())
        until(page, "h.film")
        assert page.evaluate("document.documentElement.dataset.theme") == theme
        page.close()


def test_a_film_made_without_a_browser(browser, tmp_path):
    session = Session(hg.FischerJiang(n=N), seed=SEED)
    film = shoot(session, until="steps:9")  # it plays four a second
    (tmp_path / "film.html").write_text(film_page(film))
    assert (tmp_path / "film.html").stat().st_size < 300_000
    assert [head["values"]["leaders"] for head in film["heads"]][-1] == run(9).leaders
    play_film(browser, tmp_path / "film.html", last=9)


def test_messages_travel_on_their_edges(browser):
    watching = Watching(Builder(RunRecord(hg.FloodMax(n=9, diameter=4), graph="grid:3x3", seed=1))).start()
    try:
        page = open_page(browser, watching.url)
        page.keyboard.press("ArrowRight")
        until(page, "h.step === 1 && h.head.messages.length > 0")
        expected = hg.simulate(hg.FloodMax(n=9, diameter=4), graph="grid:3x3", seed=1, engine="nodes", max_steps=1)
        assert state(page, "values")[0]["messages"] == expected.measures["messages"]
        assert page.is_hidden("#disturbing") and "decides once" in page.inner_text("#undisturbed") and not page.errors
    finally:
        watching.stop()


def test_bands_of_counts_beyond_a_million(browser):
    watching = Watching(Builder(RunRecord(hg.Pairwise(n=10**9), seed=2))).start()
    try:
        page = open_page(browser, watching.url)
        page.keyboard.press("Shift+ArrowRight")
        until(page, f"h.step === {10**9}")
        expected = hg.simulate(hg.Pairwise(n=10**9), seed=2, engine="batch", until=f"steps:{10**9}")
        assert state(page, "values")[0]["leaders"] == expected.leaders
        assert f"{expected.leaders:,}" in page.inner_text("#legend") and not page.errors
        assert page.inner_text("#bandlast") == "1,000,000,000 steps = 1 parallel time"
        assert page.inner_text("#curveaxis span:last-child") == "1,000,000,000 steps"
        assert page.inner_text(".curve .scale").split() == ["1,000,000,000", f"{expected.leaders:,}"]
    finally:
        watching.stop()


PARTED = """async () => {
  const vector = await new Promise((resolve) => {
    const image = new Image();
    image.onload = () => resolve(image);
    image.src = "data:image/svg+xml;base64," + btoa(window.hegemon.svg());
  });
  const shown = document.getElementById("canvas");
  const pixels = [vector, shown].map((source) => {
    const canvas = new OffscreenCanvas(shown.width, shown.height);
    const context = canvas.getContext("2d");
    context.drawImage(source, 0, 0, shown.width, shown.height);
    return context.getImageData(0, 0, shown.width, shown.height).data;
  });
  let parted = 0;
  for (let k = 0; k < pixels[0].length; k += 4) {
    parted += [0, 1, 2].some((c) => Math.abs(pixels[0][k + c] - pixels[1][k + c]) > 90);
  }
  return parted / (pixels[0].length / 4);
}"""


@pytest.mark.full
@pytest.mark.parametrize("n", [400, 3600])
def test_many_agents_are_drawn_pixel_by_pixel_as_the_pens_draw_them(browser, n):
    """The picture on the screen against the SVG of the same moment, and against that of another one."""
    watching = Watching(Builder(RunRecord(hg.FischerJiang(n=n), seed=SEED, start="all-leaders"))).start()
    try:
        page = open_page(browser, watching.url)
        until(page, "h.step === 0 && h.values")
        same = page.evaluate(PARTED)
        page.evaluate("() => { const kept = window.hegemon.svg(); window.hegemon.svg = () => kept; }")
        page.evaluate("() => { for (let k = 0; k < 8; k++) document.getElementById('round').click(); }")
        until(page, f"h.step === {8 * n}")
        assert page.evaluate(PARTED) > max(0.002, 5 * same)
        assert not page.errors
    finally:
        watching.stop()


def test_two_frames_are_on_their_way_at_most(page):
    """A page that does not come to drawing asks for one frame ahead, and the latest of what came is drawn."""
    asked, drawn = page.evaluate(
        """async () => {
        const { Live } = await import("./sources.js");
        const [asked, drawn, real] = [[], [], window.WebSocket];
        window.WebSocket = class { readyState = 1; send(text) { asked.push(text); } };
        const live = new Live({ frame: (head) => drawn.push(head.step) });
        window.WebSocket = real;
        const frame = (step) => {
          const text = new TextEncoder().encode(JSON.stringify({ step }).padEnd(16));
          const bytes = new Uint8Array(20);
          new DataView(bytes.buffer).setUint32(0, 16, true);
          bytes.set(text, 4);
          return bytes.buffer;
        };
        live.receive(frame(1));
        live.receive(frame(2));
        const early = asked.length;
        await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
        return [[early, asked.length], drawn];
    }"""
    )
    assert asked == [1, 2] and drawn == [2]


@pytest.mark.parametrize("width", [390, 800, 1280])
def test_many_parameters_leave_room_for_the_summary(browser, width):
    watching = Watching(Builder(RunRecord(hg.TimeOptimal(n=20), seed=1))).start()
    try:
        page = open_page(browser, watching.url, viewport={"width": width, "height": 800})
        facts, summary, helper = (page.locator(name).bounding_box() for name in ("#facts", "#summary", "#helper"))
        assert summary["height"] < 100 and summary["width"] > 0.8 * width and summary["y"] >= facts["y"]
        assert facts["x"] + facts["width"] <= helper["x"] or facts["y"] >= helper["y"] + helper["height"] / 2
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth") and not page.errors
        page.close()
    finally:
        watching.stop()


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_it_fits_a_desk_and_a_phone(browser, watching, width, scheme):
    page = open_page(browser, watching.url, viewport={"width": width, "height": 800}, color_scheme=scheme)
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert page.evaluate("document.documentElement.dataset.theme") == scheme
    texts = "[...document.querySelectorAll('#command, #summary, #facts')]"
    assert page.evaluate(f"{texts}.every((element) => element.scrollWidth <= element.clientWidth)")
    boxes = [page.locator(name).bounding_box() for name in ("#stage", "#lampbox")]
    assert all(box["y"] >= 0 and box["y"] + box["height"] <= 800 for box in boxes)  # seen without scrolling
    page.close()
