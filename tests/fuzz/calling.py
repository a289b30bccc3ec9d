"""Calls are made in another process, many in each; one that is silent for too long is killed and reported."""

import contextlib
import io
import json
import os
import select
import subprocess
import sys
import tempfile
import traceback
from collections import Counter
from pathlib import Path

from tests.fuzz.calls import Call

SILENCE = 120.0  # seconds without an answer: a hang (compiling takes a few)
LONGEST = 7000  # characters of a sentence


def answer(seed: int, number: int) -> tuple[str, str]:
    """How a call ends: taken, refused, or what is wrong with it."""
    from hegemon.errors import InvalidInput

    call = Call(seed, number)
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            nonsense = call.perform()
    except InvalidInput as error:
        return ("refused", "") if 0 < len(str(error)) < LONGEST else ("flaw", f"{call}: {str(error)[:99]!r}")
    except BaseException as error:
        every = traceback.extract_tb(error.__traceback__)
        frames = [frame for frame in every if f"src{os.sep}hegemon" in frame.filename]
        place = f"{Path(frames[-1].filename).name}, line {frames[-1].lineno}" if frames else "no place"
        return "flaw", f"{call}: {type(error).__name__} ({place})"
    return ("flaw", f"{call}: {' and '.join(nonsense)} taken") if nonsense else ("taken", "")


def prepare(folder: str) -> None:
    import hegemon as hg

    os.chdir(folder)
    hg.sweep("pairwise", n=4, trials=2, workers=1, out="study")


def try_calls(seed: int, numbers: range) -> tuple[Counter, list[str]]:
    """How often each ending, and the flaws"""
    counts: Counter = Counter()
    flaws: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        for ending, flaw in _apart(seed, numbers, folder):
            counts[ending] += 1
            flaws += [flaw] if flaw else []
    return counts, flaws


def _apart(seed: int, numbers: range, folder: str):
    while numbers:
        command = [sys.executable, "-m", "tests.fuzz.calling", str(seed), str(numbers.start), str(numbers.stop), folder]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2]) as process:
            while (
                numbers and select.select([process.stdout], [], [], SILENCE)[0] and (said := process.stdout.readline())
            ):
                yield tuple(json.loads(said))
                numbers = numbers[1:]
            process.kill()
        if numbers:
            yield "flaw", f"{Call(seed, numbers.start)}: silent for {SILENCE:.0f} s, or the process ended"
            numbers = numbers[1:]


def _serve() -> None:
    channel = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    seed, first, last = map(int, sys.argv[1:4])
    prepare(sys.argv[4])
    for number in range(first, last):
        print(json.dumps(answer(seed, number)), file=channel)


if __name__ == "__main__":
    _serve()
