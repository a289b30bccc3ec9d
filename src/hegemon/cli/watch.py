"""`hegemon watch`: a page on which one sees a protocol work, disturbs it and steps through it."""

import json
import sys
from pathlib import Path
from typing import Annotated

from hegemon.cli import options
from hegemon.cli.common import build, console, maker
from hegemon.cli.options import integer, option, path
from hegemon.cli.progress import Progress
from hegemon.errors import InvalidInput
from hegemon.models.start_files import located


def watch_protocol(
    protocol: Annotated[str | None, options.A_PROTOCOL] = None,
    n: options.N = None,
    set_: options.Set = None,
    graph: options.Graph = None,
    start: Annotated[
        str | None,
        option("--start", help="a named start, a file, a story of verify", metavar="START", panel=options.POPULATION),
    ] = None,
    wake: Annotated[
        str | None, option("--wake", help="all, one-by-one, random or a file", metavar="NAME", panel=options.MESSAGES)
    ] = None,
    seed: options.Seed = 0,
    engine: Annotated[str, option("--engine", help="auto, or the name of an engine", metavar="NAME")] = "auto",
    save: Annotated[str | None, path("--save", "no page: a film (.html, .gif, .mp4, .png)")] = None,
    until: Annotated[
        str | None, option("--until", help="where a film ends: a set, or steps:K", metavar="STOP")
    ] = None,
    max_steps: Annotated[int | None, integer("--max-steps", "the longest a film may be")] = None,
    no_browser: Annotated[bool, option("--no-browser", help="print the address and open nothing")] = False,
    host: Annotated[str, option("--host", help="beyond loopback, others can connect", metavar="HOST")] = "127.0.0.1",
    port: Annotated[int, integer("--port", "0 takes a free one", high=65535)] = 0,
    quiet: options.Quiet = False,
):  # fmt: skip
    """Watch a run in the browser: play, step, go back, disturb; or save it as a film without one."""
    from hegemon.hosts import is_loopback
    from hegemon.web.film import shoot
    from hegemon.web.watch import Builder, Watching, check_film_path, save_film

    name, n, graph, set_ = from_story(protocol, n, graph, set_, start)
    chosen = make_watched(name, n, graph, set_, seed)
    course = {"graph": graph, "start": start, "wake": wake, "seed": seed, "engine": engine}
    if chosen.model == "messages" and start:
        raise InvalidInput(f"--start means nothing to {chosen.id} ({chosen.model} model); use --wake")
    if chosen.model != "messages" and wake:
        raise InvalidInput(f"--wake means nothing to {chosen.id} ({chosen.model} model); use --start")
    builder = Builder(chosen, name, course)
    if save:
        check_film_path(save)
        with Progress(quiet=quiet) as shown:
            film = shoot(builder(), until, max_steps, progress=lambda step: shown.show("filming, step", step))
            shown.show("writing the film")
            save_film(film, save)
        size = Path(save).stat().st_size
        end = f"{chosen.time_unit[:-1]} {film['heads'][-1]['step']:,}"
        console().print(f"{save}: {len(film['heads'])} frames to {end}, {size / 1000:,.0f} kB", soft_wrap=True)
        if "unfinished" in film:
            print(film["unfinished"], file=sys.stderr)
        return
    if until or max_steps:
        raise InvalidInput("--until and --max-steps say where a film ends: give --save FILE, or leave them away")
    serve_page(Watching(builder, host, port), is_loopback(host), no_browser)


def make_watched(name: str, n, graph: str | None, settings, seed: int):
    """The protocol. Whether there are too many agents to be watched is known before a graph is made of them."""
    from hegemon.graphs.families import node_count
    from hegemon.web.layout import LARGEST_RASTER, require_watchable

    agents = node_count(graph, n) if graph else n
    if agents is not None and agents > LARGEST_RASTER:
        require_watchable(maker(name, settings)(agents), graph)
    return build(name, n, graph, settings, seed)[0]


def serve_page(page, is_private: bool, no_browser: bool) -> None:
    """Say where the page is, open it, and stay until the terminal ends."""
    import webbrowser

    def announce():
        print(f"watch at {page.url}")
        if not is_private:
            print(f"listening on {page.host}: whoever has this address, token included, can watch and steer the run; "
                  "it is not encrypted", file=sys.stderr)  # fmt: skip
        elif no_browser:
            print(
                f"from another machine: ssh -N -L {page.port}:127.0.0.1:{page.port} THIS_MACHINE, then the same address"
            )
        print("Ctrl-C ends it", flush=True)
        if not no_browser:
            webbrowser.open(page.url)

    page.run(announce)


def from_story(protocol, n, graph, settings, start):
    """A story of `verify` says which protocol it is about, with which parameters and on which graph."""
    content = {}
    if start and str(start).lower().endswith(".json") and located(start).is_file():
        try:
            content = json.loads(located(start).read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):
            content = {}  # the reader of starts says what is wrong
    if not isinstance(content, dict):
        content = {}
    if protocol is None:
        protocol = content.get("protocol")
        if not isinstance(protocol, str):
            raise InvalidInput("which protocol? Give its name, or a story that verify has written: --start story.json")
    agents = content.get("agents")
    if n is None and graph is None:
        if isinstance(content.get("graph"), str):
            graph = content["graph"]
        elif isinstance(agents, list):
            n = len(agents)
    given = {text.partition("=")[0].strip() for text in settings or ()}
    parameters = content.get("parameters") if isinstance(content.get("parameters"), dict) else {}
    extra = [f"{key}={value}" for key, value in parameters.items() if key not in given and value is not None]
    return protocol, n, graph, [*(settings or ()), *extra]
