"""Python functions whose keyword options are the fields of a record, for people, editors and type checkers."""

import inspect
import textwrap
from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar, cast

from hegemon.errors import InvalidInput, meant
from hegemon.runs.option import options_of

P = ParamSpec("P")
Record = TypeVar("Record")
Answer = TypeVar("Answer")


def takes(record: Callable[P, Record]) -> Callable[[Callable[[Record], Answer]], Callable[P, Answer]]:
    """Turns a function of a record into one that takes the record's fields as options; its help lists them."""

    def decorate(function: Callable[[Record], Answer]) -> Callable[P, Answer]:
        signature = inspect.signature(record)
        options, known = options_of(cast(type, record)), frozenset(signature.parameters)

        @wraps(function)
        def door(*arguments: P.args, **given: P.kwargs) -> Answer:
            for word in given:
                if word not in known:
                    raise InvalidInput(
                        f"{function.__name__} has no option {word!r}; its options are {', '.join(options)}"
                        f"{meant(word, options)}"
                    )
            return function(record(*arguments, **given))

        lines = [f"- `{name}`: {one.about}." for name, one in options.items()]
        listed = "\n".join(textwrap.fill(line, 116, subsequent_indent="  ") for line in lines)
        door.__doc__ = f"{inspect.cleandoc(function.__doc__ or '')}\n\nOptions:\n\n{listed}\n"
        answer = inspect.signature(function).return_annotation
        cast(Any, door).__signature__ = signature.replace(return_annotation=answer)
        return door

    return decorate
