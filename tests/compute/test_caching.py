"""A kernel on disk is the one its sources describe: what it reads compiles it anew, nothing else does."""

import ast
import importlib.util
import pickle
import sys
from pathlib import Path

import numba
import numpy as np
import pytest

from hegemon.compute import caching
from hegemon.compute.compilation import lean, specialize
from hegemon.compute.fingerprints import fingerprint
from hegemon.engines.batch import kernels
from hegemon.engines.messages import tokens

FILES = {
    "room/__init__.py": "",
    "room/inner/__init__.py": "",
    "room/kernel.py": "from room.inner.deep import inner\ndef template(x):\n    return inner(x)\n",
    "room/inner/deep.py": "from numba import njit\nSCALE = 2\n@njit\ndef inner(x):\n    return SCALE * x\n",
    "other/__init__.py": "",
    "other/elsewhere.py": "def unrelated(x):\n    return x\n",
}


@pytest.fixture
def rooms(tmp_path, monkeypatch):
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    yield tmp_path
    forget()


def forget():
    for name in [name for name in sys.modules if name.split(".")[0] in ("room", "other")]:
        del sys.modules[name]
    importlib.invalidate_caches()


def kernel():
    forget()
    importlib.import_module("other.elsewhere")
    return specialize(importlib.import_module("room.kernel").template)


def test_a_nested_file_compiles_again_and_an_unrelated_room_does_not(rooms):
    first = kernel()
    assert first(3) == 6
    (rooms / "other/elsewhere.py").write_text("def unrelated(x):\n    return x + 1\n")
    again = kernel()
    assert again(3) == 6
    assert again.py_func.__qualname__ == first.py_func.__qualname__
    assert sum(again.stats.cache_hits.values()) == 1  # from disk
    (rooms / "room/inner/deep.py").write_text(FILES["room/inner/deep.py"].replace("SCALE * x", "SCALE * x + 1"))
    assert kernel()(3) == 7
    (rooms / "room/inner/deep.py").write_text(FILES["room/inner/deep.py"].replace("SCALE = 2", "SCALE = 5"))
    assert kernel()(3) == 15


@pytest.mark.parametrize(
    ("kernel", "module", "name"),
    [
        (kernels.run_epochs, "hegemon.engines.batch.census", "slot_of"),
        (kernels.run_epochs, "hegemon.compute.sampling", "stirling_error"),
        (kernels.run_epochs, "hegemon.engines.batch.census", "call_meeting"),
        (kernels.run_epochs, "hegemon.compute.sampling", "_STIRLING_ERRORS"),
        (tokens.move_tokens, "hegemon.compute.randomness", "next_word"),
    ],
)
def test_fingerprints_reach_what_kernels_call(kernel, module, name, monkeypatch):
    before = fingerprint(kernel)
    room = importlib.import_module(module)
    other = np.zeros(16) if name.startswith("_") else lean(lambda *arguments: 0)
    # a lean function reads the names of its own module
    monkeypatch.setitem(vars(room), name, other)
    assert fingerprint(kernel) != before


def test_where_nothing_can_be_written_kernels_are_kept_among_temporary_files_or_nowhere(tmp_path, monkeypatch):
    monkeypatch.setattr(caching.tempfile, "gettempdir", lambda: str(tmp_path))
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")
    asked = []

    def make(cache=False):
        asked.append((cache, numba.config.CACHE_DIR))
        if cache and not numba.config.CACHE_DIR:
            raise RuntimeError("no locator")
        return cache

    assert caching._kept(make) is True
    assert asked[-1][1].startswith(str(tmp_path))

    def never(cache=False):
        if cache:
            raise RuntimeError("no locator")
        return cache

    assert caching._kept(never) is False


def test_kernels_that_belong_to_no_protocol_call_nothing_of_another_file():
    """Numba looks at the file of a kernel alone: what it compiles along must stand in the same file."""
    house = Path(caching.__file__).parents[1]
    users = [
        path
        for path in house.rglob("*.py")
        if any(name in path.read_text() for name in ("caching import kernel", "caching import inlined_kernel"))
    ]
    assert len(users) >= 4
    for path in users:
        imported = [node.module for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.ImportFrom)]
        assert [name for name in imported if name.startswith("hegemon")] == ["hegemon.compute.caching"], path


def test_an_unrelated_room_does_not_compile_anything_again(monkeypatch):
    before = fingerprint(kernels.run_epochs), fingerprint(tokens.move_tokens)
    monkeypatch.setattr("hegemon.exact.kernels.rank", lambda codes, choose: 0)
    monkeypatch.setattr("hegemon.graphs.families.parse", lambda *given: None)
    assert (fingerprint(kernels.run_epochs), fingerprint(tokens.move_tokens)) == before


def test_a_cache_that_cannot_be_read_is_as_good_as_absent(tmp_path, monkeypatch):
    """As after an update in which a type of a kernel's arguments has got another name."""
    monkeypatch.setattr("numba.config.CACHE_DIR", str(tmp_path))
    place = tmp_path / "own_kernels.py"
    place.write_text("def double(x):\n    return 2 * x\n")
    spec = importlib.util.spec_from_file_location("own_kernels", place)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert caching.cached(module.double)(2) == 4
    (index,) = tmp_path.rglob("*.nbi")
    with open(index, "rb") as file:
        version = pickle.load(file)
    index.write_bytes(pickle.dumps(version) + b"chegemon.errors\nNoSuchType\n.")
    assert caching.cached(module.double)(3) == 6
    kept = caching.cached(module.double)
    assert kept(4) == 8 and sum(kept.stats.cache_hits.values()) == 1  # and written again
