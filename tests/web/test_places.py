"""Agents that walk on a torus are drawn where the scheduler remembers them, forwards and backwards."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import hegemon as hg
from hegemon.compute.randomness import KERNEL, stream
from hegemon.engines.population.agents import Agents
from hegemon.process.schedulers.changing import Moving
from hegemon.process.stopping import never
from hegemon.runs.record import RunRecord
from hegemon.runs.setting import initial_configuration, topology_for
from hegemon.web.film import shoot_moments
from hegemon.web.frames import frame, greeting
from hegemon.web.painting import TOP, Painter
from hegemon.web.session import Session
from hegemon.web.stills import still
from hegemon.web.watch import Builder, Watching
from hegemon.web.worlds import AgentWorld

from .browser import chromium, open_page, until
from .test_stills import Noting

PROTOCOL = hg.Threshold(n=14, k=3)
SIZES = [(5, 4), (9, 3), (40, 40)]


def walked(size, seed: int, step: int) -> list[int]:
    """The places of the agents of an unwatched engine after these steps: column, row, column, row …"""
    scheduler, topology = Moving(*size), topology_for(PROTOCOL)
    start = initial_configuration(PROTOCOL, None, seed, 0)
    engine = Agents(PROTOCOL, topology, start, never("never"), stream(seed, 0, KERNEL), scheduler=scheduler)
    while engine.step < step:
        engine.advance(step)
    return scheduler.places(engine.remembered, PROTOCOL.n).ravel().tolist()


def watched(size, seed: int) -> Session:
    return Session(PROTOCOL, seed=seed, scheduler=f"moving:{size[0]}x{size[1]}")


def strayed(size, seed: int, targets) -> bool:
    """Whether a frame ever showed another place than the run's."""
    session = watched(size, seed)
    session.advance(max(targets, default=0) // 2)
    session._keep()  # so that going back begins in the middle, too
    for target in targets:
        session.go_to(target)
        if frame(session)[0]["places"] != walked(size, seed, target):
            return True
    return False


@given(st.sampled_from(SIZES), st.integers(0, 99), st.lists(st.integers(0, 400), min_size=1, max_size=4))
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_a_frame_has_the_places_of_the_run(size, seed, targets):
    assert not strayed(size, seed, targets)


def test_places_that_stay_and_a_memory_that_does_not_go_back_are_noticed(monkeypatch):
    with monkeypatch.context() as broken:
        broken.setattr(AgentWorld, "places", lambda self: np.reshape(walked(self.torus, 1, 0), (-1, 2)))
        assert strayed((5, 4), 1, [30])
    restore = Agents.restore

    def forgetful(self, snapshot):
        now = self.remembered.copy()
        restore(self, snapshot)
        self.remembered[:] = now

    monkeypatch.setattr(Agents, "restore", forgetful)
    assert strayed((5, 4), 1, [60, 20])


@pytest.mark.parametrize("scheduler", [None, "matching", "edge-markov:1/9,1/2"])
def test_who_does_not_walk_is_sent_as_before(scheduler):
    session = Session(PROTOCOL, seed=1, scheduler=scheduler)
    greeted = greeting(session)
    assert len(greeted["places"]) == 14 and "torus" not in greeted and "places" not in frame(session)[0]
    assert "places" not in greeting(watched((5, 4), 1))


@pytest.mark.parametrize("size", SIZES)
def test_every_agent_is_painted_in_its_cell_and_no_two_at_one_point(size):
    film = shoot_moments(watched(size, 3), [0, 300])
    painter = Painter(film, 480)
    side = 2 * painter._room / max(size)
    middle = np.array([240, TOP + (480 - TOP) / 2])
    for head, picture in zip(film["heads"], film["pictures"], strict=True):
        pen = Noting()
        painter.paint(pen, head, picture)
        points = {place for place, fill in pen.circles if fill}
        cells = [tuple(np.floor((place - middle) / side + np.array(size) / 2).astype(int)) for place in points]
        assert sorted(cells) == sorted(map(tuple, np.reshape(head["places"], (-1, 2))))
        assert len(points) == 14
    assert film["heads"][0]["places"] != film["heads"][1]["places"]


def test_pictures_name_the_torus(tmp_path):
    picture = still(shoot_moments(watched((9, 3), 3), [0, 50]))
    picture.save(tmp_path / "birds.svg")
    assert picture.figure.get_suptitle() == "threshold on a torus of 9 × 3 cells"


def test_dots_move_on_the_page_and_go_back():
    page_of = Watching(Builder(RunRecord(PROTOCOL, seed=3, scheduler="moving:9x3"))).start()
    try:
        with chromium() as browser:
            page = open_page(browser, page_of.url, viewport={"width": 1280, "height": 860})
            begin = page.evaluate("window.hegemon.points()")
            assert len(begin) == 14 and "torus of 9 × 3 cells" in page.text_content("#facts")
            page.keyboard.press("Shift+ArrowRight")
            until(page, "h.step === 14 && !h.head.jump")
            after, places = page.evaluate("[window.hegemon.points(), window.hegemon.head.places]")
            assert places == walked((9, 3), 3, 14)
            stayed = [places[2 * v : 2 * v + 2] == walked((9, 3), 3, 0)[2 * v : 2 * v + 2] for v in range(14)]
            assert [a == b for a, b in zip(begin, after, strict=True)] == stayed and not all(stayed)
            page.keyboard.press("Home")
            until(page, "h.step === 0")
            assert page.evaluate("window.hegemon.points()") == begin and not page.errors
    finally:
        page_of.stop()
