"""Exact answers load no engine, and nothing of messages where none are sent."""

import subprocess
import sys

import pytest

LOADED = """
import sys
import hegemon as hg
hg.verify({protocol})
print(*sorted(name for name in sys.modules if name.startswith(("hegemon.engines", "hegemon.process.messages"))))
"""


@pytest.mark.parametrize(
    ("protocol", "expected"), [("hg.Pairwise(n=3)", ""), ("hg.ChangRoberts(n=3)", "hegemon.process.messages")]
)
def test_exact_answers_load_no_engine(protocol, expected):
    code = LOADED.format(protocol=protocol)
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not [name for name in loaded if name.startswith("hegemon.engines")]
    assert (expected in loaded) if expected else not loaded
