"""The artifact: what `make artifact` packs, and that its check notices another verdict and other data."""

import importlib.util
import json
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
CLAIMS = [
    {"id": "a.lemma1", "place": "Lemma 1", "verdict": "holds", "seconds": 0.5, "statement": "It is so, always."},
    {"id": "a.lemma2", "place": "Lemma 2", "verdict": "violated", "seconds": 1.0, "statement": "It is not."},
]


@pytest.fixture
def reproduction(tmp_path):
    folder = tmp_path / "reproduction"
    (folder / "data").mkdir(parents=True)
    for claim in CLAIMS:
        (folder / "data" / f"{claim['id']}.csv").write_text("n,steps\n2,3\n")
    (folder / "claims.json").write_text(json.dumps({"scale": "quick", "seed": 1, "claims": CLAIMS}))
    return folder


@pytest.fixture
def artifact(reproduction, tmp_path):
    """Unpacked from its archive, elsewhere."""
    specification = importlib.util.spec_from_file_location("make_artifact", ROOT / "artifact" / "make.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    archive = module.build(reproduction, tmp_path / "hegemon-artifact")
    with tarfile.open(archive) as file:
        file.extractall(tmp_path / "elsewhere", filter="data")
    shutil.rmtree(tmp_path / "hegemon-artifact")
    return tmp_path / "elsewhere" / "hegemon-artifact"


def checked(artifact, results) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, str(artifact / "check.py"), str(results)], capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout


def test_what_is_packed(artifact):
    named = ("Containerfile", "reproduce.sh", "check.py", "README.md", "expected.csv", "SHA256SUMS", "constraints.txt")
    assert all((artifact / name).is_file() for name in named)
    assert (artifact / "source" / "src" / "hegemon" / "claims" / "statements.toml").is_file()
    assert not list(artifact.rglob("__pycache__"))
    assert "numba==" in (artifact / "constraints.txt").read_text()
    copied = [word for line in (artifact / "Containerfile").read_text().splitlines() if line.startswith("COPY")
              for word in line.split()[1:-1]]  # fmt: skip
    assert copied and all((artifact / word).exists() for word in copied)
    subprocess.run(["sh", "-n", str(artifact / "reproduce.sh")], check=True)
    assert (artifact / "reproduce.sh").stat().st_mode & 0o100


def test_what_is_as_expected_passes_and_what_is_not_is_named(artifact, reproduction):
    assert checked(artifact, reproduction) == (0, "verdicts: as expected\ndata: the same bytes\n")
    (reproduction / "data" / "a.lemma1.csv").write_text("n,steps\n2,4\n")
    code, said = checked(artifact, reproduction)
    assert code == 0 and "data/a.lemma1.csv" in said
    changed = [{**CLAIMS[0], "verdict": "violated"}, {**CLAIMS[1], "id": "a.lemma3"}]
    (reproduction / "claims.json").write_text(json.dumps({"scale": "quick", "seed": 1, "claims": changed}))
    code, said = checked(artifact, reproduction)
    assert code == 1 and "a.lemma1: violated, expected holds" in said
    assert "a.lemma2: missing, expected violated" in said and "a.lemma3: violated, expected no such claim" in said
