"""How many interactions per second a machine carries: 1,000 agents with a socket each, in two processes.

    python -m benchmarks.network [AGENTS] [SECONDS] [RATE]
    python -m benchmarks.network liar [SEEDS]
    python -m benchmarks.network churn [SEEDS]
    python -m benchmarks.network failover [SEEDS]

Interactions are counted by the responders. The clocks ask for more than there can be, so the answer is what limits.
`liar` shows what a member that lies does to 19 others, `churn` how 20 members heal when some join or leave, `failover`
how long a killed leader is missed, by the upper bound n and the rate. All three are in virtual time: the same figures
on every machine.
"""

import asyncio
import math
import multiprocessing
import resource
import statistics
import sys
import time

from tests.network.churn import burst, share
from tests.network.failover import fail_over
from tests.network.liar import deceive

from hegemon.network.agent import Agent
from hegemon.network.keys import Keys, new_key
from hegemon.network.rules import InteractionRules
from hegemon.network.udp import UdpPort, run
from hegemon.network.wire import Wire, fingerprint_of
from hegemon.protocols import TimeOptimal, Timer

PROCESSES = 2


def serve(agents: int, share: int, seconds: float, rate: float, key: str, pipe) -> None:
    pipe.send(run(live(agents, share, seconds, rate, key, pipe)))


async def live(agents: int, share: int, seconds: float, rate: float, key: str, pipe) -> dict:
    loop = asyncio.get_running_loop()
    protocol = TimeOptimal(n=agents)
    rules, keys = InteractionRules(protocol), Keys((bytes.fromhex(key),))
    fingerprint = fingerprint_of(protocol)
    ports = [await UdpPort.open(("127.0.0.1", 0)) for _ in range(share)]
    pipe.send([port.address for port in ports])
    addresses = pipe.recv()
    members = []
    for port in ports:
        wire = Wire(keys, fingerprint, most_senders=4 * agents)
        others = [address for address in addresses if address != port.address]
        member = Agent(rules, wire, port, loop, state=rules.size - 1, peers=others, rate=rate)
        member.state = member.rng.randrange(rules.size)
        port.receive = member.receive
        members.append(member)
        member.start()
    await asyncio.sleep(seconds / 2)  # keys of all senders are made in this time
    before, clock, used = responded(members), time.perf_counter(), time.process_time()
    await asyncio.sleep(seconds / 2)
    wall = time.perf_counter() - clock
    totals = {name: sum(member.counters[name] for member in members) for name in members[0].counters}
    for member, port in zip(members, ports, strict=True):
        member.stop()
        port.close()
    return {
        "per_second": (responded(members) - before) / wall,
        "processor": (time.process_time() - used) / wall,
        "megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "totals": {name: value for name, value in totals.items() if value},
    }


def responded(members) -> int:
    return sum(member.counters["responded"] for member in members)


def show_liar(seeds: int) -> None:
    """Medians over the seeds."""
    print("20 members, 10 interactions begun per second each; one of them sends false leader states for two minutes")
    for protocol in (TimeOptimal(n=20), Timer(n=20, s=200)):
        for lies in (2, 20):
            found = [deceive(protocol, lies_per_second=lies, seed=seed) for seed in range(seeds)]
            lying = sorted(one.lying for one in found)
            healed = sorted(math.inf if one.healed_after is None else one.healed_after for one in found)
            ahead = max(one.fence_ahead for one in found)
            print(f"{protocol.id}, {lies} lies a second; medians, and from least to most:")
            print(f"  one leader in {_middle(lying, '.1%')} of samples while it lies")
            print(
                f"  healed {_middle(healed, '.1f')} s after it stops; fences at most {ahead:.1f} s ahead of the clock"
            )


def show_churn(seeds: int) -> None:
    """Medians over the seeds."""
    print("20 members, 10 interactions begun per second each; seconds until one leader: median, and from least to most")
    protocol, rates = TimeOptimal(n=20), ["leave=1/10000", "join=1/10000"]
    for kind, members in (("leader", 0), ("leave", 10), ("join", 10)):
        found = [burst(protocol, kind, members, seed=seed) for seed in range(seeds)]
        healed = sorted(math.inf if one is None else one for one in found)
        print(f"{protocol.id}, {kind} {members or ''}: {_middle(healed, '.1f')}")
    shares = [share(protocol, rates, seed=seed) for seed in range(seeds)]
    alone, events = sorted(one for one, _ in shares), sum(number for _, number in shares)
    print(
        f"{protocol.id}, {', '.join(rates)}: one leader in {_middle(alone, '.1%')} of samples, {events} events in all"
    )


def show_failover(seeds: int) -> None:
    """A row per number of members and n: medians over the seeds."""
    rates = (10.0, 50.0, 200.0)
    print("| members | n | " + " | ".join(f"{rate:g} a second" for rate in rates) + " | one leader in |")
    print("|" + " --- |" * (len(rates) + 3))
    for members, bounds in ((5, (5, 16, 64, 256)), (20, (20,))):
        for n in bounds:
            cells = [f"{members} | {n}"]
            for rate in rates:
                watched = 600.0 if rate == rates[0] else 0.0
                found = [
                    fail_over(TimeOptimal(n=n), members, rate, watched=watched, seed=seed) for seed in range(seeds)
                ]
                cells.append(_middle(sorted(math.inf if one.seconds is None else one.seconds for one in found), ".1f"))
                if watched:
                    alone = f"{_middle(sorted(one.alone for one in found), '.1%')}"
            print("| " + " | ".join([*cells, alone]) + " |", flush=True)


def _middle(found: list[float], form: str) -> str:
    return f"{statistics.median(found):{form}} ({found[0]:{form}} … {found[-1]:{form}})"


def main() -> None:
    if sys.argv[1:2] == ["liar"]:
        show_liar(int(sys.argv[2]) if len(sys.argv) > 2 else 10)
        return
    if sys.argv[1:2] == ["churn"]:
        show_churn(int(sys.argv[2]) if len(sys.argv) > 2 else 10)
        return
    if sys.argv[1:2] == ["failover"]:
        show_failover(int(sys.argv[2]) if len(sys.argv) > 2 else 10)
        return
    given = [float(text) for text in sys.argv[1:]] + [None] * 3
    agents, seconds, rate = int(given[0] or 1000), given[1] or 20.0, given[2] or 15.0
    key, share = new_key(), agents // PROCESSES
    pipes, workers = [], []
    for _ in range(PROCESSES):
        ours, theirs = multiprocessing.Pipe()
        worker = multiprocessing.Process(target=serve, args=(agents, share, seconds, rate, key, theirs), daemon=True)
        worker.start()
        pipes.append(ours)
        workers.append(worker)
    addresses = [address for pipe in pipes for address in pipe.recv()]
    for pipe in pipes:
        pipe.send(addresses)
    answers = [pipe.recv() for pipe in pipes]
    for worker in workers:
        worker.join()
    print(f"{agents} agents, {rate:g} rings per second each, in {PROCESSES} processes")
    total = sum(answer["per_second"] for answer in answers)
    used = sum(answer["processor"] for answer in answers)
    print(f"{total:,.0f} interactions per second with {used:.2f} processors: {total / used:,.0f} per processor")
    for answer in answers:
        print(f"  {answer['processor']:.2f} processors, {answer['megabytes']:.0f} MB, {answer['totals']}")


if __name__ == "__main__":
    main()
