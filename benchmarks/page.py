"""Frames per second of the page in Chromium, playing as fast as it goes: 2,000 drawn agents, 10^6 in a raster.

Beside it the least time that one drawing took, which other work on the machine disturbs less.

python -m benchmarks.page
"""

import shutil
import time

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
DRAW = """() => {
  let least = Infinity;
  for (let k = 0; k < 60; k++) {
    const begin = performance.now();
    window.hegemon.draw();
    least = Math.min(least, performance.now() - begin);
  }
  return least;
}"""


def measure(browser, protocol, name, options) -> tuple[float, float, float]:
    watching = Watching(Builder(protocol, name, {"seed": 1, **options})).start()
    try:
        page = browser.new_page(viewport={"width": 1280, "height": 860})
        page.goto(watching.url)
        page.wait_for_function("() => window.hegemon && window.hegemon.ready && window.hegemon.values", timeout=300_000)
        page.evaluate("() => { const s = document.getElementById('speed'); s.value = 7; s.oninput(); }")
        page.click("#play")
        page.wait_for_function("() => window.hegemon.playing && window.hegemon.step > 0", timeout=300_000)
        time.sleep(2)
        frames, step, begin = *page.evaluate("[hegemon.frames, hegemon.step]"), time.perf_counter()
        time.sleep(SECONDS)
        later, further = page.evaluate("[hegemon.frames, hegemon.step]")
        elapsed = time.perf_counter() - begin
        drawing = page.evaluate(DRAW)
        page.close()
        return (later - frames) / elapsed, (further - step) / elapsed, drawing
    finally:
        watching.stop()


def main() -> None:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        for title, (make, name, options) in CASES.items():
            frames, steps, drawing = measure(browser, make(), name, options)
            print(f"{title}: {frames:.0f} frames/s, {steps:,.0f} steps/s, {drawing:.1f} ms to draw", flush=True)
        browser.close()


if __name__ == "__main__":
    main()
