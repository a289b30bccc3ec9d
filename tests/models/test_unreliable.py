"""Lost and one-sided interactions of the simulator and of `verify`: exact, and the same in every engine."""

import json
from fractions import Fraction

import numpy as np
import pytest

import hegemon as hg
from hegemon.cli.main import main
from hegemon.errors import InvalidInput
from hegemon.graphs.families import directed_ring
from hegemon.models import Bit, PopulationProtocol, Range, exactly
from hegemon.models.unreliable import unreliable
from hegemon.runs.trials import run_trials
from tests.models.population_protocols import Relay
from tests.network.expectation import reaching
from tests.sentences import is_one_sentence


class Fading(PopulationProtocol):
    """A protocol with a coin of its own: a leader's timer fades with probability one third."""

    class State:
        leader: Bit = 1
        timer: Range(0, 3) = 3

    class Coins:
        die: Range(1, 3)

    def interact(a, b, p, coins):
        if coins.die == 1 and a.timer > 0:
            a.timer -= 1
        if a.leader and b.leader and a.timer == 0:
            a.leader = 0
            b.timer = 3

    safe = exactly(1, lambda a, p: a.leader == 1)


def first_codes(protocol, start):
    return protocol.space.encode_array(protocol.initial(start, np.random.default_rng(0)).agents).tolist()


@pytest.mark.parametrize(
    ("protocol", "start", "topology", "shares"),
    [
        (hg.Pairwise(n=4), "all-leaders", None, (0.25, 0)),
        (hg.Timer(n=3, s=4), "no-leader", None, (0, 0.5)),
        (hg.Timer(n=3, s=2), "no-leader", None, ("1/3", 0.2)),
        pytest.param(hg.Ring(n=3), "no-leader", directed_ring(3), ("1/3", 0.2), marks=pytest.mark.full),
    ],
)
def test_verify_agrees_with_the_chain_in_plain_python(protocol, start, topology, shares):
    loss, one_sided = (float(Fraction(str(one))) for one in shares)
    codes = first_codes(protocol, start)
    theirs = reaching(protocol, codes, protocol.safe, topology=topology, lost=loss, one_sided=one_sided)
    found = hg.verify(protocol, start=start, property="time:safe", loss=shares[0], one_sided=shares[1])
    answer = found.hitting.values[found.chain.index(codes)]
    assert float(answer) == pytest.approx(theirs.expected_steps, rel=1e-9)


@pytest.mark.parametrize("engine", ["agents", "batch", "events"])
def test_engines_agree_with_verify(engine):
    protocol = hg.Timer(n=3, s=4)
    course = {"start": "no-leader", "engine": engine, "loss": 0.2, "one_sided": 0.5}
    runs = run_trials(protocol, 800, seed=1, workers=1, **course).runs
    steps = np.array([run.steps for run in runs])
    codes = first_codes(protocol, "no-leader")
    exact = {q: reaching(protocol, codes, protocol.safe, lost=0.2, one_sided=q).expected_steps for q in (0, 0.5)}
    error = steps.std() / np.sqrt(len(steps))
    assert abs(steps.mean() - exact[0.5]) < 4.5 * error
    assert abs(steps.mean() - exact[0]) > 4.5 * error  # it can tell a one-sided interaction from a whole one


def test_an_authors_own_coins_stay():
    made = unreliable(Fading(n=3), 0.5, 0.25)
    assert made.coins.size == 3 * 2 * 4 and made.coins.names == ("die", "delivery", "answer")
    before = {"leader": 1, "timer": 1}, {"leader": 1, "timer": 2}
    assert made.transition(*before, {"die": 1, "delivery": -1, "answer": 0}) == before
    whole = made.transition(*before, {"die": 1, "delivery": 0, "answer": 0})
    assert whole == ({"leader": 0, "timer": 0}, {"leader": 1, "timer": 3})
    half = made.transition(*before, {"die": 1, "delivery": 0, "answer": -1})
    assert half == (before[0], whole[1])
    assert unreliable(Fading(n=3)).coins.size == 3


def test_what_only_one_sided_interactions_reach():
    relay = Relay(n=3)
    assert not hg.simulate(relay, until="three", max_steps=2000).reached
    assert hg.simulate(relay, until="three", one_sided=0.1).reached
    assert hg.simulate(relay, until="steps:50", loss="999/1000").steps == 50
    assert not hg.verify(relay, property="reached:three", start="one").findings[0].holds
    assert hg.verify(relay, property="reached:three", start="one", one_sided=0.1).findings[0].holds


@pytest.mark.parametrize("shares", [{"loss": 1}, {"loss": -0.1}, {"one_sided": "x"}, {"one_sided": float("nan")},
                                    {"loss": "1/0"}, {"loss": ""}, {"one_sided": None}])  # fmt: skip
def test_shares_are_probabilities(shares):
    with pytest.raises(InvalidInput, match="probability"):
        hg.simulate(hg.Pairwise(n=3), **shares)


def test_what_cannot_lose_interactions_says_so(capsys):
    with pytest.raises(InvalidInput, match="denominator"):
        hg.simulate(hg.Pairwise(n=3), loss=0.12345)
    with pytest.raises(InvalidInput, match="loss means nothing"):
        hg.simulate(hg.Trains(n=5), loss=0.5)
    assert hg.simulate(hg.Pairwise(n=8), loss=0.0, seed=1).steps == hg.simulate(hg.Pairwise(n=8), seed=1).steps
    assert main(["run", "trains", "--n", "9", "--loss", "0.5"]) == 2
    assert is_one_sentence(capsys.readouterr().err)
    assert main(["run", "pairwise", "--n", "8", "--loss", "1/2", "--one-sided", "0.25", "--quiet"]) == 0
    assert "one-sided" in capsys.readouterr().out
    assert main(["verify", "pairwise", "--n", "3", "--loss", "0.5", "--json", "--quiet"]) == 0


@pytest.mark.parametrize("protocol", [hg.Pairwise, Fading])
def test_a_run_with_lost_interactions_is_traced(protocol, capsys):
    """Line by line what the run has done: every change of a leader is an interaction that was not lost."""
    name = "pairwise" if protocol is hg.Pairwise else f"{__file__}:Fading"
    words = ["run", name, "--n", "4", "--loss", "1/2", "--one-sided", "1/3", "--quiet", "--json", "--trace", "10000"]
    assert main(words) == 0
    content = json.loads(capsys.readouterr().out)
    last = f"step {content['trials'][0]['steps']}:"
    assert content["trace"][-1].startswith(last) and not any(
        "delivery" in line or "answer" in line for line in content["trace"]
    )
    assert sum("leader 1→0" in line for line in content["trace"]) == 3
