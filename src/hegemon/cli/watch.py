"""`hegemon watch`: a page on which one sees a protocol work, disturbs it and steps through it."""

import sys
from pathlib import Path
from typing import Annotated, Any

from hegemon.cli import options
from hegemon.cli.common import console
from hegemon.cli.options import integer, option, path
from hegemon.cli.progress import Progress
from hegemon.display import counted
from hegemon.errors import InvalidInput


@options.of_run(
    "graph", "start", "wake", "identifiers", "delay", "order", "loss", "duplicate", "crashes", "seed", "engine",
    "scheduler", "faults", "disturbances", "rates",
)  # fmt: skip
def watch_protocol(
    asked: dict[str, Any],
    save: Annotated[
        str | None, path("--save", "no page: a film (.html, .gif, .mp4) or a picture (.png, .svg, .pdf)")
    ] = None,
    live: Annotated[
        str | None, path("--live", "no server: a page that runs by itself (.html); a folder: of every protocol")
    ] = None,
    as_: Annotated[
        str, option("--as", help="which picture: moment (the end), strip, or space-time (default)", metavar="KIND")
    ] = "",
    moments: Annotated[str, option("--moments", help="the moments of a strip: 0,100,1000", metavar="STEPS")] = "",
    sorted_: Annotated[
        str, option("--sorted", help="agents of a space-time diagram: number, near, distance:V", metavar="ORDER")
    ] = "number",
    write: Annotated[str, option("--write", help="text on every agent: number, label or a field", metavar="NAME")] = "",
    dark: Annotated[bool, option("--dark", help="a film or picture on a dark ground")] = False,
    until: Annotated[
        str | None, option("--until", help="where a film ends: a set, or steps:K", metavar="STOP")
    ] = None,
    max_steps: Annotated[int | None, integer("--max-steps", "the longest a film may be")] = None,
    no_browser: Annotated[bool, option("--no-browser", help="print the address and open nothing")] = False,
    each: Annotated[
        bool, option("--each", help="every visitor has a run of their own (at most 40, of 20,000 agents)")
    ] = False,
    host: Annotated[str, option("--host", help="beyond loopback, others can connect", metavar="HOST")] = "127.0.0.1",
    port: Annotated[int, integer("--port", "0 takes a free one", high=65535)] = 0,
    quiet: options.Quiet = False,
) -> None:  # fmt: skip
    """Watch a run in the browser: play, step, go back, disturb; or save a film or pictures without one."""
    from hegemon.experiments.request import NAMING, make_record, with_story
    from hegemon.hosts import is_loopback
    from hegemon.models.expressions import whole_number
    from hegemon.runs.rates import churns
    from hegemon.web.watch import Builder, Watching, check_film_path, picture_kind, save_film

    if live and not asked.get("protocol") and not live.lower().endswith((".html", ".htm")):
        if given := [name for name, value in asked.items() if value]:
            raise InvalidInput(f"a folder of live pages is made without {given[0]}; name a protocol, or leave it out")
        return save_shelf(live, quiet)
    record = make_record(with_story(asked), naming=NAMING)
    if live:
        others = {"save": save, "as": as_, "moments": moments, "write": write, "until": until, "max-steps": max_steps}
        others |= {"sorted": sorted_ != "number", "each": each, "port": port, "host": host != "127.0.0.1"}
        if given := [f"--{name}" for name, value in others.items() if value]:
            raise InvalidInput(f"--live makes a page that runs by itself, without {given[0]}; leave {given[0]} out")
        return save_live(record, live, dark, quiet)
    builder = Builder(record)
    if save:
        from hegemon.web.frames import greeting
        from hegemon.web.spacetime import NO_COLUMNS, ordered, require_columns
        from hegemon.web.stills import film_for, require_strip

        if each:
            raise InvalidInput("--each is for a page with visitors; leave it out, or leave --save out")
        check_film_path(save)
        steps = [whole_number(part, "a step of --moments") for part in moments.split(",") if part.strip()]
        kind = picture_kind(save, as_, steps)
        require_strip(len(set(steps)))
        if kind == "space-time":
            require_columns(record.protocol.n)
        with Progress(quiet=quiet) as shown:
            session = builder()
            session.write(write)
            if kind == "space-time" and (churns(session.given) or churns(session.rates)):
                raise InvalidInput(NO_COLUMNS)
            if sorted_ != "number":
                ordered(greeting(session), sorted_)  # refused before the film is made
            film = film_for(
                session, kind, steps, until=until, max_steps=max_steps,
                progress=lambda step: shown.show("filming, step", step),
            )  # fmt: skip
            shown.show("writing the film")
            frames = save_film(film, save, kind, sorted_, dark or None)
        size = Path(save).stat().st_size
        end = f"{record.protocol.time_unit[:-1]} {film['heads'][-1]['step']:,}"
        console().print(f"{save}: {counted(frames, 'frame')} to {end}, {size / 1000:,.0f} kB", soft_wrap=True)
        if "unfinished" in film:
            print(film["unfinished"], file=sys.stderr)
        return
    if as_ or moments or dark or write or sorted_ != "number":
        raise InvalidInput("--as, --moments, --sorted, --write and --dark are for what is saved: give --save FILE")
    if until or max_steps:
        raise InvalidInput("--until and --max-steps say where a film ends: give --save FILE, or leave them away")
    with Progress(quiet=quiet):  # the first time, code is compiled
        page = Watching(builder, host, port, each)
    serve_page(page, is_loopback(host), no_browser)


def save_shelf(folder: str, quiet: bool) -> None:
    """Write a live page for every protocol of the catalogue that can be one."""
    from hegemon.web.live.shelf import make_shelf

    with Progress(quiet=quiet) as shown:
        live, others = make_shelf(folder, shown.show)
    print(f"{folder}: {counted(live, 'live page')}, and index.html, which says why the others ({others}) have none")


def save_live(record: Any, path: str, dark: bool, quiet: bool) -> None:
    """Write a page that runs by itself."""
    from hegemon.web.live.page import LivePage, check_live_path

    check_live_path(path)
    with Progress(quiet=quiet) as shown:
        shown.show("looking up what all pairs of states become")
        LivePage(record).save(path, dark or None)
    size = Path(path).stat().st_size
    print(f"{path}: {record.protocol.id}, {size / 1000:,.0f} kB; open it in a browser")


def serve_page(page: Any, is_private: bool, no_browser: bool) -> None:
    """Say where the page is, open it, and stay until the terminal ends."""

    def announce() -> None:
        print(f"watch at {page.url}")
        if not is_private:
            print(f"listening on {page.host}: anyone with this address, which contains the token, can watch and steer "
                  "the run; the connection is not encrypted", file=sys.stderr)  # fmt: skip
        elif no_browser:
            print(
                f"from another machine: ssh -N -L {page.port}:127.0.0.1:{page.port} THIS_MACHINE, then the same address"
            )
        print("Ctrl-C ends it", flush=True)
        if not no_browser:
            page.open()

    page.run(announce)
