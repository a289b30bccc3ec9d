"""Compiled kernels know what they were built from."""

import os
import subprocess
import sys

import numpy as np

from hegemon.compute.compilation import compiled, specialize
from hegemon.compute.fingerprints import fingerprint

SCALE = 3


def double(x):
    return 2 * x


def affine(x):
    return double(x) + SCALE


def apply_everywhere(values):
    for index in range(len(values)):
        values[index] = function(values[index])  # noqa: F821


def test_plain_functions_are_compiled_with_what_they_call():
    values = np.arange(4)
    specialize(apply_everywhere, function=affine)(values)
    assert values.tolist() == [3, 5, 7, 9]


def test_the_same_template_serves_several_functions():
    first, second = np.arange(3), np.arange(3)
    specialize(apply_everywhere, function=double)(first)
    specialize(apply_everywhere, function=affine)(second)
    assert first.tolist() == [0, 2, 4] and second.tolist() == [3, 5, 7]


def test_fingerprints_follow_code_constants_and_callees(monkeypatch):
    original = fingerprint(affine)
    assert original == fingerprint(affine) == fingerprint(compiled(affine))
    monkeypatch.setitem(globals(), "SCALE", 4)
    changed = fingerprint(affine)
    assert changed != original
    monkeypatch.setitem(globals(), "SCALE", 3)

    def other(x):
        return 2 * x + 0

    monkeypatch.setitem(globals(), "double", other)
    assert fingerprint(affine) != original


CLASSES = """
class Inner:
    limit = 3

    @property
    def name(self):
        return 1


class First:
    inner, name = Inner, property(lambda self: 2)


class Second:
    inner = Inner


def function(x):
    return x + First.inner.limit + Second.inner.limit if x else (First.name, Second.inner.name)


from hegemon.compute.fingerprints import fingerprint
from hegemon.compute.randomness import next_word

print(fingerprint(function), fingerprint(next_word))
"""


def test_fingerprints_are_the_same_in_every_process():
    """Else every process compiles all kernels again."""
    found = {
        subprocess.run(
            [sys.executable, "-c", CLASSES], env=os.environ | {"PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in "1234"
    }
    assert len(found) == 1


def test_closures_are_told_apart():
    def adder(amount):
        def add(x):
            return x + amount

        return add

    assert fingerprint(adder(1)) != fingerprint(adder(2))
    values = np.zeros(2, np.int64)
    specialize(apply_everywhere, function=adder(1))(values)
    specialize(apply_everywhere, function=adder(2))(values)
    assert values.tolist() == [3, 3]


def test_a_function_named_like_an_attribute_it_reads():
    def real(x):
        return x.real

    assert compiled(real)(2) == 2
