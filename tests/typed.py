"""What a type checker sees of the front door: mypy reads this file in `make test`; nothing runs it."""

from typing import Any, assert_type

import hegemon as hg
from hegemon.exact.hitting import HittingTimes
from hegemon.exact.messages.answers import MessageVerification
from hegemon.exact.verification import Verification

run = hg.simulate(hg.Pairwise(n=10), seed=1, until="safe")
assert_type(run, hg.Run)
assert_type(run.steps, int)
assert_type(hg.run_trials(hg.TimeOptimal(n=10, tau=2), 5).runs, list[hg.Run])
assert_type(hg.verify(hg.Timer(n=3, s=4)).hitting, HittingTimes | None)
assert_type(hg.verify(hg.Trains(n=3), graph="path:3"), Verification)
assert_type(hg.verify(hg.FloodMax(n=3), wake="random"), MessageVerification)
assert_type(hg.verify(hg.CATALOGUE["ring"](n=3)), Verification | MessageVerification)
assert_type(hg.results("study").rows, list[dict[str, Any]])
assert_type(hg.advise("10y", n=5, interactions_per_second=20).command, str)
assert_type(hg.search_worst(hg.Ring(n=5)).mean, float)
assert_type(hg.lower_bound(1e4), list[dict[str, Any]])
hg.simulate(hg.Pairwise(n=1e3), seed=None).plot(ax=None)

# mistakes that must be seen; an ignore that is not needed is an error too
hg.simulate(hg.Pairwise(n=10), sed=1)  # type: ignore[call-arg]
hg.simulate("pairwise")  # type: ignore[arg-type]
hg.run_trials(hg.Pairwise(n=10), "many")  # type: ignore[arg-type]
hg.verify(hg.Timer(n=3, s=4), stat="all")  # type: ignore[call-overload]

# parameters are completed and checked
assert_type(hg.TimeOptimal(1000, tau=2, m="10").tau, int)
assert_type(hg.BiasedHerman(n=5).n, int)
hg.TimeOptimal(n=10, tauu=3)  # type: ignore[call-arg]
hg.Walks(n=10, lazy="perhaps")  # type: ignore[arg-type]
