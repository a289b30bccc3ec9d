"""Who is let in, and that the page cannot reach beyond the run it was opened for."""

import asyncio
import http.client
import json
import os
import signal
import subprocess
import sys
import urllib.parse
import urllib.request
import webbrowser
from pathlib import Path

import pytest

import hegemon as hg
from hegemon.errors import InvalidInput
from hegemon.hosts import is_loopback
from hegemon.runs.record import RunRecord
from hegemon.web.server import Doorkeeper, bind
from hegemon.web.watch import Builder, Watching
from tests.patience import PATIENCE, wait_for


@pytest.fixture(scope="module")
def watching():
    page = Watching(Builder(RunRecord(hg.Pairwise(n=6), seed=1))).start()
    yield page
    page.stop()


def get(watching, path, **headers):
    connection = http.client.HTTPConnection("127.0.0.1", watching.port, timeout=PATIENCE)
    connection.request("GET", path, headers=headers)
    answer = connection.getresponse()
    return answer.status, answer.read().decode()


def test_with_the_token_the_page_and_without_one_sentence(watching):
    status, text = get(watching, f"/{watching.token}/")
    assert status == 200 and "<canvas" in text
    for path in ("/", "/index.html", "/wrong/", f"/{watching.token[:-1]}/", "/wrong/film.html", "/%2e%2e/etc/passwd"):
        status, text = get(watching, path)
        assert status == 403 and text.count("\n") == 1 and "token" in text


@pytest.mark.parametrize("headers", [{"Host": "evil.example"}, {"Host": "evil.example:80"}, {"Origin": "http://evil"}])
def test_another_host_or_origin_is_refused_even_with_the_token(watching, headers):
    assert get(watching, f"/{watching.token}/", **headers)[0] == 403


@pytest.mark.parametrize("name", ["server.py", "../server.py", "..%2fserver.py", "page/main.js", "/etc/passwd", "x"])
def test_no_other_file_is_served(watching, name):
    status, text = get(watching, f"/{watching.token}/{name}")
    assert status == 404 and "nothing here" in text


async def talk(watching, origin, commands, path=None):
    from websockets.asyncio.client import connect

    address = f"ws://127.0.0.1:{watching.port}/{path or watching.token}/socket"
    said = []
    async with connect(address, origin=origin, max_size=None) as socket:
        for command in commands:
            await socket.send(command if isinstance(command, str) else json.dumps(command))
        async with asyncio.timeout(PATIENCE):
            while not said or "refused" not in said[-1]:
                message = await socket.recv()
                if isinstance(message, str):
                    said.append(message)
    return said


@pytest.mark.parametrize("origin", ["http://evil.example", None, "null"])
def test_a_socket_needs_the_pages_own_origin(watching, origin):
    with pytest.raises(Exception, match="403|reject"):
        asyncio.run(talk(watching, origin, []))


def test_a_socket_needs_the_token(watching):
    with pytest.raises(Exception, match="403|reject"):
        asyncio.run(talk(watching, f"http://127.0.0.1:{watching.port}", [], path="wrong"))


@pytest.mark.parametrize(
    "command",
    [
        "no json", "[1]", "{}", '{"do": 5}', "[" * 5000,
        {"do": "exec", "code": "1"},
        {"do": "start", "name": "all-leaders"},
        {"do": "start", "values": {"start": "/etc/passwd"}},
        {"do": "start", "values": {"start": "secret.json"}},
        {"do": "start", "values": {"protocol": "secret.py:Mine"}},
        {"do": "start", "values": ["n"]},
        {"do": "start", "values": {"n": 7}},
        {"do": "start", "values": {"parameters": {"leader": ["1"]}}},
        {"do": "choices", "protocol": "secret.py:Mine"},
        {"do": "start", "states": "secret.json"},
        {"do": "start", "states": [{"leader": 9}] * 6},
        {"do": "set", "agent": 0, "field": "__class__", "value": 1},
        {"do": "set", "agent": 0, "field": "leader", "value": "__import__('os')"},
        {"do": "set", "agent": -1, "field": "leader", "value": 1},
        {"do": "set", "agent": 0, "field": "leader", "value": [1]},
        {"do": "corrupt", "agents": 10**30},
        {"do": "step", "count": 10**40},
        {"do": "step", "count": "x"},
        {"do": "goto"},
        {"do": "rate", "rate": "nan", "agents": 1},
        {"do": "state", "agent": 10**9},
    ],
)  # fmt: skip
def test_a_command_that_makes_no_sense_is_refused_and_the_run_goes_on(watching, command, tmp_path, monkeypatch):
    origin = f"http://127.0.0.1:{watching.port}"
    assert "refused" in asyncio.run(talk(watching, origin, [command]))[-1]
    assert get(watching, f"/{watching.token}/disturbances.json") == (200, '{"disturbances":[]}')


def test_the_doorkeeper():
    private, public = Doorkeeper("127.0.0.1", 80, "t"), Doorkeeper("0.0.0.0", 80, "t")
    assert private.admits({"host": "localhost:80"}, "t") and private.admits({"host": "[::1]:80"}, "t")
    assert not private.admits({"host": "192.168.0.7:80"}, "t") and not private.admits({}, "t")
    assert public.admits({"host": "192.168.0.7:80"}, "t") and not public.admits({"host": "evil.example"}, "t")
    assert not public.admits({"host": "192.168.0.7:80"}, "x")
    assert not public.admits({"host": "192.168.0.7:80"}, "t", is_socket=True)
    assert is_loopback("localhost") and is_loopback("::1") and not is_loopback("0.0.0.0")


def test_the_token_is_in_no_argument_of_a_browser(monkeypatch):
    """Arguments of processes are public. The browser gets a file that only this user may read."""
    arguments = []
    monkeypatch.setattr(webbrowser, "open", arguments.append)
    page = hg.watch(hg.Pairwise(n=5))
    file = Path(urllib.request.url2pathname(urllib.parse.urlparse(arguments[0]).path))
    assert page.token not in arguments[0] and file.stat().st_mode & 0o777 == 0o600
    assert f'url={page.url}"' in file.read_text()
    page.stop()
    assert not file.exists()


def test_nothing_else_opens_a_browser():
    """Every other way to a browser would show an address to all users of the machine."""
    source = Path(hg.__file__).parent
    named = [file.name for file in source.rglob("*.py") if "webbrowser" in file.read_text()]
    assert named == ["opening.py"]


def test_bad_input_is_refused_before_a_page_opens():
    with pytest.raises(InvalidInput, match="no start"):
        Watching(Builder(RunRecord(hg.Pairwise(n=6), start="nowhere")))
    with pytest.raises(InvalidInput, match="cannot listen"):
        bind("256.1.1.1", 0)


class Mine(hg.Pairwise):
    """Defined where no other process finds it by name."""


def test_a_protocol_of_a_notebook_runs_in_a_thread():
    Mine.__module__ = "__main__"
    builder = Builder(RunRecord(Mine(n=5), seed=1))
    assert not builder.can_travel
    page = Watching(builder).start()
    assert get(page, f"/{page.token}/")[0] == 200 and page.url in page._repr_html_()
    page.stop()


def test_a_script_without_a_guard_is_not_run_again(tmp_path):
    script = tmp_path / "mine.py"
    script.write_text("import hegemon as hg\nprint('once')\nhg.watch(hg.Pairwise(n=5), browser=False).stop()\n")
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=PATIENCE)
    assert done.stdout == "once\n" and not done.stderr


def test_the_server_ends_with_its_terminal():
    command = [sys.executable, "-c", "from hegemon.cli.main import main; raise SystemExit(main())"]
    process = subprocess.Popen(
        [*command, "watch", "pairwise", "--n", "5", "--no-browser"],
        stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )  # fmt: skip
    try:
        lines = [process.stdout.readline() for _ in range(3)]
        assert "watch at http://127.0.0.1:" in lines[0] and "ssh -N -L" in lines[1]
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE) in (0, 130)
    finally:
        process.kill()


def test_a_busy_simulation_ends_with_a_server_that_is_killed(tmp_path):
    """Even by a signal that nobody can answer. The simulation would be busy for longer than the test waits."""
    place = tmp_path / "process"
    program = (
        f"from hegemon.web.watch import Watching\nfrom tests.web.stuck import Stuck\nWatching(Stuck({str(place)!r}))"
    )
    server = subprocess.Popen([sys.executable, "-c", program], cwd=Path(__file__).parents[2])
    try:
        wait_for(place.exists)
        simulation = int(place.read_text())
        assert is_running(simulation)
    finally:
        server.kill()
        server.wait()
    wait_for(lambda: not is_running(simulation))


def is_running(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
