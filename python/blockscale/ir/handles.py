"""What handles of MLIR have in common."""

from __future__ import annotations

from .library import LIBRARY, printed


class Unique:
    """What MLIR has once in a context: equal ones have one pointer."""

    # The function that prints it.
    _print = ""

    def __init__(self, context, pointer: int) -> None:
        self.context, self._ptr = context, pointer

    def __eq__(self, other) -> bool:
        return isinstance(other, Unique) and self._ptr == other._ptr

    def __hash__(self) -> int:
        return hash(self._ptr)

    def __str__(self) -> str:
        return printed(getattr(LIBRARY, self._print), self._ptr)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self})"


class Castable(Unique):
    """A type or an attribute: its handle has the class of what it is, and that of a class is a cast to it."""

    def __new__(cls, cast_from):
        family = next(base for base in cls.__mro__ if Castable in base.__bases__)
        if not isinstance(cast_from, family):
            raise TypeError(f"expected {family._article} {family.__name__}, got {type(cast_from).__name__}")
        if not isinstance(cast_from, cls):
            raise ValueError(f"cannot cast {cast_from} to {cls.__name__}")
        return cast_from

    def __init__(self, cast_from) -> None:
        pass  # it is that object

    @classmethod
    def _make(cls, context, pointer: int):
        result = object.__new__(cls)
        result.context, result._ptr = context, pointer
        return result

    @classmethod
    def isinstance(cls, other) -> bool:
        return isinstance(other, cls)


class ClassTable:
    """Classes by type id, which is asked for when the first handle is wrapped.

    The name of a class in functions of type ids, where it is another one than in those that make it, is in `renamed`.
    """

    def __init__(self, base, suffix: str, renamed) -> None:
        self._base, self._suffix, self._renamed = base, suffix, renamed
        self._classes = None

    def of(self, type_id: int) -> type:
        if self._classes is None:
            self._classes = {
                LIBRARY.type_id(f"mlir{self._renamed.get(cls._c_name, cls._c_name)}{self._suffix}GetTypeID"): cls
                for cls in _named(self._base)
            }
        return self._classes.get(type_id, self._base)


def _named(cls):
    for sub in cls.__subclasses__():
        if sub._c_name is not None:
            yield sub
        yield from _named(sub)


class Part:
    """A value, block or region of an operation, of no use any more when that is."""

    def __init__(self, owner, pointer: int) -> None:
        self.owner, self._pointer = owner, pointer

    @property
    def _ptr(self) -> int:
        self.owner._ptr  # which is checked
        return self._pointer

    @property
    def context(self):
        return self.owner.context

    def __eq__(self, other) -> bool:
        return type(other) is type(self) and self._pointer == other._pointer

    def __hash__(self) -> int:
        return hash(self._pointer)
