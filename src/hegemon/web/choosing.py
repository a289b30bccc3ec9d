"""What may happen next, with probabilities, and the steps that were chosen on the page, as a story."""

import math
from collections import Counter
from fractions import Fraction
from typing import TYPE_CHECKING, Any, cast

from hegemon.errors import InvalidInput
from hegemon.graphs.topology import Topology
from hegemon.models.population import PopulationProtocol
from hegemon.models.rounds import RoundsProtocol
from hegemon.process.schedulers.reading import scheduler_for
from hegemon.runs.rates import churns
from hegemon.runs.schedules import Prescribed, after_round
from hegemon.runs.stories import Interaction, Round, Trace

if TYPE_CHECKING:
    from hegemon.web.session import Session

MOST_TRIED = 20_000  # outcomes to try: arcs times coins, or coins of a node
MOST_JOINT = 256  # possible configurations after one round
SHOWN = 40  # rows of the list on the page
FOLLOWS = ("agents", "rounds", "daemon")  # engines in which a step can be chosen


def can_choose(session: "Session") -> bool:
    """Whether single steps can be prescribed: agents with fields, stored one by one, in an engine of FOLLOWS."""
    world, model = session.world, session.protocol.model
    follows = world.kind != "bands" and world.engine.name in FOLLOWS
    return model.has_configurations and follows and not session.rates and not churns(session.given)


def require_choice(session: "Session") -> None:
    if given := "rates" if session.rates else "faults that join or leave" if churns(session.given) else "":
        raise InvalidInput(f"no step of this run can be chosen: it has {given}; leave them out to choose")
    if not can_choose(session):
        raise InvalidInput(
            f"no step of this run can be chosen: {session.protocol.id} is watched with engine "
            f"{session.world.engine.name}, and {', '.join(FOLLOWS)} follow what is chosen"
        )


def successors(session: "Session", pair: tuple[int, int] | None = None, node: int | None = None) -> dict[str, Any]:
    """What may happen next, of all, of two agents, or of one node: sentences, probabilities, and how to choose each."""
    require_choice(session)
    if session.protocol.model.has_rounds:
        rows = _of_node(session, node) if node is not None else _of_round(session)
    else:
        rows = _of_pairs(session, pair)
    rows.sort(key=lambda row: (not row["changes"], -(row["probability"] or 0)))
    for row in rows:
        if row["probability"] is not None:
            row["share"], row["probability"] = str(row["probability"]), float(row["probability"])
    return {"successors": rows[:SHOWN], "more": max(0, len(rows) - SHOWN), "moment": moment(session)}


def moment(session: "Session") -> list[int]:
    """What tells the present configuration from those before and after it."""
    return [session.branch, session.step]


def _codes(session: "Session") -> list[int]:
    return session.protocol.space.encode_array(session.world.engine.configuration().agents).tolist()


def _of_pairs(session: "Session", pair: tuple[int, int] | None) -> list[dict[str, Any]]:
    """Meetings that lead from the same states to the same states are one row; its first pair stands for all."""
    protocol, topology, codes = cast(PopulationProtocol, session.protocol), session.topology, _codes(session)
    if pair is not None:
        require_arc(topology, *pair)
        pairs = [pair]
    else:
        tried = topology.arcs * protocol.coins.size
        if tried > MOST_TRIED:
            raise InvalidInput(
                f"{tried:,} things may happen next, and at most {MOST_TRIED:,} are listed; choose by clicking"
            )
        pairs = list(zip(topology.sources.tolist(), topology.targets.tolist(), strict=True))
    law = scheduler_for(session.record.scheduler, protocol, topology)
    knows = pair is not None or law.even and law.memoryless and law.one_pair  # no probabilities for other schedulers
    found: dict[tuple[Any, ...], list[Any]] = {}
    for i, j in pairs:
        for coin in range(protocol.coins.size):
            before = codes[i], codes[j]
            after = protocol.transition_codes(*before, coin)
            row = found.setdefault((before, after), [i, j, coin, Counter()])
            row[3][i, j] += 1
    rows = []
    for (before, after), (i, j, coin, met) in found.items():
        told = _interaction(protocol, i, j, coin, before, after)
        share = Fraction(met.total(), len(pairs) * protocol.coins.size) if knows else None
        more = f" (and {len(met) - 1} other pairs)" if len(met) > 1 else ""
        choice = {"pair": [i, j], "coin": coin}
        rows.append(
            {
                "text": f"{i} → {j}{more}: {told.sentence()}",
                "probability": share,
                "choose": choice,
                "changes": before != after,
            }
        )
    return rows  # fmt: skip


def _interaction(
    protocol: PopulationProtocol, i: int, j: int, coin: int, before: tuple[int, int], after: tuple[int, int]
) -> Interaction:
    old, new = ([protocol.space.mapping_of(code) for code in codes] for codes in (before, after))
    return Interaction(i, j, (old[0], old[1]), (new[0], new[1]), protocol.coins.mapping(coin))


def require_arc(topology: Topology, i: int, j: int) -> None:
    if i == j or not topology.is_complete and j not in topology.neighbours(i):
        raise InvalidInput(f"agents {i} and {j} are not joined by an arc of {topology.name}; choose two that are")


def _outcomes(session: "Session", node: int, nodes: list[Any]) -> dict[int, Fraction]:
    """What one node may become, with probabilities over its coins."""
    protocol = cast(RoundsProtocol, session.protocol)
    if len(protocol.coin_faces) > MOST_TRIED:
        raise InvalidInput(
            f"a node's coins show one of {len(protocol.coin_faces):,} values, and at most {MOST_TRIED:,} are tried; "
            "let chance decide"
        )
    near = protocol.neighbours_of(nodes, session.topology, node)
    found: Counter[Any] = Counter()
    for coins, ways in protocol.coin_faces:
        state = protocol.space.namespace(protocol.space.code(nodes[node]))
        protocol.move(state, near, coins)
        found[protocol.space.code(state)] += ways
    return {code: Fraction(count, protocol.coin_values) for code, count in found.items()}


def _of_node(session: "Session", node: int) -> list[dict[str, Any]]:
    session.require_agent(node)
    codes = _codes(session)
    nodes = [session.protocol.space.namespace(code) for code in codes]
    found = _outcomes(session, node, nodes)
    return [_round_row(session, codes, {node: code}, share, f"node {node} alone: ") for code, share in found.items()]


def _of_round(session: "Session") -> list[dict[str, Any]]:
    codes = _codes(session)
    nodes = [session.protocol.space.namespace(code) for code in codes]
    found = [_outcomes(session, v, nodes) for v in range(len(nodes))]
    if session.record.scheduler is not None or session.world.engine.name == "daemon":
        # A daemon decides who moves: list every node that would change, one at a time and without probabilities.
        moves = [(v, code) for v, outcomes in enumerate(found) for code in outcomes if code != codes[v]]
        return [_round_row(session, codes, {v: code}, None, "") for v, code in moves]
    if (joint := math.prod(map(len, found))) > MOST_JOINT:
        raise InvalidInput(
            f"{short_number(joint)} configurations may follow, and at most {MOST_JOINT} are listed; click a node, "
            "which then moves alone"
        )
    combined: list[tuple[dict[int, int], Fraction]] = [({}, Fraction(1))]
    for v, outcomes in enumerate(found):
        combined = [({**whole, v: code}, p * q) for whole, p in combined for code, q in outcomes.items()]
    return [_round_row(session, codes, whole, share, "") for whole, share in combined]


def short_number(value: int) -> str:
    return f"{value:,}" if value < 10**9 else f"{value:.1e}"


def _round_row(
    session: "Session", codes: list[int], after: dict[int, int], share: Fraction | None, who: str
) -> dict[str, Any]:
    space = session.protocol.space
    changes = [(v, code) for v, code in after.items() if code != codes[v]]
    told = Round(tuple((v, space.mapping_of(codes[v]), space.mapping_of(code)) for v, code in changes))
    text = who + (told.sentence() or "nothing changes")
    return {"text": text, "probability": share, "choose": {"changes": changes}, "changes": bool(changes)}


def prescribed(session: "Session", command: dict[str, Any]) -> Prescribed:
    """The step that a page chose, in the form of a schedule; InvalidInput if it is impossible here."""
    require_choice(session)
    if command.get("moment", moment(session)) != moment(session):
        raise InvalidInput("the run has moved on since this choice was offered; choose again")
    protocol = session.protocol
    if protocol.model.has_rounds:
        changes = [(int(v), int(code)) for v, code in command["changes"]]
        for v, code in changes:
            session.require_agent(v)
            if not 0 <= code < protocol.space.size:
                raise ValueError
        agents = session.world.engine.configuration().agents
        after_round(cast(RoundsProtocol, protocol), session.topology, agents, changes, session.step + 1)
        return changes
    (i, j), coin = command["pair"], command.get("coin", 0)
    if (
        not all(type(value) is int for value in (i, j, coin))
        or not 0 <= coin < cast(PopulationProtocol, protocol).coins.size
    ):
        raise ValueError
    session.require_agent(i)
    session.require_agent(j)
    require_arc(session.topology, i, j)
    return i, j, coin


def story(session: "Session") -> Trace:
    """The last uninterrupted series of chosen steps, and the configuration before it."""
    if session.story_start is None:
        raise InvalidInput("nothing was chosen yet; choose what happens next, and the story is written")
    begin, start, _ = session.story_start
    protocol, codes = session.protocol, list(start)
    space = protocol.space
    told: list[Interaction | Round] = []
    for step in range(begin, session.story_end):
        chosen = session.chosen[step]
        if isinstance(chosen, list):
            told.append(Round(tuple((v, space.mapping_of(codes[v]), space.mapping_of(code)) for v, code in chosen)))
            for v, code in chosen:
                codes[v] = code
        else:
            (i, j, coin), meeting = chosen, cast(PopulationProtocol, protocol)
            before = codes[i], codes[j]
            codes[i], codes[j] = meeting.transition_codes(*before, coin)
            told.append(_interaction(meeting, i, j, coin, before, (codes[i], codes[j])))
    states = [space.mapping_of(code) for code in start]
    return Trace.of(protocol, states, tuple(told), session.topology.name)
