"""Python functions whose keyword options are the fields of a record, for people, editors and type checkers."""

import inspect
import textwrap
from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar, cast

from hegemon.doors import Doorway
from hegemon.runs.kinds import PROTOCOL, TRIALS
from hegemon.runs.option import options_of

P = ParamSpec("P")
Record = TypeVar("Record")
Answer = TypeVar("Answer")


def takes(record: Callable[P, Record]) -> Callable[[Callable[[Record], Answer]], Callable[P, Answer]]:
    """Turns a function of a record into one that takes the record's fields as options; its help lists them."""

    def decorate(function: Callable[[Record], Answer]) -> Callable[P, Answer]:
        signature = inspect.signature(record)
        options = options_of(cast(type, record))
        kinds = {"protocol": PROTOCOL, "trials": TRIALS} | {name: one.takes for name, one in options.items()}
        parameters = signature.parameters
        read = Doorway(function.__name__, parameters, {name: kinds[name] for name in parameters})

        @wraps(function)
        def door(*positional: P.args, **named: P.kwargs) -> Answer:
            return function(cast(Any, record)(*read.positional_of(positional), **read.named_of(named)))

        lines = [f"- `{name}`: {one.about}." for name, one in options.items()]
        listed = "\n".join(textwrap.fill(line, 116, subsequent_indent="  ") for line in lines)
        door.__doc__ = f"{inspect.cleandoc(function.__doc__ or '')}\n\nOptions:\n\n{listed}\n"
        answer = inspect.signature(function).return_annotation
        cast(Any, door).__signature__ = signature.replace(return_annotation=answer)
        cast(Any, door).kinds = read.kinds
        return door

    return decorate
