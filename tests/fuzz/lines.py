"""The generator: line k of a seed is always the same. Most lines are a good one with something wrong in it."""

# ruff: noqa: E501 - tables of odd words

import hashlib
import random
from dataclasses import dataclass, field

GOOD = [
    "list",
    "show pairwise",
    "show timer --n 9 --set s=4",
    "show trains --n 8",
    "run pairwise --n 6 --max-steps 2000",
    "run timer --n 5 --set s=4 --start safe --max-steps 500 --trials 2 --seed 3",
    "run epidemic --n 8 --until all(value==0) --max-steps 50",
    "run pairwise --graph ring:6 --max-steps 400 --engine agents",
    "run pairwise --n 6 --observe leaders --every 50 --max-steps 500",
    "run pairwise --n 6 --start start.json --max-steps 300",
    "run pairwise --n 6 --start start.csv --max-steps 300",
    "run pairwise --n 6 --fault step=5,agents=2,leader=1 --max-steps 300",
    "run pairwise --n 6 --history h.csv --final f.json --max-steps 300",
    "run referees --n 50 --max-steps 40",
    "run walks --graph hypercube:3 --mixing-time 4",
    "verify pairwise --n 3",
    "verify pairwise --n 3 --property closed:safe --quantiles 0.5",
    "verify timer --n 2 --set s=2 --start all --memory 1",
    "verify pairwise --n 3 --distribution d.csv --counterexample e.json",
    "verify mine.py:Mine --n 2",
    "show mine.py:Mine",
    "show mine.py",
    "search-worst timer --n 4 --evaluations 3 --trials 4 --final 8 --max-steps 300",
    "mixing-time ring:9",
    "mixing-time graph.txt",
    "mixing-time complete:8 --method spectral",
    "check mine.py --n 2 --set k=99",
    "new fresh.py",
    "new mine.py --model rounds",
    "reproduce --only nothing",
    "lower-bound --n 100 --exponents 0.5 --candidates 1 --trials 2",
    "compare-messages --n 50 --trials 1",
    "sweep --status nowhere",
    "--version",
    "run --help",
    "run --resume c.npz",
    "run pairwise --n 6 --disturbances start.json --max-steps 300",
    "verify pairwise --n 3 --checkpoint c.npz",
    "watch pairwise --n 4 --start start.json --save f.html --max-steps 50",
    "watch --start start.json --save f.html --max-steps 50",
    "sweep study.toml --workers 1 --quiet",
    "sweep pairwise --n 4,5 --trials 2 --workers 1 --out s --quiet",
    "sweep --cases start.csv --workers 1 --quiet",
    "sweep --extend . --trials 3 --workers 1 --quiet",
    "sweep --status .",
    "results .",
    "agent --new-key key",
    "agent pairwise --n 3 --peers start.json --key start.csv --listen 127.0.0.1:0 --for 0.1",
    "prove pairwise --property closed:safe",
    "holding timer --n 3 --set s=2 --budget 1000 --start start.json",
]
# Values that the parser lets through: of these options any text, of the others a number that they take.
TEXTS = ["--set", "--graph", "--start", "--until", "--engine", "--variant", "--wake", "--mixing-time", "--fault", "--observe",
         "--history", "--plot", "--final", "--property", "--method", "--checkpoint", "--disturbances", "--out"]  # fmt: skip
NUMBERS = {
    "--n": "2 3 5 6",
    "--trials": "1 2",
    "--seed": "0 7 1e9",
    "--max-steps": "0 1 50 300",
    "--every": "1 7",
    "--workers": "1 2",
}
NASTY = [
    "", " ", "-1", "0", "00", "1e400", "-1e400", "9" * 5000, "0." + "1" * 5000, "nan", "inf", "-inf", "1e19", "1e36",
    "1e37", "3.5", "2^^3", "9**9**9", "9^9^9", "1/0", "(((((", "1;2", "__import__('os').getcwd()", "lambda: 0", "[]", "{}",
    "a\0b", "\udc80", "é→∞", "\x1b[31m", "\n", "/dev/full", "/dev/null", "/", ".", "x" * 300, "x" * 300 + ".csv", "no/such/f.csv",
    "f.png", "f.json", "f.csv", "None", "true", "1,2", ",", "=", "a=b=c", "n=5", "self=1", "s=1e400", "s=nan", "s=s", "s=",
    "all(leader / 0 == 1)", "count(leader << -1) == 1", "all(", "none(x.y)", "count(leader) ==", "all(leader == 1) and", "safe",
    "broken", "steps:9e99", "steps:-1", "rounds:3", "count(leader == 1) <= 1e400", "all(" + "(" * 500 + "leader" + ")" * 500 + ")",
    "step=1,agents=1e30", "step=-1,agents=1", "step=1", "agents=2,step=3,leader=7", "step=5,agents=1,ghost=1", "ring:0",
    "ring:1e30", "ring:-5", "grid:0x9", "grid:99999x99999", "gnp:5,2", "gnp:5,nan", "regular:5,3", "complete:1e18",
    "hypercube:99", "torus:", "graph.txt", "start.json", "start.csv", "mine.py:Mine", "mine.py:Other", "closed:", "time:ghost",
    "holding", "predicate", "leader:count(leader==1)==1", "0.5,0.5", "1", "auto", "batch", "events", "agents",
    "parwise", "pairwise", "all", "random", "exact", "K", "--json", "-h", "--", "-", "--n", "%s%n", "${HOME}", "\\",
]  # fmt: skip
OPTIONS = [
    "--n",
    "--set",
    "--graph",
    "--start",
    "--until",
    "--trials",
    "--seed",
    "--max-steps",
    "--engine",
    "--variant",
    "--wake",
    "--mixing-time",
    "--fault",
    "--observe",
    "--every",
    "--at",
    "--history",
    "--plot",
    "--final",
    "--draw",
    "--workers",
    "--property",
    "--quantiles",
    "--distribution",
    "--counterexample",
    "--to",
    "--out",
    "--every-graph",
    "--memory",
    "--evaluations",
    "--method",
    "--exponents",
    "--candidates",
    "--only",
    "--paper",
    "--jobs",
    "--trace",
]
FLAGS = ["--json", "--quiet", "-q", "--no-fast-forward", "--no-symmetry", "--lazy", "--not-lazy", "--exact", "--full"]
# As values of these, large numbers are allowed and mean long, honest work: not what is looked for here.
TIDY = {"--n": ["2", "3", "5", "0", "-1", "1e400", "9" * 5000, "x", "2.5"], "--trials": ["1", "0", "1e19", "y"]}

STARTS = [
    "[]", "{", "null", "[1, 2]", '[{"leader": 1}]', '[{"leader": 1, "count": 6}]', '[{"leader": 1e999, "count": 6}]',
    '[{"leader": NaN, "count": 6}]', '[{"leader": [], "count": 6}]', '[{"ghost": 1, "count": 6}]', "[" * 5000 + "]" * 5000,
    '[{"count": -6}]', '[{"leader": 1, "count": 1e30}]', '[{"leader": 1, "count": Infinity}]', '{"schedule": 3}', "\x00\x01",
    '[{"leader": "yes", "count": 6}]', '{"initial": [], "interactions": []}', '[{"leader": 1, "count": "6"}]',
]  # fmt: skip
TABLES = [
    "", "leader\n1\n", "leader,count\n1,6\n", "leader,count\n1,six\n", "leader,leader\n1,1\n", "x" * 200_000, "leader\n" + "1\n" * 6,
    "leader,count\n1,1e30\n", 'leader\n"1\n', "leader\n\x00\n", "leader;count\n1;6\n", "count\n6\n", "leader,count\n1\n",
    "leader\n" + "9" * 5000 + "\n",
]  # fmt: skip
GRAPHS = [
    "",
    "0 1\n1 2\n2 0\n",
    "0 1 2\n",
    "a b\nb c\n",
    "0 -1\n",
    "0 99999999999\n",
    "0 0\n",
    "\x00",
    "0 1e3\n",
    "[" * 3000,
    "0,1\n1,2\n",
]

ARCHIVES = ["", "PK\x03\x04", "PK\x05\x06" + "\0" * 18, "\x93NUMPY\x01\0", "\x80\x04]\x94.", "{}", "x" * 5000]
ASKED = '{"schema":1,"seed":0,"trials":2,"precise":null,"axes":{"protocol":["%s"],"n":[%s]},"zip":[],"cases":[]}'


def kept(body: str) -> str:
    """A study.json with the right digest, so that its content is read."""
    return f'{{"digest":"{hashlib.sha256(body.encode()).hexdigest()[:32]}","study":{body}}}'


FOLDERS = ["", "{}", "[]", "[" * 5000, kept('{"folder":1,"study":{}}')] + [
    kept(f'{{"folder":"a","study":{ASKED % pair}}}')
    for pair in (
        ("pairwise", "4"),
        ("mine.py:Mine", "4"),
        ("no.py", "4"),
        ("x", "4"),
        ("pairwise", '"a",[],{}'),
        ("pairwise", "-1"),
    )
]
STUDIES = [
    "", "protocol = 3", 'protocol = "mine.py:Mine"\n[axes]\nn = [4]', 'protocol = "pairwise"\n[axes]\nn = [4]\nk = [1]', "a = [[[[",
    'protocol = "pairwise"\ntrials = -1\n[axes]\nn = 4', 'protocol = "pairwise"\nzip = 3\n[axes]\nn = 4', 'protocol = ["timer"]\n[axes]\nn = {a = 1}',
    'protocol = "pairwise"\ncases = "start.csv"\n', 'protocol = "pairwise"\ncases = 7\n[axes]\nn = [4, "x", 2.5]',
]  # fmt: skip

FINE = """from hegemon.models import Bit, Choice, Group, Parameter, PopulationProtocol, Range, count, exactly


class Mine(PopulationProtocol):
    \"\"\"Two leaders meet and one yields.\"\"\"

    default_start = "everyone"
    k = Parameter(2, low=1, high=9)

    class State:
        leader: Bit

    def interact(a, b, p):
        if a.leader == 1 and b.leader == 1:
            b.leader = 0

    def start_everyone(self, rng):
        return [Group(self.n, {"leader": 1})]

    safe = exactly(1, lambda a, p: a.leader == 1).described("one", closed=True)
    leaders = count(lambda a, p: a.leader == 1)
"""
WRONGS = [  # what a user's file may have instead of a line of FINE
    ("b.leader = 0", "b.leader = 0.5"), ("b.leader = 0", "b.leader = 7"), ("b.leader = 0", "b.leader = None"),
    ("b.leader = 0", "b.ghost = 0"), ("b.leader = 0", "raise SystemExit"), ("b.leader = 0", "raise ValueError('no')"),
    ("b.leader = 0", "return 1 / 0"), ("b.leader = 0", "b.leader = p.ghost"), ("b.leader = 0", "import random; b.leader = random.randrange(2)"),
    ("def interact(a, b, p)", "def interact(a, b)"), ("def interact(a, b, p)", "async def interact(a, b, p)"),
    ("def interact(a, b, p)", "def interact(a, b, p, *, more)"), ("interact", "interakt"),
    ("leader: Bit", "leader: int"), ("leader: Bit", "leader: Range(5, 1)"), ("leader: Bit", "leader: Range(0, 'k*')"),
    ("leader: Bit", "leader: Range(0, 10**9)"), ("leader: Bit", "leader: Choice()"), ("leader: Bit", "leader: Bit = 7"),
    ("leader: Bit", "pass"), ("leader: Bit", "n: Bit"), ("leader: Bit", "leader = Bit"), ("class State:", "class Stat:"),
    ("return [Group", "return None #"), ("return [Group", "return 5 #"), ("return [Group", "return {} #"),
    ("return [Group", "raise GeneratorExit #"), ("return [Group", "return [Group(self.n + 1, {'leader': 1})] #"),
    ("return [Group", "return [Group(-1, {'leader': 1})] #"), ("return [Group", "return [Group(self.n, {'ghost': 1})] #"),
    ("default_start = \"everyone\"", "default_start = \"nobody\""), ("start_everyone", "start_all"),
    ("a.leader == 1).des", "a.ghost == 1).des"), ("a.leader == 1).des", "1 / 0).des"), ("a.leader == 1).des", "None).des"),
    ("exactly(1,", "exactly(-1,"), ("exactly(1,", "exactly('one',"), ("closed=True", "closed='maybe'"), ("safe =", "sure ="),
    ("k = Parameter(2", "k = Parameter('9**9**9'"), ("k = Parameter(2", "k = Parameter(99"), ("k = Parameter(2", "n = Parameter(2"),
    ("class Mine(PopulationProtocol)", "class Mine"), ("class Mine", "class Yours"), ("from hegemon", "from hegamon"),
    ("from hegemon.models import", "raise SystemExit(3)\nfrom hegemon.models import"),
    ("from hegemon.models import", "raise BaseException('x')\nfrom hegemon.models import"),
    ("from hegemon.models import", "import sys; sys.exit()\nfrom hegemon.models import"),
    ("    default_start", "    def validate(self):\n        raise KeyError(3)\n\n    default_start"),
    ("    default_start", "    def __init__(self):\n        pass\n\n    default_start"),
    ("leaders = count(", "leaders = count(3, "), ("def", "dfe"), (")", ""), ("\n", "\n\x00"),
]  # fmt: skip


@dataclass
class Line:
    """A command line and the files that lie beside it."""

    arguments: list[str]
    files: dict[str, str] = field(default_factory=dict)


def line(seed: int, number: int) -> Line:
    dice = random.Random(f"{seed} {number}")
    words = dice.choice(GOOD).split()
    deep = dice.random() < 0.75  # past the parser, to what stands behind it
    for _ in range(dice.choice((0, 0, 1, 1, 1, 2))):
        words = varied(words, dice) if deep else spoilt(words, dice)
    if dice.random() < 0.25:
        words.append("--json")
    files = {
        "start.json": dice.choice(STARTS),
        "start.csv": dice.choice(TABLES),
        "graph.txt": dice.choice(GRAPHS),
        "mine.py": user_protocol(dice),
        "c.npz": dice.choice(ARCHIVES),
        "study.toml": dice.choice(STUDIES),
        "study.json": dice.choice(FOLDERS),
    }
    return Line(words, files)


def varied(words: list[str], dice: random.Random) -> list[str]:
    """The words with a value changed, or an option added that stands in another line of the same command."""
    words = list(words)
    places = [k for k in range(2, len(words)) if words[k - 1] in TEXTS or words[k - 1] in NUMBERS]
    if places and dice.random() < 0.6:
        place = dice.choice(places)
        words[place] = fitting(words[place - 1], dice)
        return words
    others = {word for text in GOOD if text.startswith(words[0]) for word in text.split() if word in (*TEXTS, *NUMBERS)}
    if name := sorted(others - {*words}):
        words += [name := dice.choice(name), fitting(name, dice)]
    return words


def fitting(name: str, dice: random.Random) -> str:
    if name in NUMBERS:
        return dice.choice(NUMBERS[name].split())
    return dice.choice([text for text in NASTY if not text.startswith("-")])


def spoilt(words: list[str], dice: random.Random) -> list[str]:
    """The words with one thing changed."""
    words = list(words)
    places = [k for k in range(1, len(words)) if not words[k].startswith("--")]
    match dice.randrange(8):
        case 0 | 1 | 2 if places:  # another value
            place = dice.choice(places)
            words[place] = value_for(words[place - 1], dice)
        case 3 | 4 | 5:  # one more option
            name = dice.choice(OPTIONS)
            words += [name, value_for(name, dice)]
        case 6:
            words.append(dice.choice(FLAGS))
        case _ if words:
            del words[dice.randrange(len(words))]
    return words


def value_for(name: str, dice: random.Random) -> str:
    return dice.choice(TIDY.get(name, NASTY))


def user_protocol(dice: random.Random) -> str:
    text = FINE
    for _ in range(dice.choice((0, 1, 1, 1, 2))):
        before, after = dice.choice(WRONGS)
        text = text.replace(before, after, 1)
    return text
