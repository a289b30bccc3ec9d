"""Every option of `verify` on every kind of question: an effect is seen, or it is refused."""

import inspect
from dataclasses import replace

import pytest

import hegemon as hg
from hegemon.exact import verification
from hegemon.exact.verification import Verification

BASES = {
    "chance": ("OF_CHANCE", hg.Timer(n=3, s=3), {}),
    "one question": ("OF_CHANCE", hg.Timer(n=3, s=3), {"property": "time"}),
    "inputs": ("OF_INPUTS", hg.Threshold(n=4, k=2), {"property": "predicate"}),
    "a daemon of pairs": ("OF_SCHEDULES", hg.Pairwise(n=3), {"scheduler": "fair"}),
    "a daemon of nodes": ("OF_SCHEDULES", hg.CATALOGUE["huang"](n=3), {"scheduler": "central"}),
    "messages": ("OF_MESSAGES", hg.ChangRoberts(n=3), {}),
    "messages that are late": ("OF_MESSAGES", hg.ChangRoberts(n=3), {"delay": "uniform:1..2"}),
}
VALUES = {
    "graph": ["ring:{n}", "path:{n}", "complete:{n}"],
    "start": ["safe", "all", "initial"],
    "property": ["closed", "reached:safe"],
    "quantiles": [(0.5,)],
    "within": [2],
    "scheduler": ["weighted:1,2,5,3", "central", "distributed"],
    "coins": ["adversary"],
    "loss": ["1/2"],
    "one_sided": ["1/2"],
    "memory": [1e-7],
    "symmetry": [False],
    "checkpoint": ["{folder}/kept.npz"],
    "wake": ["one-by-one"],
    "identifiers": ["increasing"],
    "delay": ["uniform:1..3"],
    "order": ["any"],
    "duplicate": ["1/2"],
    "crashes": [("round=1,nodes=1",)],
}
# Supported, and nothing to be seen: what fits in memory needs no checkpoint, agents have names under a daemon, Huang's
# ring has one graph and no named start but a random one, and one message on a link overtakes none.
IDLE = {
    "chance": {"checkpoint"},
    "one question": {"checkpoint"},
    "inputs": {"graph"},
    "a daemon of pairs": {"symmetry", "coins", "loss", "one_sided"},
    "a daemon of nodes": {"symmetry", "graph", "start"},
    "messages": {"order", "duplicate"},
}


def seen_of(answer):
    record = answer.record()
    return {name: value for name, value in record.items() if name != "seconds"}


def verdict(base, name, folder):
    _, protocol, options = BASES[base]
    usual, outcomes = seen_of(hg.verify(protocol, **options)), []
    for value in VALUES[name]:
        if isinstance(value, str):
            value = value.format(n=protocol.n, folder=folder)
        if options.get(name) == value:
            continue
        try:
            outcomes.append(seen_of(hg.verify(protocol, **{**options, name: value})))
        except hg.InvalidInput as error:
            outcomes.append(str(error))
    if any(outcome != usual and not isinstance(outcome, str) for outcome in outcomes):
        return "effect"
    return "refused" if all(isinstance(outcome, str) for outcome in outcomes) else "ignored"


def wrong(base, folder, names=tuple(VALUES)):
    path, protocol, options = BASES[base]
    supported = getattr(verification, path).options
    found = {}
    for name in names:
        seen = verdict(base, name, folder)
        idle = name in IDLE.get(base, ()) and name in supported
        # a value too small or one that needs another option is refused for a reason of its own
        allowed = {"effect", "refused"} | ({"ignored"} if idle else set()) if name in supported else {"refused"}
        if seen not in allowed:
            found[name] = seen
    return found


def test_every_option_has_a_value():
    parameters = inspect.signature(inspect.unwrap(hg.verify)).parameters
    assert VALUES.keys() == parameters.keys() - {"protocol", "progress"}
    for path in ("OF_CHANCE", "OF_INPUTS", "OF_SCHEDULES", "OF_MESSAGES"):
        assert getattr(verification, path).options <= VALUES.keys()


SLOW = "messages that are late"


@pytest.mark.parametrize("base", [pytest.param(base, marks=[pytest.mark.full] * (base == SLOW)) for base in BASES])
def test_every_option_has_an_effect_or_is_refused(base, tmp_path):
    assert wrong(base, tmp_path) == {}


@pytest.mark.parametrize(
    ("base", "name"), [("inputs", "start"), ("a daemon of pairs", "quantiles"), ("messages", "checkpoint")]
)
def test_a_question_that_claims_what_it_ignores_is_caught(base, name, tmp_path, monkeypatch):
    place = BASES[base][0]
    supports = getattr(verification, place)
    monkeypatch.setattr(verification, place, replace(supports, options=supports.options | {name}))
    assert name in wrong(base, tmp_path, [name])


def test_the_answers_are_of_their_kinds():
    for base, (_, protocol, options) in BASES.items():
        assert isinstance(hg.verify(protocol, **options), Verification) == (not base.startswith("messages"))
