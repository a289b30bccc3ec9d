"""Tables per second, judged one by one and covered by a search that prunes: `python -m benchmarks.discovery`."""

import random
import time

from hegemon.discovery.judge import judge
from hegemon.discovery.search import TableSearch
from hegemon.discovery.specifications import SearchQuestion

SECONDS = 5.0


def one_by_one(everywhere: bool, sizes: tuple[int, ...]) -> float:
    """Whole tables of 3 states, drawn at random, judged per second."""
    draw = random.Random(0)
    asked = SearchQuestion("leader-election", 3, sizes, self_stabilizing=everywhere).problems
    searches = [TableSearch(problem) for problem in asked]
    begin, count = time.process_time(), 0
    while time.process_time() - begin < SECONDS:
        for problem, search in zip(asked, searches, strict=True):
            judge([draw.randrange(9) for _ in range(9)], search.keeps, problem.cases)
            count += 1
    return count / (time.process_time() - begin)


def pruned(everywhere: bool, sizes: tuple[int, ...]) -> tuple[int, int, float]:
    """All tables of 3 states: how many there are, how many judgements cover them, in how many seconds."""
    begin, tables, judged = time.process_time(), 0, 0
    for problem in SearchQuestion("leader-election", 3, sizes, self_stabilizing=everywhere).problems:
        search = TableSearch(problem)
        search.explore()
        tables, judged = tables + problem.space.size, judged + search.judged
    return tables, judged, time.process_time() - begin


if __name__ == "__main__":
    for everywhere, sizes in ((True, (2, 3)), (False, (2, 3)), (False, (2, 3, 4, 5))):
        slow = one_by_one(everywhere, sizes)
        tables, judged, seconds = pruned(everywhere, sizes)
        start = "every configuration" if everywhere else "a uniform start"
        print(f"3 states, n = {sizes}, from {start}: {slow:,.0f} tables per second one by one;")
        print(f"  {tables:,} tables by {judged:,} judgements in {seconds:.1f} s: {tables / seconds:,.0f} per second,")
        print(f"  {tables / seconds / slow:,.0f} times as many", flush=True)
