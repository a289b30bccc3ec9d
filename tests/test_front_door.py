"""The front door: every name is there, and asking for one loads no more than it needs."""

import ast
import importlib
import inspect
import json
import pydoc
import re
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hegemon
from hegemon.cli import application
from hegemon.cli.main import main
from hegemon.protocols import CATALOGUE
from hegemon.runs.option import Seed

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


def printed() -> dict[str, str]:
    rng = np.random.default_rng(1)
    timer = hegemon.Timer(n=3, s=4)
    run = hegemon.simulate(hegemon.Pairwise(n=20), seed=1)
    return {
        "pairwise, n = 20": str(run),
        "20 agents in 2 states of pairwise": str(run.configuration),
        "pairwise, n = 20: 5 trials": str(hegemon.run_trials(hegemon.Pairwise(n=20), 5)),
        "timer, n = 3": str(hegemon.verify(timer)),
        "flood-max, n = 3": str(hegemon.verify(hegemon.FloodMax(n=3))),
        "timer, n = 3: how long": str(hegemon.holding(timer, relative=1, budget=10**5, workers=1)),
        "timer, n = 10, N = 10": str(hegemon.advise(1e6, n_at_most=10)),
        "timer, n = 3: the slowest start found on complete:3": str(
            hegemon.search_worst(timer, evaluations=3, trials=8, final=10)
        ),
        "pairwise, every n >= 2, complete graphs": str(hegemon.prove(hegemon.Pairwise)),
        "leader-election, 2 states, n = 2, 3": str(hegemon.discover(states=2, n="2,3")),
        "leader-election, 2 states, n = 2": str(hegemon.discover_guided(states=2, n="2", walks=2)),
        "timer: the front of 2 choices": str(hegemon.improve("timer", "s=2,3", n=3)),
        "share of steps with exactly one leader": str(hegemon.availability(timer, rates=["corrupt=1/1000"])),
        "200 agents in ": str(hegemon.Timer(n=200, s=30).initial("random", rng)),
    }


def test_print_is_a_few_readable_lines():
    for title, text in printed().items():
        lines = text.splitlines()
        assert lines[0].startswith(title) and 2 <= len(lines) <= 15 and "array(" not in text and "<" not in text
        assert all(line.startswith("  ") for line in lines[1:])


def test_a_seed_is_drawn_and_kept():
    protocol = hegemon.Pairwise(n=1e1)
    for seed in (None, np.random.default_rng(3), np.random.SeedSequence(3)):
        run = hegemon.simulate(protocol, seed=seed)
        assert hegemon.simulate(protocol, seed=run.seed).steps == run.steps
    assert hegemon.simulate(protocol, seed=None).seed != hegemon.simulate(protocol, seed=None).seed
    drawn = [hegemon.run_trials(protocol, 1, seed=np.random.default_rng(3)).runs[0].seed for _ in range(2)]
    assert drawn[0] == drawn[1]
    trials = hegemon.run_trials(protocol, 3, seed=None)
    assert len({run.seed for run in trials.runs}) == 1 and len({run.steps for run in trials.runs}) > 1


def test_every_function_with_a_seed_draws_one_and_keeps_it(tmp_path):
    given = {"n": 100, "trials": 2, "workers": 1}
    lower_bound = partial(hegemon.lower_bound, exponents=[0.5], candidates=[1])
    for call in (lambda **all: hegemon.compare("referees", **all).record(), lambda **all: lower_bound(**all)[0]):
        first, other = call(seed=None, **given), call(seed=None, **given)
        assert first["seed"] != other["seed"]
        assert call(seed=first["seed"], **given) == first
    found = hegemon.reproduce(only="sub.message-size", seed=np.random.SeedSequence(5), out=tmp_path, jobs=1)
    assert found["seed"] == int(np.random.SeedSequence(5).generate_state(1, "uint64")[0])
    for name in hegemon.__all__:
        function = getattr(hegemon, name)
        if inspect.isfunction(function) and "seed" in (known := inspect.signature(function).parameters):
            assert known["seed"].annotation in (Any, Seed, "Seed"), name  # which says that more than a number is taken


def test_whole_floats_are_whole_numbers():
    protocol = hegemon.Pairwise(n=1e3)
    assert protocol.n == 1000 and isinstance(protocol.n, int)
    assert len(hegemon.run_trials(hegemon.Pairwise(n=5), 1e1, max_steps=1e6).runs) == 10
    for wrong in (2.5, float("nan"), float("inf"), True, "x"):
        with pytest.raises(hegemon.InvalidInput):
            hegemon.Pairwise(n=wrong)
    for wrong in ({"max_steps": 2.5}, {"seed": -1}, {"seed": 0.5}, {"seed": "x"}):
        with pytest.raises(hegemon.InvalidInput, match="out of range"):
            hegemon.simulate(hegemon.Pairwise(n=5), **wrong)


VERBS = {
    "check pairwise --n 3": lambda: hegemon.check(hegemon.Pairwise(n=3)),
    "advise --hold 1e6 --n-at-most 10": lambda: hegemon.advise(1e6, n_at_most=10).record(),
    "search-worst timer --n 3 --set s=2 --evaluations 3 --trials 8 --final 10 --exact": lambda: hegemon.search_worst(
        hegemon.Timer(n=3, s=2), evaluations=3, trials=8, final=10, exact=True
    ).record(),
    "lower-bound --n 100 --exponents 0.5 --candidates 1 --trials 3": lambda: hegemon.lower_bound(
        100.0, exponents=[0.5], candidates=[1], trials=3
    ),
    "compare-messages --n 100,200 --trials 1": lambda: hegemon.compare_messages([100, 200], trials=1).record(),
}


@pytest.mark.parametrize("line", VERBS)
def test_python_returns_what_the_command_prints(line, capsys, monkeypatch):
    monkeypatch.setattr("hegemon.experiments.checking.engines", lambda *_: ["agents"])
    assert main([*line.split(), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == json.loads(json.dumps(VERBS[line]()))


ELSEWHERE = {"import": "rules", "list": "CATALOGUE", "show": "CATALOGUE", "run": "run_trials", "agent": "network"}


def test_python_has_every_verb_of_the_command_line():
    """`new` writes a file, which nobody wants from Python."""
    for command in application.VERBS.keys() - {"new"}:
        assert ELSEWHERE.get(command, command.replace("-", "_")) in hegemon.__all__


def test_every_verb_has_a_row_in_the_manual():
    page = (Path(__file__).parents[1] / "docs" / "api.md").read_text()
    rows = set(re.findall(r"^\| `hg\.(\w+)", page, re.M))
    sets = {"at_least", "at_most", "exactly", "everywhere", "nowhere", "count", "whole"}  # they write protocols
    observables = {"maximum", "mean", "minimum", "overall"}
    functions = {name for name in hegemon.__all__ if inspect.isfunction(getattr(hegemon, name)) and name.islower()}
    verbs = functions - sets - observables
    assert verbs <= rows and all(name in hegemon.__all__ for name in rows)


def test_only_our_names_are_shown():
    assert not {"Any", "importlib", "TYPE_CHECKING"} & set(dir(hegemon))


@pytest.mark.parametrize(
    "line", ["import hegemon", "from hegemon import Bit, PopulationProtocol, RoundsProtocol, exactly"]
)
def test_writing_a_protocol_loads_nothing_heavy(line):
    code = f"{line}\nimport sys\nprint([name for name in {HEAVY} if name in sys.modules])"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "[]"


def test_editors_and_help_show_the_parameters_of_a_protocol():
    shown = str(inspect.signature(hegemon.TimeOptimal))
    assert shown.startswith("(n, *, tau=1, m=") and "given" not in shown
    assert "TimeOptimal(n, *, tau=1" in pydoc.plain(pydoc.render_doc(hegemon.TimeOptimal))

    class Own(hegemon.Pairwise):
        def __init__(self, n, luck=1):
            super().__init__(n)

    assert str(inspect.signature(Own)) == "(n, luck=1)"
    assert all(str(inspect.signature(kind)).startswith("(n") for kind in CATALOGUE.values())
