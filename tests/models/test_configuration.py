"""Configurations in files: what is written is read back, and what cannot be read is named."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hegemon as hg
from hegemon.models import Configuration, start_files


@settings(max_examples=40, deadline=None)
@given(st.integers(3, 12), st.integers(0, 2**32), st.sampled_from([".json", ".csv"]), st.booleans())
def test_saved_configurations_are_read_back(tmp_path_factory, n, seed, ending, as_multiset):
    protocol = hg.TimeOptimal(n=n)
    path = tmp_path_factory.mktemp("starts") / f"start{ending}"
    made = protocol.initial("random", np.random.default_rng(seed), as_multiset)
    made.save(path)
    read = protocol.initial(path, None, as_multiset)
    assert np.array_equal(read.multiset[0], made.multiset[0])
    assert np.array_equal(read.multiset[1], made.multiset[1])
    if not as_multiset:
        assert (protocol.space.encode_array(read.agents) == protocol.space.encode_array(made.agents)).all()
    assert list(path.parent.iterdir()) == [path]


def laid_out(configuration):
    records, counts = configuration.weighted()
    return np.repeat(records, 1 if counts is None else counts)


class Interrupted(Configuration):
    """When its form is read for the k-th time, another thread reads it too."""

    other, left = "", -1

    def __getattribute__(self, name):
        found = object.__getattribute__(self, name)
        if name in ("row", "_agents", "_codes", "_counts"):
            self.left -= 1
            if self.left == 0:
                getattr(self, self.other)
        return found


@pytest.mark.parametrize("form", ["row", "agents", "multiset"])
@pytest.mark.parametrize("other", ["agents", "multiset"])
@pytest.mark.parametrize("asked", [lambda c: c.agents, lambda c: c.multiset, laid_out, lambda c: c.n])
def test_threads_may_ask_for_several_forms_at_once(form, other, asked):
    """Runs of equal protocols begin with one configuration."""
    space = hg.Pairwise(n=5).space
    codes = np.array([0, 0, 1, 1, 1])
    given = {
        "row": {"row": codes},
        "agents": {"agents": space.decode_array(codes)},
        "multiset": {"codes": np.array([0, 1]), "counts": np.array([2, 3])},
    }[form]
    expected = asked(Configuration(space, **given))
    for left in range(1, 12):
        one = Interrupted(space, **given)
        one.other, one.left = other, left
        np.testing.assert_equal(asked(one), expected)


@pytest.mark.parametrize(
    ("name", "text", "part"),
    [
        ("a.json", "[", "not valid JSON"),
        ("a.json", "3", "list of states"),
        ("a.json", '[{"leader": 1}]', "describes 1 agents but n = 3"),
        ("a.json", '[{"leader": 2}]', "entry 0: pairwise: leader = 2 is out of range"),
        ("a.json", '[{"leader": 1, "count": -1}]', "count = -1 is out of range"),
        ("a.json", '[{"leader": 1, "count": 1e999}]', "count = inf"),
        ("a.json", '[{"leader": Infinity}]', "leader = inf is out of range"),
        ("a.json", '[{"leader": NaN}]', "leader = nan is out of range"),
        ("a.json", '[{"leader": 1, "count": 10000000000000}]', "describes at least 10000000000000 agents"),
        ("a.json", "[" * 100_000, "nested too deeply"),
        ("a.json", '[{"leader": ' + "[" * 100_000, "nested too deeply"),
        ("a.json", "[" + "9" * 5000 + "]", "not valid JSON"),
        ("a.csv", "leader\n" + "1" * 200_000 + "\n", "not a readable CSV table"),
        ("a.csv", "leader\n" + "1" * 5000 + "\n", "line 2: pairwise: leader = '1+… is out of range"),
        ("a.json", '[{"leader": 1, "count": "many"}]', "entry 0"),
        ("a.json", '[{"boss": 1}]', "no field 'boss'"),
        ("a.csv", "leader\n1\nx\n0\n", "line 3"),
        ("a.csv", "leader,count\n1\n", "line 2: the number of cells"),
        ("missing.csv", None, "no configuration file"),
    ],
)
def test_bad_files_are_named(tmp_path, name, text, part):
    path = tmp_path / name
    if text is not None:
        path.write_text(text)
    with pytest.raises(hg.InvalidInput, match=part):
        hg.Pairwise(n=3).initial(path, None)


def test_counts_repeat_rows(tmp_path):
    path = tmp_path / "start.csv"
    path.write_text("leader,count\n1,2\n0,3\n")
    configuration = hg.Pairwise(n=5).initial(path, None)
    assert configuration.agents["leader"].tolist() == [1, 1, 0, 0, 0]


def test_binary_files_are_refused(tmp_path):
    path = tmp_path / "start.json"
    path.write_bytes(b"\xff\xfe\x00\x81")
    with pytest.raises(hg.InvalidInput, match="cannot be read as text"):
        hg.Pairwise(n=5).initial(path, None)


def test_an_array_that_does_not_fit_is_refused():
    space = hg.Pairwise(n=2).space
    huge = Configuration(space, codes=np.array([0]), counts=np.array([2**40]))
    with pytest.raises(hg.InvalidInput, match="use engine batch"):
        _ = huge.agents


def test_what_compiled_code_is_given_is_canonical():
    protocol = hg.TimeOptimal(n=3)
    agents = np.zeros(3, protocol.space.dtype)
    agents["timer_b"] = 5  # a checker has none
    made = Configuration(protocol.space, agents=agents).checked(protocol.space, 3, "the start")
    assert made.agents["timer_b"].tolist() == [0, 0, 0] and agents["timer_b"].tolist() == [5, 5, 5]
    for codes, counts, part in (
        ([0], [2], "describes 2 agents but n = 3"),
        ([0, 1], [3], "one count for each"),
        ([protocol.space.size], [3], "code outside"),
        ([-1], [3], "code outside"),
        ([0, 1], [4, -1], "negative"),
        ([0.0], [3], "whole numbers"),
    ):
        with pytest.raises(hg.InvalidInput, match=part):
            Configuration(protocol.space, codes=np.array(codes), counts=np.array(counts)).checked(
                protocol.space, 3, "the start"
            )


def test_a_start_given_to_simulate_is_checked():
    other = hg.Pairwise(n=4).initial("all-leaders", None)
    with pytest.raises(hg.InvalidInput, match="describes at least 4 agents but n = 3"):
        hg.simulate(hg.Pairwise(n=3), start=other)


def test_a_start_file_is_read_once(tmp_path, monkeypatch):
    place, read = tmp_path / "start.json", start_files._text
    place.write_text('{"agents": [{"leader": 1, "count": 3}], "interactions": [[0, 1]]}')
    seen = []
    monkeypatch.setattr(start_files, "_text", lambda path: seen.append(path) or read(path))
    trials = hg.run_trials(hg.Pairwise(n=3), 5, start=str(place), workers=2)
    assert len(trials.runs) == 5 and seen == [place]


def test_a_start_file_with_the_former_name_of_a_field_is_refused_with_the_new_one(tmp_path):
    path = tmp_path / "start.json"
    path.write_text('[{"leader": 1, "dist": 0}, {"leader": 0, "dist": 1}]')
    with pytest.raises(hg.InvalidInput, match=r"no field 'dist'.*\(did you mean distL\?\)"):
        hg.Ring(n=2).initial(path, None)
