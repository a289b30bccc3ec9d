"""A live page makes the run that engine `agents` makes: the same codes, words of randomness, readings and sentences."""

import json

import numpy as np
import pytest

import hegemon as hg
from hegemon.compute.randomness import KERNEL, stream
from hegemon.engines.population.agents import Agents
from hegemon.errors import InvalidInput
from hegemon.process.stopping import never
from hegemon.protocols import CATALOGUE
from hegemon.runs.record import RunRecord
from hegemon.runs.setting import initial_configuration, topology_for
from hegemon.web.choosing import prescribed, story, successors
from hegemon.web.live.content import require_live
from hegemon.web.live.page import LivePage
from hegemon.web.repeating import command_of
from hegemon.web.session import Session

from .in_node import RUNS, in_node

STEPS = [0, 1, 31, 32, 33, 200, 1000]
TOLD = 40


def is_live(kind, n: int = 12) -> bool:
    try:
        require_live(RunRecord(kind(n=n)))
    except InvalidInput:
        return False
    return True


LIVE = sorted(name for name, kind in CATALOGUE.items() if is_live(kind))


class Tossing(hg.PopulationProtocol):
    """Both agents toss coins."""

    class State:
        value: hg.Range(0, 4) = 0
        flag: hg.Bit = 0

    class Coins:
        heads: hg.Bit
        face: hg.Coin("1/3")

    def interact(a, b, p, coins):
        a.value = (a.value + coins.heads) % 5
        b.flag = 1 if coins.face else b.flag

    def output(a, p):
        return a.flag == 1


def in_python(record: RunRecord, seeds, steps, told) -> list:
    """What the script RUNS returns, from the session of the page that Python serves."""
    found = []
    for seed in seeds:
        options = {name: value for name, value in record.given.items() if name not in ("seed", "engine")}
        session = Session(record.protocol, **options, seed=int(seed), engine="agents")
        moments = []
        for step in steps:
            session.advance(step)
            engine, readings = session.world.engine, session.readings()
            moments.append(
                [engine.codes.tolist(), engine.rng.view(np.uint32).tolist(), readings["values"], readings["lamps"]]
            )
        for _ in range(told):
            session.advance(session.step + 1, tell=True)
            moments.append([session.last["text"], list(session.last["pair"])])
        found.append(moments)
    return found


def differences(record: RunRecord, seeds, steps=STEPS, told=TOLD, **twin) -> list:
    """The places where both differ. A lamp or an observable that the page does not have is no difference."""
    page = LivePage(record)
    here, there = (
        in_python(record, seeds, steps, told),
        in_node(RUNS, page.laboratory, [*map(str, seeds)], steps, told, **twin),
    )
    found = []
    for seed, (mine, theirs) in enumerate(zip(here, there, strict=True)):
        for place, (one, other) in enumerate(zip(mine, theirs, strict=True)):
            for k, (a, b) in enumerate(zip(one, other, strict=True)):
                if isinstance(a, dict):
                    a = {name: a[name] for name, value in b.items() if value is not None}
                    b = {name: value for name, value in b.items() if value is not None}
                if a != (pytest.approx(b) if isinstance(b, dict) else b):
                    found.append((seed, place, k))
    return found


RECORDS = {
    "a complete graph": lambda: RunRecord(hg.TimeOptimal(n=12), start="random"),
    "arcs": lambda: RunRecord(hg.FischerJiang(n=12), start="random"),
    "coins": lambda: RunRecord(Tossing(n=9)),
    "coins on arcs": lambda: RunRecord(Tossing(n=9), graph="star:9"),
    "classes of agents": lambda: RunRecord(hg.SimpleLottery(n=12)),
    "inputs": lambda: RunRecord(hg.Threshold(n=15)),
}


@pytest.mark.parametrize("name", RECORDS)
def test_a_page_makes_the_same_run(name):
    assert differences(RECORDS[name](), range(3)) == []


def in_the_engine(protocol, seeds, steps) -> list:
    """Codes and words of the engine itself, without a session around it."""
    topology = topology_for(protocol)
    found = []
    for seed in seeds:
        start = initial_configuration(protocol, None, seed, 0, topology=topology)
        engine = Agents(protocol, topology, start, never("never"), stream(seed, 0, KERNEL))
        moments = []
        for step in steps:
            while engine.step < step:
                engine.advance(step)
            moments.append([engine.codes.tolist(), engine.rng.view(np.uint32).tolist()])
        found.append(moments)
    return found


ONE_SEED = ("dijkstra",)


def seeds_that_differ(name: str, number: int, **twin) -> list[int]:
    protocol, steps = CATALOGUE[name](n=12), [0, 1, 33, 500]
    page = LivePage(RunRecord(protocol))
    if name in ONE_SEED:  # a page has the start of one seed, which Python draws
        assert any("have the seed of the page" in text for text in page.absent)
        number = 1
    laboratory = page.laboratory
    there = in_node(RUNS, laboratory, [str(seed) for seed in range(number)], steps, 0, **twin)
    here = in_the_engine(protocol, range(number), steps)
    return [seed for seed in range(number) if here[seed] != [moment[:2] for moment in there[seed]]]


@pytest.mark.full
@pytest.mark.parametrize("name", LIVE)
def test_every_live_protocol_makes_the_same_runs_in_a_page(name):
    assert seeds_that_differ(name, 1000) == []


def test_a_seed_that_differs_is_found():
    spoil = 'if (laboratory.seed === 7n) laboratory.machine.view(Uint32Array, "rng", 8)[0] ^= 1;'
    assert seeds_that_differ("pairwise", 9, spoil=spoil) == [7]


def test_most_population_protocols_are_live():
    assert {"pairwise", "time-optimal", "ring", "fischer-jiang", "approximate-majority"} <= {*LIVE} and len(LIVE) >= 18


# A twin with one wrong coin: one bit of the generator before the run, in one of its words; another hash of the seed;
# a sentence about other states.
TWINS = {
    "one bit of the generator": {"spoil": 'laboratory.machine.view(Uint32Array, "rng", 8)[5] ^= 1;'},
    "one agent of the start": {"spoil": "laboratory.machine.population[3] ^= 1; laboratory.machine.recount();"},
    "another hash": {"changed": ("0x43b0d7e5", "0x43b0d7e7")},
    "another stream": {"changed": ("[KERNEL, START] = [1, 0]", "[KERNEL, START] = [2, 0]")},
    "another start": {"changed": ("[KERNEL, START] = [1, 0]", "[KERNEL, START] = [1, 2]")},
    "the states after a meeting": {"changed": ("const after = [(entry >>> 12)", "const after = [(entry >>> 11)")},
}  # fmt: skip


@pytest.mark.parametrize("name", TWINS)
def test_a_twin_with_a_wrong_coin_is_caught(name):
    assert differences(RECORDS["a complete graph"](), range(2), **TWINS[name])


STARTS = """
const [text, starts] = given;
const { laboratory, greeting } = await open(text);
laboratory.fields = greeting.fields;
return starts.map(([n, start, seed]) => {
  try { laboratory.begin({ n, start, seed: BigInt(seed) }); } catch (error) { return error.message; }
  return Array.from(laboratory.machine.population);
});
"""


def codes_of(protocol, start, seed) -> list[int]:
    return Session(protocol, start=start, seed=seed, engine="agents").world.engine.codes.tolist()


def test_a_random_start_is_drawn_as_by_numpy_for_every_n_and_seed():
    """Also for seeds of several words, and for one and many states."""
    wanted = [(n, "random", seed) for n in (2, 3, 40, 5000) for seed in (0, 7, 2**32, 2**63 + 12345)]
    got = in_node(
        STARTS, LivePage(RunRecord(hg.Epidemic(n=40))).laboratory, [[n, s, str(seed)] for n, s, seed in wanted]
    )
    for (n, start, seed), codes in zip(wanted, got, strict=True):
        assert codes == codes_of(hg.Epidemic(n=n), start, seed)


def test_every_start_of_a_page_is_the_start_of_python():
    for protocol in (hg.TimeOptimal(n=12), hg.FischerJiang(n=12), hg.CaiIzumiWada(n=8)):
        page = LivePage(RunRecord(protocol, seed=5))
        got = in_node(STARTS, page.laboratory, [[protocol.n, name, "5"] for name in protocol.starts])
        assert got == [codes_of(protocol, name, 5) for name in protocol.starts]


class Drawn(hg.PopulationProtocol):
    """Its start draws by itself."""

    class State:
        x: hg.Range(0, 9) = 0

    def interact(a, b, p):
        b.x = a.x

    def start_scattered(self, rng):
        agents = self.space.decode_array(rng.permutation(self.n) % 10)
        return agents

    default_start = "scattered"


def test_a_start_that_python_draws_has_one_seed():
    page = LivePage(RunRecord(Drawn(n=10), seed=5))
    same, other = in_node(STARTS, page.laboratory, [[10, "scattered", "5"], [10, "scattered", "6"]])
    assert same == codes_of(Drawn(n=10), "scattered", 5)
    assert other == "the start scattered was drawn by Python with seed 5; write this seed, or make another page"
    assert "Starts that Python draws have the seed of the page." in page.absent


def test_going_back_and_the_search_for_a_change():
    record = RunRecord(hg.Pairwise(n=30), seed=4)
    script = """
    const { laboratory, greeting } = await open(given[0]);
    laboratory.fields = greeting.fields;
    laboratory.begin({ n: 30, start: greeting.start, seed: 4n });
    const finish = (jump) => { let end; do end = jump.next(); while (!end.done); return end.value; };
    const found = [];
    for (let k = 0; k < 5; k++) found.push([finish(laboratory.jumpToChange()), laboratory.step, laboratory.last.text]);
    laboratory.advance(900);
    const late = Array.from(laboratory.machine.population);
    finish(laboratory.jump(37));
    const early = Array.from(laboratory.machine.population);
    finish(laboratory.jump(900));
    const again = Array.from(laboratory.machine.population);
    laboratory.begin({ n: 30, start: greeting.start, seed: 4n });
    laboratory.readings();
    laboratory.advance(5000);
    return [found, early, late, again, laboratory.readings().healing];
    """
    found, early, late, again, healing = in_node(script, LivePage(record).laboratory)
    session = Session(record.protocol, seed=4, engine="agents")
    for met, step, text in found:
        assert (session.go_to_change(), session.step, session.last["text"]) == (met, step, text)
    session.go_to(37)
    assert session.world.engine.codes.tolist() == early
    session.go_to(900)
    assert session.world.engine.codes.tolist() == late == again
    run = hg.simulate(record.protocol, seed=4, engine="agents")
    assert healing == {"since": 0, "disturbed": False, "step": run.steps, "steps": run.steps, "exact": True}


def test_what_is_too_large_is_refused_before_anything_is_computed():
    with pytest.raises(
        InvalidInput, match=r"timer is too large for a live page: it has 96,002 states, and 4,194,304 pairs"
    ):
        LivePage(RunRecord(hg.Timer(n=500)))
    with pytest.raises(
        InvalidInput, match="n = 2,000,000 is too large for a live page, which keeps every agent; take at most"
    ):
        LivePage(RunRecord(hg.Pairwise(n=2_000_000)))
    with pytest.raises(InvalidInput, match="bfw is a protocol of the rounds model"):
        LivePage(RunRecord(CATALOGUE["bfw"](n=5), graph="ring:5"))
    with pytest.raises(InvalidInput, match="a live page runs engine agents, not batch"):
        LivePage(RunRecord(hg.Pairwise(n=5), engine="batch"))


def test_memory_that_a_browser_does_not_give_is_refused_with_a_sentence():
    script = """
    const { laboratory, greeting } = await open(given[0]);
    laboratory.fields = greeting.fields;
    laboratory.content.sizes[3e9] = laboratory.content.sizes[40];
    try { laboratory.begin({ n: 3e9, start: greeting.start, seed: 0n }); } catch (error) { return error.message; }
    """
    said = in_node(script, LivePage(RunRecord(hg.Pairwise(n=40))).laboratory)
    assert said.startswith("this browser gives a page no 60") and said.endswith("take a smaller n")


def test_a_pair_that_fails_stops_the_run_with_a_sentence():
    """A pair whose rules fail has no entry in the table; here it is two agents that are no leaders."""
    script = """
    const { laboratory, greeting } = await open(given[0]);
    laboratory.fields = greeting.fields;
    laboratory.table[0] = 0;
    laboratory.begin({ n: 9, start: greeting.start, seed: 1n });
    try { laboratory.advance(100000); } catch (error) { return [error.message, laboratory.step]; }
    """
    said, step = in_node(script, LivePage(RunRecord(hg.Pairwise(n=9), seed=1)).laboratory)
    session = Session(hg.Pairwise(n=9), seed=1, engine="agents")
    session.advance(step)
    codes = session.world.engine.codes
    session.advance(step + 1, tell=True)
    first, second = session.last["pair"]
    assert codes[first] == codes[second] == 0
    assert said == f"the rules fail where agents {first} and {second} meet; hegemon run says why"


MANY = """
const { laboratory, greeting } = await open(given[0]);
laboratory.fields = greeting.fields;
laboratory.begin({ n: greeting.n, start: greeting.start, seed: BigInt(greeting.seed) });
let found;
for (const now of laboratory.manyRuns(given[1])) found = now;
return [found.steps, found.command, found.curves.map(({ rows, step }) => [rows[0], rows[rows.length - 1], step])];
"""


@pytest.mark.parametrize("protocol", [hg.Pairwise(n=30), hg.QuickElimination(n=20)], ids=lambda protocol: protocol.id)
def test_many_runs_are_the_trials_of_python(protocol):
    steps, command, curves = in_node(MANY, LivePage(RunRecord(protocol, seed=4)).laboratory, 50)
    runs = hg.run_trials(protocol, 50, seed=4, engine="agents").runs
    assert steps == [run.steps for run in runs]
    start = protocol.default_start
    assert command == f"hegemon run {protocol.id} --n {protocol.n} --start {start} --seed 4 --engine agents --trials 50"
    assert [step for *_, step in curves] == steps[:12]
    assert all(first[0] == 0 and last[0] == step for first, last, step in curves)


CHOICES = """
const { laboratory, greeting } = await open(given[0]);
laboratory.fields = greeting.fields;
laboratory.begin({ n: greeting.n, start: greeting.start, seed: BigInt(greeting.seed) });
const finish = (jump) => { let end; do end = jump.next(); while (!end.done); };
const said = (call) => { try { return call(); } catch (error) { return { refused: error.message }; } };
laboratory.advance(20);
const found = [said(() => laboratory.story()), laboratory.successors(), laboratory.successors([0, 1])];
found.push(said(() => laboratory.successors([0, 0])));
for (let k = 0; k < 3; k++) {
  const { choose } = laboratory.successors().successors[k];
  laboratory.choose(choose.pair, choose.coin);
}
found.push(Array.from(laboratory.machine.population), laboratory.command(), laboratory.story());
laboratory.advance(40);
const late = Array.from(laboratory.machine.population);
finish(laboratory.jump(5));
finish(laboratory.jump(40));
return [...found, late, Array.from(laboratory.machine.population), laboratory.command()];
"""


@pytest.mark.parametrize("name", ["a complete graph", "arcs", "coins on arcs"])
def test_what_may_happen_next_and_what_was_chosen(name):
    record = RECORDS[name]()
    got = in_node(CHOICES, LivePage(record).laboratory)
    options = {key: value for key, value in record.given.items() if key not in ("seed", "engine")}
    session = Session(record.protocol, **options, engine="agents")
    session.advance(20)
    wanted = [{"refused": refusal(lambda: story(session))}, successors(session), successors(session, (0, 1))]
    wanted.append({"refused": refusal(lambda: successors(session, (0, 0)))})
    for k in range(3):
        session.choose(prescribed(session, successors(session)["successors"][k]["choose"]))
    wanted += [
        session.world.engine.codes.tolist(),
        command_of(session),
        json.loads(json.dumps(story(session).record())),
    ]
    session.advance(40)
    late = session.world.engine.codes.tolist()
    for mine, theirs in zip(got, [*wanted, late, late, command_of(session)], strict=True):
        if isinstance(mine, dict) and "moment" in mine:  # branches are counted from 1 on the page
            mine, theirs = ({**found, "moment": found["moment"][1]} for found in (mine, theirs))
        assert mine == theirs


def refusal(call) -> str:
    with pytest.raises(InvalidInput) as caught:
        call()
    return str(caught.value)
