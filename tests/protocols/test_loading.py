"""Protocols by name: the nearest is suggested, and a user's file can do no more harm than a sentence."""

import os

import pytest

from hegemon import protocols
from hegemon.errors import InvalidInput
from hegemon.protocols import CATALOGUE, listing
from hegemon.protocols.loading import find_protocol, name_protocol

GOOD = """
from hegemon.models import Bit, PopulationProtocol

class Mine(PopulationProtocol):
    class State:
        x: Bit

    def interact(a, b, p):
        a.x = b.x
"""


def test_every_protocol_is_under_its_id_and_its_name():
    for name, protocol in CATALOGUE.items():
        assert protocol.id == name and getattr(protocols, protocol.__name__) is protocol
    assert "nothing" not in CATALOGUE and not hasattr(protocols, "Nothing")


def test_what_is_read_off_the_files_is_what_the_classes_say():
    for name, entry in listing.entries().items():
        protocol = CATALOGUE[name]
        said = protocol.id, protocol.model.name, protocol.grade, protocol.shelf, protocol.summary(), protocol.reference
        assert said == (name, entry.model, entry.grade, entry.shelf, entry.summary, entry.reference)


def test_type_checkers_know_the_catalogue():
    """If this fails, run `python -m hegemon.protocols`."""
    assert (listing.FOLDER / "__init__.pyi").read_text() == listing.stub()


def test_a_file_in_the_folder_is_all_it_takes(tmp_path, monkeypatch):
    text = GOOD.replace(
        "    class State:",
        '    """Copies."""\n\n    reference = "nobody"\n    grade = "exact"\n    shelf = "survey"\n\n    class State:',
        1,
    )
    (tmp_path / "mine.py").write_text(text)
    monkeypatch.setattr(listing, "FOLDER", tmp_path)
    assert list(listing.entries.__wrapped__()) == ["mine"]


def test_a_misspelt_id_suggests_the_nearest():
    assert find_protocol("pairwise") is CATALOGUE["pairwise"]
    for name, meant in (("pairwse", "pairwise"), ("time_optimal", "time-optimal"), ("Trains", "trains")):
        with pytest.raises(InvalidInput, match=f"did you mean {meant}"):
            find_protocol(name)
    with pytest.raises(InvalidInput, match="hegemon list"):
        find_protocol("qqqqqqqq")


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("", "defines no protocol; write a class"),
        ("x = 1\n", "defines no protocol"),
        ("from hegemon import Pairwise\n", "defines no protocol"),
        ("raise SystemExit(0)\n", r"line 1: SystemExit: 0"),
        ("import sys\nsys.exit('enough')\n", r"line 2: SystemExit: enough"),
        ("raise GeneratorExit\n", "GeneratorExit"),
        ("class Own(BaseException):\n    pass\n\nraise Own('gone')\n", r"line 4: Own: gone"),
        ("x = \n", "line 1: invalid syntax"),
        ("x = 1\n  y = 2\n", "line 2: unexpected indent"),
        ("import nothing_of_that_name\n", r"line 1: ModuleNotFoundError"),
        ("1 / 0\n", r"line 1: ZeroDivisionError"),
        ("def f():\n    f()\n\nf()\n", "RecursionError"),
        (GOOD.replace("x: Bit", "x: int"), "use Bit, Range"),
        (GOOD.replace("(a, b, p)", "(a, b)"), r"write def interact\(a, b, p\)"),
        (GOOD + GOOD.replace("Mine", "Other"), "defines 2 protocols: Mine, Other; write which one"),
    ],
)
def test_files_that_cannot_be_used_are_named(tmp_path, text, part):
    path = tmp_path / "mine.py"
    path.write_text(text)
    with pytest.raises(InvalidInput, match=part) as caught:
        find_protocol(name_protocol(str(path)))
    assert "mine.py" in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["missing.py", "missing.py:Mine", "\x00.py", "x" * 5000 + ".py", ".py", "a:b.py"])
def test_names_that_are_no_files(name):
    with pytest.raises(InvalidInput):
        find_protocol(name_protocol(name))


def test_two_files_of_one_name_are_two_modules(tmp_path):
    found = []
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "mine.py").write_text(GOOD)
        found.append(find_protocol(name_protocol(f"{tmp_path / folder / 'mine.py'}:Mine")))
    assert found[0] is not found[1] and found[0].__module__ != found[1].__module__
    with pytest.raises(InvalidInput, match="defines no protocol 'Yours'; it defines: Mine"):
        find_protocol(f"{tmp_path / 'a' / 'mine.py'}:Yours")


def test_an_edit_within_the_second_that_keeps_the_size_is_seen(tmp_path):
    path = tmp_path / "mine.py"
    for moment, doc in enumerate(("One.", "Two.")):
        path.write_text(GOOD.replace("    class State:", f"    '{doc}'\n\n    class State:"))
        os.utime(path, ns=(10**18 + moment, 10**18 + moment))
        assert find_protocol(name_protocol(str(path))).__doc__ == doc
    assert not (tmp_path / "__pycache__").exists()


@pytest.mark.parametrize("name", CATALOGUE)
def test_everything_that_show_lists_says_what_it_is(name):
    kind = CATALOGUE[name]
    silent = [observed for observed, one in kind.observables.items() if not one.doc]
    silent += [start for start, function in kind.starts.items() if not function.__doc__]
    silent += [chosen for chosen, one in kind.sets.items() if not one.doc]
    assert not silent
