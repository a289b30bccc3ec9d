"""Live pages: steps per second in Node beside engine `agents` itself, in one run; size; and the time until a page is
open in Chromium. Both run the same steps from the same seed, and end with the same words of randomness.

python -m benchmarks.live
"""

import json
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np

import hegemon as hg
from hegemon.runs.record import RunRecord
from hegemon.web.live.page import LivePage, worker_script
from hegemon.web.session import Session

CASES = {
    "`pairwise`, n = 1,000": lambda: hg.Pairwise(n=1000),
    "`pairwise`, n = 10⁶": lambda: hg.Pairwise(n=10**6),
    "`time-optimal`, n = 1,000": lambda: hg.TimeOptimal(n=1000),
    "`fischer-jiang`, n = 1,000": lambda: hg.FischerJiang(n=1000),
    "`ring`, n = 40": lambda: hg.Ring(n=40),
}
STEPS = 20_000_000
ROUNDS = 3  # of both sides in turn; the fastest counts
SCRIPT = """
const { laboratory, greeting } = await open(given[0]);
laboratory.fields = greeting.fields;
laboratory.begin({ n: greeting.n, start: greeting.start, seed: 1n });
const { machine } = laboratory;
machine.advance(given[1]);
const before = process.cpuUsage().user;
machine.advance(2 * given[1]);
return [given[1] / (process.cpuUsage().user - before) * 1e6, Array.from(machine.view(Uint32Array, "rng", 8))];
"""
OPEN = """() => new Promise((done) => {
  const look = () => (window.hegemon?.ready ? done(performance.now()) : setTimeout(look, 5));
  look();
})"""


def in_node(laboratory: str) -> tuple[float, list[int]]:
    """Steps per second of processor time, and the generator at the end."""
    text = f"{worker_script()}\nconst given = {json.dumps([laboratory, STEPS])};\n"
    text += f"(async () => {{ {SCRIPT} }})().then((found) => console.log(JSON.stringify(found)));"
    done = subprocess.run([shutil.which("node") or "node", "-"], input=text, capture_output=True, text=True, check=True)
    speed, words = json.loads(done.stdout)
    return speed, words


def in_python(session: Session) -> tuple[float, list[int]]:
    engine = session.world.engine
    while engine.step < STEPS:
        engine.advance(STEPS)
    begin = time.process_time()
    while engine.step < 2 * STEPS:
        engine.advance(2 * STEPS)
    return STEPS / (time.process_time() - begin), engine.rng.view(np.uint32).tolist()


def seconds_to_open(page: LivePage) -> float:
    """From the beginning of the navigation to the first frame, the least of three."""
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        file = Path(folder) / "lab.html"
        page.save(file)
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        found = []
        for _ in range(3):
            context = browser.new_context(offline=True)
            tab = context.new_page()
            tab.goto(file.as_uri())
            found.append(tab.evaluate(OPEN) / 1000)
            context.close()
        browser.close()
        return min(found)


def main() -> None:
    print("| | steps/s in Python | steps/s in Node | ratio | page, kB | open after, s |")
    print("| --- | --- | --- | --- | --- | --- |")
    for title, make in CASES.items():
        protocol = make()
        page = LivePage(RunRecord(protocol, seed=1))
        native = node = 0.0
        for _ in range(ROUNDS):
            speed, words = in_python(Session(protocol, seed=1, engine="agents"))
            other, same = in_node(page.laboratory)
            assert words == same, f"{title}: the page made another run"
            native, node = max(native, speed), max(node, other)
        size, seconds = len(page.html().encode()) / 1000, seconds_to_open(page)
        print(
            f"| {title} | {native:.3g} | {node:.3g} | {node / native:.2f} | {size:,.0f} | {seconds:.2f} |", flush=True
        )


if __name__ == "__main__":
    main()
