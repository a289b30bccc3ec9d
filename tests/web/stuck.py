"""A simulation that is busy for long and hears nothing: what a test leaves without a parent."""

import os
import time
from pathlib import Path


class Stuck:
    can_travel = True

    def __init__(self, place: str):
        self.place = place

    def __call__(self):
        Path(self.place).with_suffix(".writing").write_text(str(os.getpid()))
        Path(self.place).with_suffix(".writing").replace(self.place)
        time.sleep(600)  # longer than the test waits
