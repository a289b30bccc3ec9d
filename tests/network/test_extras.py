"""Without its extra a network is refused before anything is started; one in which nobody came up is no success."""

import asyncio
import sys

import pytest

import hegemon as hg
import hegemon.network
from hegemon.cli import agent
from hegemon.cli.main import main
from hegemon.errors import InvalidInput
from hegemon.network.keys import new_key
from hegemon.network.swarm import Swarm

EXTRA = "pip install 'hegemon\\[network\\]'"


@pytest.fixture
def without(monkeypatch):
    monkeypatch.setitem(sys.modules, "cryptography.hazmat.primitives.ciphers.aead", None)
    monkeypatch.setattr("subprocess.Popen", lambda *_, **__: pytest.fail("a process was started"))


def test_every_way_into_a_network_says_what_to_install(without, capsys):
    assert main(["network", "pairwise", "--n", "3", "--for", "1", "--quiet"]) == 2
    assert "pip install 'hegemon[network]'" in capsys.readouterr().err
    assert agent.main(["pairwise", "--n", "3", "--peers", "p", "--key", "k", "--listen", "127.0.0.1:0"]) == 2
    assert "pip install 'hegemon[network]'" in capsys.readouterr().err
    given = {"peers": ["127.0.0.1:9"], "key": new_key()}
    with pytest.raises(InvalidInput, match=EXTRA), hegemon.network.join_in_thread(hg.Pairwise(n=3), **given):
        pass

    async def joined():
        async with hegemon.network.join(hg.Pairwise(n=3), **given):
            pass

    with pytest.raises(InvalidInput, match=EXTRA):
        asyncio.run(joined())
    with pytest.raises(InvalidInput, match=EXTRA):
        Swarm("pairwise", hg.Pairwise(n=3), None)


def test_a_network_in_which_nobody_came_up_is_refused(monkeypatch, capsys):
    """Every member ends at once, as one does that misses something."""
    monkeypatch.setattr(Swarm, "_start", lambda self, member: None)
    assert main(["network", "pairwise", "--n", "2", "--for", "0.3", "--quiet"]) == 2
    assert "no member came up within" in capsys.readouterr().err


def test_a_member_that_ends_by_itself_is_counted_as_dead():
    swarm = Swarm("pairwise", hg.Pairwise(n=3), None)
    swarm.dead.clear()
    swarm._killed[1] = 1
    swarm._gone(1)
    assert swarm.dead == set()  # its end was our doing: `strike` has noted it, and it may run again already
    swarm._gone(1)
    assert swarm.dead == {1}
