"""Whatever hegemon keeps and reads back: a flipped bit is refused in a sentence, or changes nothing that is read."""

import json
import random
from types import SimpleNamespace

import numpy as np
import pytest

import hegemon as hg
from hegemon.claims.registry import choose
from hegemon.claims.store import ClaimsFolder
from hegemon.discovery import checker as search_checker
from hegemon.discovery import guided, keeping
from hegemon.discovery.certificates import KIND as SEARCH
from hegemon.discovery.certificates import certificate
from hegemon.errors import InvalidInput
from hegemon.exact import recomputed
from hegemon.exact.proofs import checker as proof_checker
from hegemon.exact.proofs.certificates import KIND as PROOF
from hegemon.experiments.holding import kept as holding
from hegemon.experiments.holding.advice import TABLE
from hegemon.experiments.store.folder import Folder
from hegemon.experiments.store.provenance import drivers
from hegemon.experiments.store.table import rows_of
from hegemon.experiments.study import make_study
from hegemon.experiments.sweep import run_study
from hegemon.kept import read_kept, seal, unseal, write_kept
from hegemon.runs.checkpoint import Checkpoint, read_checkpoint

LIST = [3, "x", {"y": [1.5, None, True, -7]}]


def run_checkpoint(folder):
    state = {"faults": 0, "rng": None, "engine": {"agents": np.arange(40), "time": 2**70, "word": np.uint64(5)}}
    Checkpoint(folder / "run.npz", {"run": {"protocol": "pairwise", "n": 40}, "code": ["a"]}, state).write()
    return folder / "run.npz", read_checkpoint


def values(folder):
    kept = recomputed.KeptValues.__new__(recomputed.KeptValues)
    kept.path, kept.digest, kept.chain = folder / "values.npz", "a" * 64, SimpleNamespace(size=50)
    kept.save(np.linspace(0, 9, 50))
    return kept.path, lambda _: kept.values()


def holding_checkpoint(folder):
    place = folder / "holding.json"
    write_kept(place, holding.KIND, {"question": "q", "rate": -0.125, "rates": [float("-inf"), 3.5]}, infinite=True)
    return place, lambda path: read_kept(path, holding.KIND)


def search_checkpoint(folder):
    place = folder / "search.json"
    hg.discover(states=2, n="2", symmetric=True, checkpoint=place)
    asked = read_kept(place, keeping.KIND)["question"]
    return place, lambda path: [keeping.KeptSearch(path, asked).branches(number) for number in range(4)]


def guided_checkpoint(folder):
    place = folder / "guided.json"
    hg.discover_guided(states=2, n="2", symmetric=True, walks=2, checkpoint=place)
    return place, lambda path: read_kept(path, guided.KIND)


def study_file(folder):
    study(folder)
    return folder / "study.json", lambda _: Folder(folder).study().content()


def record_file(folder):
    """A damaged record counts as damaged, and its trials are missing: they are made again."""
    study(folder)
    (place,) = folder.glob("records/*.jsonl")

    def read(_):
        found = Folder(folder)
        found.refresh()
        rows = [record["columns"] for key in sorted(found.done) for _, _, _, record in rows_of(found, key, 100)]
        if found.damaged or sum(len(row) for row in rows) == 0:
            raise InvalidInput("damaged")
        return rows

    return place, read


def driver_file(folder):
    """Provenance is only shown: a damaged file is left out."""
    study(folder)
    (place,) = folder.glob("drivers/*.json")
    return place, lambda _: [{**driver, "alive": None} for driver in drivers(folder / "drivers")] or refused()


def table(folder):
    study(folder)
    return folder / "table.parquet", lambda _: hg.results(folder).record()


def table_digest(folder):
    study(folder)
    return folder / "table.sha256", lambda _: hg.results(folder).record()


def claim(folder):
    """A damaged outcome counts as none: its claim is made again."""
    place, chosen = ClaimsFolder(folder), choose(None, None)[0]
    record, rows = {"identity": place.identity(chosen, "quick", 1), "verdict": "holds", "figure": 0.125}, "n,x\n1,2\n"
    place.keep(record, rows)
    path = folder / "claims" / f"{chosen.id}.json"
    return path, lambda _: read_kept(path, "claim")


def measured(folder):
    place = folder / "measured.json"
    place.write_bytes(TABLE.read_bytes())
    return place, lambda path: read_kept(path, "measured")


def proof(folder):
    place = folder / "proof.json"
    write_kept(place, PROOF, hg.prove(hg.Pairwise, property="closed", largest=0).certificate)
    return place, lambda path: checked(proof_checker, path)


def search(folder):
    place = folder / "search.json"
    write_kept(place, SEARCH, certificate(hg.discover(states=2, n="2", symmetric=True, certificate=True)))
    return place, lambda path: checked(search_checker, path)


def study(folder):
    run_study(make_study("pairwise", axes={"n": [3, 4]}, trials=4), folder, workers=1)


def checked(checker, path):
    if checker.main([str(path)]):
        refused()


def refused():
    raise InvalidInput("refused")


KINDS = [
    run_checkpoint, values, holding_checkpoint, search_checkpoint, guided_checkpoint, study_file, record_file,
    driver_file, table, table_digest, claim, measured, proof, search,
]  # fmt: skip


def flipped(kind, folder, flips):
    """The numbers of flips that were refused and that changed nothing; any other answer or error is raised."""
    place, read = kind(folder)
    whole, before = place.read_bytes(), written(read(place))
    draw, refused, same = random.Random(kind.__name__), 0, 0
    for _ in range(flips):
        spot, bit = draw.randrange(len(whole)), draw.randrange(8)
        place.write_bytes(whole[:spot] + bytes([whole[spot] ^ 1 << bit]) + whole[spot + 1 :])
        try:
            answer = written(read(place))
        except InvalidInput as error:
            assert "\n" not in str(error)
            refused += 1
        else:
            assert answer == before, (kind.__name__, spot, bit)
            same += 1
    return refused, same


def written(answer):
    return json.dumps(answer, default=lambda item: item.tolist())


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_a_flipped_bit_is_never_another_answer(kind, tmp_path, capsys):
    refused, same = flipped(kind, tmp_path, 4)
    assert refused + same == 4


@pytest.mark.full
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_many_flipped_bits_are_never_another_answer(kind, tmp_path, capsys):
    refused, same = flipped(kind, tmp_path, 75)  # of 14 kinds: 1,050 in all
    assert refused + same == 75 and refused > 40  # an archive of arrays has bytes that nobody reads


def test_a_reader_that_believes_is_noticed(tmp_path, monkeypatch):
    """The twin that compares no digest gives another answer for some flip."""
    monkeypatch.setattr("hegemon.kept.unseal", lambda kind, text: json.loads(text)[kind])
    with pytest.raises((AssertionError, ValueError, KeyError)):
        flipped(measured, tmp_path, 60)


@pytest.mark.parametrize(
    "text", [b"", b"{}", b"[1]", b'{"digest":"0","a":1}', b"[" * 10**5, seal("b", 1), b"\xff" * 99]
)
def test_other_files_are_refused(text, tmp_path):
    (tmp_path / "a").write_bytes(text)
    with pytest.raises(InvalidInput, match="no whole a"):
        read_kept(tmp_path / "a", "a")


def test_what_is_sealed_is_read():
    assert (
        unseal("some kind", seal("some kind", LIST)) == LIST == unseal("some kind", seal("some kind", LIST, indent=1))
    )
    with pytest.raises(ValueError):
        seal("a", float("nan"))
