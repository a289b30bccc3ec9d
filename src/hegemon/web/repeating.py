"""The command line that repeats what is watched."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hegemon.errors import InvalidInput

if TYPE_CHECKING:
    from hegemon.web.session import Session


def command_of(session: "Session", disturbances_file: str = "disturbances.json", story_file: str = "story.json") -> str:
    """The command that repeats the run of a session up to the present step."""
    model, unit = session.protocol.model, session.protocol.time_unit
    told: dict[str, Any] = {"engine": session.world.engine.name}
    if model.has_starts:
        told |= {"start": str(session.start), "until": f"{unit}:{session.step}"}
    else:
        told["max_steps"] = max(1, session.step)
    if told["engine"] == "rounds":
        told["fast_forward"] = False
    if session.story_start is not None and session.story_start[0] < session.step:
        begin, _, faults = session.story_start
        after = session.step > session.story_end or session.disturbed > faults
        if after and (begin or session.disturbed):
            return (
                f"# {story_file} has the chosen {unit} {begin:,} to {session.story_end:,}; no command repeats the rest"
            )
        told |= {"start": story_file, "until": f"{unit}:{session.step - begin}"}
    elif not session.is_as_given:
        told |= {"faults": (), "disturbances": disturbances_file}
    try:
        return replace(session.record, **told).command()
    except InvalidInput as error:
        return f"# no command repeats this run: {error}"
