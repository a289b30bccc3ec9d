"""The front door: every name is there, and asking for one loads no more than it needs."""

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

import hegemon
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


@pytest.mark.parametrize(
    "line", ["import hegemon", "from hegemon import Bit, PopulationProtocol, RoundsProtocol, exactly"]
)
def test_writing_a_protocol_loads_nothing_heavy(line):
    code = f"{line}\nimport sys\nprint([name for name in {HEAVY} if name in sys.modules])"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "[]"
