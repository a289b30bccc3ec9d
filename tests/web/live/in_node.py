"""The worker of a live page in Node: the text that stands in the page, and a script that drives it."""

import json
import os
import shutil
import subprocess
from typing import Any

import pytest

from hegemon.web.live.page import worker_script

NODE = shutil.which("node")
SECONDS = 900  # a bound for the whole of a script, not a measure

# The run of every seed: at some steps all codes, the generator and the readings, then single steps in words.
RUNS = """
const [text, seeds, steps, told] = given;
const { laboratory, greeting } = await open(text);
laboratory.fields = greeting.fields;
const found = [];
for (const seed of seeds) {
  laboratory.begin({ n: greeting.n, start: greeting.start, seed: BigInt(seed) });
  spoil(laboratory);
  const moments = [];
  for (const step of steps) {
    laboratory.advance(step);
    const { values, lamps } = laboratory.readings();
    const words = Array.from(laboratory.machine.view(Uint32Array, "rng", 8));
    moments.push([Array.from(laboratory.machine.population), words, values, lamps]);
  }
  for (let k = 1; k <= told; k++) {
    laboratory.advance(laboratory.step + 1, Infinity, true);
    moments.push([laboratory.last.text, laboratory.last.pair]);
  }
  found.push(moments);
}
return found;
"""


def in_node(script: str, *given: Any, changed: tuple[str, str] = ("", ""), spoil: str = "") -> Any:
    """What `script`, the body of a function, returns for `given`. A twin has a part of the worker `changed`, or does
    something to every run that has begun."""
    if NODE is None:
        if os.environ.get("HEGEMON_NEEDS_NODE"):
            pytest.fail("there is no Node, and this run must have one: apt-get install nodejs")
        pytest.skip("no Node: live pages are tested in a browser only; apt-get install nodejs")
    worker = worker_script()
    assert changed[0] in worker
    text = f"{worker.replace(*changed, 1)}\nconst given = {json.dumps(given)};\n"
    text += f"const spoil = (laboratory) => {{ {spoil} }};\n"
    text += f"(async () => {{ {script} }})().then((found) => console.log(JSON.stringify(found) ?? 'null'),"
    text += " (error) => { console.error(error); process.exit(1); });"
    done = subprocess.run([NODE, "-"], input=text, capture_output=True, text=True, timeout=SECONDS)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)
