"""Every command of README and docs/ is run, what the pages show is written anew: `make manual`.

    python -m benchmarks.manual                  all pages; their times are kept in docs/commands.json
    python -m benchmarks.manual PAGE …           only these pages; the times of the others stay
    python -m benchmarks.manual --check PAGE …   nothing is written; exit code 1 if a page shows something else

A page is read as its reader reads it. Blocks with a title are files, saved in an empty folder. Every line of a
block `sh`, every line with `$` in a block `console`, and every indented line that begins with `hegemon` is a command,
run in that folder. In a block `console` the lines below a command are what it prints; a line `…` leaves lines out. A
picture that a page shows from `outputs/` is the file of that name that a command wrote. A command ends with exit code 0
unless its comment says `exit code 1`, and within a minute unless its comment says how long it takes: `about 5 min`.
MkDocs writes docs/commands.md before every build: all commands with their times.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

HERE = Path(__file__).parent.parent
DOCS = HERE / "docs"
LIST = DOCS / "commands.md"
TIMES = DOCS / "commands.json"
WIDTH = 100  # columns of what is shown
MINUTE = 60.0
GENEROUS = 5  # times what a command says it takes: machines differ, and the first run compiles
UNITS = {"s": 1, "min": 60, "h": 3600}
PART = re.compile(r"^```([\w-]+)([^\n]*)\n(.*?)^```|^((?: {4}(?!\s)[^\n]*\n)+)", re.M | re.S)
STATED = re.compile(r"\babout (\d+) (s|min|h)\b")
EXIT = re.compile(r"\bexit code (\d)\b")
PICTURE = re.compile(r"!\[[^\]]*\]\(((?:[\w./]*/)?outputs/([\w.-]+))\)")
SECONDS = re.compile(r"\b[\d,.]+(e-?\d+)? s\b")
SERVES = "Ctrl-C ends it"
SAVED = "saved on the page"  # says the comment of a command that reads a file which no command wrote
WRITTEN = (
    "gallery.md",
    "options.md",
    "commands.md",
)  # by programs, as the catalogue; tests/test_manual.py opens its films
NOT_RUN = {  # beginnings of commands that need more than this machine has, and why
    "python3 -m venv": "installs hegemon; tests/test_packaging.py does",
    "pip install": "installs hegemon; tests/test_packaging.py does",
    "pip wheel": "builds a wheel; tests/test_packaging.py does",
    "hegemon reproduce --full": "takes hours, and continues after every interruption",
    "hegemon discover --improve mine.py": "speaks of a file of yours",
    "hegemon watch my_protocol.py:Mine": "speaks of a file of yours",
    "hegemon agent time-optimal": "needs the address of another machine; tests/network does it on loopback",
    "hegemon agent walks": "needs the address of another machine; tests/network does it on loopback",
}


_long: dict[str, "Outcome"] = {}  # what takes longer than a minute is run once


@dataclass
class Command:
    """A command of a page: its line, its comment, and what the page shows of its output, if anything."""

    line: str
    comment: str
    shown: list[str] | None
    span: tuple[int, int]  # of what is shown, in the text of the page

    @property
    def limit(self) -> float:
        """The seconds that it says it takes."""
        found = STATED.search(self.comment)
        return int(found[1]) * UNITS[found[2]] if found else MINUTE

    @property
    def code(self) -> int:
        found = EXIT.search(self.comment)
        return int(found[1]) if found else 0

    @property
    def reason(self) -> str | None:
        """Why it is not run here."""
        found = [why for begin, why in NOT_RUN.items() if self.line.startswith(begin)]
        if "film.mp4" in self.line and not shutil.which("ffmpeg"):
            found = ["needs ffmpeg"]
        if SAVED in self.comment:
            found = ["reads a file saved on the page; tests/web saves and replays one"]
        return found[0] if found else None


@dataclass
class File:
    """A file that a page tells its reader to save, or to append to one."""

    name: str
    text: str
    appended: bool


@dataclass
class Outcome:
    command: Command
    seconds: float
    code: int | None  # none: it did not end in time
    printed: list[str]

    @property
    def failure(self) -> str | None:
        """What is wrong: the exit code, the time, or what the page shows."""
        if self.code is None:
            return f"did not end within {self.command.limit * GENEROUS:g} s"
        if self.code != self.command.code:
            last = self.printed[-1] if self.printed else "nothing is printed"
            return f"exit code {self.code} instead of {self.command.code}: {last}"
        return None

    @property
    def differs(self) -> bool:
        shown = self.command.shown
        return shown is not None and comparable(shown) != comparable(self.to_show)

    @property
    def to_show(self) -> list[str]:
        """What it printed, with the lines left out that the page leaves out."""
        shown = self.command.shown or []
        if "…" not in shown:
            return self.printed
        head = shown.index("…")
        tail = len(shown) - head - 1
        if len(self.printed) <= head + tail:
            return self.printed
        return [*self.printed[:head], "…", *self.printed[len(self.printed) - tail :]]


def comparable(lines: list[str]) -> list[str]:
    """Lines without what differs from machine to machine: times, and the widths of what follows them."""
    return [" ".join(SECONDS.sub("… s", line).split()) for line in lines]


def pages() -> list[Path]:
    found = [HERE / "README.md", *sorted(DOCS.rglob("*.md"))]
    return [page for page in found if "catalogue" not in page.parts and page.name not in WRITTEN]


def parts(text: str) -> list[Command | File]:
    """Files and commands in the order of the page."""
    found: list[Command | File] = []
    for part in PART.finditer(text):
        kind, attributes, body = part[1], part[2] or "", part[3] or ""
        title = re.search(r'title="(append to )?([\w./-]+)"', attributes)
        if title:
            found.append(File(title[2], body, bool(title[1])))
        elif kind == "console":
            found += with_output(body, part.start(3))
        elif kind in ("sh", "bash"):
            found += [_command(line) for line in joined(body) if line and not line.startswith("#")]
        elif part[4]:
            lines = [line.strip().removeprefix(".venv/bin/") for line in part[4].splitlines()]
            found += [_command(line) for line in lines if line.startswith(("hegemon ", "python -m ", "python3 -m "))]
    return found


def joined(body: str) -> list[str]:
    """The lines, where one that ends with a backslash goes on."""
    return [line.strip() for line in re.sub(r"\s*\\\n\s*", " ", body).splitlines()]


def _command(line: str, shown=None, span=(0, 0)) -> Command:
    kept = line
    for place in (found.start() for found in re.finditer(r"(?<=\s)# ", line)):
        if line[:place].count('"') % 2 == 0:
            kept = line[:place]
            break
    return Command(kept.strip(), line[len(kept) :].lstrip("# "), shown, span)


def with_output(body: str, begin: int) -> list[Command]:
    """The commands of a block `console`, each with the lines below it."""
    found = []
    for one in re.finditer(r"^\$ ((?:[^\n]*\\\n)*[^\n]*)\n((?:(?!\$ )[^\n]*\n)*)", body, re.M):
        span = (begin + one.start(2), begin + one.end(2))
        found.append(
            _command(" ".join(joined(one[1])), one[2].rstrip("\n").split("\n") if one[2].strip() else [], span)
        )
    if len(found) > 1 and not any(one.shown for one in found):  # a list of commands
        found = [replace(one, shown=None) for one in found]
    return found


def environment() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in ("FORCE_COLOR", "PYTHONPATH")}
    path = f"{Path(sys.executable).parent}{os.pathsep}{kept.get('PATH', '')}"
    return kept | {
        "PATH": path,
        "COLUMNS": str(WIDTH),
        "NO_COLOR": "1",
        "BROWSER": "true",
        "PYTHONPATH": str(HERE / "src"),
    }


def execute(command: Command, folder: Path) -> Outcome:
    """Run it to its end, or until it serves a page; what it prints, and the sentence with which it is refused."""
    with tempfile.TemporaryFile("w+", encoding="utf-8") as progress:
        outcome = _execute(command, folder, progress)
        progress.seek(0)
        if outcome.code != command.code or outcome.code == 2:
            outcome.printed += [line.rstrip() for line in progress if not line.startswith("… ")]
    while outcome.printed and not outcome.printed[-1]:
        outcome.printed.pop()
    return outcome


def _execute(command: Command, folder: Path, progress) -> Outcome:
    begin = time.monotonic()
    single = not re.search(r"&&|\|", command.line)
    made = subprocess.Popen(
        ["bash", "-c", f"exec {command.line}" if single else command.line],
        cwd=folder, env=environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=progress,
        text=True, encoding="utf-8", start_new_session=True,
    )  # fmt: skip
    printed: list[str] = []
    serving = False
    timer = _after(command.limit * GENEROUS, made)
    assert made.stdout is not None
    for line in made.stdout:
        printed.append(line.rstrip())
        if line.startswith(SERVES):
            serving = True
            os.kill(made.pid, signal.SIGTERM)
    code: int | None = made.wait()
    timer.cancel()
    code = None if timer.late else 0 if serving and code in (0, 143) else code
    return Outcome(command, time.monotonic() - begin, code, printed)


def _after(seconds: float, made: subprocess.Popen):
    import threading

    def end() -> None:
        timer.late = True  # type: ignore[attr-defined]
        os.killpg(made.pid, signal.SIGKILL)

    timer = threading.Timer(seconds, end)
    timer.late = False  # type: ignore[attr-defined]
    timer.start()
    return timer


def read(page: Path, folder: Path) -> Iterator[Outcome]:
    """Follow a page in an empty folder, command by command."""
    examples = folder / "examples"
    if not examples.exists():
        examples.symlink_to(HERE / "examples")
    for part in parts(page.read_text(encoding="utf-8")):
        if isinstance(part, File):
            before = (folder / part.name).read_text(encoding="utf-8") + "\n\n" if part.appended else ""
            (folder / part.name).write_text(before + part.text, encoding="utf-8")
        elif part.reason is None and part.limit > MINUTE:  # several pages show it, and nothing follows from it
            _long[part.line] = _long.get(part.line) or execute(part, folder)
            yield replace(_long[part.line], command=part)
        elif part.reason is None:
            yield execute(part, folder)


def rewrite(page: Path, outcomes: list[Outcome]) -> None:
    """Put what was printed below each command, if it differs in more than times."""
    text = page.read_text(encoding="utf-8")
    now = {part.line: part.span for part in parts(text) if isinstance(part, Command)}  # it may have been edited since
    for one in sorted(outcomes, key=lambda one: -now.get(one.command.line, (0, 0))[0]):
        if one.differs and one.command.line in now:
            begin, end = now[one.command.line]
            text = text[:begin] + "".join(f"{line}\n" for line in one.to_show) + "\n" + text[end:]
    text = re.sub(r"\n\n```(\n|$)", r"\n```\1", text) if any(one.differs for one in outcomes) else text
    page.write_text(text, encoding="utf-8")


def keep_pictures(page: Path, folder: Path) -> list[str]:
    """Copy the pictures that the page shows; those that no command wrote are returned."""
    missing = []
    for link, name in PICTURE.findall(page.read_text(encoding="utf-8")):
        if (folder / name).exists():
            (page.parent / link).parent.mkdir(exist_ok=True)
            shutil.copyfile(folder / name, page.parent / link)
        else:
            missing.append(name)
    return missing


def listing(times: dict[str, dict[str, float]]) -> str:
    """The page with all commands."""
    lines = [
        "# All commands of this manual",
        "",
        "Every command of the README and of these pages, with the seconds it took, start and compilation included, on",
        "two cores that had other work as well. `make manual` runs them and writes this page. `make test-full` runs",
        "them too, and fails if one ends with another exit code than its page says, prints something else than is",
        f"shown, or takes more than {GENEROUS} times as long as it says. What says nothing takes at most a minute.",
        "The commands of the gallery and the catalogue are made by programs; tests open every film of the gallery.",
        "",
    ]
    for page in pages():
        name = str(page.relative_to(HERE))
        commands = [part for part in parts(page.read_text(encoding="utf-8")) if isinstance(part, Command)]
        if not commands:
            continue
        lines += [f"## {name}", "", "| command | seconds | says |", "| --- | ---: | --- |"]
        for one in commands:
            seconds = times.get(name, {}).get(one.line)
            took = f"{seconds:.1f}" if seconds is not None and one.reason is None else "–"
            stated = STATED.search(one.comment)
            says = one.reason or (stated[0] if stated else "")
            code = one.line.replace("|", "\\|")
            lines.append(f"| `{code}` | {took} | {says} |")
        lines.append("")
    return "\n".join(lines)


def known_times() -> dict[str, dict[str, float]]:
    return json.loads(TIMES.read_text(encoding="utf-8")) if TIMES.exists() else {}


def on_config(config):
    """MkDocs calls this before it builds: the list of all commands is written if it changed."""
    text = listing(known_times())
    if not LIST.exists() or LIST.read_text(encoding="utf-8") != text:
        LIST.write_text(text, encoding="utf-8")
    return config


def main(words: list[str]) -> int:
    check = "--check" in words
    chosen = [Path(word).resolve() for word in words if not word.startswith("--")] or pages()
    times = known_times()
    wrong = 0
    for page in chosen:
        name, outcomes = str(page.relative_to(HERE)), []
        with tempfile.TemporaryDirectory() as folder:
            for one in read(page, Path(folder)):
                outcomes.append(one)
                told = one.failure or ("prints something else" if one.differs else "")
                late = "; takes longer than it says" if one.seconds > one.command.limit else ""
                print(f"{name}: {one.command.line}: {one.seconds:.1f} s {told}{late}", flush=True)
                wrong += bool(one.failure) or (check and one.differs)
            missing = [] if check else keep_pictures(page, Path(folder))
        for picture in missing:
            print(f"{name} shows outputs/{picture}, which no command of it writes")
            wrong += 1
        if not check:
            rewrite(page, outcomes)
            times[name] = {one.command.line: round(one.seconds, 1) for one in outcomes}
            TIMES.write_text(json.dumps(times, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print(f"{wrong} wrong" if wrong else "every command does what its page says")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
