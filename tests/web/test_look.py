"""The look of an agent fits in a byte, and is correct at any width of its fields."""

import numpy as np
import pytest

import hegemon as hg
from hegemon.models import Bit, Choice, PopulationProtocol, Range
from hegemon.runs.setting import initial_configuration, topology_for
from hegemon.web import look
from hegemon.web.colours import DARK, LIGHT, rgb, seen
from hegemon.web.look import Look
from hegemon.web.rehearsal import rehearsed


def protocol_with(fields: dict, **more) -> PopulationProtocol:
    state = type("State", (), {"__annotations__": fields})
    return type("Shown", (PopulationProtocol,), {"State": state, "interact": lambda a, b, p: None, **more})(n=3)


@pytest.mark.parametrize("bits", [31, 53, 58, 59, 60, 61])
def test_shades_of_a_wide_field_grow_with_it(bits):
    protocol = protocol_with({"x": Range(0, 2**bits - 1)})
    values = np.array([k * 2**bits // 8 + part for k in range(8) for part in (0, 2**bits // 8 - 1)])
    shades = Look(protocol).of_agents(protocol.space.decode_array(values))
    assert shades.tolist() == [k for k in range(8) for _ in range(2)]


def rehearsed_look(protocol, start):
    met = rehearsed(protocol, topology_for(protocol, None), initial_configuration(protocol, start, 3, 0).agents)
    return Look(protocol, met), met


@pytest.mark.parametrize(
    ("protocol", "start"),
    [(hg.Timer(n=24), "random"), (hg.BK(n=24), None), (hg.Timer(n=24), "no-leader")],
)
def test_agents_that_differ_a_little_in_a_long_range_look_different(protocol, start):
    """The twin has even shades: all agents look alike, as timers between 2298 and 2304 of 2304 do."""
    shown, met = rehearsed_look(protocol, start or protocol.default_start)
    fine, even = (len(np.unique(look.of_agents(met[5]))) for look in (shown, Look(protocol)))
    assert fine > even
    (shade,) = [channel for channel in shown.channels if channel.part == "shade"]
    ends = [tuple(map(int, label.split("–"))) for label in shade.labels]
    low, high = protocol.space.bounds[shade.name]
    assert ends[0][0] == low and ends[-1][-1] == high  # every value has its shade
    assert all(before[-1] + 1 == after[0] for before, after in zip(ends, ends[1:], strict=False))


def test_the_shade_is_the_range_that_tells_agents_apart():
    """Estimates are equal for long, groups are not; without any moment the first range is taken."""
    protocol = hg.DynamicCounting(n=24)
    shown, _ = rehearsed_look(protocol, "initial")
    names = [[channel.name for channel in look.channels if channel.part == "shade"] for look in (shown, Look(protocol))]
    assert names == [["group"], ["estimate"]]
    assert [channel.name for channel in shown.channels if channel.part == "class"] == ["phase"]


def test_the_moments_change_no_run_and_are_the_same_again():
    protocol = hg.DynamicCounting(n=9)
    agents = initial_configuration(protocol, "initial", 3, 0).agents
    kept = agents.copy()
    first, again = (rehearsed(protocol, topology_for(protocol, None), agents) for _ in range(2))
    assert np.array_equal(first, again) and np.array_equal(agents, kept) and first.shape == (21, 9)
    assert np.array_equal(first[0], agents)


def test_values_below_zero_are_not_joined_by_a_dash():
    labels = Look(protocol_with({"x": Range(-1, 22)})).channels[0].labels
    assert labels[0] == "-1 to 1" and labels[-1] == "20 to 22"


@pytest.mark.parametrize("on", [LIGHT, DARK])
def test_the_faintest_shade_stands_out_and_shades_differ(on):
    channels = [channel.record() for channel in Look(hg.Timer(n=24)).channels]
    fills = [seen(channels, byte, on).fill for byte in range(8)]
    away = [sum(abs(a - b) for a, b in zip(rgb(fill), rgb(on.ground), strict=True)) for fill in fills]
    assert away == sorted(away) and away[0] > 60 and min(np.diff(away)) > 15


def test_shades_of_a_field_at_the_end_of_64_bits():
    protocol = protocol_with({"x": Range(2**63 - 8, 2**63 - 1)})
    assert Look(protocol).of_codes(np.arange(8)).tolist() == list(range(8))


@pytest.mark.parametrize("classes", [127, 128, 129, 300])
def test_more_classes_than_a_byte_holds_share_a_look(classes):
    fields = {"leader": Bit, "kind": Range(0, classes - 1), "y": Bit.when(kind=3)}
    shown = Look(protocol_with(fields))
    space = shown.space
    looks = {}
    for code in range(space.size):
        state = space.namespace(code)
        looks[state.leader, state.kind] = int(shown.of_codes(np.array([code]))[0])
    assert len(set(looks.values())) == 2 * min(classes, 128)
    assert ("others" in shown.channels[1].labels) == (classes > 128)
    assert all(byte % 128 == min(kind, 127) for (_, kind), byte in looks.items()) == (classes >= 128)


@pytest.mark.parametrize("few", [0, 4096])
def test_an_output_of_two_or_256_looks_like_a_leader(few, monkeypatch):
    monkeypatch.setattr(look, "FEW_STATES", few)
    outputs = {"output": lambda a, p: (0, 1, 2, 256)[a.x] if few else a.x * 128, "outputs": ("follower", "leader")}
    shown = Look(protocol_with({"x": Range(0, 3)}, **outputs))
    leader = shown.of_codes(np.arange(4)) // np.prod([channel.size for channel in shown.channels[1:]])
    assert leader.tolist() == [0, 1, 1, 1]


def test_a_field_leader_of_several_values_looks_like_a_leader():
    shown = Look(protocol_with({"leader": Range(0, 5)}))
    assert shown.of_codes(np.arange(6)).tolist() == [0, 1, 1, 1, 1, 1]


def test_a_field_that_decides_who_leads_is_drawn_once():
    told = {"output": lambda a, p: 1 - a.asleep, "outputs": ("follower", "leader")}
    shown = Look(protocol_with({"asleep": Bit, "mark": Bit}, **told))
    assert "asleep" not in {channel.name for channel in shown.channels}
    other = Look(
        protocol_with({"asleep": Bit, "late": Bit}, output=lambda a, p: a.asleep * a.late, outputs=("no", "yes"))
    )
    assert {"asleep", "late"} <= {channel.name for channel in other.channels}


def test_constants_of_the_source_name_the_legend():
    labels = {channel.name: channel.labels for channel in Look(hg.Ring(n=5)).channels}
    assert labels["bullet"][1:] == ("DUMMY", "LIVE")


def test_values_called_black_and_white_are_drawn_so_and_seen_on_either_ground():
    shown = Look(protocol_with({"hue": Choice("black", "white"), "leader": Bit}))
    channels = [channel.record() for channel in shown.channels]
    for on, faint in ((LIGHT, "white"), (DARK, "black")):
        looks = {shown.space.mapping_of(code)["hue"]: seen(channels, int(shown.of_codes(np.array([code]))[0]), on)
                 for code in range(4) if not shown.space.mapping_of(code)["leader"]}  # fmt: skip
        assert looks["white"].fill == "#ffffff" and looks["black"].fill == "#16191d" and looks[faint].rim == on.ink


def test_a_leaders_dots_leave_its_star_free():
    shown = Look(hg.Ring(n=5))
    channels = [channel.record() for channel in shown.channels]
    space = shown.space
    for code in range(space.size):
        state, look_ = space.mapping_of(code), seen(channels, int(shown.of_codes(np.array([code]))[0]))
        if state["leader"] and state["bullet"]:
            assert 0 not in {badge.place for badge in look_.badges} and look_.badges


def test_bands_tell_leaders_of_different_classes_apart():
    channels = [channel.record() for channel in Look(hg.TimeOptimal(n=50)).channels]
    count = int(np.prod([len(channel["labels"]) for channel in channels]))
    rims = {one.rim for one in (seen(channels, byte) for byte in range(count)) if one.leader}
    assert len(rims) > 1  # the page mixes gold with it


@pytest.mark.parametrize("kind", [hg.TimeOptimal, hg.Trains, hg.OptimalSilent])
def test_classes_have_the_names_of_the_paper(kind):
    classes = next(channel for channel in Look(kind(n=8)).channels if channel.part == "class")
    assert set(classes.labels) == set(kind.class_names.values())  # and no name is left over
