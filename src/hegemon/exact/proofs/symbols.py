"""Symbols in place of numbers: n itself, and the input of a predicate.

The states, transitions, sets and starts of a protocol are computed with these in place of numbers. Results that do not
depend on their values hold for every n. An operation that needs a value is refused, and the proof with it.
"""

# `Affine` allows operations that `Unknown` refuses
# mypy: disable-error-code="override,assignment"

from dataclasses import dataclass
from types import ModuleType
from typing import Any

from hegemon.errors import InvalidInput


def solver_library() -> ModuleType:
    try:
        import z3  # only here: it is an extra
    except ImportError:
        raise InvalidInput("proofs need the solver z3; install it with: pip install 'hegemon[prove]'") from None
    return z3


class DependsOnSize(InvalidInput):
    """A value was needed that depends on n."""


Fact = tuple[int, int, int]  # (size, share, constant): size * n + share * input + constant >= 0


class Undecided(Exception):
    """A comparison that is true for some inputs and false for others: `cases` distinguishes them."""

    def __init__(self, fact: Fact):
        self.cases = fact, (-fact[0], -fact[1], -fact[2] - 1)


class Unknown:
    """A parameter that depends on n in a way that is not tracked: it may exist, but not be used."""

    def __init__(self, name: str):
        self.name = name

    def _refuse(self, *_: object) -> Any:
        if self.name == "n":
            raise DependsOnSize("n itself is used, so there is not one answer for every n; verify one n at a time")
        raise DependsOnSize(f"{self.name} depends on n; fix it to prove for that value (--set {self.name}=VALUE)")

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __neg__ = __pos__ = __abs__ = _refuse
    __truediv__ = __rtruediv__ = __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __pow__ = __rpow__ = _refuse
    __lt__ = __le__ = __gt__ = __ge__ = __eq__ = __ne__ = __bool__ = __int__ = __float__ = __index__ = _refuse
    __len__ = __iter__ = __contains__ = __getitem__ = __call__ = __round__ = __ceil__ = __floor__ = __trunc__ = _refuse
    __and__ = __rand__ = __or__ = __ror__ = __xor__ = __rxor__ = __lshift__ = __rlshift__ = _refuse
    __rshift__ = __rrshift__ = __invert__ = __divmod__ = __rdivmod__ = __hash__ = __format__ = _refuse

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, eq=False, repr=False)
class Affine(Unknown):
    """size * n + share * input + constant, where the facts are known and 0 <= input <= n."""

    name: str
    size: int = 0
    share: int = 0
    constant: int = 0
    facts: tuple[Fact, ...] = ()

    def __repr__(self) -> str:
        parts = {"n": self.size, "input": self.share, "1": self.constant}
        said = [f"{number} * {name}".removesuffix(" * 1") for name, number in parts.items() if number]
        return " + ".join(part.removeprefix("1 * ") for part in said).replace("+ -", "- ") or "0"

    def _plus(self, other: Any, sign: int = 1) -> "Affine":
        if isinstance(other, Affine):
            size, share, constant, facts = other.size, other.share, other.constant, other.facts
        elif isinstance(other, int) and not isinstance(other, bool):
            size, share, constant, facts = 0, 0, int(other), ()
        else:
            return self._refuse()
        sums = self.size + sign * size, self.share + sign * share, self.constant + sign * constant
        return Affine(self.name, *sums, self.facts or facts)

    def __add__(self, other: Any) -> Any:
        return self._plus(other)

    __radd__ = __add__

    def __sub__(self, other: Any) -> "Affine":
        return self._plus(other, -1)

    def __rsub__(self, other: Any) -> Any:
        return (-self)._plus(other)

    def __neg__(self) -> "Affine":
        return self * -1

    def __mul__(self, other: Any) -> "Affine":
        if not isinstance(other, int) or isinstance(other, bool):
            return self._refuse()
        other = int(other)  # certificates take nothing else
        return Affine(self.name, self.size * other, self.share * other, self.constant * other, self.facts)

    __rmul__ = __mul__

    def __ge__(self, other: Any) -> Any:
        """The comparison, if the facts decide it; otherwise raises Undecided, or refuses a fact about n alone."""
        difference = self - other
        fact = difference.size, difference.share, difference.constant
        answer = decided(fact, difference.facts)
        if answer is None:
            if not difference.share:
                return self._refuse()
            raise Undecided(fact)
        return answer

    def __lt__(self, other: Any) -> Any:
        return not self >= other

    def __le__(self, other: Any) -> Any:
        return -self >= -other

    def __gt__(self, other: Any) -> Any:
        return not self <= other

    def __eq__(self, other: Any) -> Any:
        return self >= other and self <= other

    def __ne__(self, other: Any) -> Any:
        return not self == other

    __hash__ = Unknown._refuse


def decided(fact: Fact, facts: tuple[Fact, ...]) -> bool | None:
    """Whether the facts imply another one, or its opposite; None if neither."""
    z3 = solver_library()
    n, share = z3.Ints("n input")

    def formula(of: Fact) -> Any:
        return of[0] * n + of[1] * share + of[2] >= 0

    for answer, excluded in ((True, z3.Not(formula(fact))), (False, formula(fact))):
        solver = z3.Solver()
        solver.add(n >= 1, share >= 0, share <= n, excluded, *map(formula, facts))
        if solver.check() == z3.unsat:
            return answer
    return None


def fact_text(fact: Fact, name: str) -> str:
    """A fact about the input as people write it: votes >= 3, 2*votes <= n."""
    size, share, constant = fact
    sign = 1 if share > 0 else -1
    times = "" if abs(share) == 1 else f"{abs(share)}*"
    sizes = "n" if -sign * size == 1 else f"{-sign * size}*n" if size else ""
    rest = -sign * constant
    bound = f"{sizes} {'+-'[rest < 0]} {abs(rest)}" if sizes and rest else sizes or str(rest)
    return f"{times}{name} {'>=' if sign > 0 else '<='} {bound}"
