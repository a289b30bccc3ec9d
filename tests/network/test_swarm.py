"""Real processes on loopback: `hegemon network` and `hegemon agent`, from the outside."""

import json
import os
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import hegemon
from hegemon.cli.main import main
from hegemon.cli.network import of_one_kind
from hegemon.errors import InvalidInput
from hegemon.graphs.families import complete
from hegemon.network.board import Board, Slot
from hegemon.network.events import NetworkEvents
from hegemon.network.faults import NetworkFault, parse_faults
from hegemon.network.swarm import Swarm
from hegemon.protocols import Timer
from tests.patience import PATIENCE, wait_for

SOURCE = str(Path(hegemon.__file__).parents[1])


def one_leader(swarm):
    view = swarm.look()
    return view if len(view.leaders) == 1 and view.members else None


def test_a_network_of_processes_heals_and_leaves_nothing_behind():
    with Swarm("timer", Timer(n=6, s=40), None, rate=50, patience=0.4) as swarm:
        view = wait_for(lambda: (v := one_leader(swarm)) and v.members == 6 and v)
        children = child_processes(swarm._fork_server.pid)
        assert len(children) == 6
        for kind, undo in (("kill", "restart"), ("pause", "resume"), ("cut", "heal")):
            (struck,) = swarm.strike(NetworkFault(0, kind, "leader"), view.leaders)
            view = wait_for(lambda: one_leader(swarm))
            assert view.leaders != [struck] and view.members == 5
            assert swarm.strike(NetworkFault(0, undo), view.leaders) == [struck]
            view = wait_for(lambda: (v := one_leader(swarm)) and v.members == 6 and v)
        assert len(swarm.strike(NetworkFault(0, "corrupt", 6), view.leaders)) == 6
        view = wait_for(lambda: one_leader(swarm))
        assert view.interactions > 100  # of the same look: at the next one another agent may lead as well
        assert all(recovery.healed is not None for recovery in swarm.recoveries)
        children |= child_processes(swarm._fork_server.pid)
    wait_for(lambda: not any(Path(f"/proc/{child}").exists() for child in children))


def all_told(swarm) -> bool:
    """Whether every member contacts exactly those who belong to the network."""
    view = swarm.look()
    heard = [slot.peers for member, slot in enumerate(view.slots) if member not in swarm.dead]
    return not swarm.coming and set(heard) == {swarm.n - len(swarm.away) - 1}


def test_members_leave_and_join_up_to_n():
    with Swarm("timer", Timer(n=5, s=30), complete(5), rate=40, patience=0.4, seed=1) as swarm:
        view = wait_for(lambda: (v := one_leader(swarm)) and v.members == 5 and v)
        (leader,) = swarm.strike(NetworkFault(0, "leave", "leader"), view.leaders)
        assert swarm.away == {leader} and leader not in swarm.look().leaders
        left = swarm.strike(NetworkFault(0, "leave", 5), view.leaders)
        assert len(left) == 2 and not swarm.strike(NetworkFault(0, "leave"), [])  # two stay
        view = wait_for(lambda: (v := one_leader(swarm)) and all_told(swarm) and v)
        assert view.members == 2
        assert swarm.strike(NetworkFault(0, "restart", 5), []) == []  # who has left comes back by joining alone
        assert set(swarm.strike(NetworkFault(0, "join", 9), [])) == {leader, *left} and not swarm.away
        back = swarm.strike(NetworkFault(0, "leave", 1), [])  # and at once, before anybody has looked
        assert swarm.strike(NetworkFault(0, "join", 1), []) == back
        wait_for(lambda: all_told(swarm) and (v := one_leader(swarm)) and v.members == 5)
        assert [one.fault.kind for one in swarm.recoveries] == ["leave", "leave", "join", "leave", "join"]
        assert all(one.healed is not None for one in swarm.recoveries)


def test_members_whom_nobody_tells_are_noticed(monkeypatch):
    monkeypatch.setattr(Board, "admit", lambda self, member, is_present: None)
    with Swarm("timer", Timer(n=3, s=30), complete(3), rate=40, seed=1) as swarm:
        wait_for(lambda: all_told(swarm))
        swarm.strike(NetworkFault(0, "leave"), [])
        stay, before = set(range(3)) - swarm.away, swarm.look().slots
        wait_for(lambda: all(swarm.look().slots[member].beat > before[member].beat + 0.3 for member in stay))
        assert not all_told(swarm)


def test_events_of_a_network_have_the_law_of_a_run():
    """After every interaction with probability R: the number of events of a kind is binomial."""

    def p_value(rates, kind, trials=400, interactions=1000) -> float:
        looks = [*range(0, interactions, 77), interactions]  # whenever they are looked for
        counts = []
        for seed in range(trials):
            events = NetworkEvents(rates, seed)
            counts.append(sum(fault.kind == kind for look in looks for fault in events.due(look, 0.0)))
        assert np.var(counts) == pytest.approx(np.mean(counts), rel=0.3)
        return stats.binomtest(sum(counts), trials * interactions, 1 / 100).pvalue

    assert p_value(["leave=1/100", "join=1/50"], "leave") > 1e-4
    assert p_value(["crash=1/100"], "kill") > 1e-4
    assert p_value(["leave=1/83", "join=1/50"], "leave") < 1e-4  # 1.2 times the rate
    first, second = (NetworkEvents(["leave=1/10", "join=1/20"], 7).due(10**4, 0.0) for _ in range(2))
    assert first == second and {fault.kind for fault in first} == {"leave", "join"}


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["trains", "--graph", "ring:6", "--rate", "leave=1/9"], "agents join and leave populations"),
        (["timer", "--graph", "ring:6", "--faults", "1 join 2"], "complete graphs only"),
        (["timer", "--n", "4", "--rate", "join=1/9,leader=1"], "is for simulated runs"),
        (["timer", "--n", "4", "--rate", "pause=1/9", "--rate", "wake=1/9"], "is for simulated runs"),
        (["timer", "--n", "4", "--rate", "leave=2"], "out of range"),
        (["timer", "--n", "4", "--rate", "10", "--rate", "20"], "given 2 numbers"),
    ],
)
def test_churn_that_cannot_be(arguments, sentence, capsys):
    assert main(["network", *arguments]) == 2
    assert sentence in capsys.readouterr().err.replace("\n", " ")


def child_processes(parent: int) -> set[int]:
    return {int(child) for child in Path(f"/proc/{parent}/task/{parent}/children").read_text().split()}


def test_the_command(capsys):
    arguments = ["network", "timer", "--n", "4", "--set", "s=30", "--rate", "50", "--for", "3", "--json"]
    assert main([*arguments, "--faults", "1 kill leader, 1.5 restart"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert content["members"] == 4 and content["interactions"] > 0
    assert {fault["kind"] for fault in content["faults"]} <= {"kill", "restart"}


def test_many_faults_are_told_together():
    found = of_one_kind([1.0, None, 3.0, 8.0])
    assert found == "4 times: one leader after 3.0 s (median), 8.0 s at most, 1 not yet at the end"
    assert of_one_kind([None]) == "1 time: 1 not yet at the end"


@pytest.mark.parametrize(
    "script", ["kill", "1 explode", "1 kill everybody", "1 kill 0", "1 kill 9", "-1 kill", "nan kill", "5 kill", "1"]
)
def test_scripts_that_are_not_understood(script):
    with pytest.raises(InvalidInput, match="--faults"):
        parse_faults(script, members=8, seconds=5.0)


def test_a_script():
    assert parse_faults("3 corrupt 10, 1.5 kill leader,", members=20, seconds=None) == [
        NetworkFault(1.5, "kill", "leader"),
        NetworkFault(3.0, "corrupt", 10),
    ]


@pytest.mark.parametrize(
    "arguments",
    [
        ["network", "cai-izumi-wada", "--n", "4"],
        ["network", "timer", "--n", "100000"],
        ["network", "timer", "--n", "4", "--rate", "0"],
        ["network", "timer", "--n", "4", "--for", "0"],
        ["network", "timer", "--n", "4", "--start", "safe"],
        ["agent", "timer"],
        ["agent", "timer", "--n", "4", "--peers", "/nowhere", "--key", "/nowhere", "--listen", "127.0.0.1:0"],
        ["agent", "timer", "--n", "4", "--set", "n=3"],
        ["agent", "nothing", "--n", "4", "--peers", "p", "--key", "k", "--listen", "127.0.0.1:0"],
        ["agent", "--n", "many"],
        ["agent", "--new-key", "/nowhere/key"],
    ],
)
def test_bad_input_is_one_sentence(arguments, capsys):
    assert main(arguments) == 2
    heard = capsys.readouterr()
    assert heard.out == "" and "Traceback" not in heard.err and heard.err.strip()


def test_an_agent_reloads_answers_and_leaves(tmp_path):
    assert main(["agent", "--new-key", str(tmp_path / "key")]) == 0
    assert (tmp_path / "key").stat().st_mode & 0o077 == 0
    (tmp_path / "peers").write_text("127.0.0.1:9\n")
    command = [sys.executable, "-m", "hegemon.cli.agent", "pairwise", "--n", "4", "--listen", "127.0.0.1:0"]
    command += ["--peers", str(tmp_path / "peers"), "--key", str(tmp_path / "key"), "--for", str(PATIENCE)]
    environment = os.environ | {"PYTHONPATH": SOURCE}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as agent:
        try:
            lines = [agent.stdout.readline() for _ in range(3)]
            assert "1 peers" in lines[1] and "elected: fence" in lines[2]
            url = lines[0].split()[-1]
            assert url.startswith("http://127.0.0.1:")
            health = json.load(urllib.request.urlopen(f"{url}/health", timeout=PATIENCE))
            assert health["leader"] is True and health["peers"] == 1 and health["state"] == {"leader": 1}
            metrics = urllib.request.urlopen(f"{url}/metrics", timeout=PATIENCE).read().decode()
            assert "hegemon_leader 1\n" in metrics and "# TYPE hegemon_responded_total counter" in metrics
            secret = (tmp_path / "key").read_text().strip()
            assert secret not in metrics + json.dumps(health)
            with pytest.raises(urllib.error.HTTPError, match="404"):
                urllib.request.urlopen(f"{url}/key", timeout=PATIENCE)
            (tmp_path / "peers").write_text("127.0.0.1:9\n127.0.0.1:19\n")
            agent.send_signal(signal.SIGHUP)
            assert "reloaded: 2 peers" in agent.stdout.readline()
            key = tmp_path / "key"
            for peers, held in (
                ("nonsense\n", secret),
                ("# nobody\n", secret),
                ("127.0.0.1:9\n", "no key"),
                (None, secret),
            ):
                (tmp_path / "peers").unlink()
                os.mkfifo(tmp_path / "peers") if peers is None else (tmp_path / "peers").write_text(peers)
                key.write_text(held)
                agent.send_signal(signal.SIGHUP)
                assert "not reloaded" in agent.stdout.readline()
            health = json.load(urllib.request.urlopen(f"{url}/health", timeout=PATIENCE))
            assert health["peers"] == 2  # all or nothing
            (tmp_path / "peers").unlink()
            (tmp_path / "peers").write_text("127.0.0.1:9\n")
            key.chmod(0o644)
            agent.send_signal(signal.SIGHUP)
            assert "chmod 600" in agent.stdout.readline() and "reloaded: 1 peers" in agent.stdout.readline()
            agent.send_signal(signal.SIGTERM)
            assert agent.wait(PATIENCE) == 143
        finally:
            agent.kill()


def test_a_slot_is_read_as_it_was_written(tmp_path):
    board = Board(tmp_path / "board", 2, create=True)
    news = Slot(*range(1, len(Slot._fields) + 1))
    board.write(1, news)
    assert board.read(1) == news and board.read(0) == Slot()
    board.close()
