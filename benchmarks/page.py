"""Frames per second of the page in Chromium, playing as fast as it goes: 2,000 drawn agents, 10^6 in a raster.

Beside it what other work on the machine disturbs less: the CPU milliseconds per frame of the simulation (which makes
steps for as long as it is not asked for a frame, so this is what is left of a frame's time, not what a frame needs), of
the server and of all of Chromium, and the least time that one drawing took.

Chromium is driven by hand: Playwright has every message of a page's socket repeated to itself as text, which at 10^6
bytes per frame costs more than the page.

python -m benchmarks.page [WORD OF A TITLE]…
"""

import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import hegemon as hg
from hegemon.runs.record import RunRecord
from hegemon.web.watch import Builder, Watching

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
FLAGS += ["--disable-sync", "--remote-debugging-port=0", "--window-size=1280,860"]
CASES = {
    "2,000 drawn agents": (lambda: hg.TimeOptimal(n=2000), "time-optimal", {}),
    "a ring of 2,000": (lambda: hg.Ring(n=2000), "ring", {}),
    "a raster of 10^6": (lambda: hg.Pairwise(n=10**6), "pairwise", {}),
    "a raster of 10^6 records": (lambda: hg.TimeOptimal(n=10**6), "time-optimal", {}),
}
SECONDS = 5
SIDES = ("simulation", "server", "Chromium")
SPEED = "(() => { const s = document.getElementById('speed'); s.value = 7; s.oninput(); })()"
DRAW = """(() => {
  let least = Infinity;
  for (let k = 0; k < 60; k++) {
    const begin = performance.now();
    window.hegemon.draw();
    least = Math.min(least, performance.now() - begin);
  }
  return least;
})()"""
PATIENCE = 300  # seconds


class Tab:
    """A page in a Chromium of its own, which can be asked for the value of an expression, and nothing else."""

    def __init__(self, url: str, folder: str):
        from websockets.sync.client import connect

        command = [shutil.which("chromium") or "chromium", *FLAGS, f"--user-data-dir={folder}", "about:blank"]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        place, deadline = Path(folder, "DevToolsActivePort"), time.monotonic() + PATIENCE
        while not (place.exists() and len(place.read_text().split()) == 2) and time.monotonic() < deadline:
            time.sleep(0.05)
        port, path = place.read_text().split()
        self._socket, self._number, self._session = connect(f"ws://127.0.0.1:{port}{path}", max_size=None), 0, None
        target = self._say("Target.createTarget", url=url)["targetId"]
        self._session = self._say("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]

    def _say(self, method: str, **parameters) -> dict:
        self._number += 1
        said = {"id": self._number, "method": method, "params": parameters}
        self._socket.send(json.dumps(said | ({"sessionId": self._session} if self._session else {})))
        while True:
            heard = json.loads(self._socket.recv(PATIENCE))
            if heard.get("id") == self._number:
                return heard["result"]

    def value(self, expression: str):
        answer = self._say("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"]["exception"]["description"])
        return answer["result"].get("value")

    def wait(self, expression: str) -> None:
        deadline = time.monotonic() + PATIENCE
        while not self.value(expression):
            if time.monotonic() > deadline:
                raise TimeoutError(expression)
            time.sleep(0.05)


@contextlib.contextmanager
def opened(url: str):
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        tab = Tab(url, folder)
        try:
            yield tab
        finally:
            tab.process.terminate()
            tab.process.wait()


def cpu_of(process: int) -> float:
    """CPU seconds of a process so far."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def cpu_of_browsers() -> float:
    """CPU seconds of every process of the browser that this one has started."""
    parents, total = {}, 0.0
    for place in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(place.parent.name)] = int(place.read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
    for process in parents:
        ancestor = process
        while ancestor in parents and ancestor != os.getpid():
            ancestor = parents[ancestor]
        try:
            if ancestor == os.getpid() and "chromium" in Path(f"/proc/{process}/cmdline").read_text():
                total += cpu_of(process)
        except OSError:
            continue
    return total


def measure(protocol, name, options) -> dict[str, float]:
    watching = Watching(Builder(RunRecord(protocol, seed=1, **options))).start()
    try:
        with opened(watching.url) as tab:
            tab.wait("Boolean(window.hegemon && window.hegemon.ready && window.hegemon.values)")
            tab.value(SPEED)
            tab.value("document.getElementById('play').click()")
            tab.wait("window.hegemon.playing && window.hegemon.step > 0")
            time.sleep(2)

            def looked():
                costs = cpu_of(watching._worker.pid), time.process_time(), cpu_of_browsers()
                return (*tab.value("[hegemon.frames, hegemon.step]"), time.perf_counter(), *costs)

            before = looked()
            time.sleep(SECONDS)
            frames, steps, elapsed, *costs = (b - a for a, b in zip(before, looked(), strict=True))
            drawing = tab.value(DRAW)
        per_frame = {kind: 1000 * cost / frames for kind, cost in zip(SIDES, costs, strict=True)}
        return {"frames": frames / elapsed, "steps": steps / elapsed, "drawing": drawing, **per_frame}
    finally:
        watching.stop()


def main(only: list[str]) -> None:
    for title, (make, name, options) in CASES.items():
        if only and not any(word in title for word in only):
            continue
        found = measure(make(), name, options)
        costs = ", ".join(f"{side} {found[side]:.1f}" for side in SIDES)
        print(f"{title}: {found['frames']:.0f} frames/s, {found['steps']:,.0f} steps/s, "
              f"{found['drawing']:.1f} ms to draw; CPU ms per frame: {costs}", flush=True)  # fmt: skip


if __name__ == "__main__":
    main(sys.argv[1:])
