"""A long run kept in a file, and gone on with: what `hegemon run --checkpoint` writes and `--resume` reads."""

import os

from hegemon.errors import InvalidInput

UNLESS_SAID = {"engine": "auto", "until": "safe"}


def resumed(resume: str, protocol: str | None, besides: dict) -> tuple[dict, dict | None]:
    """What the checkpoint runs and where it stands; only the very code that wrote it may go on."""
    from hegemon.runs.checkpoint import read_checkpoint

    if protocol is not None:
        raise InvalidInput(f"--resume {resume} says what to run; give no protocol besides")
    for name, value in besides.items():
        if value and value != UNLESS_SAID.get(name):
            raise InvalidInput(f"--resume {resume} says what to run; give no --{name} besides")
    about, state = read_checkpoint(resume)
    if code_of(about["given"]) != about["code"]:
        raise InvalidInput(f"{resume} was made with other code, libraries or files; go on with the same, or run anew")
    return about["given"], state


def make_keeper(path: str, given: dict, state):
    from hegemon.runs.checkpoint import Checkpoint

    return Checkpoint(path, {"given": given, "code": code_of(given)}, state)


def code_of(given: dict) -> list[str]:
    """Digests of the code and of the files that a run depends on."""
    from hegemon.experiments.fingerprints import code_fingerprint, file_digest, protocol_fingerprint
    from hegemon.protocols.loading import find_protocol

    files = [given[name] for name in ("graph", "start", "disturbances", "wake") if os.path.isfile(given[name] or "")]
    digests = [file_digest(name) for name in files]
    return [code_fingerprint(), protocol_fingerprint(find_protocol(given["protocol"])), *digests]
