"""What `hegemon list` says of the catalogue, kept in index.json so that no protocol need be loaded.

`python -m hegemon.protocols.listing` writes it anew from the classes; a test asserts that they agree.
"""

import json
from pathlib import Path

from hegemon.files import write_text
from hegemon.protocols import CATALOGUE
from hegemon.protocols.cited import CITED

INDEX = Path(__file__).with_name("index.json")


def rows() -> list[dict]:
    """Every protocol that runs, then those that are only cited."""
    cited = [
        {"id": row.id, "model": None, "grade": "cited", "summary": row.summary, "reference": row.reference}
        for row in CITED.values()
    ]
    return [*json.loads(INDEX.read_text("utf-8")), *cited]


def indexed() -> list[dict]:
    """The rows of the index, read off the classes."""
    return [
        {
            "id": name,
            "model": protocol.model,
            "grade": protocol.grade,
            "summary": protocol.summary(),
            "reference": protocol.reference,
        }
        for name, protocol in CATALOGUE.items()
    ]


if __name__ == "__main__":
    write_text(INDEX, json.dumps(indexed(), indent=1, ensure_ascii=False) + "\n")
