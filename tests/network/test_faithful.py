"""What the network does is what is simulated: pairs are uniform, elections take as many interactions.

Both sides are random, so each comparison has a level: it fails by chance with probability 0.001 or less, and the
seeds are fixed. A clock that prefers some peers, and members that throw answers away, are caught.
"""

import asyncio
import contextlib
import os
import random
from functools import cache

import numpy as np
import pytest
from scipy.stats import chisquare, ks_2samp

import hegemon as hg
from hegemon.graphs.families import directed_ring, star
from hegemon.network import agent as agents
from hegemon.network import join, new_key
from tests.network.population import Population
from tests.network.reference import Sequence, arcs_of
from tests.network.virtual import Conditions

LEVEL = 0.001
LIMIT = 10**6
CASES = {
    "pairwise": (hg.Pairwise(n=20), "all-leaders", None),
    "timer": (hg.Timer(n=20, s=60), "random", None),
    "time-optimal": (hg.TimeOptimal(n=20), "random", None),
    "ring": (hg.Ring(n=8), "random", directed_ring(8)),
    "small pairwise": (hg.Pairwise(n=8), "all-leaders", None),
    "small timer": (hg.Timer(n=8, s=20), "no-leader", None),
}
LARGE = ["pairwise", "timer", "time-optimal", "ring"]


@cache
def network_steps(name, seed, **options):
    protocol, start, topology = CASES[name]
    population = Population(protocol, seed=seed, start=start, topology=topology, **options)
    return population.steps_to(protocol.sets["safe"], LIMIT)


@cache
def reference_steps(name, seed, **shares):
    protocol, start, topology = CASES[name]
    codes = protocol.space.encode_array(protocol.initial(start, np.random.default_rng(seed)).agents).tolist()
    run = Sequence(protocol, codes, arcs_of(protocol.n, topology), seed=seed, **shares)
    return run.steps_to(protocol.sets["safe"], LIMIT)


def pairs_made(population, seconds):
    population.pairs = []
    population.clock.run(seconds=seconds)
    return population.pairs


def evenness(pairs, arcs):
    counts = dict.fromkeys(arcs, 0)
    for pair in pairs:
        counts[pair] += 1
    return chisquare(list(counts.values())).pvalue


@pytest.mark.parametrize("topology", [None, directed_ring(8), star(8)], ids=["complete", "ring", "star"])
def test_every_pair_is_as_frequent(topology):
    population = Population(hg.Timer(n=8, s=9), seed=1, topology=topology)
    pairs = pairs_made(population, 250)
    assert len(pairs) > 1500 and evenness(pairs, arcs_of(8, topology)) > LEVEL


def test_a_clock_with_favourites_is_caught():
    population = Population(hg.Timer(n=8, s=9), seed=1)
    for agent in population.agents.values():
        agent.peers = agent.peers + agent.peers[:1]
    assert evenness(pairs_made(population, 250), arcs_of(8)) < LEVEL


@pytest.mark.parametrize("name", ["small pairwise", "small timer"])
def test_elections_take_as_many_interactions(name):
    measured = [network_steps(name, seed) for seed in range(60)]
    expected = [reference_steps(name, seed) for seed in range(200)]
    assert ks_2samp(measured, expected).pvalue > LEVEL


def test_deaf_members_are_caught(monkeypatch):
    """The broken twin: an initiator that throws every answer away, so that only responders change."""

    def deaf(agent, letter, address):
        agent._forget(agent._promised)
        agent.ended(False)

    monkeypatch.setattr(agents, "_ACTIONS", (*agents._ACTIONS[:3], deaf, *agents._ACTIONS[4:]))
    protocol, start, _ = CASES["small timer"]
    late = 800
    measured = [Population(protocol, seed=k, start=start).steps_to(protocol.safe, late) or late for k in range(10)]
    expected = [reference_steps("small timer", seed) for seed in range(200)]
    assert ks_2samp(measured, expected).pvalue < LEVEL


def lossy_steps(name, trials, conditions):
    """Interactions to the safe set, and the share that was one-sided, in a lossy network."""
    protocol, start, topology = CASES[name]
    steps, made, one_sided = [], 0, 0
    for seed in range(trials):
        population = Population(protocol, seed=seed, start=start, topology=topology, conditions=conditions, rate=0.02)
        steps.append(population.steps_to(protocol.sets["safe"], LIMIT))
        totals = population.totals
        made += totals["responded"]
        one_sided += population.one_sided
    return steps, one_sided / made


@pytest.mark.full
def test_with_losses_as_in_the_reference_with_the_same_rates():
    steps, share = lossy_steps("small timer", 300, Conditions(loss=0.6, jitter=0.01))
    expected = [reference_steps("small timer", seed, one_sided=share) for seed in range(1000)]
    assert share > 0.05
    assert ks_2samp(steps, expected).pvalue > LEVEL


@pytest.mark.full
@pytest.mark.parametrize("name", LARGE)
def test_two_hundred_elections_in_virtual_time(name):
    protocol, start, topology = CASES[name]
    measured = [network_steps(name, seed) for seed in range(200)]
    trials = hg.run_trials(protocol, 2000, graph=topology, start=start, seed=1)
    assert ks_2samp(measured, [run.steps for run in trials.runs]).pvalue > LEVEL


@pytest.mark.full
@pytest.mark.parametrize("name", LARGE)
def test_the_reference_agrees_with_the_compiled_engines(name):
    protocol, start, topology = CASES[name]
    measured = [reference_steps(name, seed) for seed in range(300)]
    trials = hg.run_trials(protocol, 2000, graph=topology, start=start, seed=2)
    assert ks_2samp(measured, [run.steps for run in trials.runs]).pvalue > LEVEL


async def election_over_udp(name, rate, key, seed):
    """One election of members with sockets in this process; interactions in the order of the responders."""
    protocol, start, topology = CASES[name]
    virtual = Population(protocol, seed=seed, start=start, topology=topology)  # its first states, and its eyes
    async with contextlib.AsyncExitStack() as stack:
        members = [
            await stack.enter_async_context(join(protocol, peers=[], key=key, rate=rate)) for _ in range(protocol.n)
        ]
        addresses = {member.address: number for number, member in enumerate(members)}
        arrived = asyncio.get_running_loop().create_future()

        def met(initiator, responder, theirs, own):
            if not arrived.done():
                virtual._met(addresses[initiator], responder, theirs, own)
                if virtual.is_in(protocol.sets["safe"]):
                    arrived.set_result(virtual.steps)

        for number, member in enumerate(members):
            member.corrupt(virtual.codes[number])
            member._agent.met = lambda peer, theirs, own, number=number: met(peer, number, theirs, own)
        if virtual.is_in(protocol.sets["safe"]):
            return 0
        for member, near in zip(members, virtual.neighbours, strict=True):
            member.set_peers([members[other].address for other in near])
        return await asyncio.wait_for(arrived, 600)


@pytest.mark.full
@pytest.mark.parametrize("name", LARGE)
def test_two_hundred_elections_over_udp(name):
    from hegemon.network.udp import run

    protocol, start, topology = CASES[name]
    elections = int(os.environ.get("HEGEMON_ELECTIONS", "200"))
    key = new_key()

    async def play():
        """Ten networks at a time, each so slow that hardly any exchange meets a busy peer, on a busy machine too."""
        places = asyncio.Semaphore(10)

        async def one(seed):
            async with places:
                return await election_over_udp(name, 5.0, key, random.Random(seed).getrandbits(32))

        return await asyncio.gather(*map(one, range(elections)))

    trials = hg.run_trials(protocol, 2000, graph=topology, start=start, seed=3)
    assert ks_2samp(run(play()), [one.steps for one in trials.runs]).pvalue > LEVEL
