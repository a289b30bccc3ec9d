"""What every engine offers to the driver.

`advance(limit)` runs towards a step, or exactly to the first one that meets the stop, and says whether it is met;
it may come back early. `counts_hold()` says whether the stop is met now, `configuration()` and `load()` give and
take the states of all agents, `snapshot()` (whose first item is the step) and `restore()` go back in time.
"""


class Engine:
    name = ""
    as_multiset = False  # starts may come as counts of states
    checks_whole = False  # it watches whole predicates itself, at every step
    is_silent = False  # nothing will ever change again, as far as it knows
    horizon: int | None = None  # where the driver will surely stop: no jump needs to go beyond
    chunk = 20_000_000  # steps between two looks at progress and interruption
    stride = 1  # steps between two looks at a closed set with whole predicates
