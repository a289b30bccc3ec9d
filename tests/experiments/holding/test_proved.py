"""Lower bounds that are proved: below every exact holding time, and not for lack of boldness."""

import math

import pytest

from hegemon.exact.verification import verify
from hegemon.experiments.holding.proved import log10_holding_of_timer
from hegemon.protocols.timer import Timer


def test_what_is_proved_of_timers_is_below_every_exact_holding_time():
    exact, proved, too_bold = [], [], []
    for n, s in ((3, 2), (3, 8), (4, 2), (4, 6), (5, 4)):
        answer = verify(Timer(n=n, s=s), start="all", property="holding").holding
        for start, lowest in (("safe", s), ("barely-safe", (s + 1) // 2)):
            exact.append(math.log10(answer.from_starts[start] / n))
            proved.append(log10_holding_of_timer(n, lowest))
            too_bold.append(log10_holding_of_timer(n, 4 * lowest))
    assert all(one <= other for one, other in zip(proved, exact, strict=True))
    assert not all(one <= other for one, other in zip(too_bold, exact, strict=True))


def test_fewer_agents_with_the_same_timers_are_promised_more():
    """What lets a row for N agents serve fewer; and the figure of the manual."""
    for s in (2, 96, 36_000):
        promised = [log10_holding_of_timer(n, s) for n in range(3, 200)]
        assert all(one > next_one for one, next_one in zip(promised, promised[1:], strict=False))
    assert log10_holding_of_timer(1000, 36_000) == pytest.approx(
        36_000 * math.log1p(1 / 998) / math.log(10) - math.log10(2000)
    )
    assert all(log10_holding_of_timer(n, 96 * n) > n * math.log10(math.e) for n in range(3, 91))
    assert log10_holding_of_timer(92, 96 * 92) < 92 * math.log10(math.e) + 1
