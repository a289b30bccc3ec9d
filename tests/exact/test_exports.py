"""LaTeX, state diagrams and the PRISM language: each is read by the tool that it is for, where that is installed."""

import re
import shutil
import subprocess

import pytest

import hegemon as hg
from hegemon.exact.exports.diagram import MOST_NODES, diagram, dot, picture
from hegemon.exact.exports.exporting import SUPPORTS
from hegemon.exact.exports.latex import latex
from hegemon.exact.exports.prism import prism
from hegemon.exact.exports.pseudocode import pseudocode
from hegemon.models.description import rule_functions

COIN = {("A", "B"): {("A", "A"): "1/3", ("B", "B"): "1/2"}}
MODELS = [
    (hg.Pairwise(n=5), None),
    (hg.Timer(n=3, s=4), None),
    (hg.Pairwise(n=4), "ring:4"),
    (hg.Herman(n=5), None),
    (hg.rules(COIN, start={"A": 2, "B": 3})(n=5), None),
    (hg.rules(COIN | {("B", "B"): ("B", "L")}, start={"A": 2, "B": 2})(n=4), None),
]


def stormed(text, tmp_path, asked='R{"steps"}=? [F "safe"]'):
    """Storm's expected rewards from the starts of a model."""
    stormpy = pytest.importorskip("stormpy", reason="stormpy is not installed")
    place = tmp_path / "model.prism"
    place.write_text(text)
    program = stormpy.parse_prism_program(str(place))
    (formula,) = stormpy.parse_properties(asked, program)
    model = stormpy.build_model(program, [formula])
    environment = stormpy.Environment()
    solver = environment.solver()
    solver.set_linear_equation_solver_type(type(solver.get_linear_equation_solver_type()).__members__["ELIMINATION"])
    values = stormpy.model_checking(model, formula, environment=environment).get_value_vector()
    return max(values[state] for state in model.initial_states)


@pytest.mark.parametrize(("protocol", "graph"), MODELS, ids=lambda one: getattr(one, "id", one))
def test_storm_reads_the_language_and_expects_the_same_steps(protocol, graph, tmp_path):
    text = prism(protocol, graph)
    exact = hg.verify(protocol, graph=graph, property="time:safe").hitting.worst
    assert stormed(text, tmp_path) == pytest.approx(exact, rel=1e-9)


def test_a_daemon_is_a_decision_process(tmp_path):
    """Steps of the worst and of the best schedule, where coins are fair."""
    protocol = hg.Beauquier(n=3)
    text = prism(protocol, scheduler="central")
    found = hg.verify(protocol, scheduler="central", property="time:safe").schedules
    worst = stormed(text, tmp_path, 'R{"steps"}max=? [F "safe"]')
    assert "mdp" in text and worst == pytest.approx(2.0)
    assert found is not None


def test_storm_notices_a_wrong_probability(tmp_path):
    protocol = hg.Pairwise(n=5)
    broken = prism(protocol).replace("(n*(n-1))", "(n*n)")
    assert stormed(broken, tmp_path) != pytest.approx(hg.verify(protocol, property="time:safe").hitting.worst, rel=1e-3)


def test_a_model_that_is_too_large_or_has_no_start_is_refused(monkeypatch):
    monkeypatch.setattr("hegemon.exact.exports.prism.MOST_TERMS", 10)
    with pytest.raises(hg.InvalidInput, match="terms, more than 10"):
        prism(hg.Timer(n=3, s=4))
    with pytest.raises(hg.InvalidInput, match="inputs"):
        prism(hg.Dijkstra(n=4))
    with pytest.raises(hg.InvalidInput, match="they exist for the models"):
        prism(hg.Referees(n=9))


# -- diagrams -------------------------------------------------------------------------------------------------------


def test_a_diagram_has_what_can_occur_and_says_what_cannot():
    drawn = diagram(hg.rules("A, A -> A, B\nB, B -> B, C\nD, D -> D, A", start="A")(n=4))
    assert [node.name for node in drawn.nodes] == ["A", "B", "C"] and drawn.unreachable == 1
    assert drawn.arrows == {(0, 1): "← 1", (1, 2): "← 2"}
    assert "1 more cannot occur" in drawn.caption and drawn.nodes[0].starts


def test_many_states_are_merged_and_counted():
    protocol = hg.TimeOptimal(n=16)
    drawn = diagram(protocol)
    assert len(drawn.nodes) <= MOST_NODES and sum(node.states for node in drawn.nodes) == protocol.states
    assert "a node is all states with the same phase, mode" in drawn.caption
    assert {node.group for node in drawn.nodes} == {"phase=CH", "phase=EL mode=A", "phase=EL mode=B"}


def test_pictures_are_the_same_bytes_again(tmp_path):
    drawn = diagram(hg.Timer(n=3, s=2))
    for name in ("a.svg", "b.svg"):
        picture(drawn).save(tmp_path / name)
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


def test_graphviz_reads_the_diagram():
    if shutil.which("dot") is None:
        pytest.skip("Graphviz is not installed")
    text = dot(diagram(hg.Timer(n=3, s=2)))
    drawn = subprocess.run(
        ["dot", "-Tplain"], input=text, capture_output=True, text=True, check=True, timeout=60
    ).stdout
    assert len(re.findall(r"^node", drawn, re.M)) == hg.Timer(n=3, s=2).states


# -- LaTeX ----------------------------------------------------------------------------------------------------------


def test_pseudocode_reads_like_a_paper():
    source = (
        "def interact(a, b, p):\n    if a.leader == 1 and not b.x >= p.r_max:\n        a.x = b.x = max(a.x - 1, 0)\n"
        "    elif a.phase == 'CH' or a.x in (1, 2):\n        b.x += 2 * (a.x + 1)\n"
    )
    assert [line.text for line in pseudocode(source)] == [
        r"\textbf{procedure} \textsc{interact}\((a, b)\)",
        r"\textbf{if} \(a.\mathit{leader} = 1 \wedge \neg (b.x \geq r_{\mathrm{max}})\) \textbf{then}",
        r"\(a.x \gets b.x \gets \max(a.x - 1, 0)\)",
        r"\textbf{else if} \(a.\mathit{phase} = \textsc{CH} \vee a.x \in (1, 2)\) \textbf{then}",
        r"\(b.x \gets b.x + 2 \cdot (a.x + 1)\)",
    ]


def test_helper_functions_are_part_of_the_rules():
    names = [function.__name__ for function in rule_functions(hg.TimeOptimal)]
    assert names[0] == "interact" and {"check", "tick", "become_checker"} <= set(names)
    assert r"\textsc{check}" in latex(hg.TimeOptimal(n=10))


def is_package(name: str) -> bool:
    """Whether this installation of LaTeX has it: texlive-latex-base lacks some of texlive-latex-recommended."""
    return subprocess.run(["kpsewhich", f"{name}.sty"], capture_output=True).returncode == 0


@pytest.mark.parametrize("name", ["time-optimal", "trains", "walks", "sublinear-ranking", "pairwise"])
def test_latex_compiles(name, tmp_path):
    if shutil.which("pdflatex") is None or not is_package("booktabs"):
        pytest.skip("LaTeX is not installed, or lacks the packages of tables")
    (tmp_path / "x.tex").write_text(latex(hg.CATALOGUE[name](n=9)))
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "x.tex"]
    assert subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=120).returncode == 0


@pytest.mark.parametrize("name", list(hg.CATALOGUE))
def test_every_protocol_has_balanced_latex(name):
    """Without a compiler: environments, braces and formulas are closed, and no letter is left that LaTeX lacks."""
    text = latex(hg.CATALOGUE[name](n=5))
    assert text.count(r"\begin{") == text.count(r"\end{") and text.count(r"\(") == text.count(r"\)")
    plain = text.replace(r"\{", "").replace(r"\}", "").replace("\\\\", "")
    assert plain.count("{") == plain.count("}")
    assert all(ord(letter) < 0x250 for letter in text)


GIVEN = {"graph": "ring:4", "start": "safe", "scheduler": "weighted:1,2,5,3", "memory": 1e-7}


@pytest.mark.parametrize("option", GIVEN)
@pytest.mark.parametrize("to", SUPPORTS)
def test_every_option_of_an_export_changes_it_or_is_refused(to, option, tmp_path):
    def exported(**options):
        try:
            return [place.read_bytes() for place in hg.export(hg.Pairwise(n=4), to, tmp_path / "made", **options)]
        except hg.InvalidInput as error:
            return str(error)

    made, usual = exported(**{option: GIVEN[option]}), exported()
    if (to, option) == ("prism", "scheduler"):  # of a population it knows the uniform one alone
        assert "for the scheduler uniform, not for weighted" in made
    elif option in SUPPORTS[to].options:
        assert made != usual and "does not support" not in str(made)
    else:
        assert f"export to {to} does not support {option}" in made
