"""Whatever catches every exception is listed here, and says why where it stands: a broad `except` hides errors."""

import ast
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src" / "hegemon"
BROAD = {"Exception", "BaseException", "all"}
# file: how many there are. A new one needs a reason that no narrower exception serves; those that clean up and raise
# the same error again are not counted.
KNOWN = {
    "claims/reproduce.py": 1,
    "cli/agent.py": 1,
    "cli/common.py": 1,
    "cli/main.py": 1,
    "compute/border.py": 1,
    "compute/intrinsics.py": 1,
    "discovery/checker.py": 1,
    "doors.py": 1,
    "engines/meeting.py": 1,
    "engines/messages/compiled/engine.py": 1,
    "engines/messages/compiled/program.py": 1,
    "engines/population/agents.py": 1,
    "engines/population/events.py": 2,
    "engines/population/plain.py": 1,
    "engines/prospects.py": 2,
    "engines/refusal.py": 1,
    "engines/rounds/lockstep.py": 1,
    "engines/rounds/rounds.py": 2,
    "errors.py": 1,
    "exact/proofs/checker.py": 1,
    "experiments/checking.py": 1,
    "experiments/executors/dask.py": 4,
    "experiments/executors/gathering.py": 1,
    "experiments/executors/slurm.py": 2,
    "experiments/holding/process.py": 1,
    "experiments/probe.py": 1,
    "experiments/study_driver.py": 1,
    "experiments/worker.py": 1,
    "language/interpreter.py": 2,
    "models/authors.py": 1,
    "models/fields.py": 1,
    "models/node_calls.py": 2,
    "network/agent.py": 1,
    "network/member.py": 2,
    "network/wire.py": 1,
    "parts.py": 1,
    "process/membership.py": 2,
    "process/schedulers/own.py": 1,
    "protocols/loading.py": 1,
    "runs/trials.py": 1,
    "web/making.py": 1,
    "web/simulation.py": 2,
}


def broad(text: str) -> list[tuple[int, bool]]:
    """Line of each handler of every exception that does not raise it again, and whether a comment says why."""
    lines, found = text.splitlines(), []
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.ExceptHandler):
            continue
        kinds = node.type.elts if isinstance(node.type, ast.Tuple) else [node.type] if node.type else []
        if not BROAD & ({ast.unparse(kind) for kind in kinds} or {"all"}):
            continue
        last = node.body[-1]
        if isinstance(last, ast.Raise) and last.exc is None:
            continue
        first = node.body[0].end_lineno or node.lineno
        found.append((node.lineno, any("#" in line for line in lines[node.lineno - 1 : first])))
    return found


def all_broad() -> dict[str, list[tuple[int, bool]]]:
    places = {path.relative_to(SOURCE).as_posix(): broad(path.read_text("utf-8")) for path in SOURCE.rglob("*.py")}
    return {place: found for place, found in places.items() if found}


def test_every_broad_except_is_listed():
    assert {place: len(found) for place, found in all_broad().items()} == KNOWN


def test_every_broad_except_says_why():
    silent = [(place, line) for place, found in all_broad().items() for line, said in found if not said]
    assert not silent


def test_a_new_one_is_noticed():
    assert broad("try:\n    f()\nexcept Exception:\n    pass\n") == [(3, False)]
    assert broad("try:\n    f()\nexcept:  # the author's code\n    pass\n") == [(3, True)]
    assert broad("try:\n    f()\nexcept (OSError, BaseException):\n    g()\n") == [(3, False)]
    assert not broad("try:\n    f()\nexcept BaseException:\n    g()\n    raise\n")
    assert not broad("try:\n    f()\nexcept OSError:\n    pass\n")
