"""Things show themselves in a notebook, with every text escaped, and the example notebooks run from top to bottom."""

import json
import os
from pathlib import Path

import pytest

import hegemon as hg
from hegemon import display
from hegemon.errors import InvalidInput

ROOT = Path(__file__).parents[1]
NOTEBOOKS = sorted((ROOT / "examples" / "notebooks").glob("*.ipynb"))
LONG = ("own_protocol", "study")  # the first one is run by the ordinary tests
EVIL = "<script>alert(1)</script>"


class Odd(hg.PopulationProtocol):
    """Says <script>alert(1)</script> of itself."""

    reference = EVIL
    arbitrary_start = False
    default_start = "one"

    class State:
        leader: hg.Bit

    def interact(a, b, p):
        b.leader = 0

    def start_one(self, rng):
        """<b>One</b> of all leads."""
        return [hg.Group(1, {"leader": 1}), hg.Group(self.n - 1, {"leader": 0})]

    def leads(a, p):
        return a.leader == 1

    safe = hg.exactly(1, leads).described(EVIL)
    leaders = hg.count(leads, "agents that lead & yield")


def test_a_protocol_shows_itself_escaped():
    protocol = Odd(n=3)
    shown = protocol._repr_html_()
    assert repr(protocol) == "Odd(n=3)" and repr(hg.TimeOptimal(n=100)).startswith("TimeOptimal(n=100, tau=")
    assert "<script" not in shown and "&lt;script&gt;" in shown
    assert "agents that lead &amp; yield" in shown and "&lt;b&gt;One" in shown


def test_runs_show_themselves():
    run = hg.simulate(hg.Pairwise(n=50), observe=True, seed=1)
    assert "data:image/png;base64," in run._repr_html_()
    assert run.plot()._repr_png_().startswith(b"\x89PNG")
    trials = hg.run_trials(hg.Pairwise(n=50), 12, seed=1)
    assert list(trials.frame["trial"]) == list(range(12)) and trials.summary["trials"] == 12
    assert "… and 2 more" in trials._repr_html_()


@pytest.mark.full
def test_a_verification_shows_itself():
    shown = hg.verify(Odd(n=3))._repr_html_()
    assert "✗" in shown and "step 1: " in shown and "<script" not in shown


def test_what_was_not_recorded_is_not_drawn():
    with pytest.raises(InvalidInput, match="observe=True"):
        hg.simulate(hg.Pairwise(n=50), seed=1).plot()


def test_a_picture_leaves_the_callers_settings_alone():
    import matplotlib

    before = dict(matplotlib.rcParams)
    hg.simulate(hg.Pairwise(n=50), observe=True).plot()._repr_png_()
    assert dict(matplotlib.rcParams) == before


def test_a_bar_appears_late_and_leaves_nothing(monkeypatch):
    shown = []

    class Handle:
        def update(self, content):
            shown.append(content._repr_html_())

    def show(content):
        shown.append(content)
        return Handle()

    now = [0.0]
    monkeypatch.setattr(display.time, "monotonic", lambda: now[0])
    bar = display.Bar(show)
    bar.show("trials", 1, 10)
    assert not shown  # not before a second has passed
    now[0] = 1.5
    bar.show(EVIL, 4, 10)
    bar.show("trials", 5, 10)  # too soon after the last
    assert len(shown) == 1 and 'value="4" max="10"' in shown[0] and "<script" not in shown[0]
    bar.end()
    assert shown[-1] == ""


def test_outside_a_notebook_there_is_no_bar(capsys):
    with display.notebook_progress() as nothing:
        assert nothing is None


@pytest.mark.parametrize(
    "path", [pytest.param(p, id=p.stem, marks=pytest.mark.full if p.stem in LONG else ()) for p in NOTEBOOKS]
)
def test_an_example_notebook_runs(path, tmp_path):
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    content = json.loads(path.read_text())
    assert not any(cell.get("outputs") for cell in content["cells"]), "stored outputs belong to whoever ran it"
    notebook = nbformat.reads(path.read_text(), as_version=4)
    old, os.environ["PYTHONPATH"] = os.environ.get("PYTHONPATH"), str(ROOT / "src")
    try:
        nbclient.NotebookClient(notebook, timeout=240, resources={"metadata": {"path": str(tmp_path)}}).execute()
    finally:
        os.environ.pop("PYTHONPATH") if old is None else os.environ.update(PYTHONPATH=old)
    kinds = {kind for cell in notebook.cells for output in cell.get("outputs", ()) for kind in output.get("data", ())}
    assert "text/html" in kinds


@pytest.mark.full
def test_a_broken_notebook_would_be_caught(tmp_path):
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("1 / 0")])
    with pytest.raises(nbclient.exceptions.CellExecutionError):
        nbclient.NotebookClient(notebook, timeout=60, resources={"metadata": {"path": str(tmp_path)}}).execute()


@pytest.mark.full
def test_in_a_kernel_watch_is_a_widget_and_a_long_run_shows_a_bar(tmp_path, monkeypatch):
    """A real kernel: the cell's output is a widget, and what takes longer than a second has shown a bar meanwhile."""
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    pytest.importorskip("anywidget")
    cells = (
        "import hegemon as hg\npage = hg.watch(hg.Pairwise(n=6), seed=1)\npage",
        "page.stop()",
        "hg.run_trials(hg.SublinearRanking(n=12), 60, seed=1, until='steps:3000', workers=1)",
    )
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "src"))
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    nbclient.NotebookClient(notebook, timeout=240, resources={"metadata": {"path": str(tmp_path)}}).execute()
    kinds = [set(output["data"]) for output in notebook.cells[0].outputs]
    assert any("application/vnd.jupyter.widget-view+json" in found for found in kinds)
    shown = [output for output in notebook.cells[2].outputs if output["output_type"] == "display_data"]
    assert shown and shown[-1]["data"]["text/html"] == ""  # it was there, and left nothing behind
