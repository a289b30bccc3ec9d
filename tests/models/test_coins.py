"""Coins as they are declared: their values, their numbers, and what refuses them in one sentence."""

import json
from types import SimpleNamespace

import pytest

import hegemon as hg
from hegemon.compute.records import meeting
from hegemon.models import Bit, Choice, PopulationProtocol, Range, exactly
from hegemon.models.coins import CoinSpace
from hegemon.models.fields import Field


def is_leader(a, p):
    return a.leader == 1


class Duel(PopulationProtocol):
    """The initiator wins if it throws more than half."""

    arbitrary_start = False

    class State:
        leader: Bit = 1
        won: Range(0, 3) = 0

    class Coins:
        heads: Bit
        throw: Range(1, 6)

    def interact(a, b, p, coins):
        if a.leader == 1 and b.leader == 1 and coins.heads == 1:
            if coins.throw > 3:
                b.leader = 0
                a.won = min(a.won + 1, 3)
            else:
                a.leader = 0

    safe = exactly(1, is_leader).described("one leader", closed=True)


def test_every_value_has_a_number():
    coins = Duel(n=3).coins
    assert coins.size == 12
    values = [coins.value(number) for number in range(12)]
    assert len(set(values)) == 12 and {value.throw for value in values} == {1, 2, 3, 4, 5, 6}
    assert [coins.number(value._asdict()) for value in values] == list(range(12))
    with pytest.raises(hg.InvalidInput, match="throw = 7 is not one of 1..6"):
        coins.number({"heads": 0, "throw": 7})


def test_by_hand():
    states = {"leader": 1, "won": 0}, {"leader": 1, "won": 0}
    assert Duel(n=3).transition(*states, {"heads": 1, "throw": 6}) == ({"leader": 1, "won": 1}, {"leader": 0, "won": 0})
    assert Duel(n=3).transition(*states, {"heads": 0, "throw": 6}) == states
    with pytest.raises(hg.InvalidInput, match="the coins are heads, throw"):
        Duel(n=3).transition(*states)


def test_what_one_value_of_the_coins_breaks_is_found():
    class Broken(Duel):
        def interact(a, b, p, coins):
            if coins.heads == 1 and coins.throw == 5:
                a.won = a.won + 1

    with pytest.raises(hg.InvalidInput, match=r"won = 4.*'heads': 1, 'throw': 5"):
        Broken(n=3).require_sound()


def test_other_randomness_is_refused():
    import random

    class Impure(Duel):
        def interact(a, b, p, coins):
            b.leader = random.randint(0, 1)

    with pytest.raises(hg.InvalidInput, match="random"):
        Impure(n=3).require_sound()


def test_declarations_that_cannot_work():
    with pytest.raises(hg.InvalidInput, match=r"write def interact\(a, b, p, coins\)"):

        class Unasked(Duel):
            class Coins:
                heads: Bit

            def interact(a, b, p):
                pass

    with pytest.raises(hg.InvalidInput, match="plain Bit, Range or Coin"):

        class Named(PopulationProtocol):
            class State:
                leader: Bit

            class Coins:
                side: Choice("HEADS", "TAILS")

            def interact(a, b, p, coins):
                pass

    with pytest.raises(hg.InvalidInput, match="takes other arguments"):

        class Undeclared(PopulationProtocol):
            class State:
                leader: Bit

            def interact(a, b, p, coins):
                pass


def test_what_cannot_take_coins_says_so():
    from hegemon.exact.proofs.prover import prove
    from hegemon.network.rules import InteractionRules

    for refused in (
        lambda: prove(Duel),
        lambda: InteractionRules(Duel(n=3)),
        lambda: Duel(n=3).transition_codes(0, 0),
    ):
        with pytest.raises(hg.InvalidInput, match="duel tosses coins in its interactions"):
            refused()

    class Many(Duel):
        class Coins:
            heads: Bit
            throw: Range(1, 1000)

    for engine in ("batch", "events"):
        with pytest.raises(hg.InvalidInput, match="use engine agents"):
            hg.simulate(Many(n=5), engine=engine)


def test_a_story_with_coins_is_followed(tmp_path):
    asked = "reached:count(leader == 1) == 1"
    answer = hg.verify(Duel(n=3), scheduler="adversary", coins="adversary", property=asked)
    story = answer.findings[0].counterexample
    assert story is not None and "coins" in story.lines()[-1]
    story.save(tmp_path / "story.json")
    told = json.loads((tmp_path / "story.json").read_text())["interactions"]
    assert told and all(set(coins) == {"heads", "throw"} for _, _, coins in told)
    run = hg.simulate(Duel(n=3), start=tmp_path / "story.json", engine="agents", until=f"steps:{len(told)}")
    assert run.steps == len(told) and run.leaders == 1


def test_a_coin_may_be_named_like_what_carries_it():
    """Compiled code reads coins by names of its own: `coin` and `a` are not mixed up with the number and the agent."""
    names = ("coin", "a", "b", "p", "interact", "Coins")
    fields = tuple(Field(name, Range(low, low + 1)) for low, name in enumerate(names))
    space, seen = CoinSpace(fields, {}, "own"), []
    meet = meeting(lambda a, b, p, coins: seen.append((a, b, tuple(coins))), names)
    for number in range(space.size):
        meet(1, 2, SimpleNamespace(**space.layout), number)
    assert seen == [(1, 2, tuple(space.value(number))) for number in range(space.size)]
