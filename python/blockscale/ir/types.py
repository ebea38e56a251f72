"""Types, by text and by builder. Each handle has the class of its type."""

from __future__ import annotations

from typing import List, Optional, Sequence

from . import library
from .context import Context, Location
from .handles import Castable, ClassTable
from .library import LIBRARY, text


def check_context(context: Optional[Context]) -> Context:
    if context is None:
        return Context.current
    if not isinstance(context, Context):
        raise TypeError(f"context: expected a Context, got {type(context).__name__}")
    return context


class Type(Castable):
    """MlirType."""

    _article, _print = "a", "mlirTypePrint"
    # The name in the functions of the C API; None for classes of several types.
    _c_name: Optional[str] = None

    @staticmethod
    def _wrap(context: Context, pointer: int) -> "Type":
        return _CLASSES.of(LIBRARY.mlirTypeGetTypeID(pointer))._make(context, pointer)

    @staticmethod
    def parse(asm: str, context: Optional[Context] = None) -> "Type":
        """Raises MLIRError for text that is no type."""
        context = check_context(context)
        what = f"Unable to parse type {asm!r}"
        return Type._wrap(context, context._call(what, LIBRARY.mlirTypeParseGet, context._ptr, text(asm)))


class IntegerType(Type):
    _c_name = "Integer"

    @staticmethod
    def get_signless(width: int, context: Optional[Context] = None) -> "IntegerType":
        context = check_context(context)
        return Type._wrap(context, LIBRARY.mlirIntegerTypeGet(context._ptr, width))

    @staticmethod
    def get_signed(width: int, context: Optional[Context] = None) -> "IntegerType":
        context = check_context(context)
        return Type._wrap(context, LIBRARY.mlirIntegerTypeSignedGet(context._ptr, width))

    @staticmethod
    def get_unsigned(width: int, context: Optional[Context] = None) -> "IntegerType":
        context = check_context(context)
        return Type._wrap(context, LIBRARY.mlirIntegerTypeUnsignedGet(context._ptr, width))

    @property
    def width(self) -> int:
        return LIBRARY.mlirIntegerTypeGetWidth(self._ptr)

    @property
    def is_signless(self) -> bool:
        return not self.is_signed and not self.is_unsigned

    @property
    def is_signed(self) -> bool:
        return LIBRARY.mlirIntegerTypeIsSigned(self._ptr)

    @property
    def is_unsigned(self) -> bool:
        return LIBRARY.mlirIntegerTypeIsUnsigned(self._ptr)


class _SimpleType(Type):
    """A type without parameters."""

    @classmethod
    def get(cls, context: Optional[Context] = None) -> "Type":
        context = check_context(context)
        return Type._wrap(context, LIBRARY.simple_type(f"mlir{cls._c_name}TypeGet", context._ptr))


class IndexType(_SimpleType):
    _c_name = "Index"


class NoneType(_SimpleType):
    _c_name = "None"


class FloatType(_SimpleType):
    @property
    def width(self) -> int:
        return LIBRARY.mlirFloatTypeGetWidth(self._ptr)


class Float4E2M1FNType(FloatType):
    _c_name = "Float4E2M1FN"


class Float6E2M3FNType(FloatType):
    _c_name = "Float6E2M3FN"


class Float6E3M2FNType(FloatType):
    _c_name = "Float6E3M2FN"


class Float8E4M3FNType(FloatType):
    _c_name = "Float8E4M3FN"


class Float8E5M2Type(FloatType):
    _c_name = "Float8E5M2"


class Float8E8M0FNUType(FloatType):
    _c_name = "Float8E8M0FNU"


class BF16Type(FloatType):
    _c_name = "BF16"


class F16Type(FloatType):
    _c_name = "F16"


class F32Type(FloatType):
    _c_name = "F32"


class F64Type(FloatType):
    _c_name = "F64"


class ShapedType(Type):
    """A tensor, vector or memref. A dynamic size is `get_dynamic_size()`."""

    @staticmethod
    def get_dynamic_size() -> int:
        return LIBRARY.mlirShapedTypeGetDynamicSize()

    @property
    def element_type(self) -> Type:
        return Type._wrap(self.context, LIBRARY.mlirShapedTypeGetElementType(self._ptr))

    @property
    def has_rank(self) -> bool:
        return LIBRARY.mlirShapedTypeHasRank(self._ptr)

    @property
    def rank(self) -> int:
        self._check_rank()
        return LIBRARY.mlirShapedTypeGetRank(self._ptr)

    @property
    def shape(self) -> List[int]:
        return [LIBRARY.mlirShapedTypeGetDimSize(self._ptr, dim) for dim in range(self.rank)]

    @property
    def has_static_shape(self) -> bool:
        return LIBRARY.mlirShapedTypeHasStaticShape(self._ptr)

    def get_dim_size(self, dim: int) -> int:
        if not 0 <= dim < self.rank:
            raise IndexError(f"expected a dimension below {self.rank}, got {dim}")
        return LIBRARY.mlirShapedTypeGetDimSize(self._ptr, dim)

    def is_dynamic_dim(self, dim: int) -> bool:
        return self.get_dim_size(dim) == self.get_dynamic_size()

    def _check_rank(self) -> None:
        if not self.has_rank:
            raise ValueError(f"expected a type with a rank, got {self}")


def _sizes(shape: Sequence[Optional[int]]):
    """(rank, array); None is a dynamic size."""
    dynamic = ShapedType.get_dynamic_size()
    sizes = [dynamic if size is None else size for size in shape]
    for size in sizes:
        if isinstance(size, bool) or not isinstance(size, int):
            raise TypeError(f"shape: expected integers, or None for a dynamic size, got {size!r}")
        if size < 0 and size != dynamic:
            raise ValueError(f"shape: expected sizes of at least 0, or None for a dynamic size, got {size}")
    return library.numbers(sizes)


def _checked(element_type: Type) -> int:
    if not isinstance(element_type, Type):
        raise TypeError(f"element_type: expected a Type, got {type(element_type).__name__}")
    return element_type._ptr


def _made(cls, element_type: Type, loc: Optional[Location], function, *arguments) -> Type:
    context = element_type.context
    loc = loc or Location.unknown(context)
    pointer = context._call(f"Invalid {cls.__name__}", function, loc._ptr, *arguments)
    return Type._wrap(context, pointer)


def _pointer_of(attribute) -> Optional[int]:
    return None if attribute is None else attribute._ptr


class RankedTensorType(ShapedType):
    _c_name = "RankedTensor"

    @classmethod
    def get(cls, shape, element_type: Type, encoding=None, loc: Optional[Location] = None) -> "RankedTensorType":
        return _made(
            cls, element_type, loc, LIBRARY.mlirRankedTensorTypeGetChecked, *_sizes(shape), _checked(element_type),
            _pointer_of(encoding),
        )


class UnrankedTensorType(ShapedType):
    _c_name = "UnrankedTensor"

    @classmethod
    def get(cls, element_type: Type, loc: Optional[Location] = None) -> "UnrankedTensorType":
        return _made(cls, element_type, loc, LIBRARY.mlirUnrankedTensorTypeGetChecked, _checked(element_type))


class VectorType(ShapedType):
    _c_name = "Vector"

    @classmethod
    def get(cls, shape, element_type: Type, loc: Optional[Location] = None) -> "VectorType":
        return _made(cls, element_type, loc, LIBRARY.mlirVectorTypeGetChecked, *_sizes(shape), _checked(element_type))


class MemRefType(ShapedType):
    _c_name = "MemRef"

    @classmethod
    def get(cls, shape, element_type: Type, layout=None, memory_space=None, loc=None) -> "MemRefType":
        rank, sizes = _sizes(shape)
        if layout is None:
            return _made(
                cls, element_type, loc, LIBRARY.mlirMemRefTypeContiguousGetChecked, _checked(element_type), rank, sizes,
                _pointer_of(memory_space),
            )
        return _made(
            cls, element_type, loc, LIBRARY.mlirMemRefTypeGetChecked, _checked(element_type), rank, sizes, layout._ptr,
            _pointer_of(memory_space),
        )


class FunctionType(Type):
    _c_name = "Function"

    @classmethod
    def get(cls, inputs: Sequence[Type], results: Sequence[Type], context: Optional[Context] = None) -> "FunctionType":
        types = [*inputs, *results]
        for value in types:
            if not isinstance(value, Type):
                raise TypeError(f"expected types, got {type(value).__name__}")
        context = types[0].context if types and context is None else check_context(context)
        arguments = (*library.pointers(t._ptr for t in inputs), *library.pointers(t._ptr for t in results))
        return Type._wrap(context, LIBRARY.mlirFunctionTypeGet(context._ptr, *arguments))

    @property
    def inputs(self) -> List[Type]:
        count = LIBRARY.mlirFunctionTypeGetNumInputs(self._ptr)
        return [Type._wrap(self.context, LIBRARY.mlirFunctionTypeGetInput(self._ptr, i)) for i in range(count)]

    @property
    def results(self) -> List[Type]:
        count = LIBRARY.mlirFunctionTypeGetNumResults(self._ptr)
        return [Type._wrap(self.context, LIBRARY.mlirFunctionTypeGetResult(self._ptr, i)) for i in range(count)]


_CLASSES = ClassTable(Type, "Type", {"BF16": "BFloat16", "F16": "Float16", "F32": "Float32", "F64": "Float64"})
