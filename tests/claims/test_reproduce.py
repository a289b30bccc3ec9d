"""Resuming, never half a file, and the report."""

import csv
import json
import os
import signal
import subprocess
import sys
import time

import pytest

from hegemon.claims.laboratory import SEED, Laboratory
from hegemon.claims.registry import VIOLATED, choose
from hegemon.claims.report import write_report
from hegemon.claims.reproduce import Listener, reproduce, run_claim
from hegemon.claims.store import Folder
from hegemon.cli.main import main
from hegemon.errors import InvalidInput
from hegemon.protocols.pairwise import Pairwise


class Ear(Listener):
    def __init__(self):
        self.heard = []

    def finished(self, claim, record, again):
        self.heard.append((claim.id, again))


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("out")
    claims = choose("ring.lemma1,trains.lemma4.2")
    return folder, claims, reproduce(claims, "quick", folder, jobs=2)


def test_what_is_in_the_folder(finished):
    folder, claims, records = finished
    assert [record["identity"]["id"] for record in records] == [claim.id for claim in claims]
    summary = json.loads((folder / "claims.json").read_text())
    assert [claim["id"] for claim in summary["claims"]] == [claim.id for claim in claims]
    assert summary["seed"] == SEED and sum(summary["verdicts"].values()) == 2
    for record in records:
        with open(folder / "data" / f"{record['identity']['id']}.csv") as file:
            assert len(list(csv.DictReader(file))) == record["rows"] > 0
    assert not list(folder.rglob("*.partial")) and not (folder / "parts").exists()


def test_finished_claims_are_not_made_again(finished):
    folder, claims, records = finished
    ear = Ear()
    assert reproduce(claims, "quick", folder, jobs=1, listener=ear) == records
    assert ear.heard == [(claim.id, True) for claim in claims]


@pytest.mark.parametrize("damage", ["cut off", "other code", "other seed"])
def test_a_record_that_does_not_fit_is_not_taken(finished, damage, tmp_path):
    _, claims, records = finished
    folder, record, seed = Folder(tmp_path), dict(records[0]), SEED
    if damage == "other code":
        record["identity"] = {**record["identity"], "code": "0" * 16}
    text = json.dumps(record)
    (tmp_path / "claims").mkdir()
    (tmp_path / "claims" / f"{claims[0].id}.json").write_text(text[:-40] if damage == "cut off" else text)
    assert folder.load(claims[0], "quick", seed + (damage == "other seed")) is None
    assert folder.load(claims[0], "full", SEED) is None


def test_a_laboratory_goes_on_where_it_was_interrupted(tmp_path):
    claim = choose("survey.pairwise")[0]
    parts = Folder(tmp_path).parts(claim, "quick", SEED)
    first = Laboratory(store=parts, workers=1).times(Pairwise(n=10), 20, most=40, relative=1e-6)

    class Refusing(Laboratory):
        def _run(self, *_):
            raise AssertionError("measured again")

    again = Refusing(store=parts, workers=1).times(Pairwise(n=10), 20, most=40, relative=1e-6)
    assert list(again.values) == list(first.values) and len(first.values) == 40
    parts.clear()
    assert not (tmp_path / "parts").exists()


def test_batches_are_the_trials_of_one_seed():
    whole = Laboratory(workers=1).trials(Pairwise(n=10), 12)
    laboratory = Laboratory(workers=1)
    assert laboratory.trials(Pairwise(n=10), 5) + laboratory.trials(Pairwise(n=10), 7, first=5) == whole


def test_a_killed_run_leaves_whole_files_only(tmp_path):
    command = [sys.executable, "-c", "from hegemon.cli.main import main; main()", "reproduce", "--out", str(tmp_path),
               "--only", "ring.lemma1,trains.lemma4.2,trains.lemma4.7", "--jobs", "1"]  # fmt: skip
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while not list(tmp_path.glob("claims/*.json")) and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.wait()
    done = list(tmp_path.glob("claims/*.json"))
    assert done and all(json.loads(path.read_text())["verdict"] for path in done)
    ear = Ear()
    reproduce(choose("ring.lemma1"), "quick", tmp_path, jobs=1, listener=ear)
    assert ear.heard == [("ring.lemma1", True)] and not list(tmp_path.rglob("*.partial"))


def test_the_report_is_one_file_with_everything_in_it(finished, tmp_path):
    _, claims, records = finished
    write_report(records, "quick", SEED, 3.0, tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text()
    for claim in claims:
        assert f"id='{claim.id}'" in text and f"--only {claim.id}" in text
    assert "data:image/svg+xml;base64," in text
    assert "http://" not in text and "https://" not in text and "src='data:" in text


def test_the_command_line(finished, capsys):
    folder, _, _ = finished
    code = main(["reproduce", "--only", "ring.lemma1,trains.lemma4.2", "--out", str(folder), "--json"])
    content = json.loads(capsys.readouterr().out)
    assert code == 0 and len(content["claims"]) == 2 and (folder / "report.html").is_file()
    main(["reproduce", "--only", "ring.lemma1", "--out", str(folder)])
    printed = capsys.readouterr().out
    assert "ring.lemma1" in printed and "report.html" in printed


def test_a_violated_claim_has_exit_code_1(finished, capsys):
    folder, claims, records = finished
    path = folder / "claims" / "trains.lemma4.2.json"
    kept = path.read_text()
    path.write_text(json.dumps({**records[1], "verdict": VIOLATED}))
    assert main(["reproduce", "--only", "trains.lemma4.2", "--out", str(folder)]) == 1
    path.write_text(kept)


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["--quick", "--full"], "exclude"),
        (["--only", "nothing"], "nothing"),
        (["--paper", "nobody"], "nobody"),
        (["--jobs", "0"], "jobs"),
        (["--out", os.devnull], "folder"),
    ],
)
def test_bad_input_is_one_sentence(arguments, word, capsys):
    assert main(["reproduce", "--only", "ring.lemma1", *arguments]) == 2
    message = capsys.readouterr().err
    assert word in message and message.count("\n") == 1


def test_a_claim_by_hand(tmp_path):
    record = run_claim(choose("ring.lemma1")[0], "quick", Folder(tmp_path), SEED, 1)
    assert record["verdict"] == "holds"
    with pytest.raises(InvalidInput):
        Folder(__file__)
