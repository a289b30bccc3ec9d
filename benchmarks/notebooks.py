"""The six exercises as notebooks, made from docs/course.md: `python -m benchmarks.notebooks` (part of `make manual`).

The words and the classes are those of the page; each command becomes the call from Python that does the same.
"""

import json
import re
import sys
from pathlib import Path

from benchmarks.manual import HERE, Command, File, parts

PAGE = HERE / "docs" / "course.md"
FOLDER = HERE / "examples" / "notebooks" / "course"
FAULT = 'faults=[hg.Fault(100, 20, {"leader": 0})]'
CALLS = {
    "hegemon verify both_yield.py --n 4": "hg.verify(BothYield(n=4))",
    "hegemon verify both_yield.py --n 5": "hg.verify(BothYield(n=5))",
    "hegemon prove one_yields.py": "hg.prove(OneYields)",
    "hegemon verify timer --n 3 --set s=4 --property holding": 'hg.verify(hg.Timer(n=3, s=4), property="holding")',
    "hegemon verify timer --n 3 --set s=6 --property holding": 'hg.verify(hg.Timer(n=3, s=6), property="holding")',
    "hegemon verify timer --n 3 --set s=4 --property time": 'hg.verify(hg.Timer(n=3, s=4), property="time")',
    "hegemon search-worst timer --n 8 --set s=10 --seed 1": "hg.search_worst(hg.Timer(n=8, s=10), seed=1).record()",
    "hegemon verify timer --n 3 --set s=2 --property closed:safe --counterexample lemma.json": (
        'answer = hg.verify(hg.Timer(n=3, s=2), property="closed:safe")\n'
        'answer.finding("closed").counterexample.save("lemma.json")\nanswer'
    ),
    "hegemon run --start lemma.json --until steps:1 --trace 1": (
        'run = hg.simulate(hg.Timer(n=3, s=2), start="lemma.json", until="steps:1")\nrun'
    ),
    "hegemon verify herman --n 5 --start all --property reached:safe": (
        'hg.verify(hg.Herman(n=5), start="all", property="reached:safe")'
    ),
    "hegemon verify herman --n 5 --start all --property reached:safe --scheduler distributed": (
        'hg.verify(hg.Herman(n=5), start="all", property="reached:safe", scheduler="distributed")'
    ),
    "hegemon run timer --n 20 --set s=40 --start safe --fault step=100,agents=20,leader=0 --seed 1": (
        f'hg.simulate(hg.Timer(n=20, s=40), start="safe", {FAULT}, seed=1)'
    ),
    "hegemon run timer --n 20 --set s=40 --start safe --fault step=100,agents=20,leader=0 --seed 1 --trials 50": (
        f'hg.run_trials(hg.Timer(n=20, s=40), 50, start="safe", {FAULT}, seed=1)'
    ),
}
BLOCK = re.compile(r"^```.*?^```\n", re.M | re.S)


def notebooks() -> dict[Path, str]:
    """Every file with its content."""
    exercises = re.split(r"^## ", PAGE.read_text(encoding="utf-8"), flags=re.M)[1:]
    made = {}
    for number, text in enumerate(exercises, start=1):
        title = text.split("\n")[0]
        name = f"{number}_{re.sub(r'[^a-z]+', '_', title.lower()).strip('_')}"
        made[FOLDER / f"{name}.ipynb"] = notebook(name, f"# {text}")
    return made


def notebook(name: str, text: str) -> str:
    """Words and blocks in the order of the page; a block may be a class, or commands with what they print."""
    sources: list[tuple[str, str]] = [("code", "import hegemon as hg")]
    place = 0
    for block in BLOCK.finditer(text):
        sources.append(("markdown", linked(text[place : block.start()])))
        for part in parts(block[0]):
            sources.append(("code", part.text.rstrip() if isinstance(part, File) else CALLS[part.line]))
        place = block.end()
    sources.append(("markdown", linked(text[place:])))
    sources = [sources[1], sources[0], *sources[2:]]  # the title first
    cells = [cell(name, number, *one) for number, one in enumerate(sources) if one[1].strip()]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    about = {"kernelspec": kernel, "language_info": {"name": "python"}}
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": about, "cells": cells}, indent=1) + "\n"


def cell(name: str, number: int, kind: str, source: str) -> dict:
    made = {"id": f"{name[:12]}-{number}", "cell_type": kind, "metadata": {}, "source": source.strip()}
    return made | ({"execution_count": None, "outputs": []} if kind == "code" else {})


def linked(text: str) -> str:
    """Links of the page lead nowhere from here: their words stay."""
    return re.sub(r"\[([^\]]*)\]\([\w/.#-]+\.md[^)]*\)", r"\1", text)


def commands() -> list[str]:
    return [one.line for one in parts(PAGE.read_text(encoding="utf-8")) if isinstance(one, Command)]


def main() -> int:
    FOLDER.mkdir(exist_ok=True)
    for path, text in notebooks().items():
        path.write_text(text, encoding="utf-8")
        print(path.relative_to(HERE))
    return 0


if __name__ == "__main__":
    sys.exit(main())
