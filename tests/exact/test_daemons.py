"""All schedules of a daemon against fair coins: published numbers, Storm on the exported process, and plain Python."""

import itertools
from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hegemon as hg
from hegemon.exact.decisions import Decisions, decide
from hegemon.exact.exports.chains import write_chain
from hegemon.exact.instance import Instance
from hegemon.exact.rounds import RoundConfigurations
from hegemon.exact.schedules import Schedules
from hegemon.models import Bit, Range, RoundsProtocol
from hegemon.process.schedulers.daemons import DAEMONS
from hegemon.protocols import CATALOGUE
from hegemon.runs.setting import topology_for

HERMAN, JALFON, BEAUQUIER = (CATALOGUE[name] for name in ("herman", "israeli-jalfon", "beauquier"))


def tokens_of(answer) -> np.ndarray:
    """How many tokens each configuration of beauquier has."""
    bits = answer.chain.codes % 2 if answer.protocol.id == "beauquier" else answer.chain.codes
    assert answer.protocol.id != "beauquier" or answer.protocol.space.mapping_of(1) == {"d": 0, "t": 1}
    return (bits == np.roll(bits, 1, axis=1)).sum(axis=1)


def extremes(answer, among, quantity="moves"):
    most, least = answer.schedules.expected[quantity]
    return most.values[among].max(), least.values[among].min()


# -- what others have published --------------------------------------------------------------------------------


def test_hermans_ring_under_a_distributed_daemon_with_fair_coins():
    """Three nodes reach one token whoever acts, because the coins are fair; five do not."""
    three = hg.verify(HERMAN(3), start="all", scheduler="distributed", property="reached")
    assert three.findings[0].holds and three.schedules.expected["steps"][0].extreme == pytest.approx(2, rel=1e-12)
    five = hg.verify(HERMAN(5), start="all", scheduler="distributed", property="reached")
    assert not five.findings[0].holds and five.schedules.least_probability.extreme == 0
    lucky = hg.verify(HERMAN(3), start="all", scheduler="distributed", coins="adversary", property="reached")
    assert not lucky.findings[0].holds


@pytest.mark.parametrize("n", [4, 5, 6, 7])
def test_no_daemon_matters_to_israeli_and_jalfon(n):
    """Expected moves (n² - Σ g²)/2 for gaps g, whatever the daemon does: the squares grow by 2 in each move."""
    answer = hg.verify(JALFON(n))
    assert answer.ok and answer.chain.size == 2**n - 1
    most, least = (side.values for side in answer.schedules.expected["moves"])
    for codes, high, low in zip(answer.chain.codes, most, least, strict=True):
        places = np.flatnonzero(codes)
        gaps = np.diff(np.append(places, places[0] + n))
        expected = (n * n - (gaps**2).sum()) / 2
        assert high == pytest.approx(expected, rel=1e-10) and low == pytest.approx(expected, rel=1e-10)


def test_israeli_and_jalfon_has_the_size_that_qcomp_knows():
    for n, size in ((3, 7), (10, 1023)):
        assert hg.verify(JALFON(n), property="reached").chain.size == size


def test_israeli_and_jalfon_against_epmc():
    """ePMC, n = 7: at most 12, 16, 18, 19 for 2 to 5 tokens, 21 in all; at least 18 for 5. n = 3: 2 and 3."""
    three = hg.verify(JALFON(3))
    for k in (2, 3):
        assert extremes(three, three.chain.codes.sum(axis=1) == k) == pytest.approx((k, k), rel=1e-10)
    answer = hg.verify(JALFON(7))
    number = answer.chain.codes.sum(axis=1)
    found = {k: extremes(answer, number == k) for k in range(2, 8)}
    assert [round(found[k][0], 9) for k in (2, 3, 4, 5, 7)] == [12, 16, 18, 19, 21]
    assert found[5][1] == pytest.approx(18, rel=1e-10)


def test_beauquier_against_epmc():
    """n = 3: 2 whatever happens (ePMC). n = 5: the figures of a second calculation from the rules."""
    three = hg.verify(BEAUQUIER(3))
    assert three.ok and extremes(three, tokens_of(three) == 3) == pytest.approx((2, 2), rel=1e-10)
    five = hg.verify(BEAUQUIER(5))
    tokens = tokens_of(five)
    assert five.ok and extremes(five, tokens == 3) == pytest.approx((143 / 12, 2.21875), rel=1e-10)
    assert extremes(five, tokens == 5) == pytest.approx((32 / 3, 4.5), rel=1e-10)


@pytest.mark.full
def test_beauquier_with_seven_nodes_against_epmc():
    seven = hg.verify(BEAUQUIER(7))
    tokens = tokens_of(seven)
    assert extremes(seven, tokens == 3)[0] == pytest.approx(37.799223691, abs=1e-8)
    assert extremes(seven, tokens == 5) == pytest.approx((34.593083223, 5.004072073), abs=1e-8)


@pytest.mark.parametrize(
    ("n", "known"),
    [
        (5, {3: (12 / 5, 16 / 5), 5: (44 / 15, 44 / 15)}),
        (7, {3: (20 / 7, 48 / 7), 5: (5.018567639, 5.973474801), 7: (5.493326597, 5.493326597)}),
    ],
)
def test_hermans_synchronous_ring_against_epmc(n, known):
    answer = hg.verify(HERMAN(n), start="all", property="time")
    for tokens, (low, high) in known.items():
        values = answer.hitting.values[tokens_of(answer) == tokens]
        assert values.min() == pytest.approx(low, abs=1e-8) and values.max() == pytest.approx(high, abs=1e-8)


@pytest.mark.parametrize(("n", "worst"), [(3, 4 / 3), (5, 16 / 5), (7, 48 / 7), (9, 12), (11, 192 / 11)])
def test_hermans_synchronous_ring_against_storm_and_qcomp(n, worst):
    """4 a b c / n with the most equal gaps a, b, c."""
    assert hg.verify(HERMAN(n), start="all", property="time").hitting.worst == pytest.approx(worst, rel=1e-9)


@pytest.mark.parametrize(("n", "worst"), [(13, 24.615385), (15, 33.333334), (17, 42.352940)])
def test_hermans_larger_rings_against_storm_and_qcomp(n, worst):
    """From three tokens as far apart as possible, which are the worst start for every n that was followed whole."""
    answer = hg.verify(HERMAN(n), start="three-tokens", property="time")
    assert max(answer.hitting.from_starts.values()) == pytest.approx(worst, abs=2e-6)


@pytest.mark.full
def test_hermans_ring_of_thirteen_is_slowest_from_three_tokens():
    assert hg.verify(HERMAN(13), start="all", property="time").hitting.worst == pytest.approx(24.615385, abs=1e-6)


# -- Storm on the exported decision process ----------------------------------------------------------------------

CASES = [
    (HERMAN(3), "distributed"),
    (HERMAN(5), "central"),
    (HERMAN(5), "locally-central"),
    (BEAUQUIER(3), "distributed"),
    (JALFON(4), "central"),
]


@pytest.mark.parametrize(("protocol", "scheduler"), CASES, ids=lambda one: getattr(one, "id", one))
def test_storm_computes_the_same_extremes(protocol, scheduler, tmp_path):
    stormpy = pytest.importorskip("stormpy")
    start = None if protocol.id == "israeli-jalfon" else "all"
    answer = hg.verify(protocol, start=start, scheduler=scheduler)
    case = answer.case.decisions
    (path,) = write_chain(answer.chain, "drn", tmp_path / "mdp.drn", {"safe": answer.inside}, "safe", case)
    model = stormpy.build_model_from_drn(str(path))
    assert model.nr_states == answer.chain.size and model.nr_choices >= case.choices
    found, expected = answer.schedules, answer.schedules.expected
    questions = {
        'Pmin=? [F "safe"]': found.least_probability,
        'Pmax=? [F "safe"]': found.greatest_probability,
        'R{"moves"}max=? [F "safe"]': expected["moves"][0],
        'R{"moves"}min=? [F "safe"]': expected["moves"][1],
    }
    if "steps" in expected:
        questions['R{"steps"}max=? [F "safe"]'], questions['R{"steps"}min=? [F "safe"]'] = expected["steps"]
    environment = stormpy.Environment()
    environment.solver().force_soundness = True
    for question, ours in questions.items():
        (formula,) = stormpy.parse_properties(question)
        result = stormpy.model_checking(model, formula, environment=environment)
        assert np.allclose(np.array(result.get_value_vector()), ours.values, rtol=1e-5, atol=1e-5), question


# -- every strategy of small processes, one by one ----------------------------------------------------------------


@st.composite
def processes(draw):
    """Up to five configurations with up to three choices of up to three outcomes in quarters; some are the goal."""
    size = draw(st.integers(2, 5))
    state = st.integers(0, size - 1)
    outcome = st.lists(state, min_size=4, max_size=4).map(lambda four: sorted(Counter(four).items()))
    rows = draw(st.lists(st.lists(outcome, max_size=3), min_size=size, max_size=size))
    inside = np.array(draw(st.lists(st.booleans(), min_size=size, max_size=size)))
    return rows, inside


def process_of(rows, nodes=None) -> Decisions:
    flat = [choice for row in rows for choice in row]
    entries = [entry for choice in flat for entry in choice]
    space = RoundConfigurations.__new__(RoundConfigurations)  # labels are bits of two nodes
    space.n = 2
    chain = SimpleNamespace(size=len(rows), is_whole=True, space=space, labelled=np.ones(len(rows)))
    return Decisions(
        first=np.cumsum([0, *map(len, rows)]),
        offsets=np.cumsum([0, *map(len, flat)]),
        targets=np.array([target for target, _ in entries], np.int32),
        weights=np.array([weight for _, weight in entries], np.int64),
        denominator=4,
        chain=chain,
        labels=np.array(nodes if nodes is not None else [1] * len(flat), np.int64),
        moves=np.ones(len(flat), np.int64),
    )


def followed(rows, inside, chosen):
    """Probability of the goal and expected steps if every configuration takes its choice, by repeated squaring."""
    size = len(rows)
    step = np.eye(size)
    for i in range(size):
        if not inside[i] and rows[i]:
            step[i] = 0
            for target, weight in rows[i][chosen[i]]:
                step[i, target] += weight / 4
    late = np.linalg.matrix_power(step, 1 << 14)
    reached = late[:, inside].sum(axis=1)
    sure = reached > 1 - 1e-9
    steps = np.full(size, np.inf)
    active = np.flatnonzero(sure & ~inside)
    steps[inside] = 0
    steps[active] = np.linalg.solve(np.eye(len(active)) - step[np.ix_(active, active)], np.ones(len(active)))
    return reached, steps


@given(processes())
@settings(max_examples=60)
def test_extremes_are_those_of_all_strategies(drawn):
    rows, inside = drawn
    ours = Schedules(process_of(rows), inside, {}, "any")
    all_ways = itertools.product(*(range(max(1, len(row))) for row in rows))
    found = [followed(rows, inside, chosen) for chosen in all_ways]
    reached, steps = (np.array(column) for column in zip(*found, strict=True))
    assert np.allclose(ours.least_probability.values, reached.min(axis=0), atol=1e-8)
    assert np.allclose(ours.greatest_probability.values, reached.max(axis=0), atol=1e-8)
    most, least = ours.expected["moves"]
    assert np.allclose(most.values, steps.max(axis=0), rtol=1e-8)
    assert np.allclose(least.values, steps.min(axis=0), rtol=1e-8)
    attains(rows, inside, ours)


def attains(rows, inside, ours):
    """The strategies that are handed out give the extremes themselves."""
    first = ours.process.first
    most, least = ours.expected["moves"]
    for extreme, column in ((ours.least_probability, 0), (ours.greatest_probability, 0), (most, 1), (least, 1)):
        chosen = np.where(extreme.choices >= 0, extreme.choices - first[:-1], 0)
        values = followed(rows, inside, chosen)[column]
        finite = np.isfinite(extreme.values)
        assert np.allclose(values[finite], extreme.values[finite], rtol=1e-8, atol=1e-8)


def test_a_hasty_upper_bound_would_be_caught():
    """An end component makes the equations of the greatest probability solvable by 1: the value is 1/2."""
    rows = [[[(0, 4)], [(1, 2), (2, 2)]], [], []]
    ours = Schedules(process_of(rows), np.array([False, True, False]), {}, "any")
    assert ours.greatest_probability.values[0] == pytest.approx(0.5)
    looks = ours.process.matrix @ np.array([1.0, 1.0, 0.0])
    assert looks.max() == 1.0  # what iteration from above would believe
    assert ours.least_probability.values[0] == 0


# -- fairness ---------------------------------------------------------------------------------------------------


def test_weak_and_strong_fairness():
    """Node 1 could end it whenever configuration 1 is visited, and is not enabled in configuration 0."""
    rows = [[[(1, 4)]], [[(0, 4)], [(2, 4)]], []]
    goal = np.array([False, False, True])
    found = {
        fairness: Schedules(process_of(rows, [1, 1, 2]), goal, {}, "any", fairness).is_reached
        for fairness in ("", "weak", "strong")
    }
    assert found == {"": False, "weak": False, "strong": True}
    rows[0].append([(2, 4)])  # now it is enabled all the time
    weak = Schedules(process_of(rows, [1, 2, 1, 2]), goal, {}, "any", "weak")
    assert weak.is_reached and not Schedules(process_of(rows, [1, 2, 1, 2]), goal, {}, "any").is_reached


# -- who may act ------------------------------------------------------------------------------------------------


class Wobble(RoundsProtocol):
    """A node with a larger neighbour grows or stays, as a coin says; others fall."""

    random_bits = 1

    class State:
        x: Range(0, 2)

    def update(me, neighbours, coins, p):
        top = 0
        for other in neighbours:
            top = max(top, other.x)
        if top > me.x:
            me.x += coins
        else:
            me.x = max(me.x - 1, 0)


@pytest.mark.parametrize("daemon", DAEMONS)
@pytest.mark.parametrize("graph", ["path:3", "star:4"])
def test_choices_are_those_of_the_daemon(daemon, graph):
    n = int(graph[-1])
    protocol = Wobble(n)
    topology = topology_for(protocol, graph)
    process = decide(RoundConfigurations(protocol, topology), DAEMONS[daemon], None)
    codes, denominator = process.chain.codes, process.denominator
    for index in range(process.size):
        nodes = [protocol.space.namespace(code) for code in codes[index]]
        outcomes = [Counter() for _ in range(n)]
        for v, coins in itertools.product(range(n), (0, 1)):
            me = protocol.space.namespace(codes[index][v])
            protocol.update(me, [nodes[u] for u in topology.neighbours(v)], coins, protocol.p)
            outcomes[v][protocol.space.code(me)] += 1
        enabled = [v for v in range(n) if any(code != codes[index][v] for code in outcomes[v])]
        sets = [one for k in range(1, n + 1) for one in itertools.combinations(enabled, k)]
        near = {(v, u) for v in range(n) for u in topology.neighbours(v).tolist()}
        allowed = {
            "central": [one for one in sets if len(one) == 1],
            "locally-central": [one for one in sets if not near & set(itertools.combinations(one, 2))],
            "distributed": sets,
            "synchronous": [tuple(enabled)] if enabled else [],
        }[daemon]
        found = {}
        for k in range(process.first[index], process.first[index + 1]):
            who = tuple(v for v in range(n) if process.labels[k] >> v & 1)
            row = slice(process.offsets[k], process.offsets[k + 1])
            assert process.weights[row].sum() == denominator and process.moves[k] == len(who)
            pairs = zip(process.targets[row].tolist(), process.weights[row].tolist(), strict=True)
            found[who] = {tuple(codes[target].tolist()): weight / denominator for target, weight in pairs}
        expected = {}
        for who in allowed:
            law = Counter()
            for ends in itertools.product(
                *(outcomes[v].items() if v in who else [(codes[index][v], 2)] for v in range(n))
            ):
                law[tuple(int(code) for code, _ in ends)] += float(np.prod([share / 2 for _, share in ends]))
            expected[who] = dict(law)
        assert found == expected


def test_a_daemon_leads_where_rounds_do_not():
    """From a start, exploration follows the daemon, not the synchronous rounds."""
    case = Instance(HERMAN(5), start="three-tokens", daemon="central")
    assert case.chain.size > 20 and case.decisions.size == case.chain.size


# -- what is refused --------------------------------------------------------------------------------------------


class Lonely(RoundsProtocol):
    """Claims to be made for a daemon that no model has."""

    class State:
        x: Bit

    def update(me, neighbours, coins, p):
        me.x = 0


def test_refusals():
    for given_, sentence in (
        ({"scheduler": "centrl"}, "did you mean central"),
        ({"scheduler": "central:fairly"}, "weakly-fair"),
        ({"scheduler": "adversary"}, "choose central"),
        ({"scheduler": "central", "within": 3}, "does not support within"),
        ({"coins": "adversary"}, "needs a daemon"),
        ({"coins": "loaded", "scheduler": "central"}, "give one of fair, adversary"),
        ({"scheduler": "central", "property": "holding"}, "elects no leader"),
        ({"scheduler": "distributed", "memory": 1e-7}, "GiB"),
    ):
        with pytest.raises(hg.InvalidInput, match=sentence):
            hg.verify(HERMAN(3), start="all", **given_)
    with pytest.raises(hg.InvalidInput, match="sets of nodes may act together"):
        decide(RoundConfigurations(HERMAN(17), topology_for(HERMAN(17), None)), DAEMONS["distributed"], [[0] * 17])
    with pytest.raises(hg.InvalidInput, match="the daemon 'free' is not one of its model"):
        type("Free", (Lonely,), {"daemon": "free"})
    with pytest.raises(hg.InvalidInput, match="choose drn"):
        answer = hg.verify(HERMAN(3), start="all", scheduler="central")
        write_chain(answer.chain, "tra", "nowhere", {"safe": answer.inside}, "safe", answer.case.decisions)


# -- rounds -----------------------------------------------------------------------------------------------------


def rounds_by_hand(protocol, topology):
    """The most and the least rounds of a protocol without coins under a central daemon, by plain recursion."""
    n, space = protocol.n, protocol.space

    def after(codes, v):
        me = space.namespace(codes[v])
        protocol.update(me, [space.namespace(codes[u]) for u in topology.neighbours(v)], 0, protocol.p)
        return (*codes[:v], space.code(me), *codes[v + 1 :])

    def enabled(codes):
        return frozenset(v for v in range(n) if after(codes, v) != codes)

    known = {}

    def extremes(codes, waiting):
        if (codes, waiting) not in known:
            able = enabled(codes)
            found = []
            for v in able:
                now = after(codes, v)
                rest = ((waiting or able) - {v}) & enabled(now)
                found.append(extremes(now, rest))
            more = 0 if waiting else 1
            known[codes, waiting] = (
                (more + max(f[0] for f in found), more + min(f[1] for f in found)) if able else (0, 0)
            )
        return known[codes, waiting]

    return {codes: extremes(codes, frozenset()) for codes in itertools.product(range(space.size), repeat=n)}


def test_rounds_are_those_of_plain_recursion():
    protocol = CATALOGUE["huang"](3)
    answer = hg.verify(protocol)
    expected = rounds_by_hand(protocol, topology_for(protocol))
    most, least = answer.schedules.expected["rounds"]
    for codes, high, low in zip(answer.chain.codes.tolist(), most.values, least.values, strict=True):
        assert (high, low) == pytest.approx(expected[tuple(codes)])
    assert most.extreme > least.extreme


def test_a_synchronous_step_is_a_round():
    protocol = HERMAN(5)
    process = decide(RoundConfigurations(protocol, topology_for(protocol)), DAEMONS["synchronous"], None)
    inside = hg.verify(protocol, start="all", property="time").inside
    expected = Schedules(process, inside, {}, "synchronous").expected
    for quantity in ("rounds", "steps"):
        assert expected[quantity][0].extreme == pytest.approx(16 / 5)
    assert np.allclose(expected["rounds"][1].values, expected["steps"][1].values)


def test_what_is_too_much_to_count_is_said(monkeypatch):
    from hegemon.exact import counted_rounds

    monkeypatch.setattr(counted_rounds, "MOST_ENTRIES", 10)
    found = hg.verify(HERMAN(3), start="all", scheduler="central").record()["schedules"]
    assert "rounds" not in found["expected"] and "rounds were not counted" in found["notes"][0]
