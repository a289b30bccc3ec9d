"""The run that a session watches, made again by `simulate` and by the command line."""

import json
import shlex

import hegemon as hg
from hegemon.cli.main import main
from hegemon.web.repeating import command_of


def finish(simulation) -> None:
    """Make all slices of a jump: on a busy machine one may not be enough."""
    while simulation._jump is not None:
        simulation._jump_on()


def codes(session) -> tuple:
    agents = session.world.engine.configuration().agents
    return tuple(session.protocol.space.encode_array(agents).tolist())


def repeated(session, seed=None) -> tuple:
    """The configuration where `simulate` ends at the same step, with the same seed and disturbances."""
    rounds = session.protocol.time_unit == "rounds"
    run = hg.simulate(
        session.protocol,
        start=session.start,
        seed=session.seed if seed is None else seed,
        engine=session.world.engine.name,
        until=f"{session.protocol.time_unit}:{session.step}",
        faults=tuple(session.faults[: len(session.disturbances())]),
        **({"fast_forward": False} if rounds else {}),
    )
    return tuple(session.protocol.space.encode_array(run.configuration.agents).tolist())


def again(session, folder) -> dict:
    """The trial that the page's own command prints."""
    import contextlib
    import io

    file = folder / "disturbances.json"
    file.write_text(json.dumps({"disturbances": session.disturbances()}))
    words = shlex.split(command_of(session, str(file)))
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        assert main([*words[1:], "--json"]) == 0
    trial = json.loads(out.getvalue())["trials"][0]
    assert trial[session.protocol.time_unit] == session.step
    return trial
