"""The front door: every name is there, and asking for one loads no more than it needs."""

import ast
import importlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

import hegemon
from hegemon.cli.application import COMMANDS
from hegemon.cli.main import main
from hegemon.protocols import CATALOGUE

HEAVY = ("numba", "scipy", "matplotlib", "pandas", "networkx")


def test_every_name_is_there():
    for name in hegemon.__all__:
        assert getattr(hegemon, name) is not None
    assert callable(hegemon.verify) and callable(hegemon.simulate)
    for protocol in CATALOGUE.values():
        assert getattr(hegemon, protocol.__name__) is protocol
        assert protocol.__name__ in dir(hegemon)
    for name in ("nothing", "Nothing", "_hidden"):
        with pytest.raises(AttributeError, match=f"no attribute '{name}'"):
            getattr(hegemon, name)


def test_type_checkers_see_every_name():
    tree = ast.parse(Path(hegemon.__file__).read_text())
    block = next(node for node in tree.body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING")
    names = [(one.module, alias) for one in block.body for alias in one.names]
    assert ("hegemon.protocols", "*") in [(module, alias.name) for module, alias in names]  # its stub has every class
    shown = {alias.asname: f"{module}.{alias.name}" for module, alias in names if alias.name != "*"}
    assert set(shown) == {*hegemon.__all__} - {"InvalidInput"}  # which is imported at once
    for name, place in shown.items():
        module, _, attribute = place.rpartition(".")
        if name != "network":
            assert getattr(importlib.import_module(module), attribute) is getattr(hegemon, name)


VERBS = {
    "check pairwise --n 3": lambda: hegemon.check(hegemon.Pairwise(n=3)),
    "advise --hold 1e6 --n-at-most 10": lambda: hegemon.advise(1e6, n_at_most=10).record(),
    "search-worst timer --n 3 --set s=2 --evaluations 3 --trials 8 --final 10 --exact": lambda: hegemon.search_worst(
        hegemon.Timer(n=3, s=2), evaluations=3, trials=8, final=10, exact=True
    ).record(),
    "lower-bound --n 100 --exponents 0.5 --candidates 1 --trials 3": lambda: hegemon.lower_bound(
        100.0, exponents=[0.5], candidates=[1], trials=3
    ),
    "compare-messages --n 100,200 --trials 1": lambda: hegemon.compare_messages([100, 200], trials=1),
}


@pytest.mark.parametrize("line", VERBS)
def test_python_returns_what_the_command_prints(line, capsys, monkeypatch):
    monkeypatch.setattr("hegemon.experiments.checking.engines", lambda *_: ["agents"])
    assert main([*line.split(), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == json.loads(json.dumps(VERBS[line]()))


ELSEWHERE = {"list": "CATALOGUE", "show": "CATALOGUE", "run": "run_trials", "agent": "network"}


def test_python_has_every_verb_of_the_command_line():
    """`new` writes a file, which nobody wants from Python."""
    for command in COMMANDS.keys() - {"new"}:
        assert ELSEWHERE.get(command, command.replace("-", "_")) in hegemon.__all__


def test_only_our_names_are_shown():
    assert not {"Any", "importlib", "TYPE_CHECKING"} & set(dir(hegemon))


@pytest.mark.parametrize(
    "line", ["import hegemon", "from hegemon import Bit, PopulationProtocol, RoundsProtocol, exactly"]
)
def test_writing_a_protocol_loads_nothing_heavy(line):
    code = f"{line}\nimport sys\nprint([name for name in {HEAVY} if name in sys.modules])"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "[]"
