"""Screenshots of the page of every protocol of the catalogue, on a desk and on a phone, light and dark.

    python -m benchmarks.screens [NAME …] [--to FOLDER]

writes FOLDER/NAME-WIDTH-SCHEME.png (default: build/screens) and contact sheets, sheet-WIDTH-SCHEME-K.png.
The runs are those of the gallery, after a few rounds.
"""

import argparse
from pathlib import Path

from tests.web.browser import chromium, open_page, until

from benchmarks.gallery import SEED, SETTINGS
from hegemon.graphs.families import parse
from hegemon.protocols import CATALOGUE
from hegemon.runs.record import RunRecord
from hegemon.web.watch import Builder, Watching

VIEWS = {"1280": (1280, 800), "390": (390, 844)}
SCHEMES = ("light", "dark")
LARGE = {"time-optimal-1e9": ("time-optimal", 10**9), "pairwise-1e5": ("pairwise", 10**5)}  # bands, and a raster
COLUMNS, ROWS = {"1280": 3, "390": 7}, 2  # of a contact sheet
ROUNDS = 3


def record_of(name: str) -> RunRecord:
    if name in LARGE:
        kind, n = LARGE[name]
        return RunRecord(CATALOGUE[kind](n=n), seed=SEED)
    chosen = SETTINGS.get(name, {})
    n = parse(chosen["graph"], None, None).n if "graph" in chosen else chosen.get("n", 24)
    protocol = CATALOGUE[name](n=n, **chosen.get("parameters", {}))
    return RunRecord(protocol, graph=chosen.get("graph"), start=chosen.get("start"), seed=SEED)


def shoot(browser, name: str, folder: Path) -> None:
    watching = Watching(Builder(record_of(name))).start()
    try:
        page = open_page(browser, watching.url, viewport={"width": 1280, "height": 800})
        page.click("#introclose")
        for _ in range(ROUNDS):
            page.evaluate("window.hegemon.frames0 = window.hegemon.step")
            page.keyboard.press("Shift+ArrowRight")
            until(page, "h.step > h.frames0 && !h.head.jump || h.head.silent")
        page.keyboard.press("ArrowRight")
        page.wait_for_timeout(600)  # messages have travelled
        for width, (across, down) in VIEWS.items():
            for scheme in SCHEMES:
                page.set_viewport_size({"width": across, "height": down})
                page.emulate_media(color_scheme=scheme)
                page.wait_for_timeout(150)
                page.screenshot(path=folder / f"{name}-{width}-{scheme}.png", full_page=width == "390")
        if page.errors:
            print(f"{name}: {page.errors}")
        page.close()
    finally:
        watching.stop()


def write_sheets(names: list[str], folder: Path) -> None:
    from PIL import Image

    for width, (across, down) in VIEWS.items():
        columns = COLUMNS[width]
        height = down if width == "1280" else 3 * down
        for scheme in SCHEMES:
            for k in range(0, len(names), columns * ROWS):
                sheet = Image.new("RGB", (columns * across, ROWS * height), "#808080")
                for place, name in enumerate(names[k : k + columns * ROWS]):
                    shown = Image.open(folder / f"{name}-{width}-{scheme}.png").crop((0, 0, across, height))
                    sheet.paste(shown, (place % columns * across, place // columns * height))
                sheet.resize((sheet.width // 2, sheet.height // 2)).save(
                    folder / f"sheet-{width}-{scheme}-{k // (columns * ROWS)}.png"
                )


def main() -> None:
    reading = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    reading.add_argument("names", nargs="*", default=[*CATALOGUE, *LARGE])
    reading.add_argument("--to", type=Path, default=Path("build/screens"))
    given = reading.parse_args()
    given.to.mkdir(parents=True, exist_ok=True)
    with chromium() as browser:
        for name in given.names:
            shoot(browser, name, given.to)
            print(name, flush=True)
    write_sheets(given.names, given.to)


if __name__ == "__main__":
    main()
