"""What a protocol takes for granted is declared, shown, and checked where parameters can decide it."""

import pytest

import hegemon as hg
from hegemon.errors import InvalidInput
from hegemon.graphs.families import parse
from hegemon.models import Assumption, Bit, Parameter, PopulationProtocol
from hegemon.models.assumptions import truth
from hegemon.models.description import describe


class Careful(PopulationProtocol):
    assumes = (
        Assumption("k does not divide n", "n % k != 0", "choose another k"),
        Assumption("every agent knows n"),
    )
    k = Parameter(2, low=1)

    class State:
        x: Bit

    def interact(a, b, p):
        a.x = b.x


def test_an_assumption_that_fails_says_what_to_do():
    assert Careful(n=5).k == 2
    with pytest.raises(
        InvalidInput, match="careful assumes that k does not divide n, .* n = 6, k = 2; choose another k"
    ):
        Careful(n=6)


def test_show_says_what_is_assumed():
    assert describe(Careful(n=5))["assumes"] == ["k does not divide n", "every agent knows n"]
    assert describe(hg.Herman(n=5))["assumes"] and not describe(hg.Pairwise(n=5))["assumes"]
    assert describe(hg.Ring(n=5))["assumes"] == ["the graph is a directed ring", "N >= n"]
    assert describe(hg.ItaiRodeh(n=5))["assumes"] == ["the graph is an oriented ring", "n is known exactly"]


class OnRings(Careful):
    needs_graph = "directed-ring"


def test_a_graph_is_assumed_by_a_declaration():
    assert OnRings(n=5).topology == "directed-ring"
    OnRings(n=5).check_topology(parse("directed-ring:5", None, None))
    with pytest.raises(InvalidInput, match="on-rings runs on directed rings only, and ring:5 is not one; use directed"):
        OnRings(n=5).check_topology(parse("ring:5", None, None))
    with pytest.raises(InvalidInput, match="choose complete, directed-ring, oriented-ring"):
        type("Own", (Careful,), {"needs_graph": "square"})


@pytest.mark.parametrize(
    ("text", "answer"),
    [("n > 3 and not k == 2", False), ("n > 3 or k == 3", True), ("1 < k <= n - 1", True), ("2^k == n + 0", True)],
)
def test_texts_of_comparisons(text, answer):
    assert truth(text, {"n": 4, "k": 2}) is answer


@pytest.mark.parametrize("text", ["n", "n % 0 == 1", "present(n)", "n ==", "m == 1"])
def test_what_cannot_be_decided_is_one_sentence(text):
    with pytest.raises(InvalidInput, match="cannot be decided"):
        truth(text, {"n": 4})


def test_a_wrong_declaration_is_refused():
    with pytest.raises(InvalidInput, match="assumes must be a tuple"):
        type("Own", (Careful,), {"assumes": "n is odd"})
