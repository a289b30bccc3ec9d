"""Waiting for another process or a page: for a condition, never for a time, since the machine may be busy."""

import os
import time
from pathlib import Path

PATIENCE = 300  # seconds until a test gives up; a bound, never a measure


def wait_for(condition):
    """What the condition returns as soon as it is true."""
    deadline = time.monotonic() + PATIENCE
    while not (met := condition()):
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.02)
    return met


def seconds_of(process: int) -> float:
    """The processor time of a process and its children: on a busy machine it says more than a clock."""
    try:
        parts = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    except OSError:
        return 0.0
    own = (int(parts[11]) + int(parts[12])) / os.sysconf("SC_CLK_TCK")
    return own + sum(seconds_of(int(child)) for child in children)
