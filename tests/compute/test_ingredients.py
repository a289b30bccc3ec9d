"""Functions of kernels: compiled with them and never by themselves, and still what they say."""

import multiprocessing

import numpy as np
import pytest
from numba import njit

from hegemon.compute import caching
from hegemon.compute.compilation import lean, part, specialize
from hegemon.compute.ingredients import Ingredient, ingredient

PAIR = (7, "text")


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


def test_literals_do_not_compile_it_again_unless_they_must():
    specialize(everywhere)(np.arange(3))
    assert len(either.signatures) == 1  # not one for True and one for False
    assert specialize(first_of_the_pair)() == 7  # a pair of two types needs to know the place


def test_python_may_call_it():
    assert modest(2) == 3 and either(4, False) == -4
    assert isinstance(modest, Ingredient)


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


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of forks of processes with threads
def test_one_process_compiles_and_the_other_waits(tmp_path, monkeypatch):
    monkeypatch.setattr("numba.config.CACHE_DIR", str(tmp_path / "kept"))
    assert misses(caching.cached(slow)) == 1
    monkeypatch.setattr("numba.config.CACHE_DIR", str(tmp_path / "careless"))
    monkeypatch.setattr(caching, "_compile_alone", lambda kernel: None)
    assert misses(caching.cached(slow)) == 2
