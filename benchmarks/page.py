"""Frames per second of the page in Chromium, playing as fast as it goes: 2,000 drawn agents, 10^6 in a raster.

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
SECONDS = 6


def measure(browser, protocol, name, options) -> tuple[float, float]:
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
        page.close()
        return (later - frames) / elapsed, (further - step) / elapsed
    finally:
        watching.stop()


def main() -> None:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        for title, (make, name, options) in CASES.items():
            frames, steps = measure(browser, make(), name, options)
            print(f"{title}: {frames:.0f} frames/s, {steps:,.0f} steps/s", flush=True)
        browser.close()


if __name__ == "__main__":
    main()
