"""One direction of flow: every room imports only from the rooms beneath it, and what they pass on is typed."""

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "hegemon"
BENEATH = {
    "errors": set(),
    "language": {"errors"},
    "system": {"errors"},
    "files": {"errors", "system"},
    "kept": {"errors", "files", "system"},
    "display": {"errors"},
    "parts": {"errors"},
    "hosts": set(),
    "doors": {"errors"},
    "analysis": {"errors", "files"},
    "graphs": {"doors", "errors", "files", "parts", "system"},
    "models": {"doors", "errors", "files", "display", "graphs", "parts", "system"},
}
BENEATH["protocols"] = {"models"} | BENEATH["models"]
BENEATH["compute"] = {"errors", "files", "language", "system"}
BENEATH["process"] = {"compute", "language", "models"} | BENEATH["models"]  # nothing up to `runs` names a protocol
BENEATH["engines"] = {"process"} | BENEATH["process"]
BENEATH["runs"] = {"engines", "analysis", "kept"} | BENEATH["engines"]
BENEATH["exact"] = {"runs"} | BENEATH["runs"] - {"engines"}  # exact answers need no engine
BENEATH["experiments"] = {"exact", "protocols", "engines"} | BENEATH["exact"]
BENEATH["discovery"] = {"experiments"} | BENEATH["experiments"]
BENEATH["claims"] = {"discovery"} | BENEATH["discovery"]
BENEATH["web"] = BENEATH["network"] = {"claims", "hosts"} | BENEATH["claims"]
BENEATH["cli"] = {"web", "network", "__init__"} | BENEATH["web"]
BENEATH["__init__"] = set(BENEATH) - {"cli"}
BENEATH["__main__"] = {"cli"}


def room_of(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def imported_rooms(text: str) -> set[str]:
    """The rooms that a file imports from, wherever in the file it does so."""
    rooms = set()
    for node in ast.walk(ast.parse(text)):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.module:
            inner = [f"hegemon.{alias.name}" for alias in node.names]
            names = inner if node.module == "hegemon" else [node.module]
        for name in names:
            parts = name.split(".")
            if parts[0] == "hegemon":
                rooms.add(parts[1] if len(parts) > 1 and parts[1] in BENEATH else "__init__")
    return rooms


def trespasses(room: str, text: str) -> set[str]:
    return imported_rooms(text) - BENEATH[room] - {room}


@pytest.mark.parametrize("path", sorted(SOURCE.rglob("*.py")), ids=lambda path: str(path.relative_to(SOURCE)))
def test_a_room_imports_only_from_beneath(path):
    assert not trespasses(room_of(path), path.read_text())


def test_a_trespass_is_caught():
    assert trespasses("models", "def f():\n    from hegemon.engines.engine import Engine\n") == {"engines"}
    assert trespasses("engines", "import hegemon.protocols.ring") == {"protocols"}
    assert trespasses("runs", "import hegemon as hg") == {"__init__"}
    assert not trespasses("runs", "from hegemon.engines.engine import Engine\nimport numpy")


ONE_MEANING = {
    "Goal": "what the kernels of a family look for",
    "Given": "what the kernels of a family read",
    "Statement": "the checker of certificates shares no code with the prover",
}  # names that several files may give to the same thing


def shared_names(texts: dict[str, str]) -> dict[str, list[str]]:
    """Classes of one name, and the files that define them."""
    homes: dict[str, list[str]] = {}
    for place, text in texts.items():
        for node in ast.parse(text).body:
            if isinstance(node, ast.ClassDef) and node.name not in ONE_MEANING and not node.name.startswith("_"):
                homes.setdefault(node.name, []).append(place)
    return {name: places for name, places in homes.items() if len(places) > 1}


def test_a_class_has_a_name_of_its_own():
    sources = {str(path.relative_to(SOURCE)): path.read_text() for path in sorted(SOURCE.rglob("*.py"))}
    sources = {place: text for place, text in sources.items() if "templates" not in place}
    grammar = sources.pop("language/form.py")  # its nodes are always written `form.Call`
    assert "class Call(" in grammar and not any("language.form import" in text for text in sources.values())
    assert not shared_names(sources)
    assert shared_names({"a": "class Look: ...", "b": "class Look: ...\nclass Goal: ...", "c": "class Goal: ..."})


# Types at the seams: what rooms pass to each other is annotated wherever it is a parameter.
SEAMS = {"protocol", "topology", "stop", "engine", "configuration", "scheduler", "run", "trial"}
# Annotations of a protocol are declarations of fields; an experiment of a claim takes a class with its default.
APART = ("protocols/", "cli/templates/", "claims/papers/")


ANY_PROTOCOL = {
    "analysis/graph_pictures.py": "analysis knows neither models nor graphs",
    "engines/engine.py": "each family of engines narrows it to its own model",
    "engines/population/adaptive_complete.py": "as the contract says it",
    "exact/exports/diagram.py": "the parts of one model, after its trait was tested",
    "exact/exports/latex.py": "the same",
    "exact/exports/prism.py": "the same",
    "experiments/checking.py": "the same",
    "experiments/study.py": "a protocol, its class, or names",
    "experiments/sweep.py": "the same",
    "models/shared.py": "attributes of a class that only this file knows",
    "models/soundness.py": "the parts of one model, after its trait was tested",
    "network/rules.py": "each class narrows it to its own model",
    "web/rehearsal.py": "the parts of one model, after its trait was tested",
    "web/watch.py": "a name, a scheduler, or a function of the user's",
}  # files in which a seam may be plain Any


def untyped(text: str, vague: frozenset[str] = frozenset({"Any"})) -> list[str]:
    """Functions with a seam among their parameters that has no annotation, or one that says nothing."""
    found = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            given = [
                one for one in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs) if one.arg in SEAMS
            ]
            said = {one.arg: one.annotation and ast.unparse(one.annotation) for one in given}
            found += [f"{node.name}({name})" for name, type_ in said.items() if type_ is None or type_ in vague]
    return found


@pytest.mark.parametrize("room", sorted({path.relative_to(SOURCE).parts[0] for path in SOURCE.rglob("*.py")}))
def test_every_seam_is_typed(room):
    files = [SOURCE / room] if room.endswith(".py") else sorted((SOURCE / room).rglob("*.py"))
    places = {str(path.relative_to(SOURCE)): path for path in files}
    for place, path in places.items():
        if not place.startswith(APART):
            assert not untyped(path.read_text(), frozenset() if place in ANY_PROTOCOL else frozenset({"Any"})), place


def test_every_exception_is_needed():
    assert all(untyped((SOURCE / place).read_text()) for place in ANY_PROTOCOL)


def test_a_missing_type_is_noticed():
    assert untyped("def run(protocol, n): ...") == ["run(protocol)"]
    assert untyped("def run(*, protocol: Any): ...") == ["run(protocol)"]
    assert not untyped("def run(protocol: Any): ...", frozenset())
    assert not untyped("def run(protocol: Protocol, n): ...")
