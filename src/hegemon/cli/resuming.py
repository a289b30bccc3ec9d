"""A long run kept in a file, and gone on with: what `hegemon run --checkpoint` writes and `--resume` reads."""

import os

from hegemon.errors import InvalidInput

UNLESS_SAID = {"engine": "auto", "until": "safe"}


def resumed(resume: str, protocol: str | None, besides: dict) -> tuple[dict, dict | None]:
    """What the checkpoint runs and where it stands; only the very code that wrote it may go on.

    A checkpoint is data: what it says about a Python file is compared before that is imported, and it is imported only
    if `protocol`, which the user gives, names it.
    """
    from hegemon.runs.checkpoint import read_checkpoint

    for name, value in besides.items():
        if value and value != UNLESS_SAID.get(name):
            raise InvalidInput(f"--resume {resume} says what to run; give no --{name} besides")
    about, state = read_checkpoint(resume)
    try:
        given, code, digest = dict(about["given"]), about["code"], about["file"]
        given["protocol"] = _agreed(resume, str(given["protocol"]), digest, protocol)
        if code_of(given) != code:
            raise InvalidInput(
                f"{resume} was made with other code, libraries or files; go on with the same, or run anew"
            )
    except (KeyError, TypeError):
        raise InvalidInput(f"{resume} is no whole checkpoint; give another one, or run from the start") from None
    return given, state


def _agreed(resume: str, kept: str, digest: str | None, protocol: str | None) -> str:
    """The protocol that the checkpoint and the user both name; of a catalogue's, the checkpoint's word is enough."""
    from hegemon.protocols.loading import digest_of, file_of

    asked = kept if protocol is None else protocol
    file = file_of(asked)
    if (file is None or digest is None) and asked != kept:
        raise InvalidInput(f"{resume} keeps a run of {kept}, not of {asked}; leave the protocol out")
    if file and os.path.isfile(file) and digest_of(file) != digest:
        raise InvalidInput(
            f"{resume} was made with another {file} (SHA-256 {str(digest)[:16]}…, and here {digest_of(file)[:16]}…); "
            "go on with the same file, or run anew"
        )
    return asked


def make_keeper(path: str, given: dict, state):
    from hegemon.protocols.loading import digest_of, file_of
    from hegemon.runs.checkpoint import Checkpoint

    file = file_of(given["protocol"])
    return Checkpoint(path, {"given": given, "code": code_of(given), "file": file and digest_of(file)}, state)


def code_of(given: dict) -> list[str]:
    """Digests of the code and of the files that a run depends on."""
    from hegemon.experiments.fingerprints import code_fingerprint, file_digest, protocol_fingerprint
    from hegemon.protocols.loading import find_protocol

    files = [given[name] for name in ("graph", "start", "disturbances", "wake") if os.path.isfile(given[name] or "")]
    digests = [file_digest(name) for name in files]
    kind = find_protocol(given["protocol"], "name it before --resume: hegemon run {} --resume FILE")
    return [code_fingerprint(), protocol_fingerprint(kind), *digests]
