"""The answers: known formulas, closed sets, counterexamples, holding, predicates, distributions."""

import dataclasses
import math
from fractions import Fraction

import numpy as np
import pytest
from tests.experiments.holding.zoo import Modes

import hegemon as hg
from hegemon.exact.hitting import survival, write_distribution
from hegemon.exact.instance import Instance
from hegemon.exact.quantiles import Viewpoint
from hegemon.models import Bit, Choice, Coin, PopulationProtocol, Range, everywhere, exactly, whole


@pytest.mark.parametrize("n", [2, 3, 10, 50])
def test_pairwise_takes_the_square_of_n_minus_one(n):
    answer = hg.verify(hg.Pairwise(n=n))
    assert answer.ok and abs(answer.hitting.worst - (n - 1) ** 2) < 1e-9
    assert answer.holding.best == math.inf


@pytest.mark.parametrize("n", [2, 3, 10, 50])
def test_an_epidemic_takes_n_minus_one_times_a_harmonic_number(n):
    expected = (n - 1) * sum(1 / k for k in range(1, n))
    assert abs(hg.verify(hg.Epidemic(n=n)).hitting.mean - expected) < 1e-9


@pytest.mark.parametrize(("n", "k"), [(2, 2), (4, 3), (5, 4), (6, 2)])
def test_threshold_is_computed_from_every_input(n, k):
    answer = hg.verify(hg.Threshold(n=n, k=k), property="predicate")
    assert answer.ok and len(answer.findings) == n + 1


@pytest.mark.parametrize("N", [2, 3, 4, 5, 6])
def test_ring_of_two(N):  # noqa: N803 - the paper's name
    answer = hg.verify(hg.Ring(n=2, N=N))
    assert answer.ok
    assert {(f.question, f.set) for f in answer.findings} == {
        ("closed", "safe"), ("leader", "safe"), ("reached", "safe"), ("closed", "C_PB"), ("closed", "C_NI"),
    }  # fmt: skip
    assert answer.hitting.worst == pytest.approx(2 * N + 2, abs=1e-9)


@pytest.mark.full
def test_ring_of_three_over_all_configurations():
    answer = hg.verify(hg.Ring(n=3, N=3))
    assert answer.ok and answer.chain.size == 294_976 and answer.chain.labelled.sum() == 884_736
    assert answer.hitting.worst == pytest.approx(16.154851752, abs=1e-8)
    assert answer.hitting.mean == pytest.approx(7.305890674570, abs=1e-9)
    plain = hg.verify(hg.Ring(n=3, N=3), symmetry=False)
    assert plain.chain.size == 884_736
    assert plain.hitting.mean == pytest.approx(answer.hitting.mean, rel=1e-12)


@pytest.mark.parametrize(
    ("protocol", "graph"),
    [
        (hg.Timer(n=3, s=3), None),
        (hg.Timer(n=4, s=1), "ring:4"),
        (hg.TimeOptimal(n=3, r_max=2, b_max=2), None),
        (hg.Ring(n=2, N=2), None),
    ],
)
def test_symmetry_changes_no_answer(protocol, graph):
    with_it = hg.verify(protocol, graph=graph)
    without = hg.verify(protocol, graph=graph, symmetry=False)
    assert with_it.chain.size < without.chain.size == with_it.chain.labelled.sum()
    assert [f.holds for f in with_it.findings] == [f.holds for f in without.findings]
    for mine, theirs in ((with_it.hitting, without.hitting), (with_it.holding, without.holding)):
        assert mine.worst == pytest.approx(theirs.worst, rel=1e-12)
    assert with_it.hitting.mean == pytest.approx(without.hitting.mean, rel=1e-12)
    assert with_it.holding.best == pytest.approx(without.holding.best, rel=1e-12)


def test_a_leader_that_is_at_every_meeting_is_never_lost():
    answer = hg.verify(hg.Timer(n=2, s=1))
    assert answer.finding("leader").holds and answer.holding.worst == math.inf


def test_a_loosely_stabilizing_leader_is_lost():
    answer = hg.verify(hg.Timer(n=3, s=4))
    assert answer.ok and not answer.finding("closed").holds and not answer.finding("leader").holds
    assert answer.holding.worst == pytest.approx(351, rel=1e-12)
    assert answer.holding.from_starts["safe"] == pytest.approx(363, rel=1e-12)
    assert sum(probability for probability, _ in answer.holding.breaks) == pytest.approx(1)
    assert len(answer.holding.way.interactions) == 3
    assert answer.holding.way_probability == pytest.approx(1 / 27)


@pytest.mark.parametrize("heads", [6, 60])  # short waits are swept, long ones eliminated
def test_how_holding_ends_is_known_however_long_it_lasts(heads):
    """The leader is lost after so many heads in a row: only the meeting that completes them loses it."""
    holding = hg.verify(Modes(n=2, lose=6, switch=30, then=heads), property="holding").holding
    (probability, step), *_ = holding.breaks
    assert probability == pytest.approx(1, abs=1e-6)
    assert step.before[0]["run"] == heads - 1


def test_an_answer_about_a_condition():
    answer = hg.verify(hg.Timer(n=3, s=2), property="reached:count(leader == 1) == 1")
    assert [f.holds for f in answer.findings] == [True] and answer.hitting is None


def test_a_set_that_is_not_always_reached_has_a_probability():
    answer = hg.verify(hg.QuickElimination(n=3), property="elected")
    finding = answer.finding("reached", "elected")
    assert not finding.holds and not finding.claimed and answer.ok
    runs = hg.run_trials(hg.QuickElimination(n=3), 2000, seed=5, until="steps:60", workers=1).runs
    share = np.mean([run.leaders == 1 for run in runs])
    assert abs(share - answer.hitting.probability) < 4 * math.sqrt(0.25 / len(runs))
    assert answer.hitting.worst == math.inf and answer.record()["expected_steps"]["worst"] is None


def test_claims_are_about_the_intended_starts():
    answer = hg.verify(hg.Pairwise(n=3), start="no-leader")
    assert not answer.finding("reached").holds and answer.ok
    assert not hg.verify(hg.Epidemic(n=3), start="all").finding("reached").holds


def law_of_pairwise(n: int, steps: int) -> list[Fraction]:
    """P(one leader is left within t steps) from all leaders, in fractions: k leaders meet with k(k-1)/n(n-1)."""
    weights = {n: Fraction(1)}
    found = []
    for _ in range(steps + 1):
        found.append(weights.get(1, Fraction(0)))
        after = {}
        for k, weight in weights.items():
            meet = Fraction(k * (k - 1), n * (n - 1))
            after[k] = after.get(k, 0) + weight * (1 - meet)
            after[k - 1] = after.get(k - 1, 0) + weight * meet
        weights = after
    return found


def test_a_quantile_at_a_tie_is_the_step_itself():
    """Of five agents all probabilities are finite decimals: the level P(T <= t) has the quantile t."""
    law = law_of_pairwise(5, 10)
    for step in range(4, 11):
        level = float(law[step])
        if Fraction(repr(level)) != law[step]:
            continue  # more digits than a level can have
        above = math.nextafter(level, 1)
        found = hg.verify(hg.Pairwise(n=5), quantiles=(level, above)).hitting.quantiles["all-leaders"]
        assert list(found.values()) == [step, step + 1]


def test_a_tie_that_cannot_be_decided_is_refused(monkeypatch):
    monkeypatch.setattr("hegemon.exact.quantiles.LARGEST_EXACT_WORK", 3)
    level = float(law_of_pairwise(5, 6)[6])
    with pytest.raises(hg.InvalidInput, match="distinguished from a tie"):
        hg.verify(hg.Pairwise(n=5), quantiles=(level,))


def test_quantiles_and_distribution(tmp_path):
    """Two leaders among two agents: one meeting decides. Among three: first for sure, then with chance 1/3."""
    answer = hg.verify(hg.Pairwise(n=3), quantiles=(0.3, 0.5, 0.9))
    assert answer.hitting.quantiles["all-leaders"] == {"0.3": 2, "0.5": 3, "0.9": 7}
    views = {"start": Viewpoint(np.eye(answer.chain.size)[0])}
    table = survival(answer.chain, answer.inside, views, lambda row: False, steps=20)[:, 0]
    assert np.allclose(table, [1, *((2 / 3) ** np.arange(20))])
    assert table.sum() + (2 / 3) ** 20 * 3 == pytest.approx(answer.hitting.mean)
    lines = write_distribution(answer, tmp_path / "d.csv").read_text().split()
    assert lines[0].startswith("step,mean,worst") and lines[1].startswith("0,1.0")


class Ways(PopulationProtocol):
    """From x = 51 a coin decides, 60 steps on average and in half of the cases 42; from x = 50 it is 50 steps."""

    class State:
        x: Range(0, 51)

    class Coins:
        ends: Coin("1/60")

    def interact(a, b, p, coins):
        x = max(a.x, b.x)
        if x == 51:
            x = 0 if coins.ends == 1 else 51
        elif x > 0:
            x -= 1
        a.x = x
        b.x = x

    safe = everywhere(lambda a, p: a.x == 0)


def test_the_worst_quantile_is_that_of_no_single_start(tmp_path):
    """At every level it is the largest over all starts, and not that of the start with the largest mean."""
    levels = (0.1, 0.5, 0.9)
    answer = hg.verify(Ways(n=2), start="all", property="time", quantiles=levels, within=49)
    starts = [[{"x": 51}] * 2, [{"x": 50}] * 2]
    alone = [hg.verify(Ways(n=2), start=one, quantiles=levels).hitting.quantiles["mean"] for one in starts]
    assert answer.hitting.worst == pytest.approx(60) and alone[0]["0.5"] == 42
    assert answer.hitting.quantiles["worst"] == {key: max(one[key] for one in alone) for key in alone[0]}
    assert answer.hitting.quantiles["worst"]["0.5"] == 50 and answer.within.worst == 0
    table = np.genfromtxt(write_distribution(answer, tmp_path / "d.csv"), delimiter=",", names=True)
    assert table["worst"][49] == 1 and table["worst"][50] == pytest.approx((59 / 60) ** 50)


def test_starts_may_be_lists_files_and_names(tmp_path):
    states = [{"leader": 1}, {"leader": 1}, {"leader": 0}]
    answer = hg.verify(hg.Pairwise(n=3), start=states)
    assert answer.hitting.mean == pytest.approx(3)
    answer.hitting.worst_start.save(tmp_path / "start.json")
    assert hg.verify(hg.Pairwise(n=3), start=str(tmp_path / "start.json")).hitting.mean == pytest.approx(3)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"start": "nowhere"}, "no start 'nowhere'"),
        ({"property": "nothing"}, "property 'nothing' is not known"),
        ({"property": "closed:nothing"}, "no set 'nothing'"),
        ({"property": "predicate"}, "computes no predicate"),
        ({"quantiles": (1.5,)}, "quantile 1.5 is out of range"),
        ({"memory": 1e-9}, "GiB"),
    ],
)
def test_bad_questions_get_one_sentence(options, message):
    with pytest.raises(hg.InvalidInput, match=message):
        hg.verify(hg.Timer(n=3, s=2), **options)


def test_random_starts_are_not_one_configuration():
    with pytest.raises(hg.InvalidInput, match="drawn at random"):
        hg.verify(hg.Epidemic(n=3, top=2), start="random")


class Marked(PopulationProtocol):
    """The set looks at one position only: rotations must not be taken for symmetries of it."""

    topology = "directed-ring"

    class State:
        leader: Bit

    def interact(a, b, p):
        if a.leader == 1 and b.leader == 1:
            b.leader = 0

    safe = (exactly(1, lambda a, p: a.leader == 1) & whole(lambda agents, p: agents[0].leader == 1)).described("")


def test_a_set_that_sees_positions_is_not_lumped():
    with pytest.raises(hg.InvalidInput, match="no-symmetry"):
        hg.verify(Marked(n=3))
    assert not hg.verify(Marked(n=3), symmetry=False).finding("reached").holds
    assert Instance(Marked(n=4), graph="ring:4").space.symmetry == "none"


class Classes(PopulationProtocol):
    """A user's protocol with classes of agents."""

    class State:
        leader: Bit
        phase: Choice("wait", "go")
        patience: Range(0, 2).when(phase="wait")

    def interact(a, b, p):
        if a.phase == 0:
            if a.patience == 0:
                a.phase = 1
            else:
                a.patience = a.patience - 1
        if a.leader == 1 and b.leader == 1:
            b.leader = 0

    safe = exactly(1, lambda a, p: a.leader == 1).described("", closed=True)


def test_a_users_own_protocol():
    answer = hg.verify(Classes(n=3))
    assert answer.finding("closed").holds and answer.finding("leader").holds
    assert not answer.finding("reached").holds and not answer.ok  # no leader at all is a trap
    trap = answer.refuted[0].counterexample
    assert all(state["leader"] == 0 for state in trap.configuration)


def test_a_counterexample_is_replayed_by_a_run(tmp_path):
    answer = hg.verify(hg.Timer(n=3, s=4))
    story = answer.finding("leader").counterexample
    story.save(tmp_path / "lost.json")
    run = hg.simulate(hg.Timer(n=3, s=4), start=str(tmp_path / "lost.json"), until="broken")
    assert run.steps == len(story.interactions) and run.reached
    way_out = answer.finding("closed").counterexample
    way_out.save(tmp_path / "out.json")
    steps = f"steps:{len(way_out.interactions)}"
    final = hg.simulate(hg.Timer(n=3, s=4), start=str(tmp_path / "out.json"), until=steps).configuration
    agents = [dict(state) for state in way_out.configuration]
    for step in way_out.interactions:
        agents[step.initiator], agents[step.responder] = step.after
    assert final.mappings() == agents
    with pytest.raises(hg.InvalidInput, match="prescribes interactions"):
        hg.simulate(hg.Timer(n=3, s=4), start=str(tmp_path / "out.json"), faults=(hg.Fault(3, 1),))


def test_the_record_is_complete_and_plain():
    import json

    record = hg.verify(hg.Timer(n=3, s=2), quantiles=(0.5,)).record()
    again = json.loads(json.dumps(record, allow_nan=False))
    assert again["configurations"] == 56 and again["holding"]["worst"] > 0
    assert dataclasses.is_dataclass(hg.verify(hg.Pairwise(n=2)))
