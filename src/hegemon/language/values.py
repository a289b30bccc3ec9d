"""Values with named fields, as dataclasses are, without generated code: every start loads these classes."""

from typing import Any, ClassVar, dataclass_transform


@dataclass_transform(frozen_default=True)
class Value:
    """What never changes, and equals what has the same class and the same fields."""

    fields: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls) -> None:
        own = [name for name in vars(cls).get("__annotations__", {}) if name not in cls.fields]
        cls.fields = (*cls.fields, *own)

    def __init__(self, *values: Any, **named: Any) -> None:
        given = dict(zip(self.fields, values, strict=False)) | named
        missing = [name for name in self.fields if name not in given and not hasattr(type(self), name)]
        if len(values) > len(self.fields) or missing or named.keys() - set(self.fields):
            raise TypeError(f"{type(self).__name__} takes {', '.join(self.fields)}")
        vars(self).update(given)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"{type(self).__name__} does not change")

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self._values() == other._values()

    def __hash__(self) -> int:
        return hash((type(self), self._values()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}{self._values()!r}"

    def _values(self) -> tuple[Any, ...]:
        return tuple(getattr(self, name) for name in self.fields)
