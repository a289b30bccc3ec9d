"""How long commands take from the shell, with empty caches of compiled kernels and with full ones.

`python -m benchmarks.start [REPEATS]` prints a table; `--cold` too empties the caches, which takes minutes.
"""

import os
import statistics
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
)


def seconds(command: str, cache: str) -> float:
    begin = time.perf_counter()
    program = [sys.executable, "-c", "from hegemon.cli.main import main; main()", *command.split(), "--quiet"]
    if command in LIGHT:
        program.pop()
    subprocess.run(program, env=os.environ | {"NUMBA_CACHE_DIR": cache}, capture_output=True, check=False)
    return time.perf_counter() - begin


def main() -> None:
    cold = "--cold" in sys.argv
    repeats = next((int(word) for word in sys.argv[1:] if word.isdigit()), 5)
    print("| command | cold s | warm s |\n|---|---|---|")
    for command in (*LIGHT, *WORKING):
        with tempfile.TemporaryDirectory() as cache:
            first = seconds(command, cache) if cold else None
            place = cache if cold else ""
            warm = statistics.median(seconds(command, place) for _ in range(repeats))
        print(f"| `hegemon {command}` | {'–' if first is None else f'{first:.1f}'} | {warm:.2f} |", flush=True)


if __name__ == "__main__":
    main()
