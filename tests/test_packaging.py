"""What is released: one version everywhere, and a wheel that works in an empty environment, old and new."""

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

from hegemon import __version__

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
PYTHONS = ("3.11", "3.12", "3.13")
CONDA = {"matplotlib": "matplotlib-base"}  # without a screen
TRIED = (
    ("--version",),
    ("list", "--json"),
    ("run", "pairwise", "--n", "30", "--seed", "1", "--plot", "pairwise.png"),
    ("verify", "pairwise", "--n", "3"),
    ("watch", "--help"),
)


def requirement(text: str) -> tuple[str, str]:
    name, bounds = re.fullmatch(r"([A-Za-z0-9_.-]+?)\s*([<>=!].*)?", text).groups()
    return name, bounds or ""


def disagreements(recipe: str, citation: str) -> list[str]:
    """Where the conda recipe and the citation differ from the project."""
    found = []
    for name, text in (("the recipe", recipe), ("the citation", citation)):
        if re.search(r"^\s*version: (.*)$", text, re.M)[1] != __version__:
            found.append(f"version in {name}")
    run = re.search(r"^  run:\n((?:    - .*\n)*)", recipe, re.M)[1]
    conda = dict(requirement(line.strip(" -")) for line in run.splitlines())
    ours = {CONDA.get(name, name): bounds for name, bounds in map(requirement, PROJECT["dependencies"])}
    ours["python"] = PROJECT["requires-python"]
    return found + sorted({name for name, _ in conda.items() ^ ours.items()})


def test_recipe_and_citation_agree_with_the_project():
    recipe, citation = (ROOT / "conda" / "meta.yaml").read_text(), (ROOT / "CITATION.cff").read_text()
    assert disagreements(recipe, citation) == []
    assert disagreements(recipe.replace("scipy >=1.11,<2", "scipy >=1.10,<2"), citation) == ["scipy"]
    assert disagreements(recipe, citation.replace("version: 0", "version: 9").replace("cff-version: 1", "cff: 1"))


def oldest() -> list[str]:
    """Every dependency at the lowest version that is allowed."""
    return [
        f"{name}=={re.search(r'>=([0-9.]+)', bounds)[1]}.*"
        for name, bounds in map(requirement, PROJECT["dependencies"])
    ]


def python_named(version: str) -> str | None:
    """A Python of that version which this machine has."""
    places = sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python"))
    for candidate in (*places, shutil.which(f"python{version}")):
        if candidate:
            said = subprocess.run([candidate, "-c", "import sys; print(*sys.version_info[:2], sep='.')"],
                                  capture_output=True, text=True)  # fmt: skip
            if said.stdout.strip() == version:
                return str(candidate)
    return None


def clean_environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> Path:
    """The folder with the wheel and the sdist, built from what is under version control or beside it."""
    folder = tmp_path_factory.mktemp("build")
    copy = folder / "source"
    shutil.copytree(
        ROOT,
        copy,
        ignore=shutil.ignore_patterns(".git", ".venv*", "build", "*.egg-info", "__pycache__", "reproduction-*"),
    )
    subprocess.run([sys.executable, "-m", "venv", folder / "tools"], check=True, timeout=300)
    pip = [folder / "tools" / "bin" / "python", "-m", "pip", "install", "--quiet", "build"]
    if subprocess.run(pip, capture_output=True, timeout=600).returncode:
        pytest.skip("the package `build` cannot be had here")
    command = [folder / "tools" / "bin" / "python", "-m", "build", "--outdir", folder / "dist", copy]
    done = subprocess.run(command, capture_output=True, text=True, env=clean_environment(), timeout=900)
    assert done.returncode == 0, done.stderr
    warnings = [
        line for line in (done.stdout + done.stderr).splitlines() if "Deprecat" in line or "warning:" in line.lower()
    ]
    assert not [line for line in warnings if "no previously-included" not in line], warnings
    return folder / "dist"


@pytest.mark.full
def test_wheel_and_sdist_hold_what_they_should(built):
    (wheel,), (sdist,) = built.glob("*.whl"), built.glob("*.tar.gz")
    names = zipfile.ZipFile(wheel).namelist()
    assert {"hegemon/py.typed", "hegemon/web/page/main.js", "hegemon/web/live/kernels.wasm"} <= set(names)
    assert not [name for name in names if name.startswith(("tests", "benchmarks", "docs"))]
    with tarfile.open(sdist) as archive:
        inside = {name.partition("/")[2] for name in archive.getnames()}
    assert {"pyproject.toml", "LICENSE", "README.md", "src/hegemon/cli/main.py"} <= inside


def install(python: str, wheel: Path, folder: Path, constraints: list[str]) -> Path:
    subprocess.run([python, "-m", "venv", folder], check=True, timeout=300)
    (folder / "constraints.txt").write_text("\n".join(constraints))
    pip = [folder / "bin" / "python", "-m", "pip", "install", "--quiet", "--only-binary", ":all:", "-c"]
    done = subprocess.run([*pip, folder / "constraints.txt", wheel], capture_output=True, text=True, timeout=1800)
    if done.returncode:
        pytest.skip(f"the dependencies cannot be had here: {done.stderr.strip().splitlines()[-1]}")
    return folder / "bin" / "hegemon"


@pytest.mark.full
@pytest.mark.parametrize("version", [*PYTHONS, "oldest"])
def test_the_wheel_works_in_an_empty_environment(built, version, tmp_path):
    python = python_named(PYTHONS[0] if version == "oldest" else version)
    if python is None:
        pytest.skip(f"this machine has no Python {version}")
    (wheel,) = built.glob("*.whl")
    hegemon = install(python, wheel, tmp_path / "environment", oldest() if version == "oldest" else [])
    environment = clean_environment()
    for arguments in TRIED:
        done = subprocess.run(
            [hegemon, *arguments], capture_output=True, text=True, env=environment, cwd=tmp_path, timeout=600
        )
        assert done.returncode == 0, (arguments, done.stderr)
        assert not [line for line in done.stderr.splitlines() if not line.startswith("…")], (arguments, done.stderr)
    assert (tmp_path / "pairwise.png").stat().st_size > 1000
