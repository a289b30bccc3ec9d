"""Members over real sockets on loopback, as a program uses them."""

import asyncio
import contextlib
import subprocess
import sys
from pathlib import Path

import pytest

import hegemon as hg
from hegemon.errors import InvalidInput
from hegemon.network import join, join_in_thread, new_key
from hegemon.network.peers import parse_address, read_peers
from hegemon.network.terms import HORIZON_SECONDS, Terms
from tests.patience import PATIENCE


async def until(condition):
    async with asyncio.timeout(PATIENCE):
        while not condition():
            await asyncio.sleep(0.01)


@contextlib.asynccontextmanager
async def network(protocol, members, **options):
    async with contextlib.AsyncExitStack() as stack:
        key = new_key()
        joined = [await stack.enter_async_context(join(protocol, peers=[], key=key, **options)) for _ in range(members)]
        for member in joined:
            member.set_peers([other.address for other in joined])
        yield joined


def test_one_leader_and_another_when_it_is_cut_off():
    async def play():
        events = []
        async with network(hg.Timer(n=6, s=40), 6, rate=200) as members:
            for number, member in enumerate(members):
                member.on_event(lambda event, number=number: events.append((number, event)))
            await until(lambda: sum(member.is_leader for member in members) == 1)
            leader = next(member for member in members if member.is_leader)
            assert leader.state["leader"] == 1 and leader.fence == leader.last_event.fence
            leader.cut_off()
            others = [member for member in members if member is not leader]
            await until(lambda: sum(member.is_leader for member in others) == 1)
            heir = next(member for member in others if member.is_leader)
            assert heir.fence > leader.fence
            leader.cut_off(False)
            await until(lambda: sum(member.is_leader for member in members) == 1)
            assert sum(member.metrics["responded"] for member in members) > 100
            return events

    events = asyncio.run(play())
    for number in range(6):
        kinds = [event.kind for who, event in events if who == number]
        assert all(a != b for a, b in zip(kinds, kinds[1:], strict=False))  # they alternate


def test_the_stream_of_events():
    async def play():
        async with network(hg.Timer(n=3, s=20), 3, rate=200) as members:
            seen = []

            async def read(member):
                async for event in member.events():
                    seen.append(event.kind)
                    return event

            first = await asyncio.wait_for(
                (await asyncio.wait([asyncio.ensure_future(read(m)) for m in members], return_when="FIRST_COMPLETED"))[
                    0
                ].pop(),
                PATIENCE,
            )
            assert first.kind in ("elected", "deposed") and first.fence > 0
            for task in asyncio.all_tasks() - {asyncio.current_task()}:
                task.cancel()

    asyncio.run(play())


def test_a_stream_ends_with_the_member():
    async def play():
        async with join(hg.Pairwise(n=2), peers=[], key=new_key()) as member:
            reader = asyncio.ensure_future(collect(member))
            await asyncio.sleep(0)
        return await asyncio.wait_for(reader, PATIENCE)

    async def collect(member):
        return [event.kind async for event in member.events()]

    assert asyncio.run(play()) == ["elected", "deposed"]


def test_without_asyncio():
    key = new_key()
    with (
        join_in_thread(hg.Pairwise(n=2), peers=[], key=key, rate=100) as first,
        join_in_thread(hg.Pairwise(n=2), peers=[], key=key, rate=100) as second,
    ):
        assert first.wait(PATIENCE).kind == second.wait(PATIENCE).kind == "elected"
        first.set_peers([second.address])
        event = second.wait(PATIENCE)  # two leaders meet, the responder yields
        assert event.kind == "deposed" and first.is_leader and not second.is_leader
        assert second.metrics["responded"] >= 1 and second.state == {"leader": 0}


def test_fencing_numbers_rise_and_absurd_ones_are_not_believed():
    class Coins:
        def getrandbits(self, bits):
            return 1

    now, events = [1e9], []
    terms = Terms(events.append, Coins(), wall=lambda: now[0])
    terms.follow(True)
    terms.follow(False)
    terms.hear(events[0].fence + (100_000_000 << 11))  # another member's clock is 100 s ahead
    terms.follow(True)
    assert events[2].fence > events[0].fence + (100_000_000 << 11)
    terms.hear(int((now[0] + HORIZON_SECONDS + 1) * 1e6) << 11)
    terms.hear(2**64 - 1)
    assert terms.highest == events[2].fence


@pytest.mark.parametrize(
    ("protocol", "options", "sentence"),
    [
        (hg.CaiIzumiWada(n=4), {}, "exact number"),
        (hg.FischerJiang(n=4), {}, "oracle"),
        (hg.Walks(n=4), {}, "mixing_time"),
        (hg.Timer(n=4), {"rate": 0}, "rate"),
        (hg.Timer(n=4), {"patience": float("nan")}, "patience"),
        (hg.Timer(n=4), {"start": "safe"}, "different states"),
        (hg.Timer(n=4), {"start": "nowhere"}, "no start"),
        (hg.Timer(n=4), {"peers": "127.0.0.1:1"}, "list of addresses"),
        (hg.Timer(n=4), {"peers": ["127.0.0.1"]}, "host:port"),
        (hg.Timer(n=4), {"listen": "127.0.0.1:99999"}, "host:port"),
        (hg.Timer(n=4), {"listen": "192.0.2.1:7"}, "cannot listen"),
        (hg.Timer(n=4), {"key": "secret"}, "64 hexadecimal digits"),
        (hg.Timer(n=4), {"key": 7}, "int"),
    ],
)
def test_what_cannot_join_is_told_why(protocol, options, sentence):
    async def play():
        async with join(protocol, **({"peers": [], "key": new_key()} | options)):
            pass

    with pytest.raises(InvalidInput, match=sentence):
        asyncio.run(play())


def test_peers_files(tmp_path):
    path = tmp_path / "peers"
    path.write_text("# all members\n127.0.0.1:7400\n\n[::1]:7401\n127.0.0.1:7400\nlocalhost:7402\n")
    assert read_peers(path)[:2] == [("127.0.0.1", 7400), ("::1", 7401)] and len(read_peers(path)) == 3
    path.write_text("127.0.0.1:7400\n7400\n")
    with pytest.raises(InvalidInput, match="line 2"):
        read_peers(path)
    for text in ("", ":", "a:", ":1", "a:b", "a:-1", "a:1e3", "a:" + "9" * 5000, "a:٣"):
        with pytest.raises(InvalidInput, match="host:port"):
            parse_address(text)


def test_a_member_loads_neither_compiler_nor_pictures():
    program = """
import asyncio, sys
import hegemon as hg
async def main():
    async with hg.network.join(hg.TimeOptimal(n=8), peers=[], key=hg.network.new_key()) as member:
        print(member.is_leader in (True, False))
asyncio.run(main())
print([name for name in ("numba", "llvmlite", "matplotlib", "pandas", "networkx") if name in sys.modules])
"""
    source = str(Path(hg.__file__).parents[1])
    answer = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=PATIENCE, env={"PYTHONPATH": source}
    )
    assert answer.stdout.split("\n")[:2] == ["True", "[]"], answer.stderr
