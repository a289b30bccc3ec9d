"""Parameters from what a deployment needs: what is asked for is met, and what is not known is refused."""

import json
import math

import pytest

from hegemon.cli.main import main
from hegemon.errors import InvalidInput
from hegemon.network.advice import advise, log_mean
from hegemon.network.holding import TABLE

YEAR = 365.25 * 86400


def test_ten_years_for_sixty_four_members():
    found = advise(64, 20, 10 * YEAR)
    assert found.mean_hold_seconds >= 1000 * YEAR and found.extrapolated
    less = {"s": found.parameters["s"] - 1}
    assert math.exp(log_mean(TABLE[64], less["s"])) / (64 * 20 / 2) < 1000 * YEAR  # the smallest that does


def test_within_the_table_nothing_is_extrapolated():
    found = advise(64, 20, 60.0, risk=0.5)
    assert not found.extrapolated and found.parameters["s"] in range(8, 12)
    assert [round(math.exp(log_mean(TABLE[64], s))) for s, _ in TABLE[64]] == [round(mean) for _, mean in TABLE[64]]


@pytest.mark.parametrize(
    "wrong", [(1, 20, 9), (65, 20, 9), (True, 20, 9), (8, 0, 9), (8, 20, -1), (8, 20, float("nan")), (8, 20, 9, 0.9)]
)
def test_what_the_table_does_not_know_is_refused(wrong):
    with pytest.raises(InvalidInput, match="out of range"):
        advise(*wrong)


def test_the_command(capsys):
    assert main(["advise", "--members", "64", "--rate", "20", "--hold", "10y", "--json"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert content["protocol"] == "timer" and content["extrapolated"] is True
    assert f"--set s={content['parameters']['s']} " in content["command"]
    assert main(["advise", "--members", "64", "--rate", "20", "--hold", "long"]) == 2
