"""Parts of other packages are used by name, and the house stands without any of its wings."""

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from hegemon import parts
from hegemon.models.model import MODELS

ROOT = Path(__file__).parents[1]
PLUGIN = ROOT / "examples" / "plugin"
PROGRAM = """
import sys
from hegemon.cli.main import main
for line in sys.argv[1:]:
    print(line, "->", main(line.split()), flush=True)
"""


def run(path: list[Path], folder: Path, *lines: str) -> tuple[str, str]:
    """What command lines print, in a process that finds modules in these folders first."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, path)), "COLUMNS": "200"}
    words = [sys.executable, "-c", PROGRAM, *lines]
    done = subprocess.run(words, capture_output=True, text=True, env=environment, cwd=folder, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


def installed(folder: Path) -> Path:
    """The example package as an installer lays it out; with an entry point more, whose module is not there."""
    shutil.copytree(PLUGIN / "src", folder, dirs_exist_ok=True)
    project = tomllib.loads((PLUGIN / "pyproject.toml").read_text())["project"]
    groups = project["entry-points"] | {"hegemon.protocols": {"broken": "no_such_module:Protocol"}}
    groups["hegemon.protocols"] |= project["entry-points"]["hegemon.protocols"]
    data = folder / "hegemon_wheel-0.1.0.dist-info"
    data.mkdir()
    (data / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n")
    lines = [f"[{group}]\n" + "".join(f"{k} = {v}\n" for k, v in points.items()) for group, points in groups.items()]
    (data / "entry_points.txt").write_text("\n".join(lines))
    return folder


def test_a_package_adds_a_part_of_every_kind(tmp_path):
    path = [ROOT / "src", installed(tmp_path / "site")]
    shown, said = run(
        path, tmp_path,
        "run duel --graph wheel:8 --scheduler back-and-forth --seed 1 --json",
        "reproduce duel-paper --jobs 1 --quiet",
        "degrees wheel:8",
        "--help",
        "list",
        "run duell --n 5",
        "run broken --n 5",
        "run pairwise --graph whel:8",
    )  # fmt: skip
    assert '"graph": "wheel:8"' in shown and "the scheduler back-and-forth" in shown and '"reached": true' in shown
    assert "1 claim holds" in shown and "7 nodes of degree 3" in shown and "Added by other packages" in shown
    assert "did you mean duel?" in said and "did you mean wheel?" in said
    assert "broken of the package hegemon-wheel cannot be loaded" in said and "Traceback" not in said
    assert [line.rpartition(" ")[2] for line in shown.splitlines() if " -> " in line] == list("00000222")


def test_the_names_of_built_in_parts_are_those_of_models():
    for kind in ("course", "chain", "member", "scheduler", "world"):
        assert parts.BUILT_IN[kind].keys() <= MODELS.keys()


@pytest.mark.parametrize("wing", parts.WINGS)
def test_the_house_stands_without_a_wing(tmp_path, wing):
    house = tmp_path / "hegemon"
    house.mkdir()
    for place in (ROOT / "src" / "hegemon").iterdir():
        if place.name not in (wing, "__pycache__"):
            (house / place.name).symlink_to(place)
    verb = next(verb for verb, needed in parts.NEEDS.items() if needed == wing)
    lines = ("--help", "list", "show pairwise --n 5", "export pairwise --n 3 --to latex")
    shown, said = run([tmp_path], tmp_path, *lines, f"{verb} pairwise --n 4")
    assert [line.rpartition(" ")[2] for line in shown.splitlines() if " -> " in line] == list("00002")
    assert f"│ {verb} " not in shown and f"{verb} needs {parts.WINGS[wing]}" in said and "│ run " in shown
