"""A long run kept in a file, and gone on with: what `hegemon run --checkpoint` writes and `--resume` reads."""

import os
from typing import TYPE_CHECKING, Any

from hegemon.errors import InvalidInput
from hegemon.files import named_file
from hegemon.runs.record import RunRecord

if TYPE_CHECKING:
    from hegemon.runs.checkpoint import Checkpoint


def resumed(resume: str, asked: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """What the checkpoint runs and where it stands; only the very code that wrote it may go on.

    A checkpoint is data: what it says about a Python file is compared before that is imported, and it is imported only
    if the user names it too.
    """
    from hegemon.runs.checkpoint import read_checkpoint
    from hegemon.runs.record import WRITTEN

    flags = {"n": "--n", "parameters": "--set", **{name: one.flag for name, one in WRITTEN.items()}}
    protocol = asked.pop("protocol", None)
    for name in asked:
        raise InvalidInput(f"--resume {resume} says what to run; drop {flags[name]}, which cannot be combined with it")
    about, state = read_checkpoint(resume)
    try:
        given, code, digest = dict(about["run"]), about["code"], about["file"]
        given["protocol"] = _agreed(resume, str(given["protocol"]), digest, protocol)
        if code_of(given) != code:
            raise InvalidInput(
                f"{resume} was made with other code, libraries or files; continue with the same ones, or run again"
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
            "continue with the same file, or run again"
        )
    return asked


def make_keeper(path: str, record: RunRecord, state: dict[str, Any] | None) -> "Checkpoint":
    from hegemon.protocols.loading import digest_of, file_of
    from hegemon.runs.checkpoint import Checkpoint

    given = record.written()
    file = file_of(given["protocol"])
    return Checkpoint(path, {"run": given, "code": code_of(given), "file": file and digest_of(file)}, state)


def code_of(written: dict[str, Any]) -> list[str]:
    """Digests of the code and of the files that a run depends on."""
    from hegemon.experiments.fingerprints import code_fingerprint, file_digest, protocol_fingerprint
    from hegemon.protocols.loading import find_protocol

    files = [named_file(value) for name, value in written.items() if isinstance(value, str) and name != "protocol"]
    digests = [file_digest(name) for name in files if name]
    kind = find_protocol(written["protocol"], "name it before --resume: hegemon run {} --resume FILE")
    return [code_fingerprint(), protocol_fingerprint(kind), *digests]
