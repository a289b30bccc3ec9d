"""Types at the seams: what rooms pass to each other is annotated wherever it is a parameter."""

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "hegemon"
SEAMS = {"protocol", "topology", "stop", "engine", "configuration", "scheduler"}
# Annotations of a protocol are declarations of fields; an experiment of a claim takes a class with its default.
APART = ("protocols/", "cli/templates/", "claims/papers/")


def untyped(text: str) -> list[str]:
    """Functions with a seam among their parameters that has no annotation."""
    found = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            given = (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
            found += [f"{node.name}({one.arg})" for one in given if one.arg in SEAMS and one.annotation is None]
    return found


@pytest.mark.parametrize("room", sorted({path.relative_to(SOURCE).parts[0] for path in SOURCE.rglob("*.py")}))
def test_every_seam_is_typed(room):
    files = [SOURCE / room] if room.endswith(".py") else sorted((SOURCE / room).rglob("*.py"))
    places = {str(path.relative_to(SOURCE)): path for path in files}
    found = {place: untyped(path.read_text()) for place, path in places.items() if not place.startswith(APART)}
    assert not {place: names for place, names in found.items() if names}


def test_a_missing_type_is_noticed():
    assert untyped("def run(protocol, n): ...") == ["run(protocol)"]
    assert not untyped("def run(protocol: Protocol, n): ...")
