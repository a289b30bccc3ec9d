"""Which conditions agents satisfy: plain Python, which begins, and the kernel, which goes on, say the same."""

import numpy as np
import pytest

from hegemon.compute.randomness import generator
from hegemon.process import membership
from hegemon.process.membership import FEW_AGENTS, Membership
from hegemon.process.stopping import Stop, parse_stop
from hegemon.protocols import CATALOGUE

GIVEN = {"threshold": {"k": 3}}
ASKED = [
    name for name, kind in CATALOGUE.items() if kind.model.has_interactions and name != "dijkstra"
]  # which counts nothing


@pytest.mark.parametrize("name", ASKED)
def test_plain_python_and_the_kernel_agree_on_every_state(name, monkeypatch):
    protocol = CATALOGUE[name](**{"n": 8, **GIVEN.get(name, {})})
    stop = parse_stop(
        "safe" if "safe" in protocol.sets else "leaders=1" if hasattr(protocol, "output") else "settled", protocol
    )
    member = Membership(protocol, stop if stop.conditions else Stop("output", (protocol.output,)))
    space = protocol.space
    codes = np.linspace(0, space.size - 1, 500).astype(np.int64) if space.has_codes else None
    agents = space.decode_array(np.unique(codes) if space.has_codes else space.random_codes(generator(1), 500))
    membership._asked.clear()
    plain = member.marks(agents)
    monkeypatch.setattr(membership, "FEW_AGENTS", -1)
    compiled = member.marks(agents)
    assert plain.tolist() == compiled.tolist() and len(set(map(tuple, plain.tolist()))) > 1
    monkeypatch.setattr(member, "_plain_marks", lambda agents: (1 - compiled.astype(int)) % 2)
    monkeypatch.setattr(membership, "FEW_AGENTS", FEW_AGENTS)
    assert member.marks(agents).tolist() != compiled.tolist()  # plain Python is what is asked first


def test_after_many_agents_the_kernel_is_asked():
    protocol = CATALOGUE["pairwise"](n=FEW_AGENTS)
    member = Membership(protocol, parse_stop("safe", protocol))
    agents = protocol.space.decode_array(np.zeros(FEW_AGENTS, np.int64))
    membership._asked.clear()
    member._plain_marks = lambda agents: 7  # told apart from the kernel's
    assert set(member.marks(agents).ravel().tolist()) == {7}
    assert set(member.marks(agents[:1]).ravel().tolist()) != {7}
