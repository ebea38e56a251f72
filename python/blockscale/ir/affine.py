"""Affine expressions and maps, for the indexing maps of linalg."""

from __future__ import annotations

from typing import Optional, Sequence, Union

from . import library
from .context import Context
from .handles import Unique
from .library import LIBRARY
from .types import check_context


class AffineExpr(Unique):
    """MlirAffineExpr. `+`, `-`, `*`, `//` (floordiv) and `%` combine expressions and integers."""

    _print = "mlirAffineExprPrint"

    @staticmethod
    def get_dim(position: int, context: Optional[Context] = None) -> "AffineExpr":
        context = check_context(context)
        return AffineExpr(context, LIBRARY.mlirAffineDimExprGet(context._ptr, position))

    @staticmethod
    def get_symbol(position: int, context: Optional[Context] = None) -> "AffineExpr":
        context = check_context(context)
        return AffineExpr(context, LIBRARY.mlirAffineSymbolExprGet(context._ptr, position))

    @staticmethod
    def get_constant(value: int, context: Optional[Context] = None) -> "AffineExpr":
        context = check_context(context)
        return AffineExpr(context, LIBRARY.mlirAffineConstantExprGet(context._ptr, value))

    def _with(self, function, other: Union["AffineExpr", int], reverse: bool = False) -> "AffineExpr":
        if isinstance(other, int) and not isinstance(other, bool):
            other = AffineExpr.get_constant(other, self.context)
        if not isinstance(other, AffineExpr):
            return NotImplemented
        lhs, rhs = (other, self) if reverse else (self, other)
        return AffineExpr(self.context, function(lhs._ptr, rhs._ptr))

    def __add__(self, other):
        return self._with(LIBRARY.mlirAffineAddExprGet, other)

    __radd__ = __add__

    def __mul__(self, other):
        return self._with(LIBRARY.mlirAffineMulExprGet, other)

    __rmul__ = __mul__

    def __sub__(self, other):
        return self + -1 * other

    def __rsub__(self, other):
        return -1 * self + other

    def __mod__(self, other):
        return self._with(LIBRARY.mlirAffineModExprGet, other)

    def __floordiv__(self, other):
        return self._with(LIBRARY.mlirAffineFloorDivExprGet, other)

    def ceildiv(self, other):
        return self._with(LIBRARY.mlirAffineCeilDivExprGet, other)


class AffineMap(Unique):
    """MlirAffineMap."""

    _print = "mlirAffineMapPrint"

    @staticmethod
    def get(dim_count: int, symbol_count: int, exprs: Sequence[AffineExpr], context=None) -> "AffineMap":
        context = exprs[0].context if exprs and context is None else check_context(context)
        count, array = library.pointers(expr._ptr for expr in exprs)
        return AffineMap(context, LIBRARY.mlirAffineMapGet(context._ptr, dim_count, symbol_count, count, array))

    @staticmethod
    def get_identity(n_dims: int, context: Optional[Context] = None) -> "AffineMap":
        context = check_context(context)
        return AffineMap(context, LIBRARY.mlirAffineMapMultiDimIdentityGet(context._ptr, n_dims))

    @property
    def n_dims(self) -> int:
        return LIBRARY.mlirAffineMapGetNumDims(self._ptr)

    @property
    def n_results(self) -> int:
        return LIBRARY.mlirAffineMapGetNumResults(self._ptr)
