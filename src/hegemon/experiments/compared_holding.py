"""How long each compared protocol holds its leader: forever, exactly, estimated, or not known."""

import hashlib
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from hegemon.errors import InvalidInput
from hegemon.exact.verification import Verification, verify
from hegemon.experiments.holding.holding import holding
from hegemon.models.naming import chosen_parameters
from hegemon.runs.setting import topology_for

if TYPE_CHECKING:
    from hegemon.models.protocol import Protocol
    from hegemon.runs.option import Seed

HOWS = ("exact", "estimate", "none")
MOST_CONFIGURATIONS = 200_000  # in a chain that is solved for the comparison
NOTHING = {"holding": None, "holding_kind": None, "holding_low": None, "holding_high": None}


def holding_of(protocol: "Protocol", how: str, seed: "Seed" = 0, out: str | Path | None = None) -> dict[str, Any]:
    """Expected steps from a safe configuration until the leader is no longer the same unique one, and what kind of
    number that is: `forever` (the safe set is declared closed), `exact`, `estimate`, `at least`, `at most`, or why
    there is none. Empty for a protocol that elects no leader or declares no safe set."""
    safe = protocol.sets.get("safe") if protocol.elects_leader else None
    if safe is None or how == "none":
        return NOTHING
    if safe.closed:
        return NOTHING | {"holding_kind": "forever"}
    if is_small(protocol):
        try:
            found = cast(Verification, verify(protocol, property="holding")).holding
            value = None if found is None else found.from_starts.get("safe", found.worst)
            if value is not None and math.isfinite(value):
                return NOTHING | {"holding": value, "holding_kind": "exact"}
        except InvalidInput as error:
            return NOTHING | {"holding_kind": f"not known: {error}"}
    if how == "exact":
        return NOTHING | {"holding_kind": "not measured: too many configurations; holding = estimate measures it"}
    chosen = chosen_parameters(protocol)
    which = "-" + hashlib.sha256(repr(sorted(chosen.items())).encode()).hexdigest()[:8] if chosen else ""
    kept = None if out is None else Path(out) / f"holding-{protocol.id}-{protocol.n}{which}.json"
    try:
        measured = holding(protocol, relative=0.2, seed=seed, checkpoint=kept)
    except InvalidInput as error:
        return NOTHING | {"holding_kind": f"not known: {error}"}
    low, high = measured.interval
    kind = {"estimate": "estimate", "at most": "at most"}.get(measured.kind, "at least")
    value = {"estimate": measured.steps_expected, "at most": high, "at least": low}[kind]
    return {"holding": value, "holding_kind": kind, "holding_low": low, "holding_high": high}


def is_small(protocol: "Protocol") -> bool:
    """Whether all configurations can be enumerated quickly: multisets on a complete graph, else one state per node."""
    if not protocol.model.has_configurations or not protocol.fields or not protocol.space.has_codes:
        return False
    n, states = protocol.n, protocol.states
    number = math.comb(n + states - 1, n) if topology_for(protocol).is_complete else states**n
    return number <= MOST_CONFIGURATIONS
