"""Frames per second of the page in Chromium, playing as fast as it goes: 2,000 drawn agents, 10^6 in a raster.

Beside it what other work on the machine disturbs less: the CPU milliseconds per frame of the simulation (which makes
steps for as long as it is not asked for a frame, so this is what is left of a frame's time, not what a frame needs), of
the server and of all of Chromium, and the least time that one drawing took.

python -m benchmarks.page
"""

import os
import shutil
import time
from pathlib import Path

import hegemon as hg
from hegemon.web.watch import Builder, Watching

FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync"]
CASES = {
    "2,000 drawn agents": (lambda: hg.TimeOptimal(n=2000), "time-optimal", {}),
    "a ring of 2,000": (lambda: hg.Ring(n=2000), "ring", {}),
    "a raster of 10^6": (lambda: hg.Pairwise(n=10**6), "pairwise", {}),
    "a raster of 10^6 records": (lambda: hg.TimeOptimal(n=10**6), "time-optimal", {}),
}
SECONDS = 5
SIDES = ("simulation", "server", "Chromium")
DRAW = """() => {
  let least = Infinity;
  for (let k = 0; k < 60; k++) {
    const begin = performance.now();
    window.hegemon.draw();
    least = Math.min(least, performance.now() - begin);
  }
  return least;
}"""


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


def measure(browser, protocol, name, options) -> dict[str, float]:
    watching = Watching(Builder(protocol, name, {"seed": 1, **options})).start()
    try:
        page = browser.new_page(viewport={"width": 1280, "height": 860})
        page.goto(watching.url)
        page.wait_for_function("() => window.hegemon && window.hegemon.ready && window.hegemon.values", timeout=300_000)
        page.evaluate("() => { const s = document.getElementById('speed'); s.value = 7; s.oninput(); }")
        page.click("#play")
        page.wait_for_function("() => window.hegemon.playing && window.hegemon.step > 0", timeout=300_000)
        time.sleep(2)

        def looked():
            costs = cpu_of(watching._worker.pid), time.process_time(), cpu_of_browsers()
            return (*page.evaluate("[hegemon.frames, hegemon.step]"), time.perf_counter(), *costs)

        before = looked()
        time.sleep(SECONDS)
        frames, steps, elapsed, *costs = (b - a for a, b in zip(before, looked(), strict=True))
        drawing = page.evaluate(DRAW)
        page.close()
        per_frame = {kind: 1000 * cost / frames for kind, cost in zip(SIDES, costs, strict=True)}
        return {"frames": frames / elapsed, "steps": steps / elapsed, "drawing": drawing, **per_frame}
    finally:
        watching.stop()


def main() -> None:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        for title, (make, name, options) in CASES.items():
            found = measure(browser, make(), name, options)
            costs = ", ".join(f"{side} {found[side]:.1f}" for side in SIDES)
            print(f"{title}: {found['frames']:.0f} frames/s, {found['steps']:,.0f} steps/s, "
                  f"{found['drawing']:.1f} ms to draw; CPU ms per frame: {costs}", flush=True)  # fmt: skip
        browser.close()


if __name__ == "__main__":
    main()
