"""Equal protocols share what is known of them, and nothing that was known of something else."""

import copy
import enum
import types
from decimal import Decimal

import numpy as np
import pytest

import hegemon as hg
from hegemon.errors import InvalidInput
from hegemon.models import Choice, Group, Parameter, PopulationProtocol, Range, RoundsProtocol, everywhere
from hegemon.models.configuration import Configuration
from hegemon.models.readings import Readings
from hegemon.models.shared import MOST_VALUES

GAIN = 1
HIGH = 6
settings = types.ModuleType("settings")
settings.GAIN = 1


def gained(x):
    return min(100, x + GAIN)


class Climbing(PopulationProtocol):
    """Initiators climb: where they are after some steps shows what was added."""

    default_start = "bottom"
    arbitrary_start = False
    slope = Parameter(1, low=0.0, high=5, real=True)

    class State:
        x: Range(0, 100)

    def interact(a, b, p):
        a.x = gained(a.x)

    def start_bottom(self, rng):
        return [Group(self.n, {"x": 0})]

    high = everywhere(lambda a, p: a.x >= HIGH)


def heights(protocol, **options):
    run = hg.simulate(protocol, seed=1, **{"until": "steps:20", **options})
    return sorted(run.configuration.agents["x"].tolist())


def is_shared(first, second):
    first.require_sound(), second.require_sound()
    return first.shared is second.shared


def test_equal_protocols_are_tried_once_and_share_what_is_calculated(monkeypatch):
    tried = []
    monkeypatch.setattr(PopulationProtocol, "check_sound", lambda self: tried.append(self.n))
    kind = type("Kind", (Climbing,), {"__module__": __name__})
    for n in (5, 5, 6, 5):
        kind(n).require_sound()
    assert tried == [5, 6]
    first, second = kind(5), kind(5)
    for name in ("space", "p", "checked_p", "compiled_p", "record_types", "coins"):
        assert getattr(first, name) is getattr(second, name)
    assert heights(first) == heights(second)


def test_protocols_with_other_values_share_nothing():
    assert is_shared(Climbing(4, slope=2), Climbing(4, slope=2))
    assert not is_shared(Climbing(4, slope=2), Climbing(4, slope=3))
    assert not is_shared(Climbing(4, slope=0.0), Climbing(4, slope=-0.0))  # equal numbers, of which 1/x differs
    assert Climbing(4, slope=3).p.slope == 3


def test_a_class_that_is_defined_again_begins_anew():
    def define(gain):
        class Again(Climbing):
            def interact(a, b, p):
                a.x = min(100, a.x + gain)

        return Again

    found = [heights(define(gain)(4)) for gain in (1, 3, 1)]
    assert found[1] == [3 * x for x in found[0]] and found[2] == found[0]


def test_a_constant_that_is_given_another_value_is_seen_by_every_protocol(monkeypatch):
    """In compiled code too, whether a protocol is new or has run before."""
    old = Climbing(4)
    before = heights(old)
    monkeypatch.setattr(f"{__name__}.GAIN", 3)
    assert heights(Climbing(4)) == heights(old) == [3 * x for x in before]
    monkeypatch.setattr(f"{__name__}.GAIN", 1)
    assert heights(Climbing(4)) == heights(old) == before


def test_another_class_that_calls_the_same_helper_sees_the_new_value(monkeypatch):
    before = heights(Climbing(4))

    class Other(PopulationProtocol):
        default_start = "bottom"
        arbitrary_start = False
        State, start_bottom = Climbing.State, Climbing.start_bottom

        def interact(a, b, p):
            a.x = gained(a.x)

    monkeypatch.setattr(f"{__name__}.GAIN", 3)
    derived = type("Derived", (Climbing,), {"__module__": __name__})
    assert heights(Other(4)) == heights(derived(4)) == [3 * x for x in before]


def test_the_same_for_a_constant_of_a_condition(monkeypatch):
    old = Climbing(4)
    first = hg.simulate(old, seed=1, until="high").steps
    monkeypatch.setattr(f"{__name__}.HIGH", 12)
    later = [hg.simulate(one, seed=1, until="high").steps for one in (old, Climbing(4))]
    assert later[0] == later[1] > first


def test_the_same_for_a_variable_of_the_function_around():
    gain = 1

    class Around(Climbing):
        def interact(a, b, p):
            a.x = min(100, a.x + gain)

    old = Around(4)
    before = heights(old)
    gain = 3
    assert heights(Around(4)) == heights(old) == [3 * x for x in before]


def test_the_same_where_names_of_values_are_written(monkeypatch):
    """Such functions are copies, which read what was there when they were made."""

    class Named(Climbing):
        class State:
            x: Range(0, 100)
            way: Choice("down", "up")

        def interact(a, b, p):
            if a.way == "up":
                a.x = gained(a.x)

        def start_bottom(self, rng):
            return [Group(self.n, {"x": 0, "way": "up"})]

    old = Named(4)
    before = heights(old)
    monkeypatch.setattr(f"{__name__}.GAIN", 3)
    assert heights(Named(4)) == heights(old) == [3 * x for x in before]


def test_the_same_for_constants_of_a_module_and_of_an_enumeration(monkeypatch):
    class Settled(Climbing):
        def interact(a, b, p):
            a.x = min(100, a.x + settings.GAIN)

    class Counted(Climbing):
        def interact(a, b, p):
            a.x = min(100, a.x + Size.GAIN)

    global Size
    Size = enum.IntEnum("Size", {"GAIN": 1})
    before = [heights(kind(4)) for kind in (Settled, Counted)]
    monkeypatch.setattr(settings, "GAIN", 3)
    Size = enum.IntEnum("Size", {"GAIN": 3})
    assert [heights(kind(4)) for kind in (Settled, Counted)] == [[3 * x for x in one] for one in before]


def test_a_function_that_reads_something_new_is_tried_again(monkeypatch):
    Climbing(4).require_sound()
    monkeypatch.setattr(f"{__name__}.GAIN", 0.5)
    for refused in (Climbing(4), Climbing(5)):
        with pytest.raises(InvalidInput, match="not a whole number"):
            refused.require_sound()


def test_a_function_that_is_replaced_is_used(monkeypatch):
    before = heights(Climbing(4))

    def interact(a, b, p):
        a.x = min(100, a.x + 2)

    monkeypatch.setattr(Climbing, "interact", staticmethod(interact))
    assert heights(Climbing(4)) == [2 * x for x in before]


def test_an_instance_with_functions_or_properties_of_its_own_shares_nothing():
    def interact(a, b, p):
        a.x = min(100, a.x + 2)

    plain, own, other = Climbing(4), Climbing(4), Climbing(4)
    before = heights(plain)
    own.interact = interact
    assert heights(own) == [2 * x for x in before]
    other.compiled_p = other.compiled_p.copy()
    assert not is_shared(plain, own) and not is_shared(plain, other) and is_shared(plain, Climbing(4))

    class Ranged(Climbing):
        @property
        def range_values(self):
            return self.values

    assert not is_shared(Ranged(4), Ranged(4))


def test_a_refused_protocol_stays_refused():
    class Wrong(Climbing):
        def interact(a, b, p):
            a.x = a.x + 1

    for _ in range(2):
        with pytest.raises(InvalidInput, match="outside 0..100"):
            Wrong(4).require_sound()


def test_what_is_kept_is_bounded():
    for n in range(2, 2 * MOST_VALUES):
        Climbing(n).require_sound()
    assert len(Climbing(3)._functions.equals) <= MOST_VALUES


def test_what_functions_read(monkeypatch):
    level = 1

    def helper(x, bound=4):
        return x + level + settings.GAIN + unknown  # noqa: F821 - defined below

    def function(a):
        return helper(a) + len(str(a))

    def changes():
        here = globals()
        yield lambda: monkeypatch.setitem(here, "unknown", 1), True
        yield lambda: monkeypatch.setitem(here, "len", max), True
        yield lambda: monkeypatch.setitem(here, "elsewhere", 1), False
        yield lambda: monkeypatch.setattr(settings, "GAIN", 2), True
        yield lambda: monkeypatch.setattr(helper, "__defaults__", (5,)), True
        yield lambda: monkeypatch.setattr(helper, "__code__", helper.__code__.replace(co_name="other")), True

    for change, is_seen in changes():
        readings = Readings([function])
        assert readings.last()
        change()
        assert readings.last() != is_seen
    readings = Readings([function])
    level = 2
    assert not readings.last()


def test_the_code_of_a_state_is_remembered_for_plain_values_alone():
    space = Climbing(4).space
    assert [space.code_of({"x": 1}), space.code_of({"x": 1}), space.code_of({"x": 2})] == [1, 1, 2]
    with pytest.raises(InvalidInput, match="out of range"):
        space.code_of({"x": Decimal(1)})  # equals 1
    with pytest.raises(InvalidInput, match="out of range"):
        space.code_of({"x": 101})


def test_a_row_of_codes_is_the_same_configuration_as_its_agents():
    space = Climbing(4).space
    agents = space.decode_array(np.array([3, 1, 3, 100]))
    for states in (None, space.decode_array(np.arange(space.size))):
        row = Configuration(space, row=np.array([3, 1, 3, 100], np.uint16), states=states)
        assert row.n == 4 and [part.tolist() for part in row.multiset] == [[1, 3, 100], [1, 2, 1]]
        assert [part.dtype for part in row.multiset] == [np.int64] * 2
        assert np.array_equal(row.agents, agents) and row.n == 4 and row.weighted()[1] is None
        assert row.mappings() == Configuration(space, agents=agents).mappings()


def test_a_declaration_that_is_given_another_value_is_tried_again():
    class Counting(RoundsProtocol):
        neighbourhood = "multiset"

        class State:
            x: Range(0, 3)

        def update(me, neighbours, coins, p):
            k = 0
            for other in neighbours:
                if other.x == 1:
                    k += 1
            me.x = min(k, 3)

    Counting(6).require_sound()
    Counting.neighbourhood = "set"
    with pytest.raises(InvalidInput, match="counts equal ones"):
        Counting(6).require_sound()


def test_protocols_are_copied():
    assert copy.deepcopy(hg.Trains(8)).values == hg.Trains(8).values
