"""MLIR's IR in Python, with the dialects of MLIR and blockscale, shaped as MLIR's own bindings.

It needs no extension module and no numpy, but libBlockScaleC.so of a built or installed project, which is loaded when
the first context is made.

>>> from blockscale import ir
>>> with ir.Context(), ir.Location.unknown():
...     module = ir.Module.parse("func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> { return %x : tensor<4xf32> }")
...     print([op.name for op in module.body.operations[0].regions[0].blocks[0]])
['func.return']
"""

from .affine import AffineExpr, AffineMap
from .attributes import (
    AffineMapAttr,
    ArrayAttr,
    Attribute,
    BoolAttr,
    DenseArrayAttr,
    DenseElementsAttr,
    DenseI32ArrayAttr,
    DenseI64ArrayAttr,
    DictAttr,
    FlatSymbolRefAttr,
    FloatAttr,
    IntegerAttr,
    StringAttr,
    SymbolRefAttr,
    TypeAttr,
    UnitAttr,
)
from .blocks import Block, BlockList, InsertionPoint, Region
from .context import Context, Location
from .diagnostics import DiagnosticHandler, DiagnosticInfo, DiagnosticSeverity, MLIRError
from .library import LibraryNotFoundError
from .module import Module
from .operations import OpAttributeMap, Operation
from .types import (
    BF16Type,
    F16Type,
    F32Type,
    F64Type,
    Float4E2M1FNType,
    Float6E2M3FNType,
    Float6E3M2FNType,
    Float8E4M3FNType,
    Float8E5M2Type,
    Float8E8M0FNUType,
    FloatType,
    FunctionType,
    IndexType,
    IntegerType,
    MemRefType,
    NoneType,
    RankedTensorType,
    ShapedType,
    Type,
    UnrankedTensorType,
    VectorType,
)
from .values import BlockArgument, OpOperand, OpResult, Value

__all__ = [name for name in dir() if not name.startswith("_") and name[0].isupper()]
