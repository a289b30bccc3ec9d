"""States as integers: counted, encoded and decoded, in plain Python, on arrays and compiled."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hegemon.compute.compilation import specialize
from hegemon.compute.records import codec
from hegemon.errors import InvalidInput
from hegemon.models.domains import Bit, Choice, Range
from hegemon.models.fields import Field, declared_fields
from hegemon.models.state import StateSpace


@st.composite
def spaces(draw):
    """Fields with ranges and choices, later ones present only for some values of earlier choices."""
    fields = []
    for index in range(draw(st.integers(1, 5))):
        if draw(st.booleans()):
            low = draw(st.integers(-3, 3))
            domain = Range(low, low + draw(st.integers(0, 4)))
        else:
            domain = Choice(*"abc"[: draw(st.integers(2, 3))])
        choices = [field for field in fields if field.domain.names]
        if choices and draw(st.booleans()):
            condition = {
                f.name: draw(st.sets(st.sampled_from(f.domain.names), min_size=1))
                for f in draw(st.sets(st.sampled_from(choices)))
            }
            domain = domain.when(**condition)
        fields.append(Field(f"f{index}", domain))
    return StateSpace(tuple(fields), {}, "drawn")


def all_states(space):
    """Every assignment to the fields that exist, by brute force."""
    states = [{}]
    for field in space.fields:
        low, high = space.bounds[field.name]
        grown = []
        for state in states:
            holds = all(
                other in state and space.domains[other].names[state[other]] in values
                for other, values in field.domain.condition
            )
            grown += [{**state, field.name: v} for v in range(low, high + 1)] if holds else [state]
        states = grown
    return states


@settings(max_examples=150, deadline=None)
@given(spaces())
def test_codes_are_dense_and_reversible(space):
    states = all_states(space)
    assert space.size == len(states)
    codes = [space.code(space.parse(state)) for state in states]
    assert sorted(codes) == list(range(space.size))
    for code in codes:
        assert space.code(space.parse(space.mapping(space.namespace(code)))) == code
    records = space.decode_array(np.array(codes))
    assert space.encode_array(records).tolist() == codes
    labelled = [{name: space.domains[name].label(value) for name, value in state.items()} for state in states]
    assert [space.mapping(record) for record in records] == labelled


@settings(max_examples=100, deadline=None)
@given(spaces(), st.integers(0, 2**32))
def test_equal_states_are_equal_records_whatever_their_absent_fields_hold(space, seed):
    rng = np.random.default_rng(seed)
    records = space.decode_array(np.arange(space.size))
    stale = records.copy()
    for name in space.names:
        absent = np.array([name not in space.mapping(record) for record in records])
        low, high = space.bounds[name]
        stale[name][absent] = rng.integers(low, high + 1, size=int(absent.sum()))
    assert (space.canonical_array(stale) == records).all()
    assert space.encode_array(stale).tolist() == list(range(space.size))
    text, layout = space.source()
    scope = {}
    exec(text, scope)
    for record, expected in zip(stale.view(np.recarray), records, strict=True):
        scope["canonical"](record, layout)
        assert record == expected


def test_a_field_may_exist_for_one_of_several_values():
    class State:
        epoch: Range(1, 4)
        rank: Range(0, 9).when(epoch=(2, 3))

    space = StateSpace(declared_fields(State, "Own"), {}, "own")
    assert space.size == 2 + 2 * 10
    assert space.mapping(space.parse({"epoch": 1, "rank": 5})) == {"epoch": 1}
    assert space.domains["rank"].existence == "epoch = 2 or 3"
    with pytest.raises(InvalidInput, match="needs a value"):
        Bit.when(epoch=())
    with pytest.raises(InvalidInput, match="rank exists where epoch = 7, which epoch, from 1 to 4, never is"):
        StateSpace((Field("epoch", Range(1, 4)), Field("rank", Bit.when(epoch=(2, 7)))), {}, "drawn")
    StateSpace((Field("epoch", Range(1, "last")), Field("rank", Bit.when(epoch=7))), {"last": 4}, "drawn")  # it may be


@pytest.mark.parametrize(("value", "part"), [(0.5, "x = 0.5, which is not"), (None, "x = None"), (2.0, "//")])
def test_only_whole_numbers_are_states(value, part):
    space = StateSpace((Field("x", Range(0, 3)),), {}, "drawn")
    state = space.namespace(0)
    state.x = value
    with pytest.raises(InvalidInput, match=part):
        space.code(state)


def round_trip(records, layout, codes):
    for index in range(len(records)):
        decode(index, records[index], layout)  # noqa: F821
        codes[index] = encode(records[index], layout)  # noqa: F821


@pytest.mark.parametrize(
    "fields",
    [
        (Field("x", Range(-2, 5)),),
        (
            Field("leader", Bit),
            Field("phase", Choice("CH", "EL")),
            Field("mode", Choice("A", "B").when(phase="EL")),
            Field("timer", Range(0, 300).when(phase="CH")),
            Field("level", Range(1, 7).when(phase="EL", mode="A")),
        ),
    ],
)
def test_compiled_codec(fields):
    space = StateSpace(fields, {}, "drawn")
    encode, decode, layout = codec(space)
    records = np.zeros(space.size, space.dtype)
    codes = np.zeros(space.size, np.int64)
    specialize(round_trip, str(space.dtype), encode=encode, decode=decode)(records, layout, codes)
    assert codes.tolist() == list(range(space.size))
    assert (records == space.decode_array(np.arange(space.size))).all()


def test_the_compiled_codec_notices_values_out_of_range():
    space = StateSpace((Field("x", Range(0, 3)), Field("y", Bit)), {}, "drawn")
    encode, _, layout = codec(space)
    for x, y, good in ((3, 1, True), (4, 0, False), (-1, 0, False), (0, 2, False)):
        record = np.zeros(1, space.dtype)
        record["x"], record["y"] = x, y
        assert (encode(record.view(np.recarray)[0], layout) >= 0) == good


def test_narrow_types_are_signed():
    fields = Field("small", Range(0, 127)), Field("large", Range(0, 128)), Field("variable", Range(0, "n"))
    space = StateSpace(fields, {"n": 9}, "drawn")
    assert space.dtype["small"] == np.int8
    assert space.dtype["large"] == np.int16
    assert space.dtype["variable"] == np.int32


@pytest.mark.parametrize(
    ("mapping", "part"),
    [
        ({"x": 9}, "x = 9 is out of range 0..3"),
        ({"x": "a"}, "x = 'a' is out of range 0..3"),
        ({"x": 1.5}, "x = 1.5"),
        ({"x": float("inf")}, "x = inf"),
        ({"x": float("nan")}, "x = nan"),
        ({"z": 1}, "no field 'z'"),
        ({"x": 1}, "no value for c"),
        ({"x": 1, "c": "w"}, "{u, v}"),
    ],
)
def test_bad_states_are_named(mapping, part):
    space = StateSpace((Field("x", Range(0, 3)), Field("c", Choice("u", "v"))), {}, "drawn")
    with pytest.raises(InvalidInput, match=part.replace("{", r"\{").replace(".", r"\.")):
        space.parse(mapping)


def test_bad_declarations_are_named():
    class Untyped:
        x: int

    class Empty:
        pass

    class Later:
        x: Bit.when(y="a")
        y: Choice("a", "b")

    class Unknown:
        y: Choice("a", "b")
        x: Bit.when(y="c")

    class Strange:
        x: Bit = [1]

    refused = (
        (Strange, "is no first value"),
        (Untyped, "use Bit"),
        (Empty, "no field"),
        (Later, "earlier field"),
        (Unknown, "no value 'c'"),
    )
    for declaration, part in refused:
        with pytest.raises(InvalidInput, match=part):
            declared_fields(declaration, "Own")
    with pytest.raises(InvalidInput, match="at least two"):
        Choice("only")
    with pytest.raises(InvalidInput, match="empty range"):
        StateSpace((Field("x", Range(2, 1)),), {}, "drawn")
