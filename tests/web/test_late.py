"""A reply or a frame that comes late undoes nothing that was done on the page since."""

import json

import pytest

import hegemon as hg
from hegemon.runs.record import RunRecord
from hegemon.web.watch import Builder, Watching

from .browser import WAIT, chromium, state, until


class Delay:
    """Holds replies or frames of the server back, until `release`. It stands between a page and its socket."""

    def __init__(self, page):
        self.held, self.is_holding, self._page = [], lambda message: False, page
        page.route_web_socket("**/socket", self._stand_between)

    def _stand_between(self, socket):
        server = socket.connect_to_server()
        server.on_message(lambda message: self._pass(socket, message))

    def _pass(self, socket, message):
        if self.is_holding(message):
            self.held.append((socket, message))
        else:
            socket.send(message)

    def hold(self, what):
        self.is_holding = what

    def wait(self, count=1):
        """Until messages are held back."""
        waited = 0
        while len(self.held) < count and waited < WAIT:
            self._page.wait_for_timeout(20)
            waited += 20
        assert len(self.held) >= count

    def release(self):
        self.is_holding = lambda message: False
        for socket, message in self.held:
            socket.send(message)
        self.held = []
        self._page.evaluate("() => window.hegemon.ask({ do: 'state', agent: 0 })")  # what came before has been heard


def is_frame(message) -> bool:
    return not isinstance(message, str)


def replies_with(name):
    return lambda message: isinstance(message, str) and "answer" in (told := json.loads(message)) and name in told


@pytest.fixture(scope="module")
def browser():
    with chromium() as opened:
        yield opened


@pytest.fixture
def late(browser, monkeypatch):
    monkeypatch.setattr(Builder, "can_travel", False)  # a thread starts faster than a process
    watching = Watching(Builder(RunRecord(hg.Timer(n=4, s=20), graph="ring:4", seed=1))).start()
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.set_default_timeout(WAIT)
    errors = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    delay = Delay(page)
    page.goto(watching.url)
    until(page, "h.values")
    yield page, delay
    page.close()
    watching.stop()
    assert not errors


def test_a_late_list_does_not_clear_the_first_click(late):
    page, delay = late
    page.click("#nextbox summary")
    page.wait_for_selector("#successors button")
    delay.hold(replies_with("successors"))
    page.check("#choosing")  # asks for the list again
    delay.wait()

    def click(agent):
        x, y = page.evaluate("window.hegemon.points()")[agent]
        page.click("#canvas", position={"x": x, "y": y})

    click(2)
    page.wait_for_selector("#nexthint:has-text('agent 2 is the initiator')")
    delay.release()
    assert "agent 2 is the initiator" in page.inner_text("#nexthint")
    delay.hold(replies_with("successors"))
    click(3)
    delay.wait()
    page.evaluate("window.hegemon.relist()")  # as a frame of another moment does
    delay.wait(2)
    delay.release()
    until(page, "h.step === 1 && h.head.last.pair.join() === '2,3'")


def test_a_choice_from_a_list_that_is_out_of_date_is_refused(late):
    page, delay = late
    page.click("#nextbox summary")
    page.wait_for_selector("#successors button")
    delay.hold(replies_with("successors"))
    page.keyboard.press("ArrowRight")
    until(page, "h.step === 1")
    page.click("#successors button >> nth=0")
    page.wait_for_selector("#refused:has-text('moved on')")
    assert state(page, "step") == [1]


def test_frames_on_their_way_do_not_undo_a_setting(late):
    page, delay = late
    page.keyboard.press("Space")
    until(page, "h.playing && h.step > 0")
    delay.hold(is_frame)
    delay.wait()
    before = int(page.input_value("#speed"))
    for _ in range(2):
        page.keyboard.press("ArrowUp")
    page.check("#stopsafe")
    page.keyboard.press("Space")
    page.wait_for_selector("#play[aria-label=play]")
    delay.release()  # a frame that knows of none of this
    until(page, "!h.playing && h.head.stopsAtSafe")
    assert int(page.input_value("#speed")) == before + 2 and page.is_checked("#stopsafe")
    assert state(page, "speed") == [10 ** (before + 2)]


def test_a_field_that_is_edited_and_a_tip_that_is_left_stay_as_they_are(late):
    page, delay = late
    page.evaluate("window.hegemon.select(1)")
    page.wait_for_selector("input[data-field=timer]")
    delay.hold(replies_with("state"))
    page.keyboard.press("ArrowRight")
    delay.wait()
    page.fill("input[data-field=timer]", "3")
    delay.release()
    assert page.input_value("input[data-field=timer]") == "3"
    delay.hold(replies_with("state"))
    x, y = page.evaluate("window.hegemon.points()")[0]
    page.hover("#canvas", position={"x": x, "y": y})
    delay.wait()
    page.hover("#canvas", position={"x": 3, "y": 3})
    delay.release()
    assert page.is_hidden("#tip")


def test_what_was_written_while_a_protocol_is_offered_stays(late):
    page, delay = late
    delay.hold(replies_with("parameters"))
    page.select_option("#protocols", "pairwise")
    delay.wait()
    page.fill("#setup-n", "9")
    page.fill("#setup-graph", "path:9")
    delay.release()
    page.wait_for_selector("[data-parameter=s]", state="detached")
    assert page.input_value("#setup-n") == "9" and page.input_value("#setup-graph") == "path:9"
