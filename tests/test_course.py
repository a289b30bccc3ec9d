"""The course: six exercises with solutions, as notebooks that say what the page says, and that run.

The commands of the page, and what they print, are compared by tests/test_manual.py.
"""

import json
import os

import pytest
from benchmarks import notebooks
from benchmarks.notebooks import CALLS, FOLDER, PAGE

MADE = notebooks.notebooks()
SHOWN = {  # what the last cells of each notebook must show, besides running
    "1": ("refuted", "proved"),
    "2": ("351", "3,240"),
    "3": ("10.37", "worst start"),
    "4": ("step 1: ",),
    "5": ("avoids it from 22 of 32",),
    "6": ("951",),
}


def test_there_are_six_exercises_with_solutions():
    exercises = PAGE.read_text("utf-8").split("\n## ")[1:]
    assert len(exercises) == len(MADE) == 6 and all("**Solution.**" in one for one in exercises)
    assert set(notebooks.commands()) == set(CALLS)


def test_the_notebooks_are_those_of_the_page():
    """Otherwise: python -m benchmarks.notebooks."""
    assert {path.name for path in FOLDER.glob("*.ipynb")} == {path.name for path in MADE}
    for path, text in MADE.items():
        assert path.read_text("utf-8") == text, path.name


@pytest.mark.full
@pytest.mark.parametrize("path", MADE, ids=lambda path: path.stem)
def test_a_notebook_of_the_course_runs(path, tmp_path):
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    notebook = nbformat.reads(path.read_text("utf-8"), as_version=4)
    old, os.environ["PYTHONPATH"] = os.environ.get("PYTHONPATH"), str(FOLDER.parents[2] / "src")
    try:
        nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(tmp_path)}}).execute()
    finally:
        os.environ.pop("PYTHONPATH") if old is None else os.environ.update(PYTHONPATH=old)
    outputs = [one["data"] for cell in notebook.cells for one in cell.get("outputs", []) if "data" in one]
    shown = json.dumps([one.get("text/html") or one.get("text/plain") for one in outputs], ensure_ascii=False)
    assert all(words in shown for words in SHOWN[path.name[0]]), shown
