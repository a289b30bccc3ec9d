"""A folder of live pages: one for each protocol that can be live, and an index with the reasons for the others."""

import re

import pytest

from hegemon.cli.main import main
from hegemon.errors import InvalidInput
from hegemon.protocols import CATALOGUE
from hegemon.web.live import shelf
from hegemon.web.live.content import require_live

SOME = ("bfw", "pairwise", "time-optimal")


def test_a_shelf_has_a_page_or_a_reason_for_every_protocol(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(shelf, "CATALOGUE", {name: CATALOGUE[name] for name in SOME})
    assert main(["watch", "--live", str(tmp_path / "site")]) == 0
    assert "site: 2 live pages, and index.html, which says why the others (1) have none" in capsys.readouterr().out
    index = (tmp_path / "site" / "index.html").read_text()
    assert re.findall(r'href="([^"]*)"', index) == ["pairwise.html", "time-optimal.html"]
    assert {place.name for place in (tmp_path / "site").iterdir()} == {
        "index.html",
        "pairwise.html",
        "time-optimal.html",
    }
    assert "a live page runs population protocols, and bfw is a protocol of the rounds model." in index
    assert "script-src 'none'" in index and "<script" not in index


def test_a_folder_is_made_without_options(tmp_path, capsys):
    assert main(["watch", "--live", str(tmp_path / "site"), "--n", "5"]) == 2
    assert "a folder of live pages is made without n; name a protocol, or leave it out" in capsys.readouterr().err
    assert main(["watch", "pairwise", "--n", "5", "--live", str(tmp_path / "site")]) == 2
    assert "a live page is saved as .html" in capsys.readouterr().err
    (tmp_path / "file").write_text("")
    with pytest.raises(InvalidInput, match="file is no folder that can be written"):
        shelf.make_shelf(tmp_path / "file", print)


@pytest.mark.parametrize("name", CATALOGUE)
def test_what_is_live_on_the_shelf_is_live(name):
    """The first n with which a protocol is live, or the reason why it is not with the largest."""
    try:
        require_live(shelf.record_of(CATALOGUE[name]))
    except InvalidInput as error:
        assert "a live page runs population protocols" in str(error) or "is too large for a live page" in str(error)
