"""Lines are tried in separate processes, many in each; a process that is silent for too long is killed and reported."""

import json
import os
import select
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from tests.fuzz.lines import OPTIONS, Line, line

SILENCE = 60.0  # seconds without a word: a hang
LONG = 90.0  # seconds of work that shows its progress: ended, and fine
CODES = {0, 1, 2}
PROGRESS = ("…", "[")  # how a word of progress begins: what is done, or [3/26] of it
LONGEST = 600  # characters of the one sentence


@dataclass
class Ending:
    """How a line ended; `flaw` says what is wrong with that, and is empty if nothing is."""

    line: Line
    code: int | None
    flaw: str
    seconds: float = 0.0
    parsed: bool = True  # whether it got past the parser


class Worker:
    """A process that performs command lines, one after the other."""

    def __init__(self):
        self._process = None

    def perform(self, asked: Line) -> Ending:
        with tempfile.TemporaryDirectory() as folder:
            for name, text in asked.files.items():
                Path(folder, name).write_text(text, errors="surrogateescape")
            begin = time.monotonic()
            answer = self._ask({"folder": folder, "arguments": asked.arguments})
            seconds = time.monotonic() - begin
        if answer is None:
            return Ending(asked, None, f"silent for {SILENCE:.0f} s", seconds)
        if answer == "long":
            return Ending(asked, None, "", seconds)
        return Ending(asked, answer["code"], flaw(asked, answer), seconds, answer.get("parsed", True))

    def _ask(self, question: dict):
        """The reply; "long" for work that shows its progress; None for silence."""
        if self._process is None or self._process.poll() is not None:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.fuzz.workers"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                cwd=Path(__file__).parents[2],
            )
            assert self._process.stdout.readline() == "ready\n"
        self._process.stdin.write(json.dumps(question) + "\n")
        self._process.stdin.flush()
        begin = heard = time.monotonic()
        while time.monotonic() - heard < SILENCE:
            if time.monotonic() - begin > LONG:
                self.end()
                return "long"
            if select.select([self._process.stdout], [], [], 0.5)[0]:
                said = self._process.stdout.readline()
                if said == "progress\n":
                    heard = time.monotonic()
                elif not said:
                    code = self._process.wait()
                    return {"code": code, "out": "", "err": f"the process ended with {code}"}
                else:
                    return json.loads(said)
        self.end()
        return None

    def end(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process.stdin.close()
            self._process.stdout.close()
            self._process = None


def flaw(asked: Line, answer: dict) -> str:
    """What no line may do, however wrong it is."""
    said = [text for text in answer["err"].splitlines() if not text.startswith(PROGRESS)]
    if answer["code"] not in CODES:
        return f"exit code {answer['code']}: {' '.join(said)[-LONGEST:]} {details(said)}"
    if "Traceback" in answer["err"]:
        return f"traceback: {answer['err'][-LONGEST:]}"
    if answer["code"] == 2 and (len(said) != 1 or len(said[0]) > LONGEST or answer["out"]):
        return f"not one sentence: {answer['err'][:LONGEST]!r} {answer['out'][:100]!r}"
    if answer["code"] != 2 and said:
        return f"words on the error stream: {' '.join(said)[:LONGEST]}"
    words = ["", *asked.arguments]
    asks_json = any(words[k] == "--json" and words[k - 1] not in OPTIONS for k in range(1, len(words)))
    asks_json = asks_json and not {"-h", "--help", "--version"} & set(words)
    if answer["code"] != 2 and asks_json:
        try:
            json.loads(answer["out"], parse_constant=_no_number)
        except ValueError as error:
            return f"no JSON ({error}): {answer['out'][:200]!r}"
    return ""


def details(said: list[str]) -> str:
    """The last lines of the file in which the unexpected is kept."""
    place = Path(said[-1].rpartition(" ")[2]) if said else Path("none")
    return " | ".join(place.read_text().splitlines()[-6:]) if place.is_file() else ""


def _no_number(text: str):
    raise ValueError(f"{text} is no number")


def fuzz(seed: int, numbers, heard=lambda ending: None) -> tuple[Counter, list[Ending]]:
    """Try the lines of these numbers: how often each ending, and the endings with a flaw."""
    counts: Counter = Counter()
    flawed = []
    worker = Worker()
    try:
        for number in numbers:
            ending = worker.perform(line(seed, number))
            counts["flaw" if ending.flaw else "long" if ending.code is None else f"exit {ending.code}"] += 1
            counts["past the parser"] += ending.parsed
            if ending.flaw:
                flawed.append(ending)
            heard(ending)
    finally:
        worker.end()
    return counts, flawed


def _serve() -> None:
    """What a worker does: each line of standard input is a question."""
    import contextlib
    import io

    import hegemon.exact.verification
    import hegemon.runs.trials  # noqa: F401 - loaded beforehand, for loading says nothing
    from hegemon import errors
    from hegemon.cli import failures
    from hegemon.cli.main import main

    refused, sentence = [], failures.sentence

    def heard(error):
        if hasattr(error, "format_message") or isinstance(error, errors.Refused):
            refused.append(error)
        return sentence(error)

    failures.sentence = heard
    channel = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    class Ear(io.StringIO):
        def write(self, text):
            if text.startswith(PROGRESS):
                print("progress", file=channel, flush=True)
            return super().write(text)

    print("ready", file=channel, flush=True)
    for text in sys.stdin:
        question = json.loads(text)
        os.chdir(question["folder"])
        out, err = io.StringIO(), Ear()
        refused.clear()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                code = main(question["arguments"])
            except BaseException as error:
                code = f"{type(error).__name__} came out"
        os.chdir("/")
        answer = {"code": code, "out": out.getvalue(), "err": err.getvalue(), "parsed": not refused}
        print(json.dumps(answer), file=channel, flush=True)


if __name__ == "__main__":
    _serve()
