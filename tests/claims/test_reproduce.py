"""Resuming, never half a file, and the report."""

import csv
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hegemon.claims.laboratory import SEED, Laboratory
from hegemon.claims.registry import VIOLATED, choose
from hegemon.claims.report import write_report
from hegemon.claims.reproduce import ClaimsListener, make_claims, reproduce, run_claim
from hegemon.claims.store import ClaimsFolder
from hegemon.cli.main import main
from hegemon.errors import InvalidInput
from hegemon.experiments.executors.local import Threads
from hegemon.kept import read_kept, seal, write_kept
from hegemon.models.sets import exactly
from hegemon.protocols.pairwise import Pairwise
from tests.claims.test_verdicts import CASES
from tests.patience import wait_for
from tests.sentences import is_one_sentence


class Ear(ClaimsListener):
    def __init__(self):
        self.heard = []

    def finished(self, claim, record, again):
        self.heard.append((claim.id, again))


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("out")
    claims = choose("ring.lemma1,trains.lemma4.2")
    return folder, claims, make_claims(claims, "quick", folder, jobs=2)


def test_what_is_in_the_folder(finished):
    folder, claims, records = finished
    assert [record["identity"]["id"] for record in records] == [claim.id for claim in claims]
    summary = json.loads((folder / "claims.json").read_text())
    assert [claim["id"] for claim in summary["claims"]] == [claim.id for claim in claims]
    assert summary["seed"] == SEED and sum(summary["verdicts"].values()) == 2
    for record in records:
        with open(folder / "data" / f"{record['identity']['id']}.csv") as file:
            assert len(list(csv.DictReader(file))) == record["rows"] > 0
    assert not list(folder.rglob("*.partial"))


def test_python_returns_the_same_verdicts_and_writes_the_report(finished):
    folder, claims, _ = finished
    found = reproduce(only=",".join(claim.id for claim in claims), out=folder, jobs=1)
    assert found == json.loads((folder / "claims.json").read_text())
    assert (folder / "report.html").stat().st_size > 1000


@pytest.mark.full
def test_dask_gives_the_same_records(finished, tmp_path):
    """`hegemon reproduce --cluster dask:local`: a claim is a task, and the tables are the same to the byte."""
    pytest.importorskip("distributed")
    folder, claims, records = finished
    there = make_claims(claims, "quick", tmp_path, jobs=2, cluster="dask:local")
    timeless = [{**record, "seconds": 0} for record in records]
    assert [{**record, "seconds": 0} for record in there] == timeless
    for claim in claims:
        name = Path("data") / f"{claim.id}.csv"
        assert (tmp_path / name).read_bytes() == (folder / name).read_bytes()


def test_finished_claims_are_not_made_again(finished):
    folder, claims, records = finished
    ear = Ear()
    assert make_claims(claims, "quick", folder, jobs=1, listener=ear) == records
    assert ear.heard == [(claim.id, True) for claim in claims]


def edited(text: str, damage: str) -> str:
    """The stored text after a change by hand or by a damaged disk."""
    record = json.loads(text)["claim"]
    if damage == "another verdict":
        record["verdict"] = record["checks"][0]["verdict"] = VIOLATED
    elif damage == "a tripled number":
        record["checks"][0]["figure"] *= 3
    elif damage == "other code":
        return seal("claim", {**record, "identity": {**record["identity"], "code": "0" * 16}}).decode()
    if record != json.loads(text)["claim"]:
        text = json.dumps(json.loads(text) | {"claim": record})
    return {"cut off": text[:-40], "an empty list": "[]", "nothing": "{}", "deep": "[" * 100_000}.get(damage, text)


DAMAGES = ("another verdict", "a tripled number", "other code", "cut off", "an empty list", "nothing", "deep")


@pytest.mark.parametrize("damage", [*DAMAGES, "other data", "other seed", "none"])
def test_a_record_that_does_not_fit_is_not_taken(finished, damage, tmp_path):
    whole, claims, records = finished
    shutil.copytree(whole, tmp_path, dirs_exist_ok=True)
    place = tmp_path / "claims" / f"{claims[0].id}.json"
    place.write_text(edited(place.read_text(), damage))
    if damage == "other data":
        data = tmp_path / "data" / f"{claims[0].id}.csv"
        data.write_text(data.read_text().replace("1", "3"))
    folder = ClaimsFolder(tmp_path)
    taken = folder.load(claims[0], "quick", SEED + (damage == "other seed"))
    assert (taken is not None) == (damage == "none")
    assert folder.load(claims[0], "full", SEED) is None


@pytest.mark.parametrize("damage", ["[]", "{}", "tripled", "", '{"rows": []}'])
def test_a_part_that_does_not_fit_is_measured_again(damage, tmp_path):
    parts = ClaimsFolder(tmp_path).parts(choose("survey.pairwise")[0], "quick", SEED)
    rows = Laboratory(store=parts, workers=1).trials(Pairwise(n=10), 3)
    place = next(parts.memory.folder.glob("*.jsonl"))
    steps = f'\\"steps\\": {rows[0]["steps"]}'
    assert steps in place.read_text()
    tripled = place.read_text().replace(steps, f'\\"steps\\": {3 * rows[0]["steps"]}')
    place.write_text(tripled if damage == "tripled" else damage)
    assert Laboratory(store=parts, workers=1).trials(Pairwise(n=10), 3) == rows


def test_seeds_and_keys_are_made_from_plain_content_only(tmp_path):
    laboratory = Laboratory(workers=1)
    assert laboratory.seed_for("a", 1, {"b": 2, "a": 1}) == laboratory.seed_for("a", 1, {"a": 1, "b": 2})
    with pytest.raises(TypeError):
        laboratory.seed_for("a", lambda a, p: True)
    with pytest.raises(InvalidInput):
        laboratory.trials(Pairwise(n=10), 2, until=exactly(1, lambda a, p: a.leader == 1))
    with pytest.raises(TypeError):
        laboratory.remember([exactly(1, len)], list)


TWICE = """
import sys
from hegemon.claims.canonical import canonical, plain
from hegemon.claims.laboratory import Laboratory
from tests.claims.test_verdicts import CASES
for name in sys.argv[1:]:
    experiment, sizes, _ = CASES[name]
    keys = []
    class Store:
        def load(self, name): keys.append(name)
        def save(self, name, rows): pass
    laboratory = Laboratory(workers=1, store=Store())
    outcome = experiment(laboratory, **sizes)
    print(canonical(plain([name, keys, laboratory.rows, outcome.content()])))
"""


def made_in_a_process(names, hash_seed: str) -> bytes:
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
    return subprocess.run(
        [sys.executable, "-c", TWICE, *names], env=environment, check=True, stdout=subprocess.PIPE
    ).stdout


@pytest.mark.parametrize(
    "names",
    [("trains.lemma4.6", "ring.lemma1"), pytest.param(tuple(CASES), marks=pytest.mark.full)],
    ids=["some", "all"],
)
def test_every_claim_gives_the_same_bytes_in_every_process(names):
    first = made_in_a_process(names, "1")
    assert first == made_in_a_process(names, "2") and first.count(b"\n") == len(names)


def test_a_laboratory_goes_on_where_it_was_interrupted(tmp_path):
    claim = choose("survey.pairwise")[0]
    parts = ClaimsFolder(tmp_path).parts(claim, "quick", SEED)
    first = Laboratory(store=parts, workers=1).times(Pairwise(n=10), 20, most=40, relative=1e-6)

    class Refusing(Laboratory):
        def _run(self, *_):
            raise AssertionError("measured again")

    again = Refusing(store=parts, workers=1).times(Pairwise(n=10), 20, most=40, relative=1e-6)
    assert list(again.values) == list(first.values) and len(first.values) == 40
    fresh = ClaimsFolder(tmp_path).parts(claim, "quick", SEED)  # as another process finds it
    assert list(Refusing(store=fresh, workers=1).times(Pairwise(n=10), 20, most=40, relative=1e-6).values) == list(
        first.values
    )
    with pytest.raises(AssertionError, match="measured again"):
        other = ClaimsFolder(tmp_path).parts(claim, "quick", SEED + 1)
        Refusing(store=other, workers=1).times(Pairwise(n=10), 20)


def test_batches_are_the_trials_of_one_seed():
    whole = Laboratory(workers=1).trials(Pairwise(n=10), 12)
    laboratory = Laboratory(workers=1)
    assert laboratory.trials(Pairwise(n=10), 5) + laboratory.trials(Pairwise(n=10), 7, first=5) == whole


def test_a_killed_run_leaves_whole_files_only(tmp_path):
    command = [sys.executable, "-c", "from hegemon.cli.main import main; main()", "reproduce", "--out", str(tmp_path),
               "--only", "ring.lemma1,trains.lemma4.2,trains.lemma4.7", "--jobs", "1"]  # fmt: skip
    quiet = {"stderr": subprocess.DEVNULL, "stdout": subprocess.DEVNULL}
    process = subprocess.Popen(command, start_new_session=True, **quiet)
    wait_for(lambda: list(tmp_path.glob("claims/*.json")))
    os.killpg(process.pid, signal.SIGKILL)  # all of it: a worker that outlives it for a moment would write beside us
    process.wait()
    done = list(tmp_path.glob("claims/*.json"))
    assert done and all(read_kept(path, "claim")["verdict"] for path in done)
    ear = Ear()
    make_claims(choose("ring.lemma1"), "quick", tmp_path, jobs=1, listener=ear)
    assert ear.heard == [("ring.lemma1", True)] and not list(tmp_path.rglob("*.partial"))


def test_an_experiment_that_fails_does_not_stop_the_others(tmp_path, monkeypatch):
    def fails(claim, *rest):
        return 1 / 0 if claim.id == "ring.lemma1" else run_claim(claim, *rest)

    monkeypatch.setattr("hegemon.claims.reproduce.run_claim", fails)
    monkeypatch.setattr("hegemon.claims.reproduce.Processes", lambda jobs: Threads())  # in this process
    with pytest.raises(RuntimeError, match=r"ring.lemma1 failed:\n(.|\n)*ZeroDivisionError"):
        make_claims(choose("ring.lemma1,trains.lemma4.2"), "quick", tmp_path, jobs=1, listener=Ear())
    assert [path.stem for path in tmp_path.glob("claims/*.json")] == ["trains.lemma4.2"]


def test_the_report_is_one_file_with_everything_in_it(finished, tmp_path):
    _, claims, records = finished
    write_report(records, "quick", SEED, 3.0, tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text()
    for claim in claims:
        assert f"id='{claim.id}'" in text and f"--only {claim.id}" in text
    assert "data:image/svg+xml;base64," in text
    assert "<td data-name='verdict'>" in text and text.index("id='contents'") < text.index("id='overview'")
    for row in re.findall(r"<table class='cards'><thead><tr>(.*?)</tr>", text):
        assert row.startswith("<th>verdict</th>")  # first, so that a narrow screen never cuts it off
    whole = (
        f"--quick --only {','.join(claim.id for claim in claims)} --seed {SEED}"  # what was not asked is not claimed
    )
    assert whole in text
    assert "2 claims hold" in text and f"--quick --only {claims[0].id} --seed {SEED}" in text
    assert text.count("<img") == sum(len(record["plots"]) for record in records)
    assert "http://" not in text and "https://" not in text and "src='data:" in text


def test_the_command_line(finished, capsys):
    folder, _, _ = finished
    code = main(["reproduce", "--only", "ring.lemma1,trains.lemma4.2", "--out", str(folder), "--json"])
    content = json.loads(capsys.readouterr().out)
    assert code == 0 and len(content["claims"]) == 2 and (folder / "report.html").is_file()
    main(["reproduce", "--only", "ring.lemma1", "--out", str(folder)])
    printed = capsys.readouterr().out
    assert "ring.lemma1" in printed and "report.html" in printed


def test_a_violated_claim_has_exit_code_1(finished, capsys, tmp_path):
    whole, _, _ = finished
    shutil.copytree(whole, tmp_path, dirs_exist_ok=True)
    path = tmp_path / "claims" / "trains.lemma4.2.json"
    record = read_kept(path, "claim")
    record["checks"][0]["verdict"] = VIOLATED
    write_kept(path, "claim", record)
    assert main(["reproduce", "--only", "trains.lemma4.2", "--out", str(tmp_path)]) == 1
    assert "1 claim is violated" in capsys.readouterr().out


def test_a_full_disk_loses_no_result(tmp_path):
    """No file may grow: the claim is made and its record is here, with a sentence that says what could not be kept."""
    program = """
import resource, sys
from hegemon.claims.registry import choose
from hegemon.claims.reproduce import run_claim
from hegemon.claims.store import ClaimsFolder
folder = ClaimsFolder(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
record = folder.keep(*run_claim(choose("ring.lemma1")[0], "quick", folder, 2021, 1))
print(record["verdict"], "|", record["unsaved"])
"""
    done = subprocess.run([sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True, check=True)
    verdict, _, sentence = done.stdout.partition(" | ")
    assert verdict == "holds" and "cannot be written" in sentence
    assert not list(tmp_path.rglob("*.json")) and not list(tmp_path.rglob("*.csv"))


def test_workers_end_with_their_parent(tmp_path):
    """A killed parent cannot send a message; its workers detect that it has ended."""
    program = """
import sys
from hegemon.claims.registry import choose
from hegemon.claims.reproduce import ClaimsListener, make_claims
class Voice(ClaimsListener):
    def started(self, claim):
        import multiprocessing
        print(*(child.pid for child in multiprocessing.active_children()), flush=True)
if __name__ == "__main__":
    make_claims(choose("to.lemma5"), "full", sys.argv[1], jobs=1, listener=Voice())
"""
    script = tmp_path / "parent.py"
    script.write_text(program)
    parent = subprocess.Popen([sys.executable, str(script), str(tmp_path / "out")], stdout=subprocess.PIPE, text=True)
    worker = int(parent.stdout.readline())
    parent.kill()
    parent.wait()
    wait_for(lambda: not is_alive(worker))


def is_alive(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


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
    asked = [] if "--only" in arguments else ["--only", "ring.lemma1"]
    assert main(["reproduce", *asked, *arguments]) == 2
    message = capsys.readouterr().err
    assert word in message and is_one_sentence(message)


def test_a_claim_by_hand(tmp_path):
    record, table = run_claim(choose("ring.lemma1")[0], "quick", ClaimsFolder(tmp_path), SEED, 1)
    assert record["verdict"] == "holds" and table.count("\n") == record["rows"] + 1
    with pytest.raises(InvalidInput):
        ClaimsFolder(__file__)


def test_long_silence_is_broken(capsys, monkeypatch):

    from hegemon.cli import reproduce as command

    monkeypatch.setattr(command, "SILENCE", 0.0)
    with command.LiveClaims([], "quick", 1) as board:
        board.notes["to.lemma5"] = "3 of 7"
        said = ""
        for _ in range(100):
            said += capsys.readouterr().err
            if "to.lemma5 3 of 7" in said:
                break
            time.sleep(0.05)
    assert said.startswith("… ")
    assert "to.lemma5 3 of 7" in said
