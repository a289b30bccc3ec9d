"""Every measured figure of the manual is in docs/figures.toml, with where it stands and how it is measured again."""

import re
from pathlib import Path

import pytest
from benchmarks.figures import DOCS, HERE, Figure, figures


@pytest.mark.parametrize("figure", figures(), ids=lambda figure: f"{figure.page}-{figure.commit}")
def test_a_figure_stands_where_it_is_said_to(figure):
    assert figure.is_there, f"{figure.page} no longer says {figure.place!r}: remove or mend its entry"
    assert all((HERE / path).exists() for path in figure.source) and figure.source
    assert re.fullmatch("[0-9a-f]{7,12}", figure.commit)
    if " benchmarks." in figure.command:
        module = re.search(r"benchmarks\.(\w+)", figure.command)[1]
        assert (HERE / "benchmarks" / f"{module}.py").exists()


def test_every_benchmark_of_the_manual_is_registered():
    """`make bench` measures the machine of whoever runs it and is no figure; cold starts are not told in figures."""
    known = {re.search(r"benchmarks\.(\w+)", one.command)[1] for one in figures() if "benchmarks." in one.command}
    told = {
        module
        for page in DOCS.glob("**/*.md")
        for module in re.findall(r"python -m benchmarks\.(\w+)", page.read_text(encoding="utf-8"))
    }
    assert told - {"start", "figures"} <= known


def test_a_figure_that_is_gone_is_noticed():
    assert not Figure("scale.md", "no page says this sentence", "hegemon list", "0000000", ["src"]).is_there
    assert Path(DOCS / "scale.md").exists()
