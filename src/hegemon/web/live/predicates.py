"""Sets that a function of all agents decides, as WebAssembly made on the author's machine: their lamps on a page.

It needs `wasm-ld`. Without it, and for functions that need more than arithmetic and loops, there is no module, and
the lamp stays dotted.
"""

import base64
from typing import Any

import numpy as np
from numba import carray, from_dtype, types

from hegemon.compute.border import NumbaError
from hegemon.compute.compilation import llvm_of, part
from hegemon.compute.records import all_of
from hegemon.errors import InvalidInput
from hegemon.models.population import PopulationProtocol
from hegemon.process.stopping import Stop
from hegemon.web.live.building import linked, retargeted

# ruff: noqa: F821 - `predicate` and `held` are bound


def hold(agents, parameters):  # type: ignore[no-untyped-def]
    return 1 if predicate(agents, parameters[0]) else 0


def decide(agents, n, parameters):  # type: ignore[no-untyped-def]
    return np.int32(held(carray(agents, n), carray(parameters, 1)))


def module_of(protocol: PopulationProtocol, stop: Stop) -> str | None:
    """The module that decides whether the stop's predicates hold for all agents, as text; None if it cannot be made."""
    state, parameters = protocol.space.dtype, protocol.compiled_p.dtype
    signature = types.int32(types.CPointer(from_dtype(state)), types.int32, types.CPointer(from_dtype(parameters)))
    try:
        held = part(hold, protocol.record_types, predicate=all_of(stop.whole, "agents, p"))
        code = llvm_of(decide, signature, protocol.record_types, held=held)
        return base64.b64encode(linked({"decide": retargeted("decide", code)})).decode()
    except (InvalidInput, NumbaError):
        return None


def records_of(protocol: PopulationProtocol) -> dict[str, Any]:
    """The record of every state, as the predicates read it: one after the other."""
    states = protocol.space.decode_array(np.arange(protocol.space.size))
    return {"size": states.dtype.itemsize, "bytes": base64.b64encode(states.tobytes()).decode()}
