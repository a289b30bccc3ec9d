"""The store believes only what was written whole, and the table depends on nothing but the results."""

import json
import tempfile
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hegemon.analysis.statistics import mean_interval
from hegemon.errors import InvalidInput
from hegemon.experiments.store.folder import Folder
from hegemon.experiments.store.ranges import Ranges
from hegemon.experiments.store.record_files import RecordFile, decode_record, encode_record, read_records, to_columns
from hegemon.experiments.store.table import compact, read_table
from hegemon.experiments.study import make_study
from hegemon.files import write_with
from hegemon.kept import read_kept, seal, write_kept

small = st.integers(0, 30)


@given(st.lists(st.tuples(st.booleans(), small, small)), small)
def test_ranges_are_sets(changes, limit):
    ranges, truth = Ranges(), set()
    for adding, begin, end in changes:
        if adding:
            ranges.add(begin, end)
            truth |= set(range(begin, end))
        else:
            ranges.remove(begin, end)
            truth -= set(range(begin, end))
    assert {k for begin, end in ranges for k in range(begin, end)} == truth
    pairs = list(ranges)
    assert all(b < e for b, e in pairs) and all(x[1] < y[0] for x, y in zip(pairs, pairs[1:], strict=False))
    assert ranges.count(limit) == len([k for k in truth if k < limit])
    missing = sorted(set(range(limit)) - truth)
    for last, gap in ((False, ranges.gap(limit)), (True, ranges.gap(limit, last=True))):
        if not missing:
            assert gap is None
            continue
        begin, end = gap
        assert set(range(begin, end)) <= set(missing)
        assert end - 1 == missing[-1] if last else begin == missing[0]
        assert (end in truth or end == limit) and (begin - 1 in truth or begin == 0)


def trial(number: int) -> dict:
    return {"steps": 100 + number, "reached": number % 7 != 0, "leaders": 1, "engine": "agents"}


def record(first: int, count: int, case: str = "k") -> dict:
    rows = [trial(number) for number in range(first, first + count)]
    return {"case": case, "first": first, "count": count, "columns": to_columns(rows)}


@given(st.data())
def test_a_changed_line_is_no_record(data):
    line = encode_record(record(0, 5))
    assert decode_record(line)["columns"]["steps"] == [100, 101, 102, 103, 104]
    place = data.draw(st.integers(0, len(line) - 2))
    letter = data.draw(st.integers(0, 255).filter(lambda byte: byte != line[place]))
    assert decode_record(line[:place] + bytes([letter]) + line[place + 1 :]) is None
    assert decode_record(line[:place]) is None


@pytest.mark.parametrize(
    "content",
    [[], 7, {"case": 1}, {"case": "k", "first": -1, "count": 1, "columns": {}}, {"case": "k", "first": 0, "count": 2,
     "columns": {"steps": [1]}}, {"case": "k", "first": 0, "count": True, "columns": {}}, {"case": "k"}],
)  # fmt: skip
def test_a_record_of_another_form_is_none(content):
    line = seal("record", content if not isinstance(content, dict) else {"schema": 1, **content})
    assert decode_record(line) is None
    assert decode_record(encode_record({"case": "k", "first": 0, "count": 0, "error": "no"})) is not None


def make_folder(root, pieces, study) -> Folder:
    folder = Folder(root)
    folder.open(study)
    for file, first, count in pieces:
        with open(folder.records / f"{file}.jsonl", "ab") as out:
            out.write(encode_record(record(first, count)))
    folder.refresh()
    return folder


def test_the_table_does_not_depend_on_the_pieces(tmp_path):
    study = make_study("pairwise", axes={"n": 10}, trials=100)
    pieces = [
        [("a", 0, 100)],
        [("b", k, 1) for k in reversed(range(100))],
        [("x", 0, 60), ("y", 40, 60), ("z", 0, 7), ("z", 99, 50)],  # two drivers, and trials beyond the goal
    ]
    tables = []
    for number, some in enumerate(pieces):
        folder = make_folder(tmp_path / str(number), some, study)
        assert compact(folder, [({"n": 10, "start": "s"}, "k", 100)], study.content()) == 100
        tables.append(folder.table.read_bytes())
    assert tables[0] == tables[1] == tables[2]
    shorter = make_folder(tmp_path / "shorter", [("a", 0, 99)], study)
    compact(shorter, [({"n": 10, "start": "s"}, "k", 100)], study.content())
    assert shorter.table.read_bytes() != tables[0]


def test_what_the_table_says(tmp_path):
    import pandas

    study = make_study("pairwise", axes={"n": 10}, trials=5)
    folder = make_folder(tmp_path, [("a", 0, 5)], study)
    line = encode_record({"case": "other", "first": 0, "count": 1, "columns": {"steps": 2**70, "n": 3, "why": "x"}})
    (folder.records / "b.jsonl").write_bytes(line)
    folder.refresh()
    compact(folder, [({"n": 10}, "k", 5), ({"n": 20}, "other", 5)], study.content())
    table = pandas.read_parquet(folder.table)
    assert list(table["case"]) == [0] * 5 + [1] and list(table["trial"]) == [0, 1, 2, 3, 4, 0]
    assert int(table["steps"].iloc[-1]) == 2**70 and list(table["n_given"]) == [10] * 5 + [20]
    assert table["n"].iloc[-1] == 3 and table["why"].iloc[-1] == "x"


def test_cut_off_and_edited_files(tmp_path):
    study = make_study("pairwise", axes={"n": 10}, trials=30)
    folder = make_folder(tmp_path, [("a", 0, 10), ("a", 10, 10), ("b", 20, 10)], study)
    assert folder.done["k"].count(30) == 30
    path = folder.records / "a.jsonl"
    text = path.read_bytes()
    path.write_bytes(text[:-5])  # a kill in the middle of a line
    folder.read_again()
    assert folder.done["k"].gap(30) == (10, 20) and folder.damaged == 0
    path.write_bytes(text.replace(b"[100,", b"[300,"))  # a hand
    folder.read_again()
    assert folder.done["k"].gap(30) == (0, 10) and folder.damaged == 1
    path.write_bytes(b"\x00" * 50 + b"\n" + text)  # what a crashed file system may leave
    folder.read_again()
    assert folder.done["k"].count(30) == 30 and folder.damaged == 1


def test_a_full_disk_is_one_sentence(tmp_path, monkeypatch):
    import os

    file = RecordFile(tmp_path)
    first = file.append(encode_record(record(0, 3)))
    real = os.write

    def full(handle, data):
        real(handle, data[:10])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(InvalidInput, match="No space left on device"):
        file.append(encode_record(record(3, 3)))
    monkeypatch.setattr(os, "write", real)
    second = file.append(encode_record(record(3, 3)))
    assert second[0] != first[0]  # what follows half a line would be lost with it
    whole = [r["first"] for path in tmp_path.glob("*.jsonl") for _, _, r in read_records(path)]
    assert sorted(whole) == [0, 3]


def test_another_study_does_not_mix_in(tmp_path):
    folder = Folder(tmp_path / "s")
    with pytest.raises(InvalidInput, match="holds no study"):
        folder.study()
    study = make_study("pairwise", axes={"n": 10}, trials=3)
    folder.open(study)
    name = folder.name
    folder.open(study)
    with pytest.raises(InvalidInput, match="another study"):
        folder.open(make_study("pairwise", axes={"n": 11}, trials=3))
    folder.open(study.extended({"n": [11]}, 5), extend=True)
    assert folder.study().axes["n"] == [10, 11] and folder.study().trials == 5 and folder.name == name
    with pytest.raises(InvalidInput):
        study.extended({}, 2)
    with pytest.raises(InvalidInput):
        study.extended({"tau": [2]})
    with pytest.raises(InvalidInput, match="fixed number"):
        study.extended({}, relative="2%")


@pytest.mark.parametrize("damage", ["{", "[]", '{"folder": "a", "study": {"schema": 1, "axes": {}}}'])
def test_the_same_command_mends_what_was_asked(tmp_path, damage):
    folder, study = Folder(tmp_path / "s"), make_study("pairwise", axes={"n": 10}, trials=3)
    folder.open(study)
    asked = folder.root / "study.json"
    asked.write_text(damage)
    with pytest.raises(InvalidInput, match="damaged"):
        folder.study()
    with pytest.raises(InvalidInput, match="no file of a study"):  # nothing was measured: it may be somebody's own
        folder.open(study)
    RecordFile(folder.records).append(encode_record(record(0, 1)))
    folder.open(study)
    assert folder.study() == study
    assert [path.read_text() for path in folder.root.glob("study.json.damaged-*")] == [damage]
    content = read_kept(asked, "study")
    content["study"]["schema"] = 3
    write_kept(asked, "study", content)
    with pytest.raises(InvalidInput, match="its own version"):
        folder.open(study)


def test_a_precise_study_is_extended_to_narrower_of_the_same():
    study = make_study("pairwise", axes={"n": 10}, relative="5% of median")
    assert study.extended({}, relative="4% of median").relative == "4% of median"
    for other in ("6% of median", "4%", "4% of quantile 0.9"):
        with pytest.raises(InvalidInput, match="less of the same"):
            study.extended({}, relative=other)


def test_a_tally_tells_every_trial_once(tmp_path):
    folder = Folder(tmp_path / "s")
    folder.open(make_study("pairwise", axes={"n": 10}, trials=3))
    file, times = RecordFile(folder.records), [3, 5, 10, 4]
    for first, count in ((0, 3), (2, 2), (3, 1)):  # the second was measured by another driver at the same time
        columns = {"steps": times[first : first + count], "reached": True}
        file.append(encode_record({"case": "a", "first": first, "count": count, "columns": columns}))
    folder.refresh()
    mean, low, high = folder.moments["a"].interval()
    assert (mean, low, high) == pytest.approx((6.0, *mean_interval(times[:3])))
    file.append(encode_record({"case": "a", "first": 4, "count": 1, "columns": {"steps": 99, "reached": False}}))
    folder.refresh()
    assert folder.moments["a"].interval() is None  # a mean that nobody can know


def test_two_writers_of_one_file_never_share_what_is_not_finished(tmp_path):
    place, seen = tmp_path / "table.parquet", []

    def inner(name):
        seen.append(name)
        name.write_text("inner")

    def outer(name):
        seen.append(name)
        name.write_text("outer")
        write_with(place, inner)  # as a second thread of this process would, at the worst moment
        assert name.read_text() == "outer"

    write_with(place, outer)
    assert len(set(seen)) == 2 and place.read_text() == "outer" and list(tmp_path.iterdir()) == [place]


WIDE = [
    None,
    True,
    0,
    -1,
    2**31,
    2**53,
    2**53 + 1,
    -(2**53) - 1,
    2**63 - 1,
    2**63,
    -(2**63),
    10**38 - 1,
    10**38,
    0.5,
    1e300,
]


@given(st.lists(st.sampled_from(WIDE), min_size=1, max_size=4), st.integers(1, 3))
@settings(max_examples=60, deadline=None)
def test_the_table_rounds_no_number(values, pieces):
    """A column of several kinds is kept as the narrowest kind that holds all of its values, at worst as text."""
    import pandas

    study = make_study("pairwise", axes={"n": 10}, trials=len(values))
    with tempfile.TemporaryDirectory() as root:
        folder = Folder(root)
        folder.open(study)
        for first in range(0, len(values), pieces):
            some = values[first : first + pieces]
            piece = {"case": "k", "first": first, "count": len(some), "columns": to_columns([{"x": v} for v in some])}
            with open(folder.records / f"{first}.jsonl", "ab") as out:
                out.write(encode_record(piece))
        folder.refresh()
        compact(folder, [({"n": 10}, "k", len(values))], study.content())
        table = read_table(folder)
    if set(values) == {None}:
        assert "x" not in table
        return
    for value, kept in zip(values, table["x"], strict=True):
        exact = json.loads(kept) if isinstance(kept, str) else kept
        assert pandas.isna(kept) if value is None else Fraction(exact) == Fraction(value), (value, kept)
