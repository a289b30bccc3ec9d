"""Odd values in every option of every public function: a good answer, or one sentence; nothing odd is taken."""

import datetime
import inspect
import re

import pytest

import hegemon as hg
from hegemon.errors import InvalidInput
from hegemon.runs.rates import Rate
from tests.fuzz.calling import try_calls
from tests.fuzz.calls import APART, MORE, MORE_SENSE, SENSE, is_sense, options, table

# what an author writes in a class: checked with the class, whose line the sentence names
DECLARATIONS = {
    "MessageProtocol", "ObjectProtocol", "PopulationProtocol", "RoundsProtocol",
    "Array", "Choice", "Coin", "Range", "Group", "at_least", "at_most", "count", "everywhere", "exactly",
    "maximum", "mean", "minimum", "nowhere", "overall", "whole",
}  # fmt: skip
DATE = datetime.date(2020, 1, 1)


def test_odd_values_are_refused_in_a_sentence():
    counts, flaws = try_calls(1, range(1_500))
    assert not flaws, "\n".join(flaws)
    assert counts["refused"] > 1_000 and counts["taken"] > 25


@pytest.mark.full
def test_thirty_thousand_calls():
    counts, flaws = try_calls(2, range(30_000))
    assert not flaws, f"{counts}\n" + "\n".join(flaws)


def test_every_public_function_and_option_is_tried():
    """A function or an option that is added here is added to the fuzzer too."""
    tried = {function for function, _ in table().values()}
    results = {"Run", "Picture", "Configuration", "InvalidInput"}
    public = {name for name in hg.__all__ if callable(getattr(hg, name))} - results - DECLARATIONS
    assert not {name for name in public if getattr(hg, name) not in tried}
    named = {option for name, (function, _) in table().items() for option in options(function, name)}
    assert not named - {*SENSE, *MORE_SENSE, *APART, *MORE["sweep"], "listener"}


def test_every_public_function_has_a_door():
    functions = [value for name in hg.__all__ if inspect.isfunction(value := getattr(hg, name))]
    assert {function.__name__ for function in functions if not hasattr(function, "kinds")} <= DECLARATIONS
    for function in functions:
        if hasattr(function, "kinds"):
            assert function.kinds.keys() == inspect.signature(function).parameters.keys(), function.__name__


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: hg.simulate(hg.Pairwise(n=4), seed=DATE), "seed = datetime.date"),
        (lambda: hg.run_trials(hg.Pairwise(n=4), DATE), "trials = datetime.date"),
        (lambda: hg.compare("pairwise", n=b"x"), "n = b'x'"),
        (lambda: hg.mixing_time("ring:9", lazy="no"), "lazy = 'no'"),
        (lambda: hg.Fault(1, 1, kind="leav"), "did you mean leave"),
        (lambda: hg.Fault(-5, 1), "step = -5 is out of range"),
        (lambda: hg.Fault(1.5, 1), "step = 1.5"),
        (lambda: hg.simulate(hg.Pairwise(n=4), max_steps=-1), "max_steps = -1"),
        (lambda: hg.simulate(hg.Pairwise(n=4), max_steps=0.5), "max_steps = 0.5"),
        (lambda: hg.verify(hg.Pairwise(n=3), memory=float("nan")), "memory = nan"),
        (lambda: hg.availability(hg.Pairwise(n=3), rates=["corrupt=1/9"], memory=[1]), "memory = [1]"),
        (lambda: hg.simulate(hg.Pairwise(n=4), every=-1), "every = -1"),
        (lambda: hg.simulate(hg.Pairwise(n=4), at=[1.5]), "at = [1.5]"),
        (lambda: hg.watch(hg.Pairwise(n=4), film=True, max_steps=0.5), "max_steps = 0.5"),
        (lambda: hg.discover(states=2, certificate="tree.json"), "certificate = 'tree.json' cannot be used; give Tr"),
        (lambda: hg.holding(hg.Timer(n=3, s=2), path="path.json"), "path = 'path.json' cannot be used; give True or"),
        (lambda: hg.run_trials(hg.Pairwise(n=4), 2**63), "trials = 9223372036854775808 is out of range"),
        (lambda: hg.simulate(hg.Pairwise(n=4), sead=1), "did you mean seed"),
        (lambda: hg.simulate(hg.Pairwise), "is a class: make an instance"),
        (lambda: hg.verify(hg.Pairwise), "is a class: make an instance"),
        (lambda: Rate("corrupt", 2), "rate = 2"),
    ],
)  # fmt: skip
def test_what_the_sentence_says(call, said):
    with pytest.raises(InvalidInput) as refused:
        call()
    assert said in str(refused.value) and "\n" not in str(refused.value)


def test_numbers_of_numpy_and_whole_floats_are_taken():
    import numpy as np

    plain = hg.simulate(hg.Pairwise(n=6), seed=3, max_steps=1000, at=[0, 5]).steps
    assert hg.simulate(hg.Pairwise(n=6), seed=np.int64(3), max_steps=1e3, at=np.array([0, 5])).steps == plain


def test_a_wrong_number_of_arguments_is_said_by_python():
    with pytest.raises(TypeError, match="protocol"):
        hg.simulate()
    with pytest.raises(TypeError, match="positional"):
        hg.check(hg.Pairwise(n=3), None)


def test_a_door_that_takes_anything_is_caught(monkeypatch):
    """The twin: kinds that admit every value. What is taken then is no sense, by the fuzzer's own table."""
    from hegemon import doors

    monkeypatch.setattr(doors.Kind, "admit", lambda self, name, value: value)
    assert hg.mixing_time("ring:9", lazy="no").lazy == "no" and not is_sense("mixing_time", "lazy", "no")
    assert hg.Fault(-5, 1, kind="leav").step == -5 and not is_sense("Fault", "step", -5)


def test_every_place_of_a_class_exists(monkeypatch):
    """A kind looks for classes by their place, and takes nothing if the place is wrong."""
    import importlib
    from pathlib import Path

    import hegemon.doors

    ours = r'"((?:hegemon|numpy|networkx|decimal|fractions|builtins)[\w.]*:\w+)"'
    texts = [file.read_text(encoding="utf-8") for file in Path(hegemon.doors.__file__).parent.rglob("*.py")]
    places = {place for text in texts if "doors." in text for place in re.findall(ours, text)}
    assert len(places) > 8
    for place in places:
        home, _, name = place.partition(":")
        assert hasattr(importlib.import_module(home), name), place
