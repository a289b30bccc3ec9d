"""The secret that members share: created, read from a file; several are valid while one replaces another.

The first key encrypts, every key decrypts. To rotate without a pause: put the new key second everywhere, then first
everywhere, then remove the old one; members read the file again on SIGHUP.
"""

import os
import re
import secrets
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hegemon.errors import InvalidInput
from hegemon.files import read_regular

KEY_BYTES = 32
MOST_KEYS = 4  # a rotation needs two
LARGEST_FILE = 10_000  # bytes


class OpenKey(UserWarning):
    """A key file that others can read."""


@dataclass(frozen=True)
class Keys:
    """The shared secrets; the first one encrypts. Their bytes never appear in a message or a log."""

    secrets: tuple[bytes, ...]

    def __post_init__(self) -> None:
        if not 1 <= len(self.secrets) <= MOST_KEYS:
            raise InvalidInput(f"{len(self.secrets)} keys were given; give one, or up to {MOST_KEYS} during a rotation")
        for secret in self.secrets:
            if len(secret) != KEY_BYTES:
                raise InvalidInput(f"a key has {len(secret)} bytes; it must have {KEY_BYTES}: make one by new_key()")
        if len(set(self.secrets)) < len(self.secrets):
            raise InvalidInput("the same key is given twice; give every key once")

    def __repr__(self) -> str:
        return f"Keys({len(self.secrets)})"


def new_key() -> str:
    """A fresh key, as the 64 hexadecimal digits that a key file holds."""
    return secrets.token_hex(KEY_BYTES)


def keys_from(given: Any) -> Keys:
    """Keys from any form: Keys, 32 bytes, 64 hexadecimal digits, the Path of a key file, or a list of these."""
    if isinstance(given, Keys):
        return given
    if isinstance(given, Path):
        return read_keys(given)
    if isinstance(given, list | tuple):
        return Keys(tuple(secret for one in given for secret in keys_from(one).secrets))
    if isinstance(given, bytes | bytearray):
        return Keys((bytes(given),))
    if isinstance(given, str):
        return Keys((_from_digits(given, "the key"),))
    raise InvalidInput(f"a key cannot be a {type(given).__name__}; give the Path of a key file, 32 bytes or hex digits")


def read_keys(path: Path) -> Keys:
    """The keys of a file: one per line; empty lines and lines that begin with # are skipped."""
    try:
        lines = read_regular(path, LARGEST_FILE).decode("ascii").splitlines()
        is_open = bool(os.stat(path).st_mode & 0o007)
    except (OSError, UnicodeDecodeError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is not text"
        raise InvalidInput(
            f"the key file {path} cannot be read: {reason}; make one by hegemon agent --new-key"
        ) from None
    texts = [(number, line.strip()) for number, line in enumerate(lines, start=1)]
    digits = [(number, text) for number, text in texts if text and not text.startswith("#")]
    keys = Keys(tuple(_from_digits(text, f"{path}, line {number}") for number, text in digits))
    if is_open:
        warnings.warn(f"every user of this machine can read the key file {path}: chmod 600 {path}", OpenKey, 2)
    return keys


def _from_digits(text: str, what: str) -> bytes:
    if not re.fullmatch(r"[0-9a-fA-F]{64}", text.strip()):
        raise InvalidInput(f"{what} is not a key; a key is 64 hexadecimal digits: make one by hegemon agent --new-key")
    return bytes.fromhex(text.strip())
