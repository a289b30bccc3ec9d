"""`python -m tests.fuzz N [SEED]`: try N lines, print the counts and what is wrong."""

import sys

from tests.fuzz.workers import fuzz


def main() -> int:
    lines = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 0

    def heard(ending):
        if ending.flaw:
            print(f"{ascii(ending.line.arguments)[:300]}\n    {ending.flaw}", flush=True)
        elif ending.seconds > 10:
            print(f"{ending.seconds:.0f} s: {ascii(ending.line.arguments)[:300]}", flush=True)

    counts, flawed = fuzz(seed, range(lines), heard)
    print(", ".join(f"{name}: {number}" for name, number in sorted(counts.items())))
    return 1 if flawed else 0


if __name__ == "__main__":
    sys.exit(main())
