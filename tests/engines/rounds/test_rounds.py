"""Engine `rounds`: the plain-Python rounds, the first round inside a set, and nothing else in the numbers."""

import numpy as np
import pytest

import hegemon as hg
from hegemon.compute.philox import coins_from, word_at
from hegemon.compute.randomness import KERNEL, START, generator, stream
from hegemon.graphs.families import parse
from hegemon.runs.setting import topology_for
from tests.models.rounds_protocols import IndependentSet, Levels

CASES = [
    (hg.Trains(9), "grid:3x3"),
    (hg.Trains(6), "star:6"),
    (hg.Trains(5), "complete:5"),
    (hg.Trains(1), "path:1"),
    (Levels(9), "grid:3x3"),
    (IndependentSet(40), "gnp:40,0.15"),
]
IDS = [f"{protocol.id} {graph}" for protocol, graph in CASES]


def replay(protocol, graph, seed, trial=0):
    """The run in plain Python, with the engine's coins."""
    topology = topology_for(protocol, graph, seed)
    start = protocol.initial(protocol.default_start, generator(seed, trial, START), topology=topology)
    nodes = protocol.namespaces(start.agents)
    key, bits = stream(seed, trial, KERNEL)[0], protocol.random_bits
    time = 0
    while True:
        yield topology, nodes
        after = []
        for v, me in enumerate(nodes):
            coins = 0
            if bits:
                word = np.uint64(word_at(key, time, v // (64 // bits)))
                coins = coins_from(word, v % (64 // bits), bits)
            state = type(me)(**vars(me))
            protocol.update(state, [nodes[u] for u in topology.neighbours(v)], coins, protocol.p)
            after.append(protocol.space.namespace(protocol.space.code(state)))
        nodes = after
        time += 1


@pytest.mark.parametrize(("protocol", "graph"), CASES, ids=IDS)
def test_the_rounds_are_those_of_plain_python(protocol, graph):
    for k, (_, nodes) in zip(range(41), replay(protocol, graph, seed=4), strict=False):
        if k % 8 == 0:
            run = hg.simulate(protocol, graph=graph, seed=4, until=f"rounds:{k}", fast_forward=False)
            assert run.steps == k
            assert run.configuration.mappings() == [protocol.space.mapping(state) for state in nodes]


@pytest.mark.parametrize(("protocol", "graph"), CASES, ids=IDS)
def test_the_first_round_inside_is_exact(protocol, graph):
    for seed in range(4):
        run = hg.simulate(protocol, graph=graph, seed=seed, fast_forward=False, max_steps=400)
        for k, (topology, nodes) in zip(range(run.steps + 1), replay(protocol, graph, seed), strict=False):
            inside = protocol.safe.contains(nodes, protocol.p, protocol.values, topology.offsets, topology.targets)
            assert inside == (run.reached and k == run.steps)


@pytest.mark.parametrize("fast_forward", [False, pytest.param(True, marks=pytest.mark.full)])
def test_threads_change_nothing(monkeypatch, fast_forward):
    protocol = hg.Trains(60)
    options = {"graph": "gnp:60,0.1", "seed": 3, "fast_forward": fast_forward, "max_steps": 3000}
    alone = hg.simulate(protocol, **options)
    monkeypatch.setattr("hegemon.engines.rounds.threads.LARGE", 0)
    for threads in (1, 2, 5):
        run = hg.simulate(protocol, threads=threads, **options)
        assert (run.steps, run.reached) == (alone.steps, alone.reached)
        assert run.configuration.mappings() == alone.configuration.mappings()


def test_recording_and_progress_change_nothing():
    protocol = hg.Trains(8)
    calls = []
    plain = hg.simulate(protocol, graph="ring:8", seed=2, start="all-leaders")
    watched = hg.simulate(protocol, graph="ring:8", seed=2, start="all-leaders", observe=True, progress=calls.append)
    assert plain.steps == watched.steps and calls
    assert plain.measures["fast_forwarded_rounds"] > 0
    assert plain.configuration.mappings() == watched.configuration.mappings()


def test_what_is_recorded_in_flight_is_what_would_have_been():
    """With one seed the fast-forwarded run is another one, but all of a quiet period is the same every time."""
    protocol = hg.Trains(6)
    options = {"graph": "ring:6", "start": "all-leaders", "until": "rounds:400", "observe": True, "every": 1}
    run = next(
        run
        for run in (hg.simulate(protocol, seed=seed, **options) for seed in range(50))
        if run.measures["fast_forwarded_rounds"] > 300 and not run.history["marked_wagons"].any()
    )
    history = run.history.set_index("step")
    assert len(history) == 401
    assert (history["leaders"] == 6).all()
    for name in ("trains", "largest_value", "err_successor"):
        quiet = history[name].to_numpy()[2 * protocol.N :]
        assert (quiet[protocol.N :] == quiet[: -protocol.N]).all()


def test_observables_read_neighbours_and_the_graph():
    protocol = hg.Trains(12)
    run = hg.simulate(protocol, graph="ring:12", seed=1, until="rounds:6", observe=True, every=1, fast_forward=False)
    for row, (topology, nodes) in zip(run.history.to_dict("records"), replay(protocol, "ring:12", 1), strict=False):
        for name, observable in protocol.observables.items():
            if observable.reduce == "overall":
                expected = observable.value(nodes, topology.offsets, topology.targets, protocol.p)
            elif observable.value.__code__.co_argcount == 3:
                near = [[nodes[u] for u in topology.neighbours(v)] for v in range(12)]
                expected = sum(bool(observable.value(a, b, protocol.p)) for a, b in zip(nodes, near, strict=True))
            else:
                expected = sum(bool(observable.value(a, protocol.p)) for a in nodes)
            assert row[name] == expected, name


def topology(graph):
    return parse(graph, None, np.random.default_rng(6))


GRAPHS = ["path:2", "path:9", "ring:16", "star:12", "grid:4x4", "complete:10", "gnp:20,0.3", "regular:24,3"]


@pytest.mark.parametrize("graph", GRAPHS)
@pytest.mark.parametrize("start", ["random", "all-leaders", "no-leader", "corrupted"])
def test_every_run_converges_and_the_leader_stays(graph, start):
    graph = topology(graph)
    protocol = hg.Trains(graph.n)
    for trial in range(2):
        run = hg.simulate(protocol, graph=graph, start=start, seed=1, trial=trial, max_steps=10**9)
        assert run.reached and run.leaders == 1
        kept = hg.simulate(protocol, graph=graph, start=run.configuration, until="broken", seed=2, max_steps=20_000)
        assert not kept.reached
        again = hg.simulate(protocol, graph=graph, start=kept.configuration, seed=3, max_steps=0)
        assert again.reached


@pytest.mark.full
@pytest.mark.parametrize("family", ["path", "ring", "star", "complete", "grid", "gnp", "regular"])
@pytest.mark.parametrize("n", [2, 3, 4, 8, 16, 64, 256])
def test_convergence_from_random_starts_up_to_256_nodes(family, n):
    spec = {
        "grid": f"grid:{2 if n % 2 == 0 else 1}x{(n + 1) // 2 if n % 2 == 0 else n}" if n < 16 else f"grid:4x{n // 4}",
        "gnp": f"gnp:{n},{min(1.0, 3 / n**0.5):.3f}",
        "regular": f"regular:{n},{min(4, n - 1)}",
    }.get(family, f"{family}:{n}")
    graph = topology(spec)
    protocol = hg.Trains(graph.n)
    for trial in range(3):
        run = hg.simulate(protocol, graph=graph, seed=7, trial=trial, max_steps=10**12)
        assert run.reached and run.leaders == 1
        kept = hg.simulate(protocol, graph=graph, start=run.configuration, until="broken", seed=8, max_steps=10**6)
        assert not kept.reached


def test_one_node_is_its_own_leader():
    run = hg.simulate(hg.Trains(1), graph="complete:1", start="random", seed=3)
    assert run.reached and run.leaders == 1


def test_what_keeps_a_run_outside_is_said():
    run = hg.simulate(hg.Trains(16), graph="ring:16", start="all-leaders", max_steps=3)
    assert not run.reached
    assert run.measures["outside"] == "clause (a): there are 16 leaders instead of one"


def test_faults_and_recovery():
    protocol = hg.Trains(16)
    faults = (hg.Fault(2000, 5),)
    run = hg.simulate(protocol, graph="grid:4x4", start="safe", seed=5, faults=faults, max_steps=10**9)
    assert run.reached and run.steps >= 2000
    assert run.measures["recovery_rounds"] == run.steps - 2000


def test_a_protocol_of_ones_own():
    tree = hg.simulate(Levels(30), graph="grid:5x6", seed=1)
    assert tree.reached and tree.steps <= 32
    assert tree.configuration.agents["level"].max() == 9
    chosen = hg.simulate(IndependentSet(200), graph="regular:200,4", seed=1)
    assert chosen.reached
    Levels(9).check_update(np.random.default_rng(0))


def test_a_run_that_can_never_end_says_so():
    never = "count(level == 0) == 5"
    run = hg.simulate(Levels(9), graph="grid:3x3", until=never)
    assert not run.reached and "repeats itself every 1 rounds" in run.ended
    run = hg.simulate(Levels(9), graph="grid:3x3", until=never, max_steps=10**12 + 1)
    assert not run.reached and run.steps == 10**12 + 1
    assert run.measures["fast_forwarded_rounds"] > 10**11
    assert list(run.configuration.agents["level"]) == [0, 1, 2, 1, 2, 3, 2, 3, 4]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"graph": "directed-ring:6"}, "undirected"),
        ({"graph": "gnp:6,0"}, "components"),
        ({"graph": "ring:7"}, "7"),
        ({"graph": "ring:6", "engine": "agents"}, "engine 'agents' does not run trains"),
        ({"graph": "ring:6", "until": "steps:5"}, "rounds"),
        ({"graph": "ring:6", "start": "nowhere"}, "no start 'nowhere'"),
        ({"graph": "ring:6", "start": "missing.json"}, "no configuration file"),
    ],
)
def test_bad_input(options, message):
    with pytest.raises(hg.InvalidInput, match=message):
        hg.simulate(hg.Trains(6), **options)


def test_a_corrupt_start_file(tmp_path):
    path = tmp_path / "start.json"
    path.write_text('[{"leader": 1, "rand": 0, "F": "wagon", "L": "empty"}]')
    with pytest.raises(hg.InvalidInput, match="no value for F_idx"):
        hg.simulate(hg.Trains(6), graph="ring:6", start=str(path))
    hg.simulate(hg.Trains(6), graph="ring:6", start="safe", until="rounds:3").configuration.save(path)
    assert hg.simulate(hg.Trains(6), graph="ring:6", start=str(path)).steps == 0
