"""What a class body may say: names that mean something else are refused, and functions of the wrong form."""

import asyncio
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hegemon.compute.records import record_functions
from hegemon.errors import InvalidInput
from hegemon.models import Bit, MessageProtocol, Parameter, PopulationProtocol, Range, count, everywhere, whole
from tests.models.population_protocols import copies, own


async def asynchronous(a, b, p):
    await asyncio.sleep(0)


def generates(a, b, p):
    yield a


@pytest.mark.parametrize(
    "body",
    [asynchronous, generates, lambda a, b: None, lambda a, b, p, q: None, 3],
    ids=["async", "yield", "2", "4", "3"],
)
def test_functions_of_another_form_are_refused_when_the_class_is_defined(body):
    with pytest.raises(InvalidInput, match=r"interact .*write def interact\(a, b, p\)"):
        own(body)


@pytest.mark.parametrize(
    ("members", "part"),
    [
        ({"start_all": lambda self, rng: []}, "a start cannot be named 'all'"),
        ({"broken": everywhere(lambda a, p: a.x == 1)}, "a set cannot be named 'broken'"),
        ({"steps": everywhere(lambda a, p: a.x == 1)}, "a set cannot be named 'steps'"),
        ({"step": count(lambda a, p: a.x == 1)}, "an? observable cannot be named 'step'"),
        ({"n": Parameter(1)}, "'n' already has a meaning"),
        ({"space": Parameter(1)}, "'space' already has a meaning"),
        ({"sets": count(lambda a, p: a.x == 1)}, "'sets' already has a meaning"),
        ({"_k": Parameter(1)}, "'_k' already has a meaning"),
        ({"start_odd": lambda self: []}, r"write def start_odd\(self, rng\)"),
        ({"safe": everywhere(lambda a: a.x == 1)}, "a condition of the set safe takes other arguments"),
        ({"safe": whole(lambda agents: True)}, "a predicate of the set safe"),
        ({"seen": count(lambda a: a.x == 1)}, "the observable seen"),
        ({"output": lambda a: a.x}, r"write def output\(a, p\)"),
    ],
)
def test_names_and_forms_are_refused_when_the_class_is_defined(members, part):
    with pytest.raises(InvalidInput, match=part):
        own(copies, **members)


@pytest.mark.parametrize("name", ["n", "count", "size", "T", "_x", "dtype"])
def test_fields_that_records_could_not_have_are_refused(name):
    with pytest.raises(InvalidInput, match=f"a field cannot be named '{name}'"):
        type("Own", (PopulationProtocol,), {"State": type("State", (), {"__annotations__": {name: Bit}})})


@pytest.mark.parametrize(
    ("low", "high", "part"),
    [
        (0, float("nan"), "nan is no bound"),
        (0, float("inf"), "inf is no bound"),
        (0, None, "None is no bound"),
        (0, "9**9**9", "digits"),
        (0, "k", "no parameter 'k'"),
        (0, 2**70, "64 bits"),
        (3, 2, "empty range"),
    ],
)
def test_ranges_that_are_none_are_named(low, high, part):
    state = type("State", (), {"__annotations__": {"x": Range(low, high)}})
    with pytest.raises(InvalidInput, match=part):
        _ = type("Own", (PopulationProtocol,), {"State": state, "interact": copies})(n=4).space.dtype


def test_a_state_that_is_no_class_is_named():
    with pytest.raises(InvalidInput, match="State is 3, which is not a class"):
        type("Own", (PopulationProtocol,), {"State": 3})


CRAFTED = [
    "x = 0; import os",
    "x\n    raise SystemExit",
    "x) or (1",
    "class",
    "",
    "1x",
    "\ufb01eld",
    3,
]  # the ligature is read as fi


@pytest.mark.parametrize("name", CRAFTED)
def test_what_goes_into_generated_code_is_a_name_and_nothing_else(name):
    fields = type("Fields", (), {"__annotations__": {name: Bit}})
    for base, place in ((PopulationProtocol, "State"), (PopulationProtocol, "Coins"), (MessageProtocol, "Message")):
        with pytest.raises(InvalidInput, match="no name of Python"):
            type("Own", (base,), {"State": own(copies).State, place: fields})
    if isinstance(name, str):
        for member in (Parameter(1), count(lambda a, p: a.x), everywhere(lambda a, p: a.x == 1)):
            with pytest.raises(InvalidInput, match="no name of Python"):
                own(copies, **{name: member})


@given(st.text(min_size=1, max_size=8))
@settings(max_examples=60)
def test_whatever_a_field_is_named_it_is_refused_or_copied(name):
    try:
        protocol = type("Own", (PopulationProtocol,), {"State": type("S", (), {"__annotations__": {name: Bit}})})
    except InvalidInput:
        return
    copy, same = record_functions(SimpleNamespace(names=tuple(field.name for field in protocol.fields)))
    one, other = SimpleNamespace(**{name: 1}), SimpleNamespace(**{name: 0})
    assert not same(one, other)
    copy(one, other)
    assert same(one, other) and vars(other) == {name: 1}
