"""Whether a reproduction came out as expected. Usage: python check.py RESULTS. Needs nothing but Python.

Verdicts are compared with expected.csv. Data of the same scale are compared with SHA256SUMS: the same seed gives the
same bytes with the libraries of constraints.txt; with others, data may differ while verdicts must not.
"""

import csv
import hashlib
import json
import sys
from pathlib import Path

HERE = Path(__file__).parent


def differences(results: Path) -> tuple[list[str], list[str]]:
    """What is not as expected: of the verdicts, and of the data."""
    found = json.loads((results / "claims.json").read_text(encoding="utf-8"))
    verdicts = {claim["id"]: claim["verdict"] for claim in found["claims"]}
    with open(HERE / "expected.csv", newline="", encoding="utf-8") as file:
        expected = {row["claim"]: row["verdict"] for row in csv.DictReader(file)}
    wrong = [
        f"{name}: {verdicts.get(name, 'missing')}, expected {expected.get(name, 'no such claim')}"
        for name in {**expected, **verdicts}
        if verdicts.get(name) != expected.get(name)
    ]
    other = []
    for line in (HERE / "SHA256SUMS").read_text(encoding="utf-8").splitlines() if found["scale"] == "quick" else ():
        digest, _, name = line.partition("  ")
        place = results / name
        if not place.is_file() or hashlib.sha256(place.read_bytes()).hexdigest() != digest:
            other.append(name)
    return wrong, other


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit("usage: python check.py RESULTS")
    wrong, other = differences(Path(sys.argv[1]))
    for line in wrong:
        print(line)
    print(f"verdicts: {'as expected' if not wrong else f'{len(wrong)} differ'}")
    print(f"data: {'the same bytes' if not other else f'{len(other)} files differ: ' + ', '.join(other)}")
    raise SystemExit(1 if wrong else 0)
