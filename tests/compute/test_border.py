"""The border to Numba: ingredients are compiled with their kernels alone, and stock Numba gives the same numbers."""

import multiprocessing
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numba import njit

from hegemon.compute import border, caching
from hegemon.compute.border import ingredient
from hegemon.compute.compilation import lean, part, specialize

PAIR = (7, "text")
HOUSE = Path(border.__file__).parents[1]
shortcut = pytest.mark.skipif(border.STOCK, reason="stock Numba has no shortcuts")
# One small run of every kind of kernel: records, codes, events, epochs and jumps, rounds, tokens, an exact chain; and a
# failure inside a callback.
RUNS = """
import hegemon as hg
print(hg.simulate(hg.Ring(n=9), seed=1).steps, hg.simulate(hg.Ring(n=9), seed=1, engine="agents").steps)
print(hg.simulate(hg.TimeOptimal(n=40), seed=1).steps)
print(hg.simulate(hg.ApproximateMajority(n=10**6), seed=1, engine="batch").steps)
print(hg.simulate(hg.Epidemic(n=1000), until="count(x == 1) >= 500", seed=1, engine="batch").steps)
print(hg.simulate(hg.Herman(n=9), seed=1).steps, hg.verify(hg.Timer(n=3, s=3)).hitting.worst)
class Leaves(hg.PopulationProtocol):
    class State:
        x: hg.Range(0, 5) = 5
    def interact(a, b, p):
        a.x = a.x + 2**62 * (a.x // 5) + 2**62 * (b.x // 5)
try:
    hg.simulate(Leaves(n=4), until="steps:50", engine="batch")
except hg.InvalidInput as error:
    print("refused")
"""


@pytest.fixture(autouse=True)
def nothing_is_compiled_yet(tmp_path, monkeypatch):
    monkeypatch.setattr("numba.config.CACHE_DIR", str(tmp_path))


@ingredient()
def modest(x):
    if x > 3:
        raise ValueError("too large", x)
    return x + 1


@lean
def either(x, flag):
    return x if flag else -x


@ingredient()
def picked(place):
    return PAIR[place]


def everywhere(values):
    for k in range(len(values)):
        values[k] = either(modest(values[k]), True) + either(np.int64(0), False)


def first_of_the_pair():
    return picked(0)


def twice(values):
    for k in range(len(values)):
        values[k] = function(function(values[k]))  # noqa: F821


def test_an_ingredient_is_part_of_its_kernel_and_speaks_up_in_it():
    kernel, values = specialize(everywhere), np.arange(3)
    kernel(values)
    assert values.tolist() == [1, 2, 3]
    with pytest.raises(ValueError, match="too large") as raised:
        kernel(np.array([1, 9]))
    assert raised.value.args == ("too large", 9)


@shortcut
def test_it_has_no_machine_code_of_its_own_as_other_functions_have():
    specialize(everywhere)(np.arange(3))
    plain = njit(modest.py_func)
    plain(1)
    addresses = [
        function.overloads[function.signatures[0]].library.get_pointer_to_function(
            function.overloads[function.signatures[0]].fndesc.mangled_name
        )
        for function in (modest, plain)
    ]
    assert addresses[0] == 0 != addresses[1]


@shortcut
def test_literals_do_not_compile_it_again_unless_they_must():
    specialize(everywhere)(np.arange(3))
    assert len(either.signatures) == 1  # not one for True and one for False
    assert specialize(first_of_the_pair)() == 7  # a pair of two types needs to know the place


def test_python_may_call_it():
    assert modest(2) == 3 and either(4, False) == -4


def test_parts_are_bound_and_told_apart():
    first, second = np.arange(3), np.arange(3)
    specialize(twice, function=part(_affine, factor=_two))(first)
    specialize(twice, function=part(_affine, factor=_three))(second)
    assert first.tolist() == [3, 7, 11] and second.tolist() == [4, 13, 22]


def _affine(x):
    return factor() * x + 1  # noqa: F821


def _two():
    return 2


def _three():
    return 3


def slow(x):
    for k in range(3):
        x += k * x
    return x


def _compile(kernel, together, answers) -> None:
    together.wait()
    kernel(2)
    answers.put(sum(kernel.stats.cache_misses.values()))


def misses(kernel) -> int:
    """How often two processes that call it at once compile a kernel."""
    context = multiprocessing.get_context("fork")
    together, answers = context.Barrier(2), context.SimpleQueue()
    children = [context.Process(target=_compile, args=(kernel, together, answers)) for _ in range(2)]
    for child in children:
        child.start()
    found = [answers.get() for _ in children]
    for child in children:
        child.join()
    return sum(found)


@shortcut
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of forks of processes with threads
def test_one_process_compiles_and_the_other_waits(tmp_path, monkeypatch):
    monkeypatch.setattr("numba.config.CACHE_DIR", str(tmp_path / "kept"))
    assert misses(caching.cached(slow)) == 1
    monkeypatch.setattr("numba.config.CACHE_DIR", str(tmp_path / "careless"))
    monkeypatch.setattr(caching, "compile_alone", lambda kernel, held: None)
    assert misses(caching.cached(slow)) == 2


def test_only_the_border_knows_the_insides_of_numba():
    knowing = {
        str(file.relative_to(HOUSE))
        for file in HOUSE.rglob("*.py")
        if re.search(r"numba\.(core|np)\b|(from|import) llvmlite\b(?! import binding)", file.read_text())
    }
    assert knowing == {"compute/border.py", "compute/intrinsics.py", "compute/arithmetic.py"}


def answers(**variables: str) -> str:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("HEGEMON_")} | variables
    done = subprocess.run(
        [sys.executable, "-W", "error::Warning:numba", "-c", RUNS], capture_output=True, text=True, env=environment
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.full
@pytest.mark.parametrize("mode", ["HEGEMON_STOCK_NUMBA", "HEGEMON_CHECK_INDICES"])
def test_every_mode_gives_the_same_numbers(mode, tmp_path):
    usual, other = answers(), answers(**{mode: "1", "NUMBA_CACHE_DIR": str(tmp_path)})
    assert usual == other and usual.endswith("refused\n")


def test_an_untried_numba_is_used_without_shortcuts():
    code = "import numba; numba.__version__ = '9.1.0'; from hegemon.compute import border; print(border.STOCK)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "True\n"
