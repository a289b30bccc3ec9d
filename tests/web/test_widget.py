"""The page in a cell of a notebook: widget, frame and simulation talk to each other, here in a real Chromium."""

import base64
import json
import queue
import time

import pytest

import hegemon as hg
from hegemon.runs.record import RunRecord
from hegemon.web.watch import Builder, Watching
from hegemon.web.widget import is_greeting
from tests.patience import PATIENCE

from .browser import chromium

anywidget = pytest.importorskip("anywidget", reason="anywidget is not installed: pip install 'hegemon[notebook]'")
NOTEBOOK = """
<!doctype html><div id="cell"></div><script type="module">
const source = %s;
const module = await import(URL.createObjectURL(new Blob([source], { type: "text/javascript" })));
const ears = new Set();
const page = await window.getPage();
const model = { get: () => page, send: (content) => window.toKernel(content),
                on: (_, ear) => ears.add(ear), off: (_, ear) => ears.delete(ear) };
window.fromKernel = (content, letters) => {
  const bytes = letters === null ? [] : [new DataView(Uint8Array.from(atob(letters), (c) => c.charCodeAt(0)).buffer)];
  for (const ear of ears) ear(content, bytes);
};
window.leave = module.default.render({ model, el: document.getElementById("cell") });
window.ears = ears;
</script>
"""


def test_what_greets():
    assert is_greeting('{"do": "hello"}')
    assert not any(map(is_greeting, ("", "{", '{"do": "frame"}', "[" * 100_000)))


def test_a_run_is_watched_and_steered_from_a_cell():
    """The kernel's part is played by this test: it carries messages both ways, as Jupyter does."""
    watching = Watching(Builder(RunRecord(hg.FischerJiang(n=8), seed=3))).start()
    try:
        widget = watching.widget()
        said: queue.Queue = queue.Queue()
        widget.send = lambda content, buffers=None: said.put((content, bytes(buffers[0]) if buffers else None))
        with chromium() as browser:
            page = browser.new_page(viewport={"width": 900, "height": 800})
            errors: list[str] = []
            page.on("pageerror", lambda error: errors.append(str(error)))
            page.expose_function("toKernel", lambda content: widget._handle_custom_msg(content, []))
            page.expose_function("getPage", lambda: widget.page)
            page.set_content(NOTEBOOK % json.dumps(widget._esm))

            def carry(condition: str):
                deadline = time.monotonic() + PATIENCE
                while time.monotonic() < deadline:
                    while not said.empty():
                        content, picture = said.get()
                        letters = None if picture is None else base64.b64encode(picture).decode()
                        page.evaluate("([content, letters]) => window.fromKernel(content, letters)", [content, letters])
                    frames = [frame for frame in page.frames if frame != page.main_frame]
                    if frames and frames[0].evaluate(
                        f"() => {{ const h = window.hegemon; return !!(h && h.ready && ({condition})); }}"
                    ):
                        return frames[0]
                    page.wait_for_timeout(20)
                raise AssertionError(f"never: {condition}")

            cell = carry("h.step === 0 && h.values")
            assert cell.locator("#film").count() == 0
            assert cell.locator("#starts option").count() == len(hg.FischerJiang(n=8).starts)
            cell.locator("#forward").click()
            cell = carry("h.step === 1")
            shown = cell.evaluate("() => window.hegemon.values.leaders")
            assert shown == hg.simulate(hg.FischerJiang(n=8), seed=3, engine="agents", until="steps:1").leaders
            assert not errors
            page.evaluate("() => window.leave()")
            assert page.evaluate("() => window.ears.size") == 0
    finally:
        watching.stop()
