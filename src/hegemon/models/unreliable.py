"""Lost and one-sided interactions: the same protocol, where some interactions change nothing or the responder alone.

This models an exchange of messages over a network: it does not take place, or its last message is lost and the
initiator keeps its old state. Both are coins of the interaction, so all code that supports coins treats them exactly.
"""

from collections import namedtuple
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import Any

from hegemon.errors import InvalidInput
from hegemon.models.domains import Range
from hegemon.models.expressions import fraction_of
from hegemon.models.population import PopulationProtocol
from hegemon.models.protocol import Protocol

LARGEST_DENOMINATOR = 1000
DELIVERY, ANSWER = "delivery", "answer"  # the coins: negative for a lost interaction, and for a one-sided one


def unreliable(protocol: Protocol, loss: Any = 0, one_sided: Any = 0) -> Any:
    """The protocol whose interactions are lost with probability `loss`, and else one-sided with `one_sided`."""
    lost, halved = share("loss", loss), share("one-sided", one_sided)
    if not lost and not halved:
        return protocol
    if not isinstance(protocol, PopulationProtocol):
        raise InvalidInput(
            f"lost and one-sided interactions mean nothing to {protocol.id}, a protocol of the {protocol.model} model; "
            "leave them out"
        )
    made = vars(protocol).setdefault("_unreliable", {})
    if (lost, halved) not in made:
        kind: Any = type(protocol)
        made[lost, halved] = _derived(kind, lost, halved)(protocol.n, **protocol.parameters)
        made[lost, halved].check_sound = protocol.check_sound  # only the author's functions need a check
    return made[lost, halved]


@lru_cache(maxsize=64, typed=True)
def share(name: str, value: Any) -> Fraction:
    """A probability below 1 as the fraction that it is written as: 0.1 is one tenth."""
    try:
        found = fraction_of(value)
    except (ValueError, ZeroDivisionError, OverflowError):
        found = Fraction(-1)
    if not 0 <= found < 1:
        raise InvalidInput(f"{name} = {value} is out of range; it is a probability, at least 0 and below 1")
    if found.denominator > LARGEST_DENOMINATOR:
        raise InvalidInput(
            f"{name} = {value} is {found}; take a fraction with a denominator of at most {LARGEST_DENOMINATOR}, such "
            "as 0.125 or 1/3"
        )
    return found


@lru_cache(maxsize=64)
def _derived(kind: Any, lost: Fraction, halved: Fraction) -> Any:
    """The class with the same states, parameters, starts and sets, and one or two coins more."""
    coins = {field.name: field.domain for field in kind.coin_fields}
    for name, chance in ((DELIVERY, lost), (ANSWER, halved)):
        if name in coins:
            raise InvalidInput(f"{kind.__name__} has a coin {name!r} of its own; rename it to lose interactions")
        if chance:
            coins[name] = Range(-chance.numerator, chance.denominator - chance.numerator - 1)
    fields = tuple(field.name for field in kind.fields)
    own = tuple(field.name for field in kind.coin_fields)
    body = {
        "__doc__": kind.__doc__,
        "__module__": kind.__module__,
        "is_one_sided": bool(halved),
        "coins_of_losses": (DELIVERY, ANSWER),
        "id": kind.id,
        "Coins": type("Coins", (), {"__annotations__": coins}),
        "interact": _interact(kind.interact, fields, own, bool(lost), bool(halved)),
    }
    return type(kind.__name__, (kind,), body)


@lru_cache(maxsize=256)
def _interact(
    interact: Callable[..., Any], fields: tuple[str, ...], own: tuple[str, ...], lost: bool, halved: bool
) -> Callable[..., Any]:
    """The author's `interact` where the coins allow it; the text depends on the names of fields and coins."""
    drawn = f", Coins({', '.join(f'coins.{name}' for name in own)})" if own else ""
    lines = ["def unreliable_interact(a, b, p, coins):"]
    if lost:
        lines += [f"    if coins.{DELIVERY} < 0:", "        return"]
    if halved:
        lines += [f"    kept_{name} = a.{name}" for name in fields]
    lines += [f"    interact(a, b, p{drawn})"]
    if halved:
        lines += [f"    if coins.{ANSWER} < 0:", *(f"        a.{name} = kept_{name}" for name in fields)]
    scope: dict[str, Any] = {
        "interact": interact, "Coins": namedtuple("Coins", own), "__name__": interact.__module__,
    }  # fmt: skip
    exec(compile("\n".join(lines), "<hegemon>", "exec"), scope)
    return scope["unreliable_interact"]
