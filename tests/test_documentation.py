"""What the documentation shows works: its Python runs, its commands are parsed, its links lead somewhere."""

import ast
import importlib.util
import inspect
import linecache
import os
import re
import shlex
import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest
import typer

from hegemon.cli.application import application
from hegemon.models.messages import MessageProtocol
from hegemon.models.objects import ObjectProtocol
from hegemon.models.population import PopulationProtocol
from hegemon.models.protocol import Protocol
from hegemon.models.rounds import RoundsProtocol
from hegemon.protocols import CATALOGUE

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
PAGES = [page for page in PAGES if "catalogue" not in page.parts and page.name not in ("options.md", "commands.md")]
BLOCK = re.compile(r"^```(\w+)([^\n]*)\n(.*?)^```", re.M | re.S)
LINK = re.compile(r"\]\(([^)#\s]+)(#[^)]*)?\)")
GENERATED = ("options.md", "commands.md", "catalogue/index.md", *(f"catalogue/{name}.md" for name in CATALOGUE))


def blocks(language):
    for page in PAGES:
        for number, found in enumerate(BLOCK.finditer(page.read_text())):
            if found[1] == language:
                long = [pytest.mark.full] * ("1_000_000" in found[3])
                yield pytest.param(found[2].strip(), found[3], id=f"{page.relative_to(ROOT)}:{number}", marks=long)


def foreign(text: str) -> bool:
    """Code of another tool, shown for comparison, or a program that needs a network."""
    return any(word in text for word in ("ppsim", "async with", "duckdb", "polars", "dask_kubernetes"))


@pytest.mark.parametrize(("attributes", "text"), list(blocks("python")))
def test_python_runs(attributes, text, tmp_path, monkeypatch):
    if foreign(text):
        compile(text, "block", "exec")
        return
    monkeypatch.chdir(tmp_path)
    name = f"<block {hash(text)}>"
    linecache.cache[name] = len(text), None, text.splitlines(True), name  # as a notebook keeps it
    exec(compile(text, name, "exec", dont_inherit=True), {"__name__": "block"})


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    for target, anchor in LINK.findall(page.read_text()):
        if "://" not in target and target not in GENERATED:
            assert (page.parent / target).exists(), target
            assert not anchor or anchor[1:] in anchors(page.parent / target), target + anchor
    for anchor in re.findall(r"\]\(#([^)]*)\)", page.read_text()):
        assert anchor in anchors(page), anchor


def anchors(page) -> set[str]:
    """The names under which the site shows the headings of a page."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(), re.M)
    plain = (unicodedata.normalize("NFKD", one).encode("ascii", "ignore").decode() for one in headings)
    return {re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", one).strip().lower()) for one in plain}


ODD = re.compile(
    r"\b(for ever|so many|unless told|of the looks|(is|are|was|were) told|mend"
    r"|what was asked|as asked|[Aa]sked are|everything asked|in vain)\b"  # a reader does not know who asked
)


@pytest.mark.parametrize("page", [*PAGES, ROOT / "ARCHITECTURE.md"], ids=lambda page: str(page.relative_to(ROOT)))
def test_the_english_is_plain(page):
    assert ODD.search("a timer that runs for ever")
    assert not ODD.search(page.read_text())


def test_the_map_names_what_is_there():
    """Every file that a walk through the house names exists, and is named once in it; every room has its row."""
    text, house = (ROOT / "ARCHITECTURE.md").read_text(), ROOT / "src/hegemon"
    assert len(text) <= 12_000, "a map that one reads in ten minutes; reasons are in docs/decisions"
    walks = re.findall(r"^\*\*`hegemon \w+.*?(?=^\*\*|^## )", text, re.M | re.S)
    assert len(walks) == 3
    for walk in walks:
        named = re.findall(r"`([a-z_]+(?:/[a-z_]+)+)`", walk)
        assert len(named) > 8 and len(set(named)) == len(named)
        assert all((house / f"{name}.py").is_file() for name in named)
    rooms = {path.name for path in house.iterdir() if (path / "__init__.py").is_file()}
    described = dict(re.findall(r"^\| `(\w+)/` \| (.*) \|$", text, re.M))
    assert set(described) == rooms
    for room, sentence in described.items():
        for name in re.findall(r"`(\w+)/?`", sentence):
            assert (house / room / f"{name}.py").is_file() or (house / room / name).is_dir(), f"{room}/{name}"


def commands():
    for page in PAGES:
        text = page.read_text()
        lines = [line for found in BLOCK.finditer(text) if found[1] in ("sh", "bash") for line in found[3].splitlines()]
        lines += [line for line in text.splitlines() if line.startswith("    hegemon ")]
        for line in lines:
            if line.strip().startswith("hegemon "):
                yield pytest.param(line.strip(), id=f"{page.relative_to(ROOT)}: {line.strip()[:70]}")


@pytest.mark.parametrize("line", list(commands()))
def test_commands_have_options_that_exist(line):
    """Every command and every option that a page shows is known to the command line."""
    words = shlex.split(line, comments=True)[1:]
    if words[0] in ("--version", "--help", "-h", "agent"):  # agent reads its own words
        return
    app = typer.main.get_command(application(words[:1]))
    command = app.commands[words[0]]
    known = {"--help", "-h"}
    for parameter in command.params:
        known |= {*parameter.opts, *parameter.secondary_opts}
    for word in words[1:]:
        if word.startswith("--"):
            assert word.partition("=")[0] in known, word


def test_an_unknown_option_would_be_caught():
    app = typer.main.get_command(application(["run"]))
    assert not any("--no-such-option" in parameter.opts for parameter in app.commands["run"].params)


COLLECTED = {"fields", "parameter_declarations", "starts", "sets", "observables", "message_fields", "node_type"}
OF_THE_MODEL = {
    "model", "time_unit", "functions", "reads_graph", "graph_parameters", "missing_parameters", "records_clouds",
    "coin_fields",
}  # fmt: skip


def declarations(*classes):
    """What an author may set in a class body: the public attributes of a base class that are not methods."""
    for cls in classes:
        for name, value in {**vars(cls).get("__annotations__", {}), **vars(cls)}.items():
            if not name.startswith("_") and name not in COLLECTED | OF_THE_MODEL and not inspect.isfunction(value):
                yield name


def undocumented(text, *classes):
    return sorted({name for name in declarations(*classes) if not re.search(rf"\b{name}\b", text)})


def test_the_reference_names_all_that_a_class_may_declare():
    """The twin declares something that the page does not name."""
    text = (ROOT / "docs/writing_protocols.md").read_text()
    models = (Protocol, PopulationProtocol, RoundsProtocol, MessageProtocol, ObjectProtocol)
    text = "".join(re.findall(r"^\| .*$", text, re.M))
    ours = {"n", "values", "parameters", "space", "states", "p", "checked_p", "compiled_values", "compiled_p", "shared"}
    ours |= {
        "record_types",
        "elects_leader",
        "format",
        "largest_allowed",
        "summary",
        "usual_scheduler",
        "public_names",
        "coin_values",
        "coin_faces",
        "range_values",
        "is_ordered",
        "degree_fitting",
        "node_fields",
        "coins_of_losses",
        "node_bounds",
        "undeclared",
        "require_declared",
    }
    assert set(undocumented(text, *models)) <= ours
    assert undocumented(text, type("Twin", (), {"never_named": 1})) == ["never_named"]


def catalogue_page(name):
    specification = importlib.util.spec_from_file_location("make_catalogue", ROOT / "docs" / "make_catalogue.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module.page(name, CATALOGUE[name], {"ring.lemma2": "holds"})


@pytest.mark.parametrize("name", CATALOGUE)
def test_every_protocol_has_a_page_with_its_rules(name):
    """The rules on the page are Python, as the definition has them; its picture exists."""
    text = catalogue_page(name)
    rules = [found[3] for found in BLOCK.finditer(text) if found[1] == "python"]
    assert rules
    for rule in rules:
        (function,) = ast.parse(rule).body
        assert isinstance(function, ast.FunctionDef)
    assert CATALOGUE[name].reference in text
    assert (ROOT / "docs" / "gallery" / f"{name}.gif").exists()
    assert f"../gallery/{name}.gif" in text
    if name == "ring":
        assert re.search(r"^\| Once there is a leader .* \| holds \|$", text, re.M)


@pytest.mark.full
def test_the_site_builds_and_a_broken_link_would_not(tmp_path):
    """MkDocs is strict about links, anchors and pages without a place. The broken twin has one bad anchor."""
    pytest.importorskip("material", reason="mkdocs-material is not installed: pip install 'hegemon[docs]'")

    def build(settings: str) -> subprocess.CompletedProcess:
        file = ROOT / "mkdocs-under-test.yml"
        file.write_text(settings)
        command = [sys.executable, "-m", "mkdocs", "build", "--strict", "-f", str(file), "-d", str(tmp_path / "site")]
        try:
            return subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
        finally:
            file.unlink()

    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "NO_MKDOCS_2_WARNING": "1"}
    settings = (ROOT / "mkdocs.yml").read_text()
    built = build(settings)
    assert built.returncode == 0, built.stderr
    assert "interact" in (tmp_path / "site" / "catalogue" / "ring.html").read_text()
    broken = build(settings.replace("glossary.md", "no-such-page.md"))
    assert broken.returncode != 0
    assert "no-such-page.md" in broken.stdout + broken.stderr
