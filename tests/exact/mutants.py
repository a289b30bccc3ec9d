"""One-line mutations of the catalogue.

A mutation replaces one piece of a protocol's own source text, which must occur exactly once: when the
protocol changes, a mutation that no longer fits fails instead of passing unnoticed.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Mutant:
    protocol: str
    name: str
    old: str
    new: str
    why: str = ""  # for a survivor: the reason

    @property
    def id(self) -> str:
        return f"{self.protocol}: {self.name}"


INSTANCES = {
    "threshold": {"n": 4, "k": 3},
    "pairwise": {"n": 4},
    "timer": {"n": 3, "s": 4},
    "epidemic": {"n": 4, "top": 2},
    "countdown": {"n": 4, "top": 4},
    "quick-elimination": {"n": 3},
    "time-optimal": {"n": 3, "r_max": 4, "b_max": 4},
    "ring": {"n": 2, "N": 2},
    "optimal-silent": {"n": 3, "r_max": 2, "d_max": 2, "e_max": 3},
    "odd-ring": {"n": 3},
    "ag": {"n": 4, "m": 4},
    "exact-majority": {"n": 5},
}
LARGER = {  # mutants that the instance above is too small for
    "ring: the distance passes bullets": {"n": 3, "N": 3},
    "ring: swapped role in lines 10-12": {"n": 3, "N": 3},
}
LEMMA_5 = 1 / 16  # quick elimination leaves one leader at least so often

MUTANTS = (
    # threshold
    Mutant("threshold", "off-by-one bound", "if a.x + b.x < p.k:", "if a.x + b.x <= p.k:"),
    Mutant("threshold", "a mark is lost", "a.x, b.x = a.x + b.x, 0", "a.x, b.x = max(a.x, b.x), 0"),
    Mutant("threshold", "a mark is copied", "a.x, b.x = a.x + b.x, 0", "a.x, b.x = a.x + b.x, b.x"),
    Mutant(
        "threshold",
        "the answer does not spread",
        "a.x, b.x = p.k, p.k",
        "a.x, b.x = p.k, b.x",
        why="k still spreads, to one of the two agents at a time: right, but slower",
    ),
    Mutant("threshold", "early answer", "if a.x + b.x < p.k:", "if a.x + b.x < p.k - 1:"),
    Mutant(
        "threshold",
        "swapped role",
        "a.x, b.x = a.x + b.x, 0",
        "a.x, b.x = 0, a.x + b.x",
        why="the scheduler draws both orders alike, so the chain is the same",
    ),
    # pairwise
    Mutant("pairwise", "both yield", "            b.leader = 0", "            a.leader = b.leader = 0"),
    Mutant(
        "pairwise",
        "swapped role",
        "            b.leader = 0",
        "            a.leader = 0",
        why="the scheduler draws both orders alike, so the chain is the same",
    ),
    Mutant("pairwise", "a follower defeats", "if a.leader == 1 and b.leader == 1:", "if b.leader == 1:"),
    Mutant("pairwise", "nobody yields", "            b.leader = 0", "            b.leader = 1"),
    Mutant("pairwise", "wrong guard", "if a.leader == 1 and b.leader == 1:", "if a.leader == 1 or b.leader == 1:"),
    Mutant(
        "pairwise",
        "a leader is born",
        "if a.leader == 1 and b.leader == 1:",
        "if a.leader == b.leader:\n            a.leader = 1",
    ),
    # timer
    Mutant("timer", "the responder stays leader", "            b.leader = 0\n", ""),
    Mutant(
        "timer",
        "dropped reset",
        "            b.leader = 0\n            a.timer = b.timer = p.s",
        "            b.leader = 0",
        why="the safe set is still reached and was never claimed to be closed; only holding suffers",
    ),
    Mutant(
        "timer",
        "swapped role",
        "            b.leader = 0\n",
        "            a.leader = 0\n",
        why="one leader still appears, but it abdicates at its first word: only holding suffers",
    ),
    Mutant("timer", "no timeout", "            a.leader = 1\n", ""),
    Mutant(
        "timer",
        "off-by-one timeout",
        "elif a.timer == 0 and b.timer == 0:",
        "elif a.timer <= 1 and b.timer <= 1:",
        why="a timeout one tick early is still a timeout; only holding suffers",
    ),
    Mutant("timer", "timers never fall", "max(a.timer, b.timer) - 1", "max(a.timer, b.timer)"),
    Mutant(
        "timer",
        "the smaller timer spreads",
        "max(a.timer, b.timer) - 1",
        "max(min(a.timer, b.timer) - 1, 0)",
        why="timers fall faster, which the next leader repairs; only holding suffers",
    ),
    # epidemic
    Mutant("epidemic", "the smaller value spreads", "max(a.x, b.x)", "min(a.x, b.x)"),
    Mutant(
        "epidemic",
        "one way only",
        "a.x = b.x = max(a.x, b.x)",
        "b.x = max(a.x, b.x)",
        why="the largest value still reaches everyone; half of the meetings are wasted",
    ),
    Mutant("epidemic", "the responder's value spreads", "max(a.x, b.x)", "b.x"),
    Mutant("epidemic", "the values are swapped", "a.x = b.x = max(a.x, b.x)", "a.x, b.x = b.x, a.x"),
    Mutant("epidemic", "off by one", "max(a.x, b.x)", "max(a.x, b.x, 1) - 1"),
    Mutant(
        "epidemic",
        "one step at a time",
        "a.x = b.x = max(a.x, b.x)",
        "b.x = min(b.x + 1, max(a.x, b.x))",
        why="the largest value still reaches everyone, one unit per meeting",
    ),
    # countdown
    Mutant("countdown", "no countdown", "max(a.y - 1, b.y - 1, 0)", "max(a.y, b.y)"),
    Mutant("countdown", "stops at one", "max(a.y - 1, b.y - 1, 0)", "max(a.y - 1, b.y - 1, 1)"),
    Mutant("countdown", "only the initiator counts", "max(a.y - 1, b.y - 1, 0)", "max(a.y - 1, b.y)"),
    Mutant(
        "countdown",
        "the smaller value spreads",
        "max(a.y - 1, b.y - 1, 0)",
        "max(min(a.y, b.y) - 1, 0)",
        why="`safe` asks only that all values fall (Lemma 3), and they fall sooner; only Lemma 4 needs the larger",
    ),
    Mutant(
        "countdown",
        "one side only",
        "a.y = b.y = max(a.y - 1, b.y - 1, 0)",
        "a.y = max(a.y - 1, b.y - 1, 0)",
        why="every value still falls, though slower",
    ),
    Mutant("countdown", "wraps around", "max(a.y - 1, b.y - 1, 0)", "(max(a.y, b.y) - 1) % (p.top + 1)"),
    # quick elimination
    Mutant("quick-elimination", "the coin never shows tail", "        b.done = 1\n", "        b.done = 0\n"),
    Mutant(
        "quick-elimination",
        "the level overflows",
        "min(a.level + 1, 2 * p.m)",
        "(a.level + 1) % (2 * p.m + 1)",
        why="Lemma 5 promises one leader with probability 1/16 at least, and that is left",
    ),
    Mutant(
        "quick-elimination",
        "swapped role",
        "            b.level = a.level\n            b.leader = 0",
        "            b.level = a.level\n            a.leader = 0",
    ),
    Mutant(
        "quick-elimination",
        "the undecided compare",
        "if is_decided(a, p) and is_decided(b, p):",
        "if is_decided(a, p) or is_decided(b, p):",
        why="leaders fall even before they have decided; one leader is left more often",
    ),
    Mutant(
        "quick-elimination",
        "a tie eliminates both",
        "        elif b.level < a.level:",
        "        else:\n            a.leader = b.leader = 0\n        if b.level < a.level:",
    ),
    Mutant(
        "quick-elimination",
        "the loser keeps its level",
        "            b.level = a.level\n",
        "",
        why="the leaders of the highest level still meet all others themselves; only the help of followers is gone",
    ),
    Mutant(
        "quick-elimination",
        "the loser stays leader",
        "            b.level = a.level\n            b.leader = 0",
        "            b.level = a.level",
        why="`elected` is reached less often, but Lemma 5 asks for 1/16 only",
    ),
    # time-optimal
    Mutant("time-optimal", "no leader is created", "        a.leader = 1\n", "        a.leader = 0\n"),
    Mutant("time-optimal", "detection is forgotten", "a.detect = a.leader", "a.detect = 0"),
    Mutant(
        "time-optimal",
        "synchronizers stay leaders",
        "        if is_synchronizer(a, p):  # line 1\n            a.leader = 0\n"
        "        if is_synchronizer(b, p):\n            b.leader = 0\n",
        "",
        why="followers alone become synchronizers, so line 1 acts in arbitrary starts only; elections repair those",
    ),
    Mutant(
        "time-optimal",
        "the tie is not broken",
        "                b.leader = 0\n            tick(a, p)",
        "                pass\n            tick(a, p)",
    ),
    Mutant(
        "time-optimal",
        "synchronizers never time out",
        "a.timer_b = max(a.timer_b - 1, 0)",
        "a.timer_b = max(a.timer_b, 1)",
    ),
    Mutant(
        "time-optimal",
        "the check phase never ends",
        "max(a.timer_r - 1, b.timer_r - 1, 0)",
        "max(a.timer_r, b.timer_r, 1)",
    ),
    Mutant(
        "time-optimal",
        "swapped role in line 13",
        "            become_synchronizer(b, p)",
        "            become_synchronizer(a, p)",
        why="both are followers of one level, so who of them switches makes no difference in law",
    ),
    Mutant(
        "time-optimal",
        "dropped reset of timer_r",
        "    a.timer_r = p.r_max\n",
        "    a.timer_r = p.r_mid\n",
        why="the check phase becomes too short to be sure; only holding suffers",
    ),
    # ring
    Mutant(
        "ring",
        "a leader does not shield itself",
        "            l.bullet = LIVE\n            l.shield = 1\n",
        "            l.bullet = LIVE\n",
    ),
    Mutant(
        "ring",
        "the shield is not lowered",
        "            r.bullet = DUMMY\n            r.shield = 0\n",
        "            r.bullet = DUMMY\n",
    ),
    Mutant("ring", "live bullets kill the shielded", "if l.bullet == LIVE and r.shield == 0:", "if l.bullet == LIVE:"),
    Mutant("ring", "dummy bullets kill", "if l.bullet == LIVE and r.shield == 0:", "if r.shield == 0:"),
    Mutant("ring", "off-by-one distance", "min(l.distL + 1, p.N)", "min(l.distL + 2, p.N)"),
    Mutant("ring", "distances do not grow", "min(l.distL + 1, p.N)", "min(l.distL, p.N)"),
    Mutant(
        "ring",
        "a bullet does not erase the signal",
        "            l.bullet = 0\n            r.signal = 0\n",
        "            l.bullet = 0\n",
    ),
    Mutant(
        "ring",
        "a new leader has no shield",
        "            r.bullet = LIVE\n            r.shield = 1\n            r.signal = 0\n",
        "            r.bullet = LIVE\n            r.signal = 0\n",
    ),
    Mutant(
        "ring",
        "the distance passes bullets",
        "        elif r.bullet == 0:\n",
        "        else:\n",
        why="no property breaks at n = 3 with N = 3 (nor with N = 4): no need for the guard of line 2 shows so small",
    ),
    Mutant("ring", "swapped role in lines 10-12", "                r.leader = 0\n", "                l.leader = 0\n"),
    # optimal-silent
    Mutant(
        "optimal-silent",
        "a doubled rank goes unnoticed",
        "            if a.rank == b.rank:  # rule 2",
        "            if False:",
    ),
    Mutant("optimal-silent", "ranks are dealt twice", "            s.children += 1\n", ""),
    Mutant(
        "optimal-silent",
        "nobody grows impatient",
        "        a.error = max(a.error - 1, 0)",
        "        a.error = max(a.error, 1)",
    ),
    Mutant("optimal-silent", "no slow election", "        b.leader = 0\n", "        b.leader = 1\n"),
    Mutant(
        "optimal-silent",
        "both resign",
        "        b.leader = 0\n",
        "        a.leader = b.leader = 0\n",
        why="then nobody settles, everybody grows impatient, and another reset follows; so small, even sooner",
    ),
    Mutant(
        "optimal-silent",
        "the dormant never wake",
        "(a.delay == 0 or not both)",
        "(not both and False)",
        why="an initiator sleeps on, but wakes in its turn as a responder",
    ),
    # odd-ring
    Mutant("odd-ring", "two colours", "(r.colour + 1 + r.coin) % 3", "(r.colour + 1) % 2"),
    Mutant(
        "odd-ring",
        "a fixed next colour",
        "(r.colour + 1 + r.coin) % 3",
        "(r.colour + 1) % 3",
        why="three agents are too few to show it; at n = 5 it is refuted",
    ),
    Mutant(
        "odd-ring",
        "the token does not take its colour along",
        "                r.colour = l.colour\n",
        "                pass\n",
    ),
    Mutant("odd-ring", "nobody resigns", "                r.leader = 0\n", "                r.leader = r.leader\n"),
    Mutant(
        "odd-ring",
        "barriers stand still",
        "            r.label = (l.label + 1) % p.k\n",
        "            r.label = r.label\n",
    ),
    # ag
    Mutant("ag", "both survive a tie", "b.value >= a.value and not a_survives(a, b)", "b.value >= a.value"),
    Mutant(
        "ag",
        "both fall on a tie",
        "return a.leader == 1 and a.value >= b.value",
        "return a.leader == 1 and a.value > b.value and False",
    ),
    Mutant(
        "ag",
        "nobody resigns",
        "            a.leader, a.value = 0, top\n",
        "            a.value = top\n",
        why="a loser stays as an initiator, but resigns in its turn as a responder",
    ),
    Mutant(
        "ag",
        "the smaller value wins",
        "return a.leader == 1 and a.value >= b.value",
        "return a.leader == 1 and a.value <= b.value",
    ),
    Mutant("ag", "a minion wins a tie", "b.leader == 1 and b.value >= a.value", "b.leader == 1 and b.value > a.value"),
    # exact-majority
    Mutant(
        "exact-majority",
        "only one cancels",
        'a.opinion, b.opinion = "WEAK_X", "WEAK_Y"',
        'a.opinion, b.opinion = "STRONG_X", "WEAK_Y"',
    ),
    Mutant(
        "exact-majority",
        "the strong do not cancel",
        'a.opinion, b.opinion = "WEAK_X", "WEAK_Y"',
        "pass",
        why="they still do in the other order",
    ),
    Mutant("exact-majority", "strong Y does not persuade", '        b.opinion = "WEAK_Y"\n', "        pass\n"),
    Mutant(
        "exact-majority",
        "both become X",
        'a.opinion, b.opinion = "WEAK_Y", "WEAK_X"',
        'a.opinion, b.opinion = "WEAK_X", "WEAK_X"',
        why="a weak opinion is an answer for the time being; the strong ones that remain decide",
    ),
    Mutant(
        "exact-majority",
        "the weak persuade",
        '    if a.opinion == "STRONG_X" and b.opinion == "WEAK_Y":',
        '    if (a.opinion == "STRONG_X" or a.opinion == "WEAK_X") and b.opinion == "WEAK_Y":',
        why="a weak opinion is an answer for the time being; the strong ones that remain decide",
    ),
)
