"""Random population protocols, and their exact laws by brute force.

A protocol is drawn by its parameter `key`: its transition function, its sets and its rate of change are random
functions of the key, so that thousands of protocols share one compiled kernel. Its states have classes with fields
of their own, one within another, and `interact` writes into fields that the state does not have: what is left there
must never be seen.
"""

import itertools
import random
from collections import Counter, defaultdict

import hegemon as hg
from hegemon.models import Bit, Choice, Parameter, PopulationProtocol, Range, at_least, whole
from hegemon.models.conditions import parse_set


def mix(h, value):
    """A random function, the same in plain Python and in machine code: everything stays below 2**62."""
    return (h * 1103515245 + 12345 + value * 7919) % 2147483648


def digest(h, a):
    """Of what the state has, and nothing else."""
    h = mix(h, a.kind + 4 * a.leader + 8 * a.done)
    if a.kind == 0:
        h = mix(h, a.x)
    if a.kind == 1:
        h = mix(h, a.y)
        if a.y == 1:
            h = mix(h, a.z)
    return h


def lucky(a, p):
    return (digest(mix(p.key, 5), a) >> 9) % 3 == 0


def enough_done(agents, p):
    """Closed: nobody's `done` is ever taken back."""
    done = 0
    for a in agents:
        done += a.done
    return done >= p.need


def odd(agents, p):
    """Not closed."""
    total = 0
    for a in agents:
        if a.kind == 0:
            total += a.x
        elif a.kind == 2:
            total += 1
    return total % 2 == 1


class Drawn(PopulationProtocol):
    """A protocol that its key draws."""

    key = Parameter(1, low=0)
    rate = Parameter(60, low=1, high=100, help="per cent of the pairs of states that change something")
    need = Parameter(2, low=1)

    class State:
        kind: Choice("A", "B", "C")
        leader: Bit
        done: Bit
        x: Range(0, 2).when(kind="A")
        y: Bit.when(kind="B")
        z: Bit.when(y=1)

    def interact(a, b, p):
        h = digest(digest(mix(p.key, 1), a), b)
        if (h >> 9) % 100 >= p.rate:
            return
        for who in range(2):
            h = mix(h, who)
            me = a if who == 0 else b
            if (h >> 9) % 3 > 0:
                h = mix(h, 2)
                me.kind = (h >> 9) % 3
                h = mix(h, 3)
                me.x = (h >> 9) % 3  # left behind where the new class has no such field
                h = mix(h, 4)
                me.y = (h >> 9) % 2
                h = mix(h, 5)
                me.z = (h >> 9) % 2
            h = mix(h, 6)
            if (h >> 9) % 5 == 0:
                me.leader = 1 - me.leader
            h = mix(h, 7)
            if (h >> 9) % 6 == 0:
                me.done = 1

    some = at_least("need", lucky)
    finished = whole(enough_done).described("enough agents are done", closed=True)
    uneven = whole(odd)


STEPS = 20
ABSENT = "count(x >= 1) >= 2 and none(z == 1)"  # speaks of fields that most states do not have
STOPS = ("some", "finished", "uneven", ABSENT, "broken", f"steps:{STEPS}", "all(done == 1 or y == 0)")


def crowded(number: int) -> str:
    """So many conditions, of which the last ones decide."""
    filling = ("none(done>1)", "none(y>1)", "none(x>3)", "none(done<0)")
    return " and ".join([*(filling[k % 4] for k in range(number - 2)), ABSENT])


class Case:
    """A protocol, a start, a stop and perhaps a fault, all drawn from one number."""

    def __init__(self, number: int, stops=STOPS, graph="complete", n=3):
        rng = random.Random(number)
        self.graph, self.n, self.until = graph, n, stops[number % len(stops)]
        settings = {"key": rng.randrange(10**6), "rate": rng.choice((10, 40, 90)), "need": rng.choice((2, 3))}
        self.protocol = Drawn(n=n, **settings)
        space = self.protocol.space
        leaderless = [code for code in range(space.size) if space.namespace(code).leader == 0]
        self.start = [rng.choice(leaderless) for _ in range(n)]
        if self.until == "broken":
            self.start[0] = next(c for c in itertools.count(rng.randrange(space.size)) if self._leads(c % space.size))
            self.start[0] %= space.size
        self.fault = None
        if rng.random() < 0.4:
            values = rng.choice((None, {"leader": 1}, {"done": 0}, {"leader": 0}))
            agents = 1 if values is None else rng.randint(1, n)
            self.fault = hg.Fault(rng.randint(0, STEPS + 5), agents, values)

    def _leads(self, code: int) -> bool:
        return self.protocol.space.namespace(code).leader == 1

    def __repr__(self):
        return f"{self.protocol.parameters} from {self.start} until {self.until} on {self.graph}, {self.fault}"

    def sample(self, engine: str, trials: int) -> list:
        """What is compared: when the stop was met, or where the run was after all steps."""
        space = self.protocol.space
        runs = hg.run_trials(
            self.protocol,
            trials,
            seed=11,
            graph=None if self.graph == "complete" else self.graph,
            start=[space.mapping(space.namespace(code)) for code in self.start],
            until=self.until,
            max_steps=STEPS,
            engine=engine,
            faults=(self.fault,) if self.fault else (),
            workers=1,
            keep_all=True,
        ).runs
        answers = []
        for run in runs:
            if run.reached and not self.until.startswith("steps"):
                answers.append(run.steps)
            else:
                codes = space.encode_array(run.configuration.agents).tolist()
                answers.append(tuple(sorted(codes) if self.graph == "complete" else codes))
        return answers


class Reference:
    """The exact law of a case, from plain Python and nothing of the engines."""

    def __init__(self, case: Case):
        self.case, self.protocol, self.space = case, case.protocol, case.protocol.space
        n = case.n
        if case.graph == "complete":
            self.arcs = [(i, j) for i in range(n) for j in range(n) if i != j]
        else:  # a path
            self.arcs = [(i, j) for i in range(n) for j in range(n) if abs(i - j) == 1]
        self.pairs: dict = {}
        self.moves: dict = {}
        self.chosen = None
        if case.until in self.protocol.sets:
            self.chosen = self.protocol.sets[case.until]
        elif "(" in case.until:
            self.chosen = parse_set(case.until, self.protocol)

    def key(self, codes):
        return tuple(sorted(codes)) if self.case.graph == "complete" else tuple(codes)

    def leads(self, code) -> bool:
        return bool(self.space.namespace(code).leader)

    def inside(self, codes) -> bool:
        if self.chosen is None:
            return False
        states = [self.space.namespace(code) for code in codes]
        return self.chosen.contains(states, self.protocol.p, self.protocol.values)

    def following(self, codes) -> list:
        """(probability, configuration, whether an output has changed) after one step."""
        if codes not in self.moves:
            found: Counter = Counter()
            for i, j in self.arcs:
                pair = codes[i], codes[j]
                if pair not in self.pairs:
                    self.pairs[pair] = self.protocol.transition_codes(*pair)
                after = list(codes)
                after[i], after[j] = self.pairs[pair]
                seen = any(self.leads(old) != self.leads(new) for old, new in zip(codes, after, strict=True))
                found[self.key(after), seen] += 1
            self.moves[codes] = [(k / len(self.arcs), *one) for one, k in found.items()]
        return self.moves[codes]

    def struck(self, codes) -> list:
        """The same after the fault."""
        fault, result = self.case.fault, []
        groups = list(itertools.combinations(range(len(codes)), fault.agents))
        for victims in groups:
            options = [self.damaged(codes[v]) for v in victims]
            for new in itertools.product(*options):
                after = list(codes)
                for v, code in zip(victims, new, strict=True):
                    after[v] = code
                chance = 1 / len(groups)
                for option in options:
                    chance /= len(option)
                seen = any(self.leads(old) != self.leads(now) for old, now in zip(codes, after, strict=True))
                result.append((chance, self.key(after), seen))
        return result

    def damaged(self, code) -> list[int]:
        if not self.case.fault.values:
            return list(range(self.space.size))
        state = self.space.namespace(code)
        vars(state).update(self.case.fault.values)
        return [self.space.code(state)]

    def law(self) -> dict:
        """The probability of every answer of `Case.sample`."""
        case, answers = self.case, defaultdict(float)
        watches = case.until == "broken"
        fault = case.fault.step if case.fault and case.fault.step <= STEPS else -1
        alive = {self.key(case.start): 1.0}
        for step in range(STEPS + 1):
            if step > 0:
                alive = self._moved(alive, self.following, watches, step, answers)
            if step == fault:
                alive = self._moved(alive, self.struck, watches, step, answers)
            if step >= fault and self.chosen is not None:
                for codes in [codes for codes in alive if self.inside(codes)]:
                    answers[step] += alive.pop(codes)
        for codes, chance in alive.items():
            answers[codes] += chance
        return answers

    def _moved(self, alive, moves, watches, step, answers) -> dict:
        after: dict = defaultdict(float)
        for codes, chance in alive.items():
            for share, new, seen in moves(codes):
                if seen and watches:
                    answers[step] += chance * share
                else:
                    after[new] += chance * share
        return after
