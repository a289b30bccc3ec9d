"""A job that runs where the leader is, fenced: `python examples/network_job.py`.

Three members in one program stand for three machines. Whoever is the leader writes to a store that refuses a
fencing number below the highest it has seen, so that two leaders, while the network heals, cannot both write.
"""

import asyncio
import contextlib

import hegemon as hg


class Store:
    """What the job writes to: any database that can compare a number and write in one step will do."""

    def __init__(self):
        self.fence, self.lines = 0, []

    def write(self, fence: int, line: str) -> bool:
        if fence < self.fence:
            return False
        self.fence = fence
        self.lines.append(line)
        return True


async def job(name: str, member: hg.network.Member, store: Store) -> None:
    """Work while leading. The fencing number is read anew for every write."""
    while True:
        fence = member.fence
        if fence is not None and not store.write(fence, name):
            print(f"{name} was refused: somebody newer leads")
        await asyncio.sleep(0.02)


async def main(seconds: float = 3.0) -> Store:
    store, key = Store(), hg.network.new_key()
    async with contextlib.AsyncExitStack() as stack:
        members = {}
        for name in ("red", "green", "blue"):
            joining = hg.network.join(hg.Timer(n=3, s=30), peers=[], key=key, rate=50)
            members[name] = await stack.enter_async_context(joining)
        for name, member in members.items():
            member.set_peers([other.address for other in members.values()])
            member.on_event(lambda event, name=name: print(f"{name}: {event.kind}, fencing number {event.fence}"))
        jobs = [asyncio.ensure_future(job(name, member, store)) for name, member in members.items()]
        await asyncio.sleep(seconds / 2)
        for name, member in members.items():
            if member.is_leader:
                print(f"{name} is cut off")
                member.cut_off()
        await asyncio.sleep(seconds / 2)
        for one in jobs:
            one.cancel()
    print({name: store.lines.count(name) for name in members}, "writes")
    return store


if __name__ == "__main__":
    asyncio.run(main())
