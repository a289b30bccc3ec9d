"""Ctrl-C at any moment, also inside compiled code, ends a command with exit code 130 and one sentence."""

import signal
import sys
import time

import numpy as np
import pytest

import hegemon as hg
from hegemon.cli import guard, main
from hegemon.errors import is_interrupt
from hegemon.exact import graph_kernels, hitting
from hegemon.experiments.checking import tried
from tests.cli import sentences

WORDS = ["verify", "timer", "--n", "4", "--set", "s=4", "--graph", "path:4", "--quiet"]
MOMENTS = 60


def in_disguise(*_):
    """What Numba makes of an interrupt that arrives while a kernel is entered or left."""
    try:
        raise KeyboardInterrupt
    except KeyboardInterrupt as interrupt:
        raise SystemError("<built-in> returned a result with an exception set") from interrupt


def lost(*_):
    """What is left where a library has swallowed the interrupt altogether."""
    raise TypeError("cannot compare")


def test_an_interrupt_is_seen_through_any_disguise():
    with pytest.raises(SystemError) as caught:
        in_disguise()
    assert is_interrupt(caught.value) and is_interrupt(KeyboardInterrupt())
    assert not is_interrupt(SystemError("no")) and not is_interrupt(None)


def test_a_disguised_interrupt_ends_a_command_like_any_other(monkeypatch, capsys):
    with monkeypatch.context() as patch:
        patch.setattr(hitting, "ways_into", in_disguise)
        assert main.main(WORDS) == 130
        assert sentences(capsys.readouterr().err) == ["hegemon: interrupted"]
        with pytest.raises(KeyboardInterrupt):
            hg.verify(hg.Timer(n=3, s=2))
        with pytest.raises(KeyboardInterrupt):
            tried("something", in_disguise)
    monkeypatch.setattr(hitting, "ways_into", lost)
    monkeypatch.setattr(guard, "received", signal.SIGTERM)
    assert main.main(WORDS) == 143
    assert sentences(capsys.readouterr().err) == ["hegemon: interrupted"]


def test_an_engine_does_not_blame_the_protocol_for_an_interrupt(monkeypatch):
    from hegemon.engines.population import agents

    made = agents.Agents._refuse
    seen = []

    def refuse(self, error=None):
        try:
            made(self, error)
        except BaseException as found:
            seen.append(found)
            raise

    monkeypatch.setattr(agents.Agents, "_refuse", refuse)
    monkeypatch.setattr(agents.Agents, "advance", lambda self, limit: _advance_interrupted(self))
    with pytest.raises(KeyboardInterrupt):
        hg.simulate(hg.Pairwise(n=5), engine="agents")
    assert len(seen) == 1


def _advance_interrupted(engine):
    try:
        in_disguise()
    except Exception as error:
        engine._refuse(error)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # an interrupt inside a destructor
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timer")
def test_verify_is_interrupted_at_many_moments(capsys, monkeypatch):
    """Moments spread over the whole course, kernels included: there are more transitions than plain Python takes."""

    armed = False

    def interrupt(*_):  # as the handler of a command does: NumPy may make another exception of it
        if armed:
            monkeypatch.setattr(guard, "received", signal.SIGINT)
            raise KeyboardInterrupt

    monkeypatch.setattr(graph_kernels, "LITTLE", 0)
    before, screen = signal.signal(signal.SIGPROF, interrupt), sys.stdout
    try:
        main.main(WORDS)
        begin = time.process_time()
        main.main(WORDS)
        whole = time.process_time() - begin  # processor time, as the timer's: other work on the machine changes nothing
        capsys.readouterr()
        codes = []
        for moment in np.linspace(0.001, whole, MOMENTS):
            monkeypatch.setattr(guard, "received", None)
            try:
                armed = True
                signal.setitimer(signal.ITIMER_PROF, float(moment))
                codes.append(main.main(WORDS))
                armed = False
            except KeyboardInterrupt:  # after the last word: the command was done
                armed = False
                codes.append(130)
                sys.stdout = screen
            said = [line for line in sentences(capsys.readouterr().err) if "unexpected" in line]
            assert not said
    finally:
        armed = False
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
    assert set(codes) <= {0, 1, 130} and codes.count(130) > MOMENTS / 4
