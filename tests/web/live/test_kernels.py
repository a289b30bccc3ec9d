"""The kernels that are shipped: their digest, that they import nothing, and that they are those of this source."""

import hashlib
import json
import shutil

import numpy as np
import pytest

import hegemon as hg
from hegemon.compute.randomness import START, generator
from hegemon.errors import InvalidInput
from hegemon.runs.record import RunRecord
from hegemon.web.live import building, page
from hegemon.web.live.build import COMMAND, build
from hegemon.web.live.page import read_file

from .in_node import in_node
from .test_same_run import differences


def test_the_shipped_module_is_the_one_that_was_built():
    told = json.loads(read_file("kernels.json"))
    module = read_file("kernels.wasm")
    assert told == {"sha256": hashlib.sha256(module).hexdigest(), "bytes": len(module), "command": COMMAND}
    assert len(module) < 60_000


def test_another_module_is_not_put_into_a_page(monkeypatch):
    page.kernels.cache_clear()
    monkeypatch.setattr(page, "read_file", lambda name: read_file(name) + b" " * (name == "kernels.wasm"))
    with pytest.raises(InvalidInput, match="kernels.wasm is not the file that was shipped[;:] reinstall hegemon"):
        page.kernels()
    page.kernels.cache_clear()


def test_the_kernels_import_nothing():
    script = "return WebAssembly.Module.imports(new WebAssembly.Module(Uint8Array.from(given[0])));"
    assert in_node(script, list(read_file("kernels.wasm"))) == []


@pytest.fixture(scope="module")
def rebuilt():
    try:
        building.linker()
    except InvalidInput as error:
        pytest.skip(str(error))
    return build()


@pytest.mark.full
def test_kernels_that_are_built_anew_do_the_same(rebuilt, monkeypatch):
    """Other releases of LLVM make other bytes, so their behaviour is compared."""
    monkeypatch.setattr(page, "kernels", lambda: rebuilt)
    for protocol in (hg.TimeOptimal(n=12), hg.FischerJiang(n=12)):
        assert differences(RunRecord(protocol, start="random"), range(2)) == []


def test_without_a_linker_building_is_refused(monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    monkeypatch.setattr(building, "find_spec", lambda name: None)
    with pytest.raises(
        InvalidInput, match="wasm-ld, the linker of WebAssembly, is not installed; `apt-get install lld`"
    ):
        building.linker()


def test_uniform_codes_are_those_of_numpy():
    """Of all numbers of states that a table may have, with and without rejection, in groups of odd sizes."""
    script = """
    const { kernels } = await unpacked(given[0]);
    const module = new WebAssembly.Module(kernels);
    return given[1].map(([states, seed, sizes]) => {
      const n = sizes.reduce((sum, size) => sum + size, 0);
      const machine = new Machine(module, { states, values: 1, table: new Uint32Array(0), arcs: null, n });
      machine.begin(sizes.map((size) => [size, -1]), BigInt(seed));
      return Array.from(machine.population);
    });
    """
    cases = [
        (states, seed, sizes)
        for states in (1, 2, 3, 7, 250, 4095, 4096)
        for seed in (0, 12345)
        for sizes in ([5, 4], [1, 1, 300])
    ]
    found = in_node(script, page.LivePage(RunRecord(hg.Pairwise(n=3))).laboratory, cases)
    for (states, seed, sizes), codes in zip(cases, found, strict=True):
        rng = generator(seed, 0, START)
        assert codes == np.concatenate([rng.integers(states, size=size) for size in sizes]).tolist()
