"""Sets joined by `&`, `|` and `~`, and sets that a class declares as texts, against a predicate on all agents."""

import itertools
import json
import random
import re

import pytest

import hegemon as hg
from hegemon.errors import InvalidInput
from hegemon.exact.exports.prism import prism
from hegemon.exact.proofs import checker
from hegemon.models import Range, at_least, at_most, everywhere, exactly, nowhere, whole
from hegemon.models.sets import Alternative, ConfigurationSet
from hegemon.process.stopping import parse_stop


def first(a, p):
    return a.opinion == 1


def second(a, p):
    return a.opinion == 2


def agreed(agents, p):
    """What `safe` means, agent by agent."""
    same = True
    for a in agents:
        if a.opinion == 0 or a.opinion != agents[0].opinion:
            same = False
    return same


class Opinions(hg.PopulationProtocol):
    """Undecided agents take the opinion that they meet; opposite ones undo each other."""

    class State:
        opinion: Range(0, 2)

    outputs = ("other", "first")
    safe = everywhere(first) | everywhere(second)
    reference = "none"

    def interact(a, b, p):
        if b.opinion == 0:
            b.opinion = a.opinion
        elif a.opinion != 0 and a.opinion != b.opinion:
            b.opinion = 0

    def output(a, p):
        return a.opinion == 1


class Written(Opinions):
    safe = "all(opinion == 1) or all(opinion == 2)"
    undecided = "not over and count(opinion == 0) >= n / 2"
    over = "safe or all(opinion == 0)"


class Whole(Opinions):
    safe = whole(agreed)


class Wrong(Opinions):
    safe = everywhere(first) & everywhere(second) | everywhere(first)  # an alternative is missing


LEAVES = [everywhere(first), nowhere(second), exactly(2, first), at_least(3, second), at_most("n / 2", first)]
LEAVES.append(whole(agreed))


def formula(rng, depth):
    """A set and the same as a function of two counts and of all agents."""
    if depth == 0:
        leaf = rng.choice(LEAVES)
        return leaf, lambda agents, p, values: leaf.contains(agents, p, values)
    one, means = formula(rng, depth - 1)
    if rng.random() < 0.3:
        return ~one, lambda *given: not means(*given)
    other, means_too = formula(rng, rng.randrange(depth))
    if rng.random() < 0.5:
        return one & other, lambda *given: means(*given) and means_too(*given)
    return one | other, lambda *given: means(*given) or means_too(*given)


def disagreements():
    """How often a joined set, in plain Python and as a stop, differs from what its parts mean."""
    rng, protocol, wrong, answers = random.Random(7), Opinions(5), 0, set()
    for _ in range(150):
        chosen, means = formula(rng, 3)
        stop = parse_stop(chosen, protocol)
        for _ in range(6):
            agents = [protocol.space.namespace(rng.randrange(3)) for _ in range(5)]
            counts = [sum(bool(holds(a, protocol.p)) for a in agents) for holds in stop.conditions]
            inside = not stop.conditions or stop.holds(counts)
            inside = inside and all(predicate(agents, protocol.p) for predicate in stop.whole)
            expected = means(agents, protocol.p, protocol.values)
            answers.add((bool(stop.whole), len(stop.low) > 1, expected))
            wrong += (inside != expected) + (chosen.contains(agents, protocol.p, protocol.values) != expected)
    assert len(answers) >= 6
    return wrong


def test_joined_sets_mean_what_their_parts_mean(monkeypatch):
    assert disagreements() == 0
    every = Alternative.opposite
    monkeypatch.setattr(Alternative, "opposite", lambda row: every(row)[:-1] or every(row))
    assert disagreements() > 0


@pytest.mark.parametrize("kind", [Opinions, Written])
@pytest.mark.parametrize("engine", ["agents", "batch", "events", "plain"])
def test_runs_end_at_the_step_at_which_the_predicate_holds(kind, engine):
    def steps(kind, engine):
        return [hg.simulate(kind(9), seed=seed, engine=engine, max_steps=10**5).steps for seed in range(6)]

    expected = steps(Whole, "agents")
    if engine in ("agents", "plain"):
        assert steps(kind, engine) == expected
    else:  # other random numbers: the set is entered, and not before
        for seed in range(6):
            run = hg.simulate(kind(9), seed=seed, engine=engine, max_steps=10**5)
            opinions = set(run.configuration.agents["opinion"].tolist())
            assert opinions in ({1}, {2}) if run.reached else opinions == {0}
    assert steps(Wrong, "agents") != expected


def test_an_engine_of_counts_takes_a_joined_set():
    run = hg.simulate(Written(10**9), seed=1, engine="batch", max_steps=10**9, until="not over")
    assert run.reached and run.steps == 0
    start = {"seed": 1, "engine": "batch", "start": "random"}
    assert not hg.simulate(Written(10**9), until="safe", max_steps=10**9, **start).reached


@pytest.mark.parametrize("kind", [Opinions, Written])
def test_verify_keeps_the_symmetry_and_the_answers(kind):
    joined, plain, wrong = (
        hg.verify(one(4), property="reached:safe or all(opinion == 0)") for one in (kind, Whole, Wrong)
    )
    assert joined.chain.size == 15 and plain.chain.size == 81
    assert [one.findings[0].holds for one in (joined, plain, wrong)] == [True, True, False]
    for one in (kind, Whole):
        assert hg.verify(one(4), property="closed:safe").findings[0].holds


def test_times_are_the_same_for_a_joined_set():
    class Two(hg.Pairwise):
        safe = exactly(1, lambda a, p: a.leader == 1) | exactly(2, lambda a, p: a.leader == 1)

    class TwoWhole(hg.Pairwise):
        safe = "count(leader == 1) + count(leader == 1) <= 4 and count(leader == 1) >= 1"

    assert not Two(5).sets["safe"].whole and TwoWhole(5).sets["safe"].whole
    found = [hg.verify(one(4)) for one in (Two, TwoWhole)]
    assert found[0].chain.size < found[1].chain.size
    assert found[0].hitting.worst == pytest.approx(found[1].hitting.worst)


def test_a_proof_for_every_n_takes_a_joined_set():
    assert hg.prove(Written, property="closed:safe").ok
    assert hg.prove(Opinions, property="closed:safe").ok
    assert hg.prove(Written, property="closed:over").ok
    refuted = hg.prove(Written, property="closed:not safe")
    assert [one.status for part in refuted.parts for one in part.statements] == ["refuted"]
    certificate = json.loads(json.dumps(hg.prove(Written, property="closed:safe").certificate))
    assert checker.check(certificate)["failures"] == []
    rows = certificate["parts"][0]["statements"][0]["rows"]
    rows.append([{"weights": [1, 0, 0], "at_least": 1}])  # with an undecided agent, which the next step may change
    assert checker.check(certificate)["failures"]


def test_a_text_reads_parameters_and_other_sets_of_its_instance():
    assert Written(5).shared is Written(5).shared
    one, other = Written(5), Written(9)
    assert one.sets["undecided"] != other.sets["undecided"]
    assert one.sets["safe"].doc == Written.safe
    assert not one.sets["over"].closed


def test_a_union_is_closed_only_if_both_are():
    closed = [everywhere(first).described("", closed=flag) for flag in (True, False)]
    assert (closed[0] | closed[0]).closed and not (closed[0] | closed[1]).closed and not (~closed[0]).closed


def test_python_operators_that_would_drop_a_set_are_refused():
    for wrong in (lambda a, b: a and b, lambda a, b: a or b, lambda a, b: not a):
        with pytest.raises(InvalidInput, match="joined by `&`"):
            wrong(everywhere(first), everywhere(second))
    with pytest.raises(InvalidInput, match="joined by `|` with a set, not with 'all"):
        everywhere(first) | "all(opinion == 2)"
    many = ConfigurationSet()
    with pytest.raises(InvalidInput, match="more than 64 alternatives"):
        for number in range(7):
            many &= exactly(number, first) | exactly(number, second)


def declares(**body):
    return type("Declares", (Opinions,), body)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("all(opinon == 1)", r"the set safe: the condition .* mentions 'opinon'"),
        ("over or safe", "described by itself"),
        ("all(opinion == 1) or nothing", "is not understood"),
    ],
)
def test_a_text_that_is_no_set_is_refused_by_name(text, message):
    with pytest.raises(InvalidInput, match=message):
        declares(safe=text, over="safe or all(opinion == 0)")(4)


def test_what_nobody_reads_is_refused_by_name():
    class Constant(Opinions):
        saef = 3

    class Misspelt(Opinions):
        def ouptut(a, p):
            return a.opinion == 2

    class Used(Opinions):
        limit = 2
        few = at_most(limit, first)

        def start_some(self, rng):
            return [hg.Group(self.n, {"opinion": self.again})]

        again = 1

        def helper(self):
            return None

    with pytest.raises(
        InvalidInput, match=r"Constant: nobody reads saef \(test_joined_sets.py, line \d+\) \(did you mean safe"
    ):
        Constant(4)
    with pytest.raises(InvalidInput, match="nobody reads ouptut"):
        Misspelt(4)
    assert "few" in Used(4).sets
    with pytest.raises(InvalidInput, match="has no values to choose from"):

        class Bare(hg.PopulationProtocol):
            class State:
                leader: hg.Bit
                timer = 3


def test_a_set_whose_bound_stays_unknown_leaves_the_other_statements():
    class Few(hg.Pairwise):
        k = hg.Parameter("n // 2")
        few = at_most("k", lambda a, p: a.leader == 1).described("at most k leaders", closed=True)
        less = "count(leader == 1) <= k"

    [part] = hg.prove(Few).parts
    assert [one.status for one in part.statements] == ["proved"] * 3 + ["not found"]
    assert "the set few: k depends on n; fix it" in part.statements[-1].sentence
    for name in ("few", "less"):
        with pytest.raises(InvalidInput, match=f"the set {name}: .*k depends on n; fix it .*--set k=VALUE"):
            hg.prove(Few, property=f"closed:{name}")
        assert hg.prove(Few, property=f"closed:{name}", parameters={"k": 3}).ok


def test_a_model_for_prism_has_labels_of_joined_sets():
    protocol = Written(3)
    text = prism(protocol)
    labels = dict(re.findall(r'label "(\w+)" = (.*);', text))
    assert set(labels) == {"safe", "undecided", "over"}
    for codes in itertools.combinations_with_replacement(range(3), 3):
        counts = {f"c{code}": codes.count(code) for code in range(3)}
        agents = [protocol.space.namespace(code) for code in codes]
        for name, label in labels.items():
            inside = eval(label.replace("&", "and").replace("|", "or"), counts)
            assert inside == protocol.sets[name].contains(agents, protocol.p, protocol.values), (name, codes)


def test_a_value_that_a_class_of_another_file_reads_is_read(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    base = "import hegemon as hg\n\nclass Basis(hg.Pairwise):\n    share = 3\n"
    (tmp_path / "the_basis.py").write_text(base)
    user = "class User(Basis):\n    def start_some(self, rng):\n        return [self.share]\n"
    (tmp_path / "the_user.py").write_text(f"from the_basis import Basis\n\n{user}")
    from the_user import Basis, User

    assert User(4).share == 3
    with pytest.raises(InvalidInput, match=r"Basis: nobody reads share \(the_basis.py, line 4\)"):
        Basis(4)
