"""Lower bounds that are proved: below every exact holding time, and not for lack of boldness."""

import math

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
