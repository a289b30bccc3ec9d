"""The exported files, read back by independent readers, and Storm's own answers on them."""

import re

import numpy as np
import pytest

import hegemon as hg
from hegemon.exact.exports.chains import write_chain

CASES = [hg.Timer(n=3, s=4), hg.Pairwise(n=5), hg.Ring(n=2, N=2), hg.TimeOptimal(n=3, r_max=2, b_max=2)]


def solve(size, rows, inside):
    """Expected steps by dense linear algebra from (source, target, probability) rows."""
    matrix = np.zeros((size, size))
    for source, target, probability in rows:
        matrix[source, target] += probability
    assert np.allclose(matrix.sum(axis=1), 1, atol=1e-15)
    outside = np.flatnonzero(~inside)
    values = np.zeros(size)
    block = np.eye(len(outside)) - matrix[np.ix_(outside, outside)]
    values[outside] = np.linalg.solve(block, np.ones(len(outside)))
    return values


@pytest.mark.parametrize("protocol", CASES[:2], ids=lambda p: p.id)
def test_prism_files_hold_the_chain(protocol, tmp_path):
    answer = hg.verify(protocol)
    files = write_chain(answer.chain, "tra", tmp_path / "chain.tra", {"safe": answer.inside}, "safe")
    assert [path.suffix for path in files] == [".tra", ".sta", ".lab", ".rew"]
    transitions, states, labels, rewards = (path.read_text().splitlines() for path in files)
    size, number = map(int, transitions[0].split())
    assert (size, number) == (answer.chain.size, len(transitions) - 1)
    rows = [(int(a), int(b), float(c)) for a, b, c in (line.split() for line in transitions[1:])]
    names = dict(reversed(pair.split("=")) for pair in labels[0].split())
    safe = np.zeros(size, bool)
    for line in labels[1:]:
        state, held = line.split(": ")
        safe[int(state)] = names['"safe"'] in held.split()
    assert np.allclose(solve(size, rows, safe), answer.hitting.values, rtol=1e-10)
    assert states[0].count("agent") == protocol.n and len(states) == size + 1
    assert {int(line.split()[0]) for line in rewards[1:]} == set(np.flatnonzero(~safe).tolist())


def test_dot_names_states_and_weights(tmp_path):
    answer = hg.verify(hg.Pairwise(n=3))
    (path,) = write_chain(answer.chain, "chain", tmp_path / "chain", {"safe": answer.inside}, "safe")
    text = path.read_text()
    assert len(re.findall(r"^  \d+ \[label", text, re.M)) == answer.chain.size
    assert len(re.findall(r"->", text)) == answer.chain.transitions and '[label="2/6"]' in text
    assert text.count("palegreen") == 1 and text.count("reward 0") == 1


def test_refusals(tmp_path):
    answer = hg.verify(hg.Timer(n=4, s=6))
    with pytest.raises(hg.InvalidInput, match="cannot be read"):
        write_chain(answer.chain, "chain", tmp_path / "x", {"safe": answer.inside}, "safe")
    with pytest.raises(hg.InvalidInput, match="not known"):
        write_chain(answer.chain, "png", tmp_path / "x", {"safe": answer.inside}, "safe")
    with pytest.raises(hg.InvalidInput, match="no folder"):
        write_chain(answer.chain, "drn", tmp_path / "none" / "x", {"safe": answer.inside}, "safe")


@pytest.mark.parametrize("protocol", [*CASES[:-1], pytest.param(CASES[-1], marks=pytest.mark.full)], ids=lambda p: p.id)
def test_storm_computes_the_same_expected_steps(protocol, tmp_path):
    import stormpy  # an extra, which the tests install

    answer = hg.verify(protocol)
    (path,) = write_chain(answer.chain, "drn", tmp_path / "chain.drn", {"safe": answer.inside}, "safe")
    model = stormpy.build_model_from_drn(str(path))
    assert (model.nr_states, model.nr_transitions) == (answer.chain.size, answer.chain.transitions)
    environment = stormpy.Environment()
    solver = environment.solver()
    kinds = type(solver.get_linear_equation_solver_type()).__members__
    solver.set_linear_equation_solver_type(kinds["ELIMINATION"])
    (formula,) = stormpy.parse_properties('R{"steps"}=? [F "safe"]')
    result = np.array(stormpy.model_checking(model, formula, environment=environment).get_value_vector())
    assert np.abs(result - answer.hitting.values).max() <= 1e-9
