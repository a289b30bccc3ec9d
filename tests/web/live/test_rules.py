"""Rules that are typed on a live page: read as by `hegemon.rules`, with the same refusals, and the same run."""

import random

import numpy as np
import pytest

import hegemon as hg
from hegemon.cli.main import main
from hegemon.errors import InvalidInput
from hegemon.models.rule_reading import read_rules
from hegemon.runs.record import RunRecord
from hegemon.web.live.content import table_of
from hegemon.web.live.page import LivePage
from hegemon.web.session import Session
from tests.web.browser import WAIT, until

from .in_node import in_node
from .test_live_page import browser, open_live  # noqa: F401 - fixtures
from .test_same_run import TOLD

BY_HAND = [
    "L + L -> L + F",
    "L, L -> L, F",
    "A + B -> B + B @ 2\nA + A -> A + B @ 1/3",
    "A + B <-> C + D",
    "A + B <-> C + D @ 2, 1",
    "a, b -> b, b @ 0.25; \n# a comment\n\n b + a >> a + a @ 1e-1 # another",
    "(L + L) -> (L + F)",
    "2 U -> U + F\nU + F → 2 F",
    "3 U -> U + F",
    "L -> F",
    "L L -> L F",
    "L + L",
    "L + L -> F",
    "L + L -> L + F -> F + F",
    "L + L -> L + F @ x",
    "L + L -> L + F @ -1",
    "L + L -> L + F @ 1/0",
    "L + L -> L + F @ 1, 2",
    "A + B <-> C + D @ 2",
    "A + B -> B + B\nA + B -> A + A",
    "A + B -> B + B @ 0",
    "L + L -> L + L",
    "",
    "# nothing",
    "∅ + L -> L + L",
    "L + ∅ -> L + F",
    "1 + 2 -> 2 + 2",
    "10 * A -> A + B",
    "A + B -> B + 'x",
    "A + B -> B + x'y\"z",
    "A+B->B+C @ 1_0",
    "A + B -> B + C @ 1e-99999",
    "A + B ⇌ B + C @ .5, 2.",
    "ü + ß -> ß + ß",
    "A + B -> C + D @ 1/3\nA + B -> D + C @ 1/7\nB + A -> A + A @ 1/11",
    "A + B -> C + D @",
    "A + B -> C + D @ 1 2",
    "x + y -> y + y" + " " * 80 + "+",
    "L + L -> L + F;;",
    "\tL + L -> L + F\r\nF + F -> F + F\r",
]
WORDS = [
    *"ABLF2+++,→@∅#;()*'\n",
    "leader",
    "3 A",
    "->",
    "->",
    "->",
    "<->",
    "1/2",
    "0.3",
    "1e2",
    "@ 1",
    "x1",
    "->>",
    "<=>",
]
WORDS += ["-1", "1/0"]


def texts(number: int) -> list[str]:
    """Texts by hand, then rules that are right, rules with one word changed, and words at random."""
    rng = random.Random(7)
    found = list(BY_HAND)
    while len(found) < number:
        lines = []
        for _ in range(rng.randint(1, 4)):
            names = rng.choices(["L", "F", "A", "B", "x"], k=4)
            sign, arrow = rng.choice(["+", "+", ","]), rng.choice(["->", "->", "→", "<->"])
            rate = rng.choice(["", "", " @ 1/2", " @ 2", " @ 2, 1", " @ 0.1"])
            lines.append(f"{names[0]} {sign} {names[1]} {arrow} {names[2]} {sign} {names[3]}{rate}")
        if rng.random() < 0.5:
            words = " \n ".join(lines).split(" ")
            words[rng.randrange(len(words))] = rng.choice(WORDS)
            lines = [" ".join(words)]
        elif rng.random() < 0.3:
            lines = [" ".join(rng.choices(WORDS, k=rng.randint(1, 9)))]
        found.append("\n".join(lines))
    return found[:number]


def starts_and_leaders(number: int) -> list:
    """What is given besides, for each text."""
    rng = random.Random(8)
    starts = [
        None,
        None,
        None,
        "L",
        "A",
        {"A": "51", "B": "49"},
        {"L": "1/2", "F": "1"},
        {"A": "0"},
        {"A": "x"},
        "nobody",
    ]
    leaders = [None, None, None, ["L"], ["A", "B"], ["nobody"]]
    return [(rng.choice(starts), rng.choice(leaders)) for _ in range(number)]


def in_python(text: str, start, leader):
    try:
        table = read_rules(text, start, leader, "symmetric", {})
    except InvalidInput as error:
        return {"refused": str(error)}
    rules = [
        [list(pair), [[list(after), [str(chance.numerator), str(chance.denominator)]] for chance, after in outcomes]]
        for pair, outcomes in table.rules.items()
    ]
    shares = [[state, str(share)] for state, share in table.start.items()]
    found = {"names": list(table.states), "rules": rules, "leaders": sorted(table.leaders), "start": shares}
    return found | {"whole": str(table.denominator), "unsettled": least(table)}


def least(table):
    small = len(table.states) * len(table.changes()) <= 2000
    found = table.unsettled(not table.leaders) if small else None
    return None if found is None else sorted(map(list, found))


READ = """
const inOrder = (a, b) => {
  const k = a.findIndex((x, j) => x !== b[j]);
  return k < 0 ? 0 : a[k] - b[k];
};
return given[0].map(([text, start, leader]) => {
  try {
    const shares = start === null ? null : typeof start === "string" ? [[start, "1"]] : Object.entries(start);
    const read = readRules(text, shares, leader);
    return {
      names: read.names,
      rules: read.rules.map(({ pair, outcomes }) => [pair, outcomes.map((one) => [one.after, one.chance.map(String)])]),
      leaders: read.leaders, start: read.start.map(([state, share]) => [state, String(share)]),
      whole: String(read.denominator), unsettled: unsettled(read)?.sort(inOrder) ?? null,
    };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { refused: error.message };
  }
});
"""


def disagreements(number: int, **twin) -> list:
    cases = [(text, *more) for text, more in zip(texts(number), starts_and_leaders(number), strict=True)]
    found = in_node(READ, cases, **twin)
    assert any("refused" in one for one in found) and any("names" in one for one in found)
    mine = [in_python(*case) for case in cases]
    return [row for row in zip(cases, mine, found, strict=True) if row[1] != row[2]]


def test_a_thousand_texts_are_read_alike():
    assert disagreements(1000)[:3] == []


CHANGES = [
    ("given.length > 1 + backwards", "given.length > 2"),
    ("result] of ways", "result] of ways.slice(0, 1)"),
    ("over(one.chance, fastest)", "one.chance"),
]


@pytest.mark.parametrize("change", CHANGES)
def test_another_reader_is_caught(change):
    assert disagreements(300, changed=change)


RUN = """
const [page, text, start, leader, n, seed, steps] = given;
const { laboratory: own, greeting } = await open(page);
const shares = start === null ? null : Object.entries(start);
const made = protocolOf(readRules(text, shares, leader), text, greeting);
const laboratory = new Laboratory(own.module, made.content, made.arrays);
laboratory.fields = made.greeting.fields;
laboratory.begin({ n, start: made.greeting.start, seed: BigInt(seed) });
const moments = [];
for (const step of steps) {
  laboratory.advance(step);
  const { values, lamps } = laboratory.readings();
  moments.push([Array.from(laboratory.machine.population), values, lamps]);
}
for (let k = 0; k < 40; k++) {
  laboratory.advance(laboratory.step + 1, Infinity, true);
  moments.push(laboratory.last.text);
}
return [Array.from(made.arrays.table), moments];
"""
RUNS = {
    "one rule": ("L + L -> L + F", None, None),
    "rates": ("A + B -> B + B @ 1/2\nA + A -> A + B @ 1/3\nB, A -> C, A @ 1", {"A": "2", "B": "1"}, ["B"]),
    "a fair coin": ("L, F -> F, L @ 1\nL + L -> L + F @ 1\nF + F -> F + G @ 0.5", None, None),
    "no leader": ("X + Y -> X + X\nX + Z -> Z + Z", {"X": "51", "Y": "48", "Z": "1"}, None),
}


@pytest.mark.parametrize("name", RUNS)
def test_typed_rules_make_the_run_of_hegemon_rules(name):
    text, start, leader = RUNS[name]
    steps = [0, 1, 33, 500, 5000]
    laboratory = LivePage(RunRecord(hg.Pairwise(n=9))).laboratory
    table, moments = in_node(RUN, laboratory, text, start, leader, 24, "11", steps)
    protocol = hg.rules(text, start=start, leader=leader)(n=24)
    assert np.array(table).tolist() == table_of(protocol).tolist()
    session = Session(protocol, seed=11, engine="agents")
    for step, (codes, values, lamps) in zip(steps, moments, strict=False):
        session.advance(step)
        readings = session.readings()
        assert codes == session.world.engine.codes.tolist()
        assert {name: readings["values"][name] for name in values} == values and readings["lamps"] == lamps
    for said in moments[len(steps) :]:
        session.advance(session.step + 1, tell=True)
        assert said == session.last["text"]
    assert len(moments) == len(steps) + TOLD


def test_rules_are_typed_run_and_kept(open_live, tmp_path, monkeypatch, capsys):  # noqa: F811
    page = open_live(RunRecord(hg.FischerJiang(n=12), seed=3))
    page.click("#rulesbox summary")
    page.fill("#rulestext", "L + L -> L + F\nF + F -> oh")
    page.click("#rulesform button")
    page.wait_for_selector("#rulesrefused:has-text('line 2, `F + F -> oh`: two agents become 1')", timeout=WAIT)
    marked = "() => { const t = document.getElementById('rulestext'); return [t.selectionStart, t.selectionEnd]; }"
    assert page.evaluate(marked) == [15, 26]
    assert page.evaluate("window.hegemon.greeting.protocol") == "fischer-jiang"
    page.fill("#rulestext", "A, A -> A, B\nB, A -> B, B @ 1/2")
    page.fill("#rulesleader", "A")
    page.click("#rulesform button")
    until(page, "h.greeting.protocol === 'Rules' && h.step === 0 && h.greeting.n === 100")
    page.evaluate("window.hegemon.ask({do: 'goto', step: 300})")
    until(page, "h.step === 300")
    with page.expect_download() as download:
        page.click("#rulesfile")
    monkeypatch.chdir(tmp_path)
    download.value.save_as(tmp_path / "rules.py")
    command = page.evaluate("window.hegemon.command")
    assert command == "hegemon run rules.py:Rules --n 100 --start uniform --until steps:300 --seed 3 --engine agents"
    assert main(["check", "rules.py"]) == 0 and "all is well" in capsys.readouterr().out
    assert main([*command.split()[1:], "--json"]) == 0
    leaders = page.evaluate("window.hegemon.values.leaders")
    assert f'"leaders": {leaders}' in capsys.readouterr().out.replace('"leaders":', '"leaders": ').replace("  ", " ")
    page.click("#rulesown")
    until(page, "h.greeting.protocol === 'fischer-jiang' && h.greeting.kind === 'graph'")


def test_a_line_that_is_never_used_is_named(open_live):  # noqa: F811
    page = open_live(RunRecord(hg.Pairwise(n=12), seed=3))
    told = "text => window.hegemon.ask({do: 'rules', text})"
    assert "note" not in page.evaluate(told, "L + L -> L + F\nF + L -> L + L")
    found = page.evaluate(told, "L + L -> L + F\nX + F -> X + X\nF + L -> L + L")
    assert found["note"] == "line 2: never used, because no agent ever gets into one of its states"
    until(page, "h.greeting.protocol === 'Rules'")
