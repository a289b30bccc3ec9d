"""Message passing, exactly: by hand, by order against by value, against simulation, and what is refused."""

import itertools
import json
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

import hegemon as hg
from hegemon.cli.main import main
from hegemon.errors import InvalidInput
from hegemon.exact.messages import scripted_coins as coins_module
from hegemon.exact.messages.scripted_coins import Drawn, NotOrdered, branches
from hegemon.models import Bit, Parameter, Range
from hegemon.models.messages import ELECTED, NON_ELECTED, MessageProtocol
from hegemon.protocols.flood_max import FloodMax
from hegemon.protocols.referees import Referees
from hegemon.protocols.walks import Walks
from hegemon.runs.simulate import simulate


def total(answer) -> Fraction:
    return sum(answer.leaders.values(), answer.running)


# -- by hand ------------------------------------------------------------------------------------------------


def test_flooding_by_two_nodes_fails_when_they_draw_the_same():
    answer = hg.verify(FloodMax(n=2))
    assert answer.leaders == {1: Fraction(15, 16), 2: Fraction(1, 16)}
    assert (answer.messages, answer.rounds, answer.running) == (2, 1, 0)
    assert answer.tally.causes == {"elected": Fraction(15, 16), "equal ranks": Fraction(1, 16)}


def test_flooding_by_three_nodes():
    """One leader if the highest of three ranks of 81 is unique; in round 2 all but the highest pass it on."""
    answer = hg.verify(FloodMax(n=3))
    assert answer.one_leader == Fraction(3 * sum(j * j for j in range(81)), 81**3)
    highest = Fraction(3 * sum(j * j for j in range(1, 82)), 81**3)  # expected number of nodes that have the highest
    assert answer.messages == 6 + 2 * (3 - highest)
    assert answer.rounds == 2 and answer.within(1) == 0 and answer.within(2) == answer.one_leader


def test_two_nodes_with_referees():
    """Each node is the other's only referee: two candidates are both elected, and one alone is."""
    protocol = Referees(n=2)
    p = Fraction(protocol.initiation)
    answer = hg.verify(protocol)
    assert answer.leaders == {0: (1 - p) ** 2, 1: 2 * p * (1 - p), 2: p**2}
    assert answer.messages == 4 * p  # each candidate asks, and is answered


class Retry(MessageProtocol):
    """Both flip a coin in every round until the coins differ."""

    class Message:
        coin: Bit

    class Node:
        coin = 0

    def begin(self, node, rng):
        node.coin = rng.randrange(2)
        return {0: self.message(coin=node.coin)}

    def round(self, node, inbox, rng):
        if inbox[0].coin != node.coin:
            node.status = ELECTED if node.coin else NON_ELECTED
            return {}
        return self.begin(node, rng)


def test_a_protocol_that_may_last_for_ever_is_followed_until_hardly_anything_is_left():
    answer = hg.verify(Retry(n=2))
    assert 0 < answer.running <= Fraction(1, 10**12) and answer.one_leader == 1 - answer.running
    assert answer.within(5) == 1 - Fraction(1, 2**5)
    assert 4 - Fraction(1, 10**9) < answer.messages < 4
    assert not answer.record()["exact"] and not answer.certain


# -- order and values ----------------------------------------------------------------------------------------


class Ranks(FloodMax):
    """Ranks of a given range."""

    id = "ranks"
    ranks = Parameter(13, low=1)

    class Message:
        rank: Range(1, "ranks")

    def begin(self, node, rng):
        node.rank = node.highest = rng.randint(1, self.ranks)
        node.wake_at(self.diameter)
        return self.tell_all(node)


class Parity(Ranks):
    """Also asks whether the rank is even, so that its order is not enough."""

    id = "parity"

    def round(self, node, inbox, rng):
        answered = super().round(node, inbox, rng)
        if node.status == ELECTED and node.rank % 2:
            node.status = NON_ELECTED
        return answered


@pytest.mark.parametrize(
    "protocol, graph",
    [(FloodMax(n=2), None), (Referees(n=2), None), (Walks(n=2), None), (Ranks(n=3), "path:3"), (Ranks(n=3), None)],
)
def test_order_and_values_give_the_same(protocol, graph, monkeypatch):
    by_order = hg.verify(protocol, graph=graph)
    monkeypatch.setattr(coins_module, "NARROW", 10**6)
    by_value = hg.verify(protocol, graph=graph)
    assert by_order.tally.ends == by_value.tally.ends and by_order.tally.causes == by_value.tally.causes
    assert by_order.messages == by_value.messages and by_order.tally.bits == by_value.tally.bits
    assert by_order.tally.states < by_value.tally.states


def test_a_number_that_is_not_only_compared_is_enumerated_by_value():
    answer = hg.verify(Parity(n=2, ranks=14))
    assert not answer.tally.ordered
    even_and_highest = sum(2 * (m - 1) for m in range(2, 15, 2))
    assert answer.leaders[1] == Fraction(even_and_highest, 14**2)


@settings(max_examples=30, deadline=None)
@given(size=st.integers(13, 16), draws=st.integers(1, 4))
def test_patterns_of_order_have_the_probabilities_of_counting(size, draws):
    def pattern(values):
        return tuple(sum(other < value for other in values) for value in values)

    found: Counter = Counter()
    for coins, values in branches(lambda rng: [rng.randint(1, size) for _ in range(draws)], {}, True):
        found[pattern(values)] += coins.probability
    counted = Counter(pattern(values) for values in itertools.product(range(size), repeat=draws))
    assert found == {key: Fraction(number, size**draws) for key, number in counted.items()}


def test_numbers_drawn_before_count():
    """Two calls: what the second draws is placed among what the first drew, forgotten or not."""
    for coins, _ in branches(lambda rng: rng.randint(1, 20), {(1, 20): 1}, True):
        places, outcome = coins.places[1, 20], coins.trail[0][0]
        assert coins.probability == (Fraction(1, 20) if outcome == 1 else Fraction(19, 40))
        assert coins.renumbered(1, 20, 1) == (2 if outcome == 0 else 1) and len(places) == (1 if outcome == 1 else 2)


USES = [
    lambda x: x + 1, lambda x: 1 - x, lambda x: x % 2, lambda x: int(x), lambda x: float(x), lambda x: divmod(x, 2),
    lambda x: "ab"[x], lambda x: range(x), lambda x: str(x), lambda x: f"{x}", lambda x: hash(x), lambda x: {x},
    lambda x: x == 7, lambda x: x < 7, lambda x: x >= 7, lambda x: x & 1, lambda x: x.bit_length(), lambda x: round(x),
    lambda x: x < Drawn(1, 99, 1), lambda x: x in [1, 2], lambda x: x in {1: 2}, lambda x: -x, lambda x: sum([x, x]),
]  # fmt: skip


@pytest.mark.parametrize("use", USES)
def test_no_use_of_a_placed_number_goes_unnoticed(use):
    with pytest.raises(NotOrdered):
        use(Drawn(1, 20, 1))


def test_comparisons_that_the_range_decides():
    x, y = Drawn(1, 20, 1), Drawn(1, 20, 2)
    assert x < y and y > x and x <= y and x != y and x == Drawn(1, 20, 1) and max([x, y]) is y
    assert 1 <= x <= 20 and x > 0 and x < 21 and x != 0 and x != 1.5 and x and isinstance(x, int)
    assert x != "a" and x is not None and x != None  # noqa: E711


def test_the_coins_that_protocols_toss():
    def outcomes(call):
        found: Counter = Counter()
        for coins, answer in branches(call, {}, True):
            found[answer] += coins.probability
        assert sum(found.values()) == 1
        return found

    assert outcomes(lambda rng: tuple(rng.sample(range(4), 2))) == {
        pair: Fraction(1, 12) for pair in itertools.permutations(range(4), 2)
    }
    assert outcomes(lambda rng: rng.random() < 0.25) == {True: Fraction(1, 4), False: Fraction(3, 4)}
    assert outcomes(lambda rng: rng.random() >= 1) == {False: 1}

    def twice(rng):
        x = rng.random()
        return x < 0.5, x < 0.25, x <= 0.75

    found = outcomes(twice)
    assert found[True, True, True] == found[True, False, True] == Fraction(1, 4)
    assert found[False, False, True] == Fraction(1, 4) + Fraction(1, 2**53)  # 3/4 itself is one of the numbers
    assert outcomes(lambda rng: rng.choices("ab", (1, 3))[0]) == {"a": Fraction(1, 4), "b": Fraction(3, 4)}
    assert outcomes(lambda rng: rng.getrandbits(2))[3] == Fraction(1, 4)
    assert len(outcomes(lambda rng: (lambda x: (rng.shuffle(x), tuple(x))[1])([1, 2, 3]))) == 6


# -- against simulation ----------------------------------------------------------------------------------------


class OneMoreVote(Referees):
    """A broken twin: a candidate that misses one vote is elected all the same."""

    id = "one-more-vote"

    def round(self, node, inbox, rng):
        answers = super().round(node, inbox, rng)
        if node.rank is not None and node.round == node.decision and len(inbox) == node.referees - 1:
            node.status = ELECTED
        return answers


def agreement(exact, simulated, graph=None, trials=800, **options) -> float:
    """How likely it is that so many of the trials elect one leader, and send so many messages."""
    runs = [simulate(simulated, graph=graph, engine="nodes", trial=k, **options) for k in range(trials)]
    answer = hg.verify(exact, graph=graph, **options)
    elected = binomtest(sum(run.reached for run in runs), trials, float(answer.one_leader)).pvalue
    messages = np.array([run.measures["messages"] for run in runs])
    distance = abs(messages.mean() - float(answer.messages)) / (messages.std() / trials**0.5 + 1e-12)
    assert total(answer) == 1 and answer.running == 0
    return min(elected, 1.0 if distance < 4 else 0.0)


CASES = [
    (Referees(n=3, referees=1), None, {}),
    (Referees(n=3, referees=1, variant="explicit"), None, {}),
    (Referees(n=3, referees=1, variant="wakeup"), None, {"wake": "one-by-one"}),
    (Referees(n=3, referees=1, variant="wakeup"), None, {"wake": "random"}),
    (Walks(n=3, walks=1, candidates=2), None, {}),
    (Ranks(n=4, diameter=2), "star:4", {}),
]
LONGER = [
    (Walks(n=3, walks=2, candidates=2), "path:3", {}),
    (Walks(n=4, walks=1, candidates=2), "ring:4", {}),
]


@pytest.mark.parametrize(
    "protocol, graph, options", CASES + [pytest.param(*one, marks=pytest.mark.full) for one in LONGER]
)
def test_simulation_agrees(protocol, graph, options):
    assert agreement(protocol, protocol, graph, **options) > 1e-3


def test_simulation_of_another_protocol_does_not():
    assert agreement(Referees(n=3), OneMoreVote(n=3)) < 1e-6


# -- what is refused -------------------------------------------------------------------------------------------


def variant(begin=None, node=None):
    class Changed(FloodMax):
        id = "changed"

        Node = type("Node", (), {"rank": 0, "highest": 0} | (node or {}))

    if begin:
        Changed.begin = begin
    return Changed(n=2)


def calls_gauss(self, node, rng):
    rng.gauss(0, 1)


def scales(self, node, rng):
    return {0: self.message(rank=1 + int(rng.random() * 10))}


def keeps(self, node, rng):
    node.x = rng.random()


def shares(self, node, rng):
    self.seen = 1


def keeps_object(self, node, rng):
    node.x = object


def keeps_twice(self, node, rng):
    node.a = node.b = []


def fails(self, node, rng):
    return {0: 1 / 0}


def sends_wrong(self, node, rng):
    return {7: self.message(rank=1)}


REFUSED = [
    (calls_gauss, "rng.gauss"), (scales, "calculates with rng.random"), (keeps, "keeps what rng.random"),
    (shares, "changes self.seen"), (keeps_object, "the type type"), (keeps_twice, "under two names"),
    (fails, "ZeroDivisionError"), (sends_wrong, "port 7"),
]  # fmt: skip


@pytest.mark.parametrize("begin, sentence", REFUSED)
def test_what_cannot_be_enumerated_is_refused(begin, sentence):
    with pytest.raises(InvalidInput, match=sentence):
        hg.verify(variant(begin))


def test_a_list_of_all_nodes_is_refused():
    with pytest.raises(InvalidInput, match="Node.items is one list for all nodes"):
        hg.verify(variant(node={"items": []}))


def test_too_many_states_are_refused_with_an_estimate():
    with pytest.raises(InvalidInput, match="different states .* GiB, more than 0.002"):
        hg.verify(Referees(n=4, referees=2), memory=0.002)


@pytest.mark.parametrize(
    "given", [{"start": "all"}, {"quantiles": (0.5,)}, {"scheduler": "fair"}, {"property": "closed"}, {"within": 0}]
)
def test_options_of_chains_are_refused(given):
    with pytest.raises(InvalidInput):
        hg.verify(FloodMax(n=2), **given)


def test_how_much_there_is_to_count_is_shown_before_it_is_counted():
    """All arrangements of the identifiers first."""
    told = []
    hg.verify(hg.Peterson(n=5), progress=lambda *words: told.append(words))
    assert told[0] == ("ways to begin", 0, 120)
    assert all(done < total for _, done, total in told) and any("round 1" in stage for stage, _, _ in told)


def test_the_command(capsys):
    assert main(["verify", "flood-max", "--n", "3", "--within", "2", "--json", "--quiet"]) == 1
    content = json.loads(capsys.readouterr().out)
    assert content["one_leader"]["exact"] == content["within"]["one_leader"]["exact"] == "6440/6561"
    assert main(["verify", "flood-max", "--n", "2", "--property", "reached", "--quiet"]) == 1
    assert "15/16" in capsys.readouterr().out
    assert main(["verify", "flood-max", "--n", "2", "--start", "all", "--quiet"]) == 2
