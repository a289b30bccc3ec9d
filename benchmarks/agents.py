"""Engine `agents` beside a program in C that does the same work: `python -m benchmarks.agents`.

`yardstick.c` is compiled by gcc -O3 in the same run. Both draw pairs without bias by xoshiro256++, ask memory for
agents 32 steps ahead, and read from a table what two states become. They run in turn, in processor seconds, and the
fastest of several runs of each counts. Without gcc only hegemon is measured.
"""

import json
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

import hegemon as hg
from hegemon.compute.randomness import stream
from hegemon.engines.population.agents import Agents
from hegemon.process.stopping import parse_stop
from hegemon.runs.setting import topology_for

OUT = Path("out")
SOURCE = Path(__file__).with_name("yardstick.c")
ROUNDS = 5
STEPS = 10_000_000
WORK = [  # protocol, graph, start
    (hg.Timer(n=10**3, s=100), None, "no-leader"),
    (hg.Timer(n=10**6, s=100), None, "no-leader"),
    (hg.Timer(n=10**6, s=100), "torus:1000x1000", "no-leader"),
    (hg.TimeOptimal(n=10**6, r_max=16, r_mid=12, b_max=16), None, "no-leader"),
]


def compiled(folder: Path) -> Path | None:
    """The program in C; None where there is no gcc."""
    if not (gcc := shutil.which("gcc")):
        return None
    program = folder / "yardstick"
    subprocess.run([gcc, "-O3", "-march=native", "-o", program, SOURCE], check=True)
    return program


def given_to_c(protocol, topology, start) -> tuple[list[str], bytes]:
    """The arguments and the input of the program."""
    codes = range(protocol.states)
    table = np.array([[protocol.transition_codes(i, j) for j in codes] for i in codes], np.uint16)
    agents = protocol.space.encode_array(protocol.initial(start, np.random.default_rng(1)).agents).astype(np.uint16)
    arcs = np.empty((0, 2)) if topology.is_complete else np.stack([topology.sources, topology.targets], axis=1)
    words = [protocol.states, protocol.n, STEPS, len(arcs)]
    return [str(word) for word in words], table.tobytes() + agents.tobytes() + arcs.astype(np.uint32).tobytes()


def ours(protocol, topology, start) -> float:
    """Processor seconds of the steps alone."""
    given = protocol.initial(start, np.random.default_rng(1)), parse_stop(f"steps:{STEPS}", protocol), stream(1, 0)
    engine = Agents(protocol, topology, *given)
    engine.advance(1000)  # compiles, and fills the table of pairs that are frequent
    end = engine.step + STEPS
    begin = time.process_time()
    while engine.step < end:
        engine.advance(end)
    return time.process_time() - begin


def measure(program: Path | None, protocol, graph, start) -> dict:
    topology = topology_for(protocol, graph)
    words, content = given_to_c(protocol, topology, start)
    mine, theirs = [], []
    for _ in range(ROUNDS):
        mine.append(ours(protocol, topology, start))
        if program:
            answer = subprocess.run([program, *words], input=content, capture_output=True, check=True)
            theirs.append(float(answer.stdout.split()[0]))
    row = {"protocol": protocol.id, "states": protocol.states, "n": protocol.n, "graph": graph or "complete"}
    return row | {"steps_per_second": STEPS / min(mine), "of_c": min(theirs) / min(mine) if theirs else None}


def main() -> None:
    table = Table(
        "protocol", "states", "n", "graph", "interactions/s", "of C", "asked", title="engine agents, one core"
    )
    with tempfile.TemporaryDirectory() as folder:
        program = compiled(Path(folder))
        if program is None:
            print("there is no gcc here: the program in C is not measured")
        rows = [measure(program, *work) for work in WORK]
    for row in rows:
        beside = f"{row['of_c']:.2f}" if row["of_c"] else "–"
        cells = [row["protocol"], f"{row['states']:,}", f"{row['n']:,}", row["graph"], f"{row['steps_per_second']:.3g}"]
        table.add_row(*cells, beside, "≥ 0.8")
    Console(width=120).print(table)
    OUT.mkdir(exist_ok=True)
    (OUT / "agents.json").write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
