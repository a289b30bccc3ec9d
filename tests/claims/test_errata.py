"""The counterexamples that come with hegemon: found by their short names, and replayed to what the manual says."""

from pathlib import Path

import pytest

from hegemon.claims.errata import FOLDER, erratum
from hegemon.claims.errata.listing import errata, markdown
from hegemon.claims.registry import all_claims
from hegemon.cli.main import main
from hegemon.errors import InvalidInput
from hegemon.models.start_files import located
from hegemon.protocols.loading import find_protocol
from hegemon.protocols.trains.values import extreme_value
from hegemon.runs.setting import topology_for
from hegemon.runs.simulate import simulate

NAMES = sorted(path.stem for path in FOLDER.glob("*.json"))


def case(name: str):
    """The protocol of a counterexample, and the arguments of its run."""
    known = erratum(name)
    protocol = find_protocol(known["protocol"])(n=len(known["agents"]), **known["parameters"])
    return protocol, {"graph": known["graph"], "start": f"errata/{name}.json"}


@pytest.mark.parametrize("name", NAMES)
def test_what_a_counterexample_prescribes_can_happen(name):
    known, (protocol, options) = erratum(name), case(name)
    made = len(known.get("rounds") or known["interactions"])
    run = simulate(protocol, **options, until=f"{protocol.time_unit}:{made}")  # refuses what no coins allow
    assert made > 0 and run.steps == made


def test_a_leader_appears_beside_the_marked_head():
    protocol, options = case("trains-lemma-4-3")
    leaders = [simulate(protocol, **options, until=f"rounds:{k}").leaders for k in range(1, 5)]
    assert leaders == [1, 1, 2, 2]  # at t, t + 1, t + 2, t + 3


def test_the_carry_of_a_leader_is_lost_in_the_second_round():
    protocol, options = case("trains-lemma-4-5-later")
    topology = topology_for(protocol, options["graph"])
    values = []
    for k in range(3):
        nodes = protocol.namespaces(simulate(protocol, **options, until=f"rounds:{k}").configuration.agents)
        values.append(extreme_value(nodes, topology.offsets, topology.targets, 1, 1, protocol.p))
    assert values == [32, 33, 2]  # Lemma 4.5 would have 34 at least


def test_a_file_of_ones_own_comes_first(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert located("errata/trains-lemma-4-3.json") == FOLDER / "trains-lemma-4-3.json"
    (tmp_path / "errata").mkdir()
    (tmp_path / "errata" / "trains-lemma-4-3.json").write_text("[]")
    assert str(located("errata/trains-lemma-4-3.json")) == "errata/trains-lemma-4-3.json"
    assert not located("errata/../registry.py").is_file()  # nothing else of the package is reached
    with pytest.raises(InvalidInput, match="no configuration file"):
        simulate(find_protocol("trains")(n=2), graph="path:2", start="errata/nothing.json")


@pytest.mark.parametrize("name", NAMES)
def test_watch_needs_to_be_told_nothing_else(name, tmp_path, capsys):
    made = len(erratum(name).get("rounds") or erratum(name)["interactions"])
    film = tmp_path / "film.html"
    unit = find_protocol(erratum(name)["protocol"]).time_unit
    assert main(["watch", "--start", f"errata/{name}.json", "--save", str(film), "--until", f"{unit}:{made}"]) == 0
    assert film.stat().st_size > 0


def test_the_page_of_the_manual_is_made_from_the_listing():
    page = Path(__file__).parents[2] / "docs" / "errata.md"
    assert page.read_text() == markdown(), "python -m hegemon.claims.errata.listing > docs/errata.md"


def test_every_erratum_names_claims_and_start_files_that_exist():
    named = [name for one in errata() for name in (*one.claims, *one.repaired)]
    assert set(named) <= set(all_claims()) and len(set(named)) == len(named)
    assert sorted(one.start for one in errata() if one.start) == NAMES
    for one in errata():
        assert not one.start or f"errata/{one.start}.json" in one.replay


def test_an_insecure_agent_stays_insecure_in_an_execution_of_its_own():
    """Claim 2 in the proof of Lemma 11: the bullets of the start are gone after one step, the exception is the last."""
    protocol, options = case("ring-lemma-11-claim-2")
    before, after = (simulate(protocol, **options, until=f"steps:{k}").configuration.agents for k in (5, 6))
    assert (before["leader"].tolist(), before["bullet"].tolist(), before["distL"].tolist()) == (
        [1, 0, 0],
        [2, 1, 0],
        [0, 2, 2],
    )
    assert after["distL"][1] == 2  # above N - d_R = 1
