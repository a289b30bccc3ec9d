"""The guard of speed: noise passes, a small loss is shown, a large one that every further try confirms fails."""

import json

import numpy as np
from benchmarks import guard


def measured(*answers):
    """A measurement that gives these ratios, one after the other."""
    left = iter(answers)
    return lambda names: {name: value for name, value in next(left).items() if name in names}


def recorded(**ratios):
    """The standard of a processor whose kind has a record."""
    return guard.Standard({"here": ratios}, "here")


def test_only_a_large_loss_that_is_confirmed_fails():
    standard = recorded(a=1.0, b=2.0)
    assert guard.judge(measured({"a": 1.19, "b": 2.9}), standard)[1] == []
    assert guard.judge(measured({"a": 1.0, "b": 3.1}, {"b": 2.1}), standard)[1] == []  # a busy moment
    assert guard.judge(measured({"a": 1.0, "b": 3.1}, {"b": 3.2}, {"b": 2.2}), standard)[1] == []
    assert guard.judge(measured({"a": 1.0, "b": 3.1}, {"b": 3.2}, {"b": 3.1}), standard)[1] == ["b"]
    assert standard.losses({"a": 1.3, "b": 2.0}, guard.SHOWN) == ["a"]


def test_a_kind_of_processor_without_a_record_hides_no_large_loss():
    usual = dict(zip("abcde", (0.4, 0.42, 0.45, 0.47, 0.75), strict=True))  # the yardstick is slow here
    standard = guard.Standard({"another": dict.fromkeys("abcde", 1.0)}, "here")
    assert standard.losses(usual, guard.SHOWN) == ["e"]
    assert guard.judge(measured(usual), standard)[1] == []
    slowed = usual | {"a": 0.95}  # more than twice the time, and less than was recorded on another processor
    assert guard.judge(measured(slowed, {"a": 0.95}, {"a": 0.95}), standard)[1] == ["a"]
    slower = dict.fromkeys("abcde", 2.1)  # everything: no change of processor is assumed
    assert guard.judge(measured(slower, slower, slower), standard)[1] == list("abcde")
    two = guard.Standard(standard.records | {"third": dict.fromkeys("abcde", 1.0) | {"a": 3.0}}, "here")
    assert guard.judge(measured(slowed), two)[1] == []  # some processor is known to be as slow at it


def test_a_kind_with_a_record_is_judged_by_it_alone():
    records = {"here": {"a": 1.0, "b": 1.0, "c": 1.0}, "another": {"a": 9.0, "b": 9.0, "c": 9.0}}
    halved = {"a": 0.5, "b": 0.5, "c": 1.6}
    assert guard.judge(measured(halved, halved, halved), guard.Standard(records, "here"))[1] == ["c"]
    assert guard.kind_of_processor() == guard.kind_of_processor() != ""


def test_a_slowed_workload_is_caught():
    memory = np.zeros(1 << 10, np.uint8)

    def measure(times):
        made = guard.rounds({"loop": lambda: guard.yardstick(2_000_000 * times, memory)})
        return {name: guard.ratio(samples) for name, samples in made.items()}

    standard = recorded(**measure(1))
    assert guard.judge(lambda names: measure(3), standard)[1] == ["loop"]


def test_noise_raises_no_alarm_and_a_slower_engine_always_does():
    noisy = {"a": [(1.0 + 0.1 * k, 1.0 + 0.15 * (k % 3)) for k in range(7)]}  # other work only slows a round down
    assert guard.false_alarms(noisy, recorded(a=1.0), 100)[0] == 0
    slowed = {"a": [(2.2 * ours, rule) for ours, rule in noisy["a"]]}
    assert guard.false_alarms(slowed, recorded(a=1.0), 100) == [100, 100]


def test_one_ratio_can_be_recorded_and_the_others_stay():
    first, second = list(guard.workloads())[:2]
    kept = guard.merged({"gone": 3.0, second: 1.0}, {first: 2.00004})
    assert list(kept.items()) == [(first, 2.0), (second, 1.0)]


def test_every_workload_has_a_recorded_ratio():
    for record in json.loads(guard.RECORDED.read_text()).values():
        assert list(record) == list(guard.workloads())
