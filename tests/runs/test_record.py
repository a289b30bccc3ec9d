"""One record of a run: the command line, JSON and Python say the same."""

import json
import shlex

import pytest
import typer
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import hegemon as hg
from hegemon.cli.application import application
from hegemon.cli.run import run
from hegemon.errors import InvalidInput
from hegemon.experiments.request import make_record, with_story
from hegemon.models.model import MODELS
from hegemon.process.messages.crashes import read_crashes
from hegemon.runs.rates import read_rates
from hegemon.runs.record import RUN_OPTIONS, RunRecord
from hegemon.runs.values import read_observed

COMMAND = typer.main.get_command(application(["run"])).commands["run"]
PROTOCOLS = {
    "population": ("timer", {"s": st.integers(2, 9)}),
    "rounds": ("trains", {}),
    "messages": ("referees", {"variant": st.sampled_from(["implicit", "explicit", "wakeup"])}),
    "objects": ("sublinear-ranking", {}),
}
FAULTS = st.builds(
    hg.Fault,
    st.integers(0, 10**6),
    st.integers(1, 5) | st.lists(st.integers(0, 8), min_size=1, unique=True).map(tuple),
    st.none() | st.just({"leader": 0}),
    st.none() | st.just({"leader": 1}),
)
VALUES = {
    "graph": st.sampled_from(["complete:9", "ring:9", "grid:3x3"]),
    "start": st.sampled_from(["random", "safe", "a start.json"]),
    "until": st.sampled_from(["safe", "steps:100", "count(leader == 1) == 1"]),
    "seed": st.integers(0, 2**64 - 1),
    "max_steps": st.integers(0, 10**30),
    "engine": st.sampled_from(["auto", "agents", "nodes"]),
    "scheduler": st.sampled_from([None, "weighted:rates.csv", "matching"]),
    "faults": st.lists(FAULTS, max_size=3).map(tuple),
    "disturbances": st.just("it's here.json"),
    "rates": st.lists(st.sampled_from(["corrupt=1/1000", "corrupt=1/7,leader=0", "leave=1/9"]), max_size=2).map(
        read_rates
    ),
    "availability": st.booleans(),
    "loss": st.sampled_from([0, "1/3", "1/10"]),
    "one_sided": st.sampled_from([0, "1/4"]),
    "fast_forward": st.booleans(),
    "wake": st.sampled_from(["all", "one-by-one", "w.txt"]),
    "identifiers": st.sampled_from(["random", "increasing", (3, 1, 2), "ids.txt"]),
    "delay": st.sampled_from([None, "uniform:1..5", "exponential:5/2", "adversary:4"]),
    "order": st.sampled_from(["fifo", "any"]),
    "duplicate": st.sampled_from([0, "1/4"]),
    "crashes": st.lists(st.sampled_from(["round=5,nodes=2", "round=1,node=3", "rate=1/1000"]), max_size=2).map(
        read_crashes
    ),
    "observe": st.sampled_from([False, ("leaders",), ("leaders", "zeros")]),
    "every": st.none() | st.integers(1, 99),
    "at": st.none() | st.lists(st.integers(0, 99), min_size=1, max_size=4).map(tuple),
}


@st.composite
def records(draw):
    """Any record, with options that its model knows."""
    name, parameters = PROTOCOLS[draw(st.sampled_from(list(MODELS)))]
    kind = hg.CATALOGUE[name]
    protocol = kind(n=9, **{key: draw(value) for key, value in parameters.items() if draw(st.booleans())})
    known = [name for name, one in RUN_OPTIONS.items() if protocol.model.knows(one.needs)]
    chosen = draw(st.lists(st.sampled_from(known), unique=True))
    return RunRecord(protocol, **{name: draw(VALUES[name]) for name in chosen})


def parsed(words: list[str]) -> RunRecord:
    """What `hegemon run` makes of the words."""
    with COMMAND.make_context("run", words) as context:
        return make_record(run.asked_by(context.params))


def values_of(record: RunRecord) -> dict:
    """The values of all fields: written forms could lose the same thing twice."""
    protocol = record.protocol
    subject = type(protocol).__name__, protocol.n, protocol.parameters, protocol.time_unit
    return {name: getattr(record, name) for name in RUN_OPTIONS} | {"protocol": subject}


def same(one: RunRecord, other: RunRecord) -> bool:
    return values_of(one) == values_of(other)


def test_observables_are_names():
    with pytest.raises(InvalidInput, match="give names of observables"):
        read_observed(-1)


def test_every_option_is_tried():
    assert VALUES.keys() == RUN_OPTIONS.keys()


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(record=records())
def test_a_record_comes_back_from_json_and_from_its_command(record):
    assert same(make_record(json.loads(json.dumps(record.written()))), record)
    try:
        words = shlex.split(record.command())
    except InvalidInput as error:
        assert "faults" in str(error) and any(fault.of or not isinstance(fault.agents, int) for fault in record.faults)
        return
    assert words[:2] == ["hegemon", "run"]
    assert same(parsed(words[2:]), record)


def test_an_option_that_is_left_out_is_noticed(monkeypatch):
    """The comparison above can fail: a record whose faults are not written does not come back."""
    from dataclasses import replace

    record = RunRecord(hg.Timer(n=9), faults=(hg.Fault(5, 2),))
    monkeypatch.setitem(RUN_OPTIONS, "faults", replace(RUN_OPTIONS["faults"], write=lambda faults: []))
    assert not same(make_record(record.written()), record)


def test_a_limit_that_is_lost_is_noticed(monkeypatch):
    """Both sides once left out a limit of 0, which then was no limit."""
    record = RunRecord(hg.Pairwise(n=9), max_steps=0)
    assert same(make_record(record.written()), record) and same(parsed(shlex.split(record.command())[2:]), record)
    monkeypatch.setattr("hegemon.runs.record.is_default", lambda value, default: not value or value == default)
    assert not same(make_record(record.written()), record)


def test_a_command_reads_like_one():
    record = parsed(["ring", "--n", "2e1", "--start", "random", "--set", "N=40"])
    assert record.command() == "hegemon run ring --n 20 --set N=40 --start random --seed 0"


@pytest.mark.parametrize(
    ("protocol", "option", "value", "instead"),
    [
        ("referees", "start", "random", "use {wake}"),
        ("referees", "until", "steps:5", "use {max_steps}"),
        ("referees", "observe", "leaders", "leave it out"),
        ("pairwise", "wake", "all", "use {start}"),
        ("pairwise", "no_fast_forward", True, "leave it out"),
        ("trains", "loss", "0.1", "leave it out"),
        ("sublinear-ranking", "fault", ["step=5,agents=1"], "leave it out"),
    ],
)
def test_what_a_model_does_not_know_is_refused_in_the_words_of_whoever_asks(protocol, option, value, instead):
    content = {"protocol": protocol, "n": 9, option: value}
    flag = f"--{option.replace('_', '-')}"
    with pytest.raises(InvalidInput, match=f"^{flag} means nothing to {protocol}.*; ") as refused:
        make_record(content)
    assert str(refused.value).endswith(instead.format(wake="--wake", max_steps="--max-steps", start="--start"))
    with pytest.raises(InvalidInput, match=f"^{option} means nothing"):
        make_record(content, lambda one: one.written)


def test_objects_of_python_have_no_text():
    record = RunRecord(hg.Pairwise(n=4), start=[{"leader": 1}] * 4)
    for ask in (record.written, record.command):
        with pytest.raises(InvalidInput, match="start"):
            ask()
    with pytest.raises(InvalidInput, match="did you mean start"):
        make_record({"protocol": "pairwise", "n": 4, "strat": "random"})


def test_a_story_says_what_is_left_open(tmp_path):
    story = tmp_path / "story.json"
    agents = [{"leader": 1, "timer": 4}] * 3
    story.write_text(json.dumps({"protocol": "timer", "parameters": {"s": 4}, "graph": "ring:3", "agents": agents}))
    told = make_record(with_story({"start": str(story)}))
    assert told.protocol.id == "timer" and told.protocol.s == 4 and told.graph == "ring:3"
    other = make_record(with_story({"start": str(story), "parameters": {"s": 5}, "graph": "complete:3"}))
    assert other.protocol.s == 5 and other.graph == "complete:3"


def test_what_is_to_be_recorded_is_recorded():
    assert len(hg.simulate(hg.Pairwise(n=5), at=[0, 3]).history) >= 2
    assert list(hg.simulate(hg.Pairwise(n=5), observe=["leaders"]).history.columns)[-1] == "leaders"
