"""Rules from a file: reactions as text, or a dictionary or function of a Python script that the user names."""

from collections.abc import Mapping
from typing import Any

from hegemon.errors import InvalidInput
from hegemon.files import read_regular
from hegemon.models.expressions import assignments
from hegemon.models.rule_reading import read_rules
from hegemon.models.rule_table import RuleTable
from hegemon.models.rule_writing import protocol_text
from hegemon.protocols.loading import member

LARGEST_FILE = 2**24  # bytes of reactions


def imported(
    file: str, name: str, start: str | None, leader: str | None, arbitrary_start: bool, asymmetric: bool, settings: Any
) -> tuple[RuleTable, str]:
    """The rules that a file contains, and the text of the Python file that defines them as a protocol."""
    parameters = assignments(settings)
    script, _, what = file.rpartition(":")
    given: Any
    if file.endswith(".py") or script.endswith(".py"):
        given = member(script or file, what if script else "")
        first = _start(start, lambda word: member(script or file, word, None))
    else:
        try:
            given = read_regular(file, LARGEST_FILE).decode("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise InvalidInput(f"{file} cannot be read as text ({error}); give a file of reactions") from None
        first = _start(start, lambda word: None)
    if callable(given) and isinstance(first, str):
        first = _literal(first)
    order = "asymmetric" if asymmetric else "symmetric"
    leaders = None if leader is None else leader.split(",")
    table = read_rules(given, first, leaders, order, parameters)
    return table, protocol_text(table, name, f"Written by `hegemon import {file}`.", arbitrary_start)


def _start(text: str | None, named: Any) -> Any:
    """A state, shares such as A=51,B=49, or the object of that name in the script."""
    if text is None:
        return None
    known = named(text) if text.isidentifier() else None
    if isinstance(known, Mapping):
        return known
    if "=" not in text:
        return text
    parts = [part.rpartition("=") for part in text.split(",")]
    return {state.strip(): share.strip() for state, _, share in parts}


def _literal(text: str) -> Any:
    """A state given as text: a number where it is one."""
    return int(text) if text.lstrip("-").isdigit() else text
