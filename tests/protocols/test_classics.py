"""The classics: Herman's ring by its exact law, Itai and Rodeh's election by its course and its messages."""

import itertools
import math

import numpy as np
import pytest

import hegemon as hg
from hegemon.errors import InvalidInput
from hegemon.experiments.worst_starts import search_worst
from hegemon.graphs.families import oriented_ring
from hegemon.protocols import Dijkstra, Herman, ItaiRodeh
from hegemon.protocols.dijkstra import count_privileges


def tokens(codes):
    """The places of tokens in a ring of bits."""
    return [v for v in range(len(codes)) if codes[v] == codes[v - 1]]


@pytest.mark.parametrize("n", [3, 5, 7, 9])
def test_three_tokens_take_four_abc_over_n_rounds(n):
    """McIver and Morgan (Information Processing Letters 94, 2005): gaps a, b, c between three tokens."""
    answer = hg.verify(Herman(n=n), property="time")
    codes = answer.chain.space.codes(answer.chain.keys)
    for bits, expected in zip(codes, answer.hitting.values, strict=True):
        places = tokens(bits)
        if len(places) == 3:
            gaps = [places[1] - places[0], places[2] - places[1], n - places[2] + places[0]]
            assert expected == pytest.approx(4 * math.prod(gaps) / n, rel=1e-9)
    assert answer.hitting.worst == pytest.approx(worst_three_tokens(n), rel=1e-9)
    if n % 3 == 0:
        assert answer.hitting.worst == pytest.approx(4 * n * n / 27, rel=1e-9)


def worst_three_tokens(n: int) -> float:
    """Tokens as far apart as n allows: the worst of all configurations, as Kwiatkowska, Norman and Parker found with
    PRISM for every size that they could analyse (Formal Aspects of Computing 24, 2012)."""
    gaps = [n // 3, (n + 1) // 3, (n + 2) // 3]
    return 4 * math.prod(gaps) / n


@pytest.mark.parametrize(("n", "transitions"), [(7, 2188), (9, 19_684)])
def test_the_chain_is_that_of_prisms_case_study(n, transitions):
    """States and transitions as in the logs of the PRISM benchmark suite (github.com/prismmodelchecker/
    prism-benchmarks, models/dtmcs/herman)."""
    chain = hg.verify(Herman(n=n), property="time").chain
    assert (chain.size, chain.transitions) == (2**n, transitions)


@pytest.mark.full
def test_fifteen_nodes_take_four_n_squared_over_27_rounds_at_worst():
    answer = hg.verify(Herman(n=15), property="time")
    assert answer.hitting.worst == pytest.approx(4 * 15**2 / 27, rel=1e-9)
    assert (answer.chain.size, answer.chain.transitions) == (32_768, 14_348_908)  # as in PRISM's log


@pytest.mark.full
@pytest.mark.parametrize(("n", "trials"), [(99, 400), (333, 100), (999, 40)])
def test_large_rings_take_four_n_squared_over_27_rounds_on_average(n, trials):
    steps = [run.steps for run in hg.run_trials(Herman(n=n), trials, start="three-tokens", seed=1).runs]
    assert abs(np.mean(steps) - 4 * n * n / 27) < 4 * np.std(steps) / math.sqrt(trials)


def test_simulated_rounds_agree_with_the_law():
    steps = [run.steps for run in hg.run_trials(Herman(n=21), 300, start="three-tokens", seed=1).runs]
    assert abs(np.mean(steps) - 4 * 7**3 / 21) < 4 * np.std(steps) / math.sqrt(300)


def test_left_and_right_are_told_apart():
    ring = oriented_ring(5)
    assert ring.neighbours(0).tolist() == [4, 1] and ring.neighbours(4).tolist() == [3, 0]
    assert ring.is_connected and not ring.is_bipartite
    with pytest.raises(InvalidInput, match="oriented rings only"):
        hg.simulate(Herman(n=5), graph="ring:5")
    with pytest.raises(InvalidInput, match="take an odd n"):
        Herman(n=4)


def test_itai_rodeh_elects_one_leader_in_phases_of_n_rounds():
    for n in (3, 8, 33):
        runs = hg.run_trials(ItaiRodeh(n=n), 30, seed=1).runs
        assert all(run.reached and run.leaders == 1 for run in runs)
        assert {run.steps % n for run in runs} == {0}


def test_itai_rodeh_with_two_ids_needs_about_two_phases_for_three_nodes():
    """Exactly: with probability 1/4 all ids agree and nobody drops out; two largest ids are left with 3/8."""
    # From three active nodes: one largest with 3/8, two with 3/8, three with 1/4; from two: one with 1/2.
    expected = (1 + 3 / 8 * 2) / (1 - 1 / 4)
    phases = [run.steps / 3 for run in hg.run_trials(ItaiRodeh(n=3, K=2), 1500, seed=2).runs]
    assert abs(np.mean(phases) - expected) < 4 * np.std(phases) / math.sqrt(1500)


@pytest.mark.parametrize(
    ("n", "k", "phases"),
    [
        (3, 2, 4 / 3), (3, 3, 9 / 8), (3, 4, 16 / 15), (4, 2, 2), (4, 3, 27 / 20), (4, 4, 32 / 27), (5, 2, 16 / 5),
        (5, 3, 27 / 20), (5, 4, 256 / 225),
    ],
)  # fmt: skip
def test_any_unique_id_wins_as_in_prisms_case_study(n, k, phases):
    """leader_sync of PRISM and QComp: expected phases of n rounds, here exactly and by counting draws."""
    draws = list(itertools.product(range(k), repeat=n))
    lucky = sum(any(draw.count(id) == 1 for id in draw) for draw in draws)
    assert len(draws) / lucky == pytest.approx(phases, rel=1e-12)
    if k**n <= 81:
        answer = hg.verify(ItaiRodeh(n=n, K=k, wins="unique"))
        assert float(answer.rounds) == pytest.approx(n * phases, rel=1e-9)
        if (n, k) == (3, 2):
            assert float(hg.verify(ItaiRodeh(n=n, K=k)).rounds) != pytest.approx(n * phases, rel=1e-3)
    else:
        runs = hg.run_trials(ItaiRodeh(n=n, K=k, wins="unique"), 400, seed=1).runs
        found = np.array([run.steps / n for run in runs])
        assert {run.leaders for run in runs} == {1}
        assert abs(found.mean() - phases) < 4.5 * found.std() / math.sqrt(len(found))


def test_messages_flow_to_the_right_alone():
    """Port 1 of an oriented ring leads to the right, and the message arrives through the left port."""
    from hegemon.process.messages.ports import ports_of

    ports = ports_of(oriented_ring(4))
    for v in range(4):
        assert ports.cross(v, 1) == ((v + 1) % 4, 0) and ports.cross(v, 0) == ((v - 1) % 4, 1)


class LooseDijkstra(Dijkstra):
    """Without the assumption that there are enough numbers."""

    assumes = ()


@pytest.mark.parametrize(("n", "k", "moves"), [(3, 3, 2), (4, 4, 13), (5, 5, 24), (4, 3, 13), (5, 4, 24)])
def test_dijkstra_stabilizes_under_every_schedule(n, k, moves):
    protocol = Dijkstra(n=n, K=k)
    answer = hg.verify(protocol)
    assert answer.ok and answer.chain.size == k**n and "special = 1 for 1 of" in answer.covers
    assert hg.verify(protocol, scheduler="adversary").finding("reached").sentence.endswith(f"{moves} moves")


def test_dijkstra_with_too_few_numbers_is_refuted():
    assert not hg.verify(LooseDijkstra(n=4, K=2), scheduler="adversary").finding("reached").holds
    with pytest.raises(hg.InvalidInput, match="K >= n - 1"):
        Dijkstra(n=4, K=2)


def test_somebody_is_always_privileged():
    protocol = Dijkstra(n=4)
    chain = hg.verify(protocol).chain
    for codes in chain.codes:
        assert count_privileges([protocol.space.namespace(code) for code in codes], protocol.p) >= 1


def test_dijkstra_simulated_against_its_exact_law():
    protocol = Dijkstra(n=5)
    exact = hg.verify(protocol, start="descending", property="time").hitting.mean
    steps = [run.steps for run in hg.run_trials(protocol, 400, start="descending", engine="agents", seed=1).runs]
    assert abs(np.mean(steps) - exact) < 4 * np.std(steps) / 20


# -- inputs ------------------------------------------------------------------------------------------------------


def test_inputs_are_told_by_every_start_and_kept_by_every_fault():
    protocol = Dijkstra(n=6)
    for trial in range(20):
        fault = hg.Fault(20, 6)
        run = hg.simulate(protocol, start="random", until="steps:40", trial=trial, faults=(fault,), engine="agents")
        assert run.configuration.agents["special"].tolist() == [1, 0, 0, 0, 0, 0]
    with pytest.raises(hg.InvalidInput, match="2 agents with the input special = 1, and dijkstra needs 1"):
        hg.simulate(protocol, start=[{"special": 1, "x": 0}] * 2 + [{"special": 0, "x": 0}] * 4)
    with pytest.raises(hg.InvalidInput, match="gives some agents an input"):
        search_worst(protocol)
    with pytest.raises(hg.InvalidInput, match="no fault changes an input"):
        hg.simulate(protocol, until="steps:9", faults=(hg.Fault(2, 1, {"special": 1}),))


def test_an_input_that_is_changed_or_misdeclared_is_refused():
    class Forgetful(Dijkstra):
        def interact(l, r, p):  # noqa: E741
            r.special = 0

    with pytest.raises(hg.InvalidInput, match="changes special, which is an input"):
        Forgetful(n=4).require_sound()
    with pytest.raises(hg.InvalidInput, match="must be a field of State, declared as `x: Bit`"):

        class Misdeclared(Dijkstra):
            inputs = {"x": 1}
