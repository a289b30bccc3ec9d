"""Errata for a referee: pages of LaTeX, scripts without hegemon, and formulas as MathML."""

import ast
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from xml.etree import ElementTree

import pytest

from hegemon.claims.errata import FOLDER
from hegemon.claims.errata.listing import errata, markdown
from hegemon.claims.errata.note import escaped, latex
from hegemon.claims.formulas import PLACE, UnknownNotation, mathml
from hegemon.claims.report import errata_chapter
from hegemon.cli.main import main
from hegemon.errors import InvalidInput

SCRIPTS = sorted((FOLDER / "scripts").glob("*.py"))
EACH = pytest.mark.parametrize("one", errata(), ids=lambda one: one.claims[0])
NO_LATEX = shutil.which("pdflatex") is None


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_a_script_needs_nothing_and_is_short(script, tmp_path):
    text = script.read_text()
    imported = {
        alias.name for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Import) for alias in node.names
    }
    imported |= {node.module for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ImportFrom)}
    assert len(text.splitlines()) <= 100 and {name.partition(".")[0] for name in imported} <= sys.stdlib_module_names
    run = subprocess.run([sys.executable, "-I", "-S", script], cwd=tmp_path, capture_output=True, text=True)
    assert run.returncode == 0 and run.stdout and not run.stderr


BROKEN = [
    ("ring.py", "elif r.bullet == 0:", "else:", "u_1 has become secure"),
    ("trains.py", "not bits or last or first", "not bits or last", "v is no leader at time t + 2"),
    ("trains_counts.py", "marked(N, 1)", "marked(N, 0)", "AssertionError"),
    ("sublinear.py", "((2, 2, 1), 5)", "((2, 2, 1), 4)", "as Lemma 1 says"),
    ("survey.py", "range(s + 1)", "range(s)", "AssertionError"),
]


@pytest.mark.parametrize(("name", "old", "new", "word"), BROKEN, ids=[row[0] for row in BROKEN])
def test_a_script_fails_where_the_paper_is_right(name, old, new, word, tmp_path):
    text = (FOLDER / "scripts" / name).read_text()
    assert text.count(old) == 1
    (tmp_path / name).write_text(text.replace(old, new))
    run = subprocess.run([sys.executable, "-I", "-S", tmp_path / name], capture_output=True, text=True)
    assert run.returncode == 1 and word in run.stderr


@EACH
def test_a_note_has_everything_that_a_referee_needs(one):
    text = latex(one)
    assert text.isascii() and text.count(r"\begin{") == text.count(r"\end{") and balanced(text)
    assert (FOLDER / "scripts" / one.script).is_file() and one.claims[0].replace("_", r"\_") in text
    for part in (one.quote, one.contradicts, one.quantifiers, one.answer, one.source.version):
        assert len(part) > 20 and escaped(part)[:20] in text
    assert one.source.doi or one.paper == "survey"


def balanced(text: str) -> bool:
    """Braces that are not escaped, and the dollar signs of formulas."""
    depth = 0
    for character in re.sub(r"\\[{}$\\]", "", text):
        depth += (character == "{") - (character == "}")
        if depth < 0:
            return False
    return depth == 0 and re.sub(r"\\\$", "", text).count("$") % 2 == 0


@pytest.mark.skipif(NO_LATEX, reason="no LaTeX on this machine: the structure alone is tested")
@pytest.mark.parametrize(
    "one",
    [e if e.paper == "ring" else pytest.param(e, marks=pytest.mark.full) for e in errata()],
    ids=lambda one: one.claims[0],
)
def test_a_note_compiles_to_one_page(one, tmp_path):
    (tmp_path / "note.tex").write_text(latex(one))
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", "note.tex"]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout[-2000:]
    assert "(1 page," in run.stdout and "Overfull" not in run.stdout


def test_nothing_of_a_file_is_a_command_for_latex():
    hostile = r"\write18{rm -rf /} \input{/etc/passwd} $x$ 100% #1 a_b ~^{} `\immediate` **\end{document}**"
    text = escaped(hostile)
    assert not re.search(r"\\(write|input|immediate|end)", text) and balanced(text)
    assert r"\textbackslash{}write18\{rm" in text and r"\$x\$" in text and r"100\%" in text
    for formula in (r"\write18{x}", r"\input{x}", r"x$ \end", "x %", r"\text{\input x}", r"\csname", "^^5c", "é"):
        with pytest.raises(UnknownNotation):
            escaped(f"$`{formula}`$")
        with pytest.raises(UnknownNotation):
            mathml(formula)
    with pytest.raises(InvalidInput, match="write it as a formula"):
        escaped("ॐ")
    one = replace(errata()[0], title=r"\input{x}")
    assert r"\input" not in latex(one)


def test_formulas_are_mathml():
    index = "<math><msub><mi>u</mi><mrow><mi>i</mi><mo>−</mo><mn>1</mn></mrow></msub></math>"
    assert mathml("u_{i-1}") == index + "\N{WORD JOINER}"  # a full stop behind it stays on its line
    assert 'form="prefix"' in mathml("x^{-1}") and 'form="prefix"' not in mathml("(x)-1")
    two = mathml(r"(1-4^{-N})^{n(n+1)} \ge e^{-4}")
    assert two.count("<math>") == 2 and "> <" in two  # a line may break before the relation
    assert "<msubsup>" in mathml("x_i^2") and mathml("x_i^2") == mathml("x^2_i")
    assert "&lt;" in mathml("69 < 70") and "<msqrt>" in mathml(r"\sqrt{n}") and "′" in mathml(r"\Xi'")
    for wrong in ("^2", "x^", "{x", "x}", "x_1_2", r"\unknown"):
        with pytest.raises(UnknownNotation):
            mathml(wrong)


@EACH
def test_every_formula_of_an_erratum_is_typeset(one):
    texts = [text for _, text in one.parts] + ([*one.shown.columns, one.shown.title] if one.shown else [])
    for formula in (formula for text in texts for formula in PLACE.findall(text)):
        for group in mathml(formula).strip("\N{WORD JOINER}").replace("</math> <math>", "</math>\0<math>").split("\0"):
            ElementTree.fromstring(group)


def test_the_report_and_the_page_typeset_them():
    chapter = errata_chapter({one.paper: [] for one in errata()})
    assert "<math>" in chapter and "$`" not in chapter and "**" not in chapter and r"\text" not in chapter
    assert "$`" in markdown() and "<math>" not in markdown()  # the manual is typeset when it is built


def test_the_command_writes_both_files(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["reproduce", "--note", "ring.lemma11.claim2"]) == 0
    assert sorted(file.name for file in tmp_path.iterdir()) == ["ring.lemma11.claim2.tex", "ring.py"]
    assert main(["reproduce", "--note", "ring.lemma11.claim2.repaired", "--out", "sub"]) == 0
    assert (tmp_path / "sub" / "ring.py").read_text() == (tmp_path / "ring.py").read_text()
    capsys.readouterr()
    for wrong in (["--note", ""], ["--note", "ring.lemma7"], ["--note", "sub.eq5", "--only", "sub.eq5"]):
        assert main(["reproduce", *wrong]) == 2
    assert "cannot be combined with --only" in capsys.readouterr().err
