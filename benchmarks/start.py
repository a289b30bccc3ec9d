"""How long commands take from the shell, with empty caches of compiled kernels and with full ones.

`python -m benchmarks.start [REPEATS]` prints a table of CPU seconds (of all processes of a command, so that other work
on the machine disturbs little) and wall seconds, the least of some repeats; with `--cold` it empties the caches too,
which takes minutes. The last rows say what recording costs: the same run bare and with a picture.
"""

import os
import resource
import subprocess
import sys
import tempfile
import time

LIGHT = ("--version", "--help", "list", "show pairwise")
WORKING = (
    "run pairwise --n 50",
    "run time-optimal --n 50 --max-steps 1000",
    "run ring --n 10 --max-steps 1000",
    "run trains --n 4 --max-steps 20",
    "run pairwise --n 1e9",
    "verify ring --n 2",
    "check bfw --n 4",
)
RECORDED = "run approximate-majority --n 1e6"


def seconds(command: str, cache: str, folder: str) -> tuple[float, float]:
    """CPU seconds and wall seconds of one command."""
    program = [sys.executable, "-c", "from hegemon.cli.main import main; main()", *command.split()]
    program += [] if command in LIGHT else ["--quiet"]
    ignored = ("PYTHONDONTWRITEBYTECODE",)  # an installed package has its bytecode
    environment = {name: value for name, value in os.environ.items() if name not in ignored}
    environment |= {"NUMBA_CACHE_DIR": cache} if cache else {}
    environment["PYTHONPATH"] = os.pathsep.join(os.path.abspath(place or ".") for place in sys.path)
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(program, env=environment, capture_output=True, check=False, cwd=folder)
    after, wall = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter() - begin
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, wall


def main() -> None:
    cold = "--cold" in sys.argv
    repeats = next((int(word) for word in sys.argv[1:] if word.isdigit()), 5)
    print("| command | cold CPU s (wall) | warm CPU s (wall) |\n|---|---|---|")
    for command in (*LIGHT, *WORKING, RECORDED, f"{RECORDED} --plot plot.png"):
        with tempfile.TemporaryDirectory() as folder:
            cache = folder if cold and command not in LIGHT and RECORDED not in command else ""
            first = "{:.1f} ({:.1f})".format(*seconds(command, cache, folder)) if cache else "–"
            seconds(command, cache, folder)
            found = [seconds(command, cache, folder) for _ in range(repeats)]
        warm = "{:.2f} ({:.2f})".format(*(min(column) for column in zip(*found, strict=True)))
        print(f"| `hegemon {command}` | {first} | {warm} |", flush=True)


if __name__ == "__main__":
    main()
