"""What the options of public functions may be in Python, where several functions take them."""

from functools import partial
from typing import Any

from hegemon import doors
from hegemon.graphs import kinds
from hegemon.runs.option import MOST_POINTS, MOST_SEED

MOST_TRIAL = 2**63 - 1  # the number of one
MOST_TRIALS = 10**9  # of one call, which keeps their results in memory
MOST_WORKERS = 1024

FLAG = doors.switch
TEXT = doors.text | doors.none
FILE = doors.path | doors.none
SHARE = doors.share
TRIAL = doors.whole(0, MOST_TRIAL)
TRIALS = doors.whole(1, MOST_TRIALS)
WORKERS = doors.whole(1, MOST_WORKERS) | doors.none
STEPS = doors.whole() | doors.none
MEMORY = doors.real(above=0, high=2**20, says="a number of GiB above 0")
SIZES = doors.whole(1) | doors.text | doors.several(doors.whole(1))
PROGRESS = doors.function(3, "a function of (stage, done, total)") | doors.none  # None: no progress is reported
CHECKPOINT = doors.instance("a Checkpoint", "hegemon.runs.checkpoint:Checkpoint") | doors.none
SEED = (
    doors.whole(0, MOST_SEED)
    | doors.text
    | doors.none
    | doors.instance("a generator of NumPy", "numpy.random:Generator", "numpy.random:SeedSequence")
)
GRAPH = kinds.GRAPH | doors.none
START = (
    doors.text
    | doors.path
    | doors.none
    | doors.instance("a Configuration", "hegemon.models.configuration:Configuration")
    | doors.several(doors.mapping(doors.field))
)
SET = doors.text | doors.instance("a set of configurations", "hegemon.models.sets:ConfigurationSet")
SCHEDULER = (
    doors.text
    | doors.none
    | doors.instance(
        "a scheduler",
        "hegemon.process.schedulers.scheduler:Scheduler",
        "hegemon.process.schedulers.nodes:NodeScheduler",
    )
    | doors.function()
)
FAULTS = doors.several(doors.instance("Fault(…)", "hegemon.runs.run:Fault"))
RATES = doors.text | doors.several(doors.text | doors.instance("a Rate", "hegemon.runs.rates:Rate"))
CRASHES = doors.text | doors.several(doors.text | doors.instance("a Crash", "hegemon.process.messages.crashes:Crash"))
NODES = doors.text | doors.path | doors.several(doors.whole())  # a name, a file, or a number for each node
DELAY = doors.text | doors.none | doors.function(4, "a function of (time, sender, receiver, message)")
POINTS = doors.several(doors.whole(), most=MOST_POINTS) | doors.none
OBSERVED = (
    doors.switch
    | doors.text
    | doors.several(doors.text)
    | doors.mapping(doors.instance("an observable", "hegemon.models.observables:Observable"))
)


def _in_a_file(value: Any) -> Any:
    """A fraction as a text, which is as exact."""
    return value if isinstance(value, bool | int | float | str) else str(value)


def _read_protocol(value: object) -> object:
    if isinstance(value, type):
        raise doors.Wrong("is a class: make an instance of it with n=…")
    return _PROTOCOL.read(value)


_PROTOCOL = doors.instance("a protocol", "hegemon.models.protocol:Protocol")
PROTOCOL = doors.Kind("an instance of a protocol, such as hegemon.Pairwise(n=100)", _read_protocol)
PROTOCOL_CLASS = doors.subclass("the class of a protocol, such as hegemon.Pairwise", "hegemon.models.protocol:Protocol")
_ENTRY = doors.Kind(doors.scalar.says, lambda value: _in_a_file(doors.scalar.read(value)))
VALUE = (  # of an axis: a file keeps it
    _ENTRY | doors.none | doors.several(_ENTRY) | doors.Kind("a path", lambda value: str(doors.path.read(value)))
)

# the kinds by the names of parameters: a function states those that mean something else there
USUAL = {
    "protocol": PROTOCOL,
    "graph": GRAPH,
    "start": START,
    "scheduler": SCHEDULER,
    "loss": SHARE,
    "one_sided": SHARE,
    "duplicate": SHARE,
    "relative": SHARE,
    "memory": MEMORY,
    "checkpoint": FILE,
    "out": FILE,
    "store": FILE,
    "wake": NODES,
    "identifiers": NODES,
    "crashes": CRASHES,
    "rates": RATES,
    "faults": FAULTS,
    "progress": PROGRESS,
    "property": TEXT,
    "of": TEXT,
    "cluster": TEXT,
    "seed": SEED,
    "trials": TRIALS,
    "workers": WORKERS,
    "n": SIZES,
    "order": doors.text,
    "engine": doors.text,
    "max_steps": doors.whole(1),
    "within": STEPS,
    "specification": doors.text,
    "until": doors.text,
}
door = partial(doors.door, USUAL)
