"""The command line that repeats what is watched."""

import shlex

from hegemon.errors import InvalidInput


def command_of(session, disturbances_file: str = "disturbances.json") -> str:
    """What repeats the run of a session up to now."""
    is_messages, unit = session.protocol.model == "messages", session.protocol.time_unit
    words = ["hegemon", "run", session.name]
    words += ["--graph", session.graph_text] if session.graph_text else ["--n", str(session.protocol.n)]
    given = getattr(session.protocol, "values", {})
    for key, declaration in session.protocol.parameter_declarations.items():
        value = given[key]
        if value is not None and value != _default(declaration, key, session.protocol):
            words += ["--set", f"{key}={value}"]
    words += ["--wake", str(session.wake)] if session.wake else []
    if not is_messages:
        words += ["--start", str(session.start)]
    words += ["--seed", str(session.seed), "--engine", session.world.engine.name]
    if session.protocol.model not in ("population", "messages", "objects"):
        words += ["--no-fast-forward"]
    if session.disturbed:
        words += ["--disturbances", disturbances_file]
    words += ["--max-steps", str(max(1, session.step))] if is_messages else ["--until", f"{unit}:{session.step}"]
    return shlex.join(words)


def _default(declaration, name, protocol):
    try:
        return declaration.resolve(name, None, protocol.values, protocol.id)
    except InvalidInput:
        return None
