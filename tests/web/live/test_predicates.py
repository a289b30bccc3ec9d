"""Sets that a function of all agents decides: where wasm-ld makes them, their lamps are those of Python."""

import pytest

import hegemon as hg
from hegemon.errors import InvalidInput
from hegemon.process.stopping import parse_stop
from hegemon.runs.record import RunRecord
from hegemon.web.live import building, predicates
from hegemon.web.live.page import LivePage
from hegemon.web.session import Session

from .in_node import RUNS, in_node

STEPS = [*range(0, 4000, 100), 20_000, 40_000]


@pytest.fixture(scope="module")
def linker():
    try:
        return building.linker()
    except InvalidInput as error:
        pytest.skip(str(error))


def lamps_of(protocol, seeds, **twin) -> tuple[list, list]:
    found = in_node(RUNS, LivePage(RunRecord(protocol)).laboratory, [*map(str, seeds)], STEPS, 0, **twin)
    here = []
    for seed in seeds:
        session = Session(protocol, seed=seed, engine="agents")
        here.append([])
        for step in STEPS:
            session.advance(step)
            here[-1].append(session.readings()["lamps"])
    return here, [[moment[3] for moment in moments] for moments in found]


@pytest.mark.usefixtures("linker")
@pytest.mark.parametrize(
    "protocol", [hg.Ring(n=8), hg.FischerJiang(n=8), hg.CaiIzumiWada(n=6), hg.OddRing(n=9)], ids=lambda one: one.id
)
def test_lamps_of_whole_sets_are_those_of_python(protocol):
    here, there = lamps_of(protocol, range(3))
    assert here == there
    assert {lamps["safe"] for moments in here for lamps in moments} == {True, False}


@pytest.mark.usefixtures("linker")
def test_records_of_other_states_are_noticed():
    twin = {"changed": ("records.subarray(population[agent] * size", "records.subarray(population[0] * size")}
    here, there = lamps_of(hg.FischerJiang(n=8), range(3), **twin)
    assert here != there


@pytest.mark.usefixtures("linker")
def test_a_closed_set_is_entered_at_the_exact_step():
    """Read now and then, as a page does; the step between two readings is found by halving."""
    script = """
    const { laboratory, greeting } = await open(given[0]);
    laboratory.fields = greeting.fields;
    return given[1].map((seed) => {
      laboratory.begin({ n: greeting.n, start: greeting.start, seed: BigInt(seed) });
      for (let step = 0; step < 40000; step += 1700) { laboratory.advance(step); laboratory.readings(); }
      const at = [laboratory.step, Array.from(laboratory.machine.population)];
      return [laboratory.readings().healing.step, laboratory.readings().healing.exact, ...at];
    });
    """
    for protocol in (hg.Ring(n=8), hg.CaiIzumiWada(n=6)):
        found = in_node(script, LivePage(RunRecord(protocol)).laboratory, ["0", "1", "2"])
        for seed, (step, exact, end, codes) in enumerate(found):
            run = hg.simulate(protocol, seed=seed, engine="agents")
            assert (step, exact) == (run.steps, True)
            session = Session(protocol, seed=seed, engine="agents")
            session.advance(end)
            assert session.world.engine.codes.tolist() == codes  # the search has left the run where it was


def test_without_a_linker_the_lamp_stays_dotted(monkeypatch):
    def nothing():
        raise InvalidInput(building.NO_LINKER)

    monkeypatch.setattr(building, "linker", nothing)
    page = LivePage(RunRecord(hg.FischerJiang(n=8)))
    assert any(text.startswith("The lamp of safe, settled stays dotted: ") for text in page.absent)
    lamps = [moment[3] for moment in in_node(RUNS, page.laboratory, ["0"], [0, 40_000], 0)[0]]
    assert lamps[-1]["settled"] is None and lamps[-1]["leaderless"] is False


class Noisy(hg.PopulationProtocol):
    """Its set needs more than arithmetic."""

    class State:
        leader: hg.Bit = 1

    def interact(a, b, p):
        b.leader = 0

    safe = hg.whole(lambda agents, p: sum([a.leader for a in agents]) ** 0.37 < 1.5)


@pytest.mark.usefixtures("linker")
def test_a_function_that_a_browser_cannot_run_has_no_module():
    protocol = Noisy(n=6)
    assert predicates.module_of(protocol, parse_stop("safe", protocol)) is None
    assert any("The lamp of safe stays dotted" in text for text in LivePage(RunRecord(protocol)).absent)
