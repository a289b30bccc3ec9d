"""`make artifact`: from a finished `hegemon reproduce --quick`, what an artifact committee needs, in one archive.

Usage: python artifact/make.py REPRODUCTION OUT. Writes OUT/ and OUT.tar.gz: the source, the container file, the script,
the list of claims with expected verdicts and times, checksums of the data, and the versions that gave them.
"""

import csv
import hashlib
import json
import os
import platform
import re
import shutil
import sys
import tarfile
import tomllib
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent
SHIPPED = ("Containerfile", "reproduce.sh", "check.py", "README.md")
SOURCE = ("pyproject.toml", "README.md", "LICENSE", "src")


def build(reproduction: Path, out: Path) -> Path:
    """The folder and its archive, whose name is returned."""
    found = json.loads((reproduction / "claims.json").read_text(encoding="utf-8"))
    if found["scale"] != "quick":
        raise SystemExit(f"{reproduction} is of the scale {found['scale']}; give that of hegemon reproduce --quick")
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    for name in SHIPPED:
        shutil.copy(HERE / name, out / name)
    for name in SOURCE:
        copy(ROOT / name, out / "source" / name)
    with open(out / "expected.csv", "w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(("claim", "place", "verdict", "seconds", "statement"))
        rows.writerows((c["id"], c["place"], c["verdict"], c["seconds"], c["statement"]) for c in found["claims"])
    sums = [f"{checksum(path)}  data/{path.name}\n" for path in sorted((reproduction / "data").glob("*.csv"))]
    (out / "SHA256SUMS").write_text("".join(sums), encoding="utf-8")
    (out / "constraints.txt").write_text("".join(f"{line}\n" for line in versions()), encoding="utf-8")
    (out / "measured-on.txt").write_text(machine(found), encoding="utf-8")
    archive = out.with_suffix(".tar.gz")
    with tarfile.open(archive, "w:gz") as file:
        file.add(out, arcname=out.name)
    return archive


def copy(place: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if place.is_dir():
        shutil.copytree(place, target, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    else:
        shutil.copy(place, target)


def checksum(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def versions() -> list[str]:
    """The installed versions of the libraries that hegemon needs: others may draw other random numbers."""
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["dependencies"]
    names = [re.split(r"[<>=!~;\[ ]", one)[0] for one in declared]
    found = []
    for name in [*names, "llvmlite"]:
        try:
            found.append(f"{name}=={version(name)}")
        except PackageNotFoundError:
            raise SystemExit(f"{name} is not installed; run make artifact, which installs it") from None
    return found


def machine(found: dict) -> str:
    seconds = sum(claim["seconds"] for claim in found["claims"])
    return (
        f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}\n"
        f"seed {found['seed']}, {len(found['claims'])} claims, {seconds:,.0f} s of work in all processes together\n"
    )


if __name__ == "__main__":
    if len(sys.argv) != 3:
        raise SystemExit("usage: python artifact/make.py REPRODUCTION OUT")
    print(f"{build(Path(sys.argv[1]), Path(sys.argv[2]))} is written")
