"""Mean holding times of `timer` from the start `safe`, in steps: n -> (s, mean of 60 runs) pairs, by s.

Made by `python -m benchmarks.holding`. At s = 16 none of 60 runs of 2·10⁷ steps lost its leader.
"""

TABLE: dict[int, list[tuple[int, float]]] = {64: [(8, 994), (9, 7_624), (10, 73_219), (11, 718_995)]}
