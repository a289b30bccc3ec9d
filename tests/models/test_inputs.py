"""What agents are told: a start of the user's own may not say something else than the protocol was told."""

import pytest

from hegemon import ApproximateMajority, ExactMajority, Threshold
from hegemon.errors import InvalidInput
from hegemon.models import Group
from hegemon.models.inputs import describe_inputs
from hegemon.runs.setting import initial_configuration

VOTES = [{"opinion": "X"}] * 2 + [{"opinion": "Y"}] * 3


def begin(protocol, start):
    return initial_configuration(protocol, start, 0, 0)


def test_votes_of_a_list_are_counted():
    """The majority of these is Y: with votes = 3 a run would wait for X for ever."""
    with pytest.raises(InvalidInput, match="2 agents that start with opinion = X, .* votes = 3; give --set votes=2"):
        begin(ApproximateMajority(n=5), VOTES)
    begin(ApproximateMajority(n=5, votes=2), VOTES)
    begin(ApproximateMajority(n=5), [*VOTES[1:], {"opinion": "BLANK"}])  # on the way: nobody knows the votes


def test_votes_of_a_file_are_counted(tmp_path):
    file = tmp_path / "votes.csv"
    file.write_text("count,opinion\n3,STRONG_X\n4,STRONG_Y\n")
    with pytest.raises(InvalidInput, match="give --set votes=3"):
        begin(ExactMajority(n=7), file)
    assert begin(ExactMajority(n=7, votes=3), file).n == 7
    file.write_text("count,x\n1,1\n4,0\n")
    with pytest.raises(InvalidInput, match="give --set marked=1"):
        begin(Threshold(n=5, k=3), file)


class Deaf(ApproximateMajority):
    """Everybody starts alike, whatever the votes are."""

    def start_votes(self, rng):
        return [Group(self.n, {"opinion": "X"})]


def test_show_says_what_votes_are():
    assert (
        describe_inputs(ExactMajority(n=5))
        == "3 (votes) of 5 agents start with opinion = STRONG_X, not opinion = STRONG_Y"
    )
    assert describe_inputs(Deaf(n=5)) == ""


def test_states_that_tell_nothing_are_not_counted():
    begin(Deaf(n=5), [{"opinion": "X"}] * 5)
