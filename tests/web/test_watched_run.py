"""Nothing blocks the watched_run: not a page that never reads, a busy simulation, or commands made to block it."""

import asyncio
import contextlib
import json
import multiprocessing
import threading

import pytest

import hegemon as hg
from hegemon.web import watched_run as watched_runs
from hegemon.web.session import Session
from hegemon.web.simulation import serve
from hegemon.web.watched_run import Spectator, WatchedRun
from tests.patience import PATIENCE

TABS = 200


class Tab:
    """A socket of a page; one that is `stuck` takes nothing."""

    def __init__(self, stuck: bool = False):
        self.stuck, self.texts, self.frames, self.head = stuck, [], 0, {}

    async def send_text(self, text):
        await self._take()
        self.texts.append(json.loads(text))

    async def send_bytes(self, content):
        await self._take()
        self.frames += 1
        self.head = json.loads(content[4 : 4 + int.from_bytes(content[:4], "little")])

    async def _take(self):
        if self.stuck:
            await asyncio.Event().wait()


class InTurn(Spectator):
    """The deliberately broken twin: what it is sent, all others wait for."""

    turn = None

    async def send_all(self):
        InTurn.turn = InTurn.turn or asyncio.Lock()
        async with InTurn.turn:
            await super().send_all()


async def until(condition, seconds=PATIENCE):
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            while not condition():
                await asyncio.sleep(0.01)
    return bool(condition())


@contextlib.asynccontextmanager
async def watched_run(protocol, tabs, **options):
    """A watched_run with its simulation in a thread, and its spectators."""
    here, there = multiprocessing.Pipe()
    threading.Thread(target=serve, args=(there, lambda: Session(protocol, **options)), daemon=True).start()
    made = WatchedRun(here)
    following = asyncio.ensure_future(made.follow())
    assert await until(lambda: made.greeting)
    spectators = [made.welcome(tab) for tab in tabs]
    sending = [asyncio.ensure_future(spectator.send_all()) for spectator in spectators]
    try:
        yield made, spectators
    finally:
        for task in (following, *sending):
            task.cancel()
        made.line.close()


async def frames_of_others(seconds) -> bool:
    """Whether 199 pages get three frames each, while the first one takes nothing."""
    tabs = [Tab(stuck=True)] + [Tab() for _ in range(TABS - 1)]
    async with watched_run(hg.Pairwise(n=6), tabs, seed=1) as (made, spectators):
        for wanted in (1, 2, 3):
            if not await until(lambda wanted=wanted: all(tab.frames >= wanted for tab in tabs[1:]), seconds):
                return False
            for spectator in spectators:
                made.hear(spectator, '{"do": "frame"}')
            made.hear(spectators[1], '{"do": "step"}')
    return True


def test_one_page_that_never_reads_costs_the_others_nothing(monkeypatch):
    assert asyncio.run(frames_of_others(PATIENCE))
    monkeypatch.setattr(watched_runs, "Spectator", InTurn)
    assert not asyncio.run(frames_of_others(0.5))


def test_a_page_that_takes_nothing_is_given_up_and_little_is_kept_for_it(monkeypatch):
    monkeypatch.setattr(watched_runs, "SEND_SECONDS", 0.05)

    async def play():
        slow, flooding = Spectator(Tab(stuck=True)), Spectator(Tab(stuck=True))
        slow.show(b"frame")
        for _ in range(2 * watched_runs.MOST_UNREAD):
            flooding.refuse("no")
        async with asyncio.timeout(PATIENCE):
            await asyncio.gather(slow.send_all(), flooding.send_all())
        return True

    assert asyncio.run(play())


def test_a_new_run_is_greeted_before_its_frames():
    async def play():
        tab = Tab()
        spectator = Spectator(tab)
        spectator.show(b"of the run before")
        spectator.greet('"hello"')
        assert spectator.wants_frame  # what was not sent is still wanted
        task = asyncio.ensure_future(spectator.send_all())
        await asyncio.sleep(0)
        spectator.show(b"of the new run")
        assert await until(lambda: tab.frames == 1) and tab.texts == ["hello"]
        task.cancel()

    asyncio.run(play())


def test_the_loop_does_not_wait_for_a_simulation_that_reads_nothing():
    async def play():
        here, there = multiprocessing.Pipe()
        made = WatchedRun(here)
        following = asyncio.ensure_future(made.follow())
        await asyncio.sleep(0)
        tab = Tab()
        spectator = made.welcome(tab)
        sending = asyncio.ensure_future(spectator.send_all())
        large = json.dumps({"do": "start", "states": ["x" * 5_000_000]})
        for _ in range(20):  # far more than a pipe takes, and than is kept for it
            made.hear(spectator, large)
        assert await until(lambda: any("busy" in text.get("refused", "") for text in tab.texts))
        made.hear(spectator, "x" * (watched_runs.LARGEST_COMMAND + 1))
        assert await until(lambda: any("characters" in text.get("refused", "") for text in tab.texts))
        following.cancel()
        sending.cancel()
        made.line.close()
        there.close()

    asyncio.run(play())


HOSTILE = [1e308, -1e308, 1e18, 1e12, -1, 0.5, True, None, "7", "x" * 50_000, [], [1], {}, {"a": 1}, 10**40, -(10**40)]
FIELDS = {
    "goto": ["step"], "step": ["count"], "speed": ["value"], "corrupt": ["agents"], "set": ["agent", "field", "value"],
    "focus": ["agent"], "state": ["agent"], "rate": ["rate", "agents"], "start": ["name", "states", "file"],
    "stop_at_safe": ["value"], "change": [], "kill": [], "play": [], "film": [], "no such": [],
}  # fmt: skip
USUAL = {"agent": 1, "field": "leader", "value": 0, "rate": 0, "agents": 1}


@pytest.mark.parametrize(
    ("protocol", "graph"),
    [(hg.Ring(n=5), None), (hg.Trains(n=5), "ring:5"), (hg.FloodMax(n=5, diameter=4), "ring:5")],
)
def test_whatever_a_page_says_the_next_command_is_obeyed(protocol, graph):
    """Hostile numbers, texts and lists in every field: a sentence at most, and the run is alive after each."""

    async def play():
        tab = Tab()
        async with watched_run(protocol, [tab], seed=1, graph=graph) as (made, (spectator,)):
            texts = ['{"do": "goto", "step": NaN}', '{"do": "speed", "value": -Infinity}', '{"do": "goto"}', "[]", "{"]
            for do, names in FIELDS.items():
                texts += [json.dumps({"do": do} | USUAL)]
                texts += [json.dumps({"do": do} | USUAL | {name: value}) for name in names for value in HOSTILE]
            for begin in range(0, len(texts), 20):
                for text in texts[begin : begin + 20]:
                    made.hear(spectator, text)
                    made.hear(spectator, '{"do": "pause"}')
                made.hear(spectator, json.dumps({"do": "state", "agent": 0, "id": begin}))
                answered = await until(lambda begin=begin: any(said.get("answer") == begin for said in tab.texts))
                assert answered and spectator.asked == 0, texts[begin : begin + 20]
            refusals = [said["refused"] for said in tab.texts if "refused" in said]
            assert len(refusals) > 60 and all(0 < len(text) <= 401 and "\n" not in text for text in refusals)

    asyncio.run(play())


def test_a_far_jump_shows_where_it_is_answers_meanwhile_and_can_be_stopped():
    async def play():
        tab = Tab()
        async with watched_run(hg.FischerJiang(n=12), [tab], seed=3) as (made, (spectator,)):

            async def seen(condition):
                def look():
                    if tab.head and not spectator.wants_frame:
                        made.hear(spectator, '{"do": "frame"}')
                    return tab.head and condition(tab.head)

                assert await until(look)

            for command in ({"do": "goto", "step": 1e12}, {"do": "step", "count": 1}, {"do": "kill"}):
                made.hear(spectator, json.dumps(command))
            made.hear(spectator, '{"do": "state", "agent": 3, "id": "meanwhile"}')
            await seen(lambda head: head["jump"] == [0, 10**12] and head["step"] > 1000)
            assert any(said.get("answer") == "meanwhile" for said in tab.texts)
            made.hear(spectator, '{"do": "pause"}')
            await seen(lambda head: head["jump"] is None and "stopped on the way to step 1,0" in head["note"])
            assert 1000 < tab.head["step"] < 10**12 and not tab.head["disturbances"]  # what waited is not done
            for _ in range(3):  # each waits for the one before
                made.hear(spectator, '{"do": "step", "count": 1}')
            await seen(lambda head, stood=tab.head["step"]: head["step"] == stood + 3)
            assert spectator.asked == 0

    asyncio.run(play())
