"""Every transition that an engine really uses is checked when it is learnt, and a failure names its pair."""

import inspect
import warnings

import pytest

import hegemon as hg
from hegemon.models import Bit, Parameter, PopulationProtocol, Range, RoundsProtocol

WHAT = {0: "", 1: "wrote x = 300, outside 0..30", 2: "ZeroDivisionError", 3: "wrote x = 31, outside 0..30"}


class Rare(PopulationProtocol):
    """Goes wrong in a state that few samples hit: 300 in a byte, a division by zero, one too many."""

    how = Parameter(0, low=0, high=3)
    top = Parameter(60, low=31)

    class State:
        leader: Bit = 1
        x: Range(0, 30) = 0
        y: Range(0, "top") = 0

    def interact(a, b, p):
        highest = max(a.x, b.x) + 1
        if (a.x == 20 and a.y == 20) or (b.x == 20 and b.y == 20):
            if p.how == 1:
                highest = 300
            elif p.how == 2:
                highest = 1 // (p.how - 2)
            elif p.how == 3:
                highest = 31
        elif highest > 30:
            highest = 30
        a.x = highest
        b.x = highest
        a.y = highest
        b.y = highest


class RareRounds(RoundsProtocol):
    """The same in rounds."""

    how = Parameter(0, low=0, high=3)

    class State:
        leader: Bit = 1
        x: Range(0, 30) = 0
        y: Range(0, 60) = 0

    def update(me, neighbours, coins, p):
        highest = me.x + 1
        if me.x == 20 and me.y == 20:
            if p.how == 1:
                highest = 300
            elif p.how == 2:
                highest = 1 // (p.how - 2)
            elif p.how == 3:
                highest = 31
        elif highest > 30:
            highest = 30
        me.x = highest
        me.y = highest


@pytest.mark.parametrize("how", WHAT)
@pytest.mark.parametrize(
    ("engine", "top"), [("agents", 60), ("agents", 200), ("events", 60), ("batch", 60), ("auto", 60)]
)
def test_a_rare_failure_ends_the_run_with_its_pair(engine, top, how):
    protocol = Rare(n=10, how=how, top=top)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # nothing may be raised through C
        if how == 0:
            assert hg.simulate(protocol, engine=engine, until="all(x == 30)", max_steps=10_000).reached
            return
        with pytest.raises(hg.InvalidInput, match=WHAT[how]) as refused:
            hg.simulate(protocol, engine=engine, until="all(x == 30)", max_steps=10_000)
    assert "'x': 20, 'y': 20" in str(refused.value)


@pytest.mark.parametrize("how", WHAT)
def test_a_rare_failure_in_rounds_names_the_node(how):
    protocol = RareRounds(n=6, how=how)
    if how == 0:
        assert hg.simulate(protocol, graph="ring:6", until="all(x == 30)", max_steps=100).reached
        return
    with pytest.raises(hg.InvalidInput, match=WHAT[how]) as refused:
        hg.simulate(protocol, graph="ring:6", until="all(x == 30)", max_steps=100)
    assert "'x': 20, 'y': 20" in str(refused.value)


@pytest.mark.parametrize("engine", ["batch", *(pytest.param(e, marks=pytest.mark.full) for e in ("agents", "events"))])
def test_a_pair_that_cannot_meet_is_not_refused(engine):
    """One leader never meets a leader: the failure that would follow is no failure of the run."""

    class Alone(PopulationProtocol):
        class State:
            leader: Bit = 0
            x: Range(0, 3) = 0

        def interact(a, b, p):
            if a.leader == 1 and b.leader == 1:
                a.x = 9
            elif a.leader == 1:
                b.x = min(b.x + 1, 3)

    Alone.check_interact = lambda *arguments: None  # the samples would refuse it
    start = [{"leader": 1, "x": 0}, *[{"leader": 0, "x": 0}] * 5]
    assert hg.simulate(Alone(n=6), start=start, engine=engine, until="count(x == 3) == 5").reached


class Curious(hg.PopulationProtocol):
    """Fine as plain Python; the compiler does not know `vars`."""

    class State:
        leader: hg.Bit = 1

    def interact(a, b, p):
        if a.leader == 1 and b.leader == 1:
            b.leader = len(vars(a)) - 1


@pytest.mark.parametrize("engine", ["agents", "events"])
def test_what_cannot_be_compiled_is_told_with_the_authors_line(engine):
    """Not with the line of the kernel that calls it."""
    text, first = inspect.getsourcelines(Curious.interact)
    line = first + next(k for k, row in enumerate(text) if "vars(a)" in row)
    with pytest.raises(hg.InvalidInput, match=rf"vars is outside the language.*\(test_refusals.py, line {line}\)"):
        hg.simulate(Curious(n=5), engine=engine, until="count(leader == 1) == 1")


def test_the_page_and_every_model_ask_one_place_for_an_engine():
    """What does not fit is refused in the same words by every caller."""
    from hegemon.web.session import Session

    wrong = {hg.Pairwise(n=4): "rounds", hg.Trains(n=4): "agents", hg.FloodMax(n=4): "batch"}
    wrong[hg.CATALOGUE["sublinear-ranking"](n=4)] = "batch"
    for protocol, engine in wrong.items():
        said = []
        for ask in (hg.simulate, Session):
            with pytest.raises(hg.InvalidInput, match=f"engine '{engine}' does not run {protocol.id}") as refused:
                ask(protocol, engine=engine)
            said.append(str(refused.value))
        assert said[0] == said[1]
    with pytest.raises(
        hg.InvalidInput, match="engine contacts does not show every step; watch referees with engine nodes"
    ):
        Session(hg.Referees(n=9), engine="contacts")
