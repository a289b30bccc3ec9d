"""The mutants that `python -m benchmarks.mutants` makes, its page, and two that claims once did not notice."""

from collections import Counter

import pytest
from benchmarks import mutants
from benchmarks.mutants import PROTOCOLS, UNNOTICED, kept_rows, made, mutants_of, page, reasons, verdict_of

from hegemon.claims.registry import HOLDS, VIOLATED, all_claims


def test_every_kind_of_change_is_made():
    changed = {mutant.changed for mutant in mutants_of("ring")}
    assert {"if True:", "if l.leader != 1:", "if l.leader == 1 and True:", "pass", "l.distL = 1"} <= changed
    assert "if l.bullet >= 0 and r.leader == 1:" in changed and "r.bullet = DUMMY" in changed
    for protocol in PROTOCOLS:
        source = mutants.source_of(protocol)
        for mutant in mutants_of(protocol):
            compile(source[: mutant.start] + mutant.after + source[mutant.end :], protocol, "exec")


@pytest.mark.parametrize(
    ("protocol", "line", "changed", "claim", "sizes"),
    [
        ("trains", "return last and (me.L_flag == 1) == expects_marked", "return last and True", name, None)
        for name in ("trains.lemma4.3.repaired",)
    ]
    + [("ring", "r.signal = 0", "pass", "ring.lemma7", {"exact": ((2, 2),), "sampled": ((4, 4, 1000),)})],
)
def test_a_mutant_that_once_passed_is_noticed(protocol, line, changed, claim, sizes, tmp_path, monkeypatch):
    mutant = [one for one in mutants_of(protocol) if (one.line, one.changed) == (line, changed)][-1]  # line 15
    if sizes:
        monkeypatch.setitem(mutants.SIZES, claim, sizes)
    asked = all_claims()[claim]
    assert verdict_of(made(mutant, tmp_path), asked, "protocol") == VIOLATED
    untouched = mutants.Mutant(protocol, 0, 0, "")
    assert verdict_of(made(untouched, tmp_path), asked, "protocol") == HOLDS


def test_the_page_says_what_the_table_says():
    rows = kept_rows()
    assert mutants.PAGE.read_text(encoding="utf-8") == page(rows)
    unnoticed = [row for row in rows if row["verdict"] == UNNOTICED]
    assert all(any(reason.covers(row) for reason in reasons()) for row in unnoticed)
    assert all(any(reason.covers(row) for row in unnoticed) for reason in reasons())


def test_the_table_is_about_the_protocols_as_they_are():
    for protocol in PROTOCOLS:
        now = Counter((mutant.line, mutant.changed) for mutant in mutants_of(protocol))
        kept = Counter((row["line"], row["changed"]) for row in kept_rows() if row["protocol"] == protocol)
        assert not kept - now, f"run python -m benchmarks.mutants {protocol}"
