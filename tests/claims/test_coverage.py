"""Every statement has a row: what `reproduce --list` and the report say about coverage."""

import json
from pathlib import Path

from hegemon.claims.coverage import GRADES, about, counts, full_adds, statements
from hegemon.claims.errata.listing import errata
from hegemon.claims.papers.trains_lemmas import nodes_of
from hegemon.claims.registry import PAPERS, all_claims, choose
from hegemon.cli.main import main
from hegemon.graphs.families import FAMILIES


def test_every_claim_tests_a_statement_and_every_row_names_claims_or_a_reason():
    claims = all_claims()
    assert {name for one in statements() for name in one.claims} == set(claims)
    for one in statements():
        assert one.grade in GRADES and one.paper in PAPERS and one.note
        assert bool(one.claims) == (one.grade not in ("argued", "not testable")), one
        assert {claims[name].paper for name in one.claims} <= {one.paper}
    assert len({(one.paper, one.place) for one in statements()}) == len(statements())


def test_what_the_errata_list_is_said_in_the_rows():
    wrong = {name for one in errata() for name in one.claims}
    assert {name for one in statements() if one.note.startswith("erratum") for name in one.claims} >= wrong


def test_the_list_runs_nothing(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["reproduce", "--list", "--paper", "ring", "--json"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert content["papers"] == {"ring": counts()["ring"]} and not list(tmp_path.iterdir())
    assert set(content["full_adds"]) == {name for name in all_claims() if name.startswith("ring.")}
    assert main(["reproduce", "--list", "--only", "ring.lemma1"]) == 0
    text = capsys.readouterr().out
    assert "Lemma 1" in text and "--full makes these larger" in text and "ring.lemma1: pairs" in text


def test_what_full_adds():
    assert "sizes … 2,048 → … 10,000,000" in full_adds(choose("to.thm17")[0])
    assert {one.paper for one in about(choose(paper="trains"))} == {"trains"}


def test_the_manual_counts_what_is_listed():
    page = (Path(__file__).parents[2] / "docs" / "reproduce.md").read_text()
    for paper, row in counts().items():
        assert f"| {paper} | {sum(row.values())} | {' | '.join(str(row[grade]) for grade in GRADES)} |" in page


def words(sizes):
    """Every text in the sizes of a claim."""
    if isinstance(sizes, str):
        return [sizes]
    inner = [*sizes, *sizes.values()] if isinstance(sizes, dict) else sizes if isinstance(sizes, list | tuple) else ()
    return [word for one in inner for word in words(one)]


def test_the_size_of_every_graph_is_known():
    """Also of those that only `--full` uses: gnp:500,0.03 ended it after most of an hour."""
    sizes = [claim.sizes(scale) for claim in all_claims().values() for scale in ("quick", "full")]
    graphs = {word for one in sizes for word in words(one) if word.partition(":")[0] in FAMILIES and ":" in word}
    assert len(graphs) > 50 and "gnp:500,0.03" in graphs and all(nodes_of(graph) > 1 for graph in graphs)
    assert nodes_of("gnp:500,0.03") == 500
