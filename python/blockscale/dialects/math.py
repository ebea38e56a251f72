"""Functions of floats."""

from __future__ import annotations

from ..ir import Value
from ._build import build

_UNARY = (
    "absf", "acos", "asin", "atan", "ceil", "cos", "erf", "exp", "exp2", "expm1", "floor", "log", "log10", "log1p",
    "log2", "round", "roundeven", "rsqrt", "sin", "sqrt", "tan", "tanh", "trunc",
)
_BINARY = ("atan2", "copysign", "powf")


def _function(name: str, count: int):
    def builder(*operands: Value, loc=None, ip=None) -> Value:
        if len(operands) != count:
            raise TypeError(f"{name}: expected {count} operands, got {len(operands)}")
        return build(f"math.{name}", operands, infer_type=True, loc=loc, ip=ip)

    builder.__name__ = builder.__qualname__ = name
    builder.__doc__ = f"`math.{name}`, of the type of the operands."
    return builder


globals().update(
    {name: _function(name, 1) for name in _UNARY}, **{name: _function(name, 2) for name in _BINARY},
    fma=_function("fma", 3),
)
