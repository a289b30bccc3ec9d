"""The gallery: one small film per protocol of the catalogue, as animated pictures in docs/gallery.

    python -m benchmarks.gallery [NAME …]

writes docs/gallery/NAME.gif, docs/gallery.md, and docs/election.gif, with which the README opens; `birds` is of
docs/worlds.md. The pictures are what `hegemon watch` shows; the command under each opens it.
"""

import shlex
import sys
from pathlib import Path

from hegemon.graphs.families import parse
from hegemon.protocols import CATALOGUE
from hegemon.web.animation import save_animation
from hegemon.web.film import shoot
from hegemon.web.session import Session

DOCS = Path(__file__).parents[1] / "docs"
SEED, SIZE, FRAMES = 3, 260, 36
SETTINGS = {  # what shows a protocol best; n = 24 where nothing is said
    "ring": {"n": 24},
    "odd-ring": {"n": 25},
    "herman": {"n": 25},
    "biased-herman": {"n": 25},
    "speed-reducer": {"n": 25, "start": "normal"},
    "beauquier": {"n": 25},
    "huang": {"n": 23},
    "leader-ring-3": {"n": 5},
    "pairwise": {"n": 60},
    "epidemic": {"graph": "torus:10x10"},
    "approximate-majority": {"n": 80},
    "exact-majority": {"n": 60},
    "time-optimal": {"n": 60},
    "cai-izumi-wada": {"n": 10},
    "trains": {"graph": "grid:6x6", "start": "no-leader"},
    "bfw": {"graph": "grid:8x8"},
    "leader-tree": {"n": 24},
    "walks": {"graph": "torus:6x6"},
    "flood-max": {"graph": "grid:6x6", "parameters": {"diameter": 10}},
    "referees": {"n": 60},
    "afek-gafni": {"n": 24},
    "sublinear-ranking": {"n": 12},
    "birds": {  # of docs/worlds.md
        "protocol": "threshold", "n": 1000, "parameters": {"marked": 100}, "scheduler": "moving:40x40", "frames": 12,
    },
}  # fmt: skip


def film_of(name: str, seconds: float = 20.0):
    chosen = dict(SETTINGS.get(name, {}))
    graph, parameters = chosen.get("graph"), chosen.get("parameters", {})
    n = parse(graph, None, None).n if graph else chosen.get("n", 24)
    protocol = CATALOGUE[chosen.get("protocol", name)](n=n, **parameters)
    session = Session(protocol, graph=graph, start=chosen.get("start"), seed=SEED, scheduler=chosen.get("scheduler"))
    return shoot(session, seconds=seconds)


def main() -> None:
    names = sys.argv[1:] or [*CATALOGUE, "birds"]
    (DOCS / "gallery").mkdir(exist_ok=True)
    for name in names:
        film = film_of(name)
        save_animation(film, DOCS / "gallery" / f"{name}.gif", SIZE, SETTINGS.get(name, {}).get("frames", FRAMES))
        if name == "ring":
            save_animation(film, DOCS / "election.gif")
        print(f"{name}: {(DOCS / 'gallery' / f'{name}.gif').stat().st_size / 1000:.0f} kB", flush=True)
    write_page()


def write_page() -> None:
    """The page lists every picture that is there."""
    lines = [
        "---\nhide: [toc]\n---\n",
        "# Gallery",
        "",
        "What `hegemon watch` shows, one protocol after the other. Leaders are golden with a star;",
    ]
    lines += ["hues are classes of agents, shades the values of timers and counters, dots and rims small fields."]
    lines += ["Made by `python -m benchmarks.gallery`.", "", '<div class="grid cards" markdown>', ""]
    for name, protocol in CATALOGUE.items():
        if (DOCS / "gallery" / f"{name}.gif").exists():
            lines += [f"-   ![{name}](gallery/{name}.gif)", "", f"    **[{name}](catalogue/{name}.md)**", ""]
            lines += [f"    {protocol.summary()}", "", "    ```sh", f"    {command_of(name)}", "    ```", ""]
    (DOCS / "gallery.md").write_text("\n".join([*lines, "</div>", ""]))


def command_of(name: str) -> str:
    chosen = SETTINGS.get(name, {})
    words = ["hegemon", "watch", name]
    words += ["--graph", chosen["graph"]] if "graph" in chosen else ["--n", str(chosen.get("n", 24))]
    for key, value in chosen.get("parameters", {}).items():
        words += ["--set", f"{key}={value}"]
    words += ["--start", chosen["start"]] if "start" in chosen else []
    return shlex.join([*words, "--seed", str(SEED)])


if __name__ == "__main__":
    main()
