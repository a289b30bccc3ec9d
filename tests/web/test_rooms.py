"""One address, and a run of one's own for every visitor: apart from the others, few enough, and small enough."""

import asyncio
import json
import urllib.request

import pytest

import hegemon as hg
from hegemon.cli.main import main
from hegemon.errors import InvalidInput
from hegemon.runs.record import RunRecord
from hegemon.web import rooms as module
from hegemon.web.rooms import Rooms
from hegemon.web.watch import Builder, Watching
from tests.patience import PATIENCE


@pytest.fixture(scope="module")
def page():
    page = Watching(Builder(RunRecord(hg.Pairwise(n=6), seed=1)), each=True).start()
    yield page
    page.stop()


def enter(page) -> str:
    """The address of a room, as a browser finds it."""
    with urllib.request.urlopen(page.url, timeout=PATIENCE) as response:
        assert "<canvas" in response.read().decode()
        return response.url


async def said(socket, number) -> dict:
    """The reply to the command of this number."""
    while True:
        message = await socket.recv()
        if isinstance(message, str) and (told := json.loads(message)).get("answer") == number:
            return told


async def shown(socket, obeyed) -> dict:
    """The head of the first frame that knows of so many commands."""
    while True:
        await socket.send(json.dumps({"do": "frame"}))
        while isinstance(message := await socket.recv(), str):
            pass
        head = json.loads(message[4 : 4 + int.from_bytes(message[:4], "little")])
        if head["obeyed"] >= obeyed:
            return head


def talk(page, room, commands) -> tuple[list[dict], int]:
    """The replies to commands in a room, and the step that is shown then."""
    from websockets.asyncio.client import connect

    async def play():
        origin = f"http://127.0.0.1:{page.port}"
        async with asyncio.timeout(PATIENCE), connect(room.replace("http", "ws") + "socket", origin=origin) as socket:
            replies = []
            for number, command in enumerate(commands):
                await socket.send(json.dumps(command | {"id": number}))
                replies.append(await said(socket, number))
            return replies, (await shown(socket, replies[-1]["obeyed"]))["step"]

    return asyncio.run(play())


def test_every_visitor_has_a_run_of_their_own(page):
    first, second = enter(page), enter(page)
    assert first != second and first.startswith(page.url)
    assert talk(page, first, [{"do": "step", "count": 3}])[1] == 3
    assert talk(page, second, [{"do": "kill"}, {"do": "step", "count": 1}])[1] == 1
    assert talk(page, first, [{"do": "step", "count": 1}])[1] == 4  # still there
    struck = [json.load(urllib.request.urlopen(room + "disturbances.json"))["disturbances"] for room in (first, second)]
    assert not struck[0] and struck[1]


def test_no_room_has_more_agents_than_were_promised(page, capsys):
    (reply,), step = talk(page, enter(page), [{"do": "start", "values": {"n": "20001"}}])
    assert "at most 20,000 agents" in reply["refused"] and step == 0
    with pytest.raises(InvalidInput, match="at most 20,000 agents"):
        Watching(Builder(RunRecord(hg.Pairwise(n=30_000))), each=True)
    assert main(["watch", "pairwise", "--n", "5", "--each", "--save", "x.html"]) == 2
    assert "--each is for a page" in capsys.readouterr().err


class Run:
    """What stands for a simulation: it never says anything."""

    def __init__(self):
        self.spectators, self.line, self.is_open = set(), self, True

    async def follow(self):
        await asyncio.Event().wait()

    def close(self):
        self.is_open = False


def test_rooms_are_few_and_empty_ones_make_place(monkeypatch):
    monkeypatch.setattr(module, "MOST_ROOMS", 3)
    now = [0.0]

    async def play():
        rooms = Rooms(Run(), Run, True, lambda: now[0])
        names = [rooms.new_name() for _ in range(5)]
        assert rooms.find("short") is None and rooms.find("../../etc") is None and rooms.find("") is None
        watched_runs = [rooms.find(name) for name in names[:3]]
        assert rooms.find(names[0]) is watched_runs[0]
        for watched_run in watched_runs:
            watched_run.spectators.add("somebody")
        assert rooms.find(names[3]) is None  # all are taken
        watched_runs[1].spectators.clear()
        rooms.leave(names[1])
        assert (
            rooms.find(names[3])
            and not watched_runs[1].is_open
            and watched_runs[0].is_open
            and len(rooms.watched_runs) == 3
        )
        now[0] = 2 * module.EMPTY_SECONDS
        rooms.tidy()
        assert set(rooms.watched_runs) == {names[0], names[2]}

    asyncio.run(play())
