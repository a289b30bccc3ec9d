"""One object per model of computation: no other code tests the model of a protocol."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import hegemon as hg
from hegemon.graphs.families import complete
from hegemon.models.model import MODELS, PARTS, ComputationModel
from hegemon.models.protocol import Protocol
from hegemon.network.swarm import Swarm
from hegemon.runs.capabilities import supporting
from hegemon.runs.record import MadeRecord
from hegemon.runs.run import Run
from hegemon.runs.trajectory import Trajectory
from hegemon.runs.trial import Course, Trial
from hegemon.web.layout import require_watchable

SOURCE = Path(__file__).parents[2] / "src" / "hegemon"
ASKS = re.compile(r"\.model (==|!=|in |not in )")


def test_nobody_asks_a_model_for_its_name():
    assert not [str(path) for path in SOURCE.rglob("*.py") if ASKS.search(path.read_text())]
    assert ASKS.search('if protocol.model == "rounds":') and ASKS.search('protocol.model not in ("rounds",)')


@pytest.mark.parametrize("model", MODELS.values(), ids=str)
def test_every_home_is_there(model):
    assert all(callable(model.home(part)) for part in PARTS if model.has_part(part))
    assert model.has_part("course") and model.has_part("world")
    assert (SOURCE / "cli" / "templates" / f"{model}.py").is_file() == model.has_template


PROGRAM = """
import sys
from hegemon.cli.main import main
code = main(sys.argv[1:])
print(*[name for name in sys.modules if name.startswith("hegemon.")], file=sys.stderr)
sys.exit(code)
"""


def loaded_by(*words: str) -> set[str]:
    done = subprocess.run([sys.executable, "-c", PROGRAM, *words], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return set(done.stderr.split())


def of_messages(names: set[str]) -> set[str]:
    return {name for name in names if name.startswith(("hegemon.runs.messages", "hegemon.engines.messages"))}


def test_a_run_loads_its_own_model_alone():
    ring = loaded_by("run", "ring", "--n", "4", "--max-steps", "5", "--until", "steps:3", "--quiet")
    assert "hegemon.runs.course" in ring and not of_messages(ring) and "hegemon.runs.objects" not in ring
    assert of_messages(loaded_by("run", "flood-max", "--n", "4", "--quiet"))


class Toss(Course):
    """The course of a model that only this file knows."""

    supports = supporting("a run of the toy model", "seed")

    def __init__(self, record: MadeRecord):
        self.record = record

    def begin(self, trial: Trial) -> Trajectory:
        raise AssertionError("nobody follows a toy")

    def __call__(self, trial: Trial) -> Run:
        protocol = self.record.protocol
        return Run(protocol.id, protocol.n, "steps", 7, True, 1, "toy", "the only one", 4, trial.trial)


class ToyProtocol(Protocol):
    model = ComputationModel("toy", "of the toy model", homes={"course": f"{__name__}:Toss"})


def test_a_new_model_is_one_object():
    """It runs, has trials, and refuses what it does not know, without a line anywhere else."""
    assert hg.simulate(ToyProtocol(n=3), seed=4).steps == 7
    assert [run.trial for run in hg.run_trials(ToyProtocol(n=3), 2, workers=1).runs] == [0, 1]
    with pytest.raises(hg.InvalidInput, match="start means nothing to toy-protocol, a protocol of the toy model"):
        hg.simulate(ToyProtocol(n=3), start="random")
    with pytest.raises(
        hg.InvalidInput, match="no exact chains for protocols of the toy model; .* population and rounds"
    ):
        hg.verify(ToyProtocol(n=3))
    with pytest.raises(hg.InvalidInput, match="no pictures on the page for protocols of the toy model"):
        require_watchable(ToyProtocol(n=3), None)
    with pytest.raises(hg.InvalidInput, match="no members of a network for protocols of the toy model"):
        Swarm("toy", ToyProtocol(n=3), complete(3))
    with pytest.raises(hg.InvalidInput, match="is a class"):
        hg.simulate(ToyProtocol)
