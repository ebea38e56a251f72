"""Attributes, by text and by builder. Each handle has the class of its attribute."""

from __future__ import annotations

import ctypes
from typing import Dict, List, Mapping, Optional, Sequence, Union

from . import library
from .affine import AffineMap
from .context import Context, Location, check_same
from .handles import Castable, ClassTable
from .library import LIBRARY, text
from .types import IntegerType, ShapedType, Type, check_context


class Attribute(Castable):
    """MlirAttribute."""

    _article, _print = "an", "mlirAttributePrint"
    _c_name: Optional[str] = None

    @staticmethod
    def _wrap(context: Context, pointer: int) -> "Attribute":
        result = _CLASSES.of(LIBRARY.mlirAttributeGetTypeID(pointer))._make(context, pointer)
        return BoolAttr._make(context, pointer) if type(result) is IntegerAttr and result._is_bool() else result

    @staticmethod
    def parse(asm: str, context: Optional[Context] = None) -> "Attribute":
        """Raises MLIRError for text that is no attribute."""
        context = check_context(context)
        what = f"Unable to parse attribute {asm!r}"
        return Attribute._wrap(context, context._call(what, LIBRARY.mlirAttributeParseGet, context._ptr, text(asm)))

    @property
    def type(self) -> Type:
        return Type._wrap(self.context, LIBRARY.mlirAttributeGetType(self._ptr))


def _check_type(value: Type, name: str = "type") -> Type:
    if not isinstance(value, Type):
        raise TypeError(f"{name}: expected a Type, got {type(value).__name__}")
    return value


class IntegerAttr(Attribute):
    _c_name = "Integer"

    @staticmethod
    def get(type: Type, value: int) -> "IntegerAttr":
        _check_type(type)
        width = 64 if str(type) == "index" else getattr(type, "width", None)
        if width is None or not isinstance(type, IntegerType) and str(type) != "index":
            raise ValueError(f"type: expected an integer type or index, got {type}")
        if width > 64:
            raise ValueError(f"type: expected at most 64 bits, got {type}: use Attribute.parse")
        if not -(2 ** (width - 1)) <= value < 2**width:
            raise OverflowError(f"value: expected an integer of {type}, got {value}")
        # The C API takes the bits as a signed number.
        bits = value - 2**width if value >= 2 ** (width - 1) else value
        return Attribute._wrap(type.context, LIBRARY.mlirIntegerAttrGet(type._ptr, bits))

    @property
    def value(self) -> int:
        value_type = self.type
        if isinstance(value_type, IntegerType) and value_type.is_signed:
            return LIBRARY.mlirIntegerAttrGetValueSInt(self._ptr)
        if isinstance(value_type, IntegerType) and value_type.is_unsigned:
            return LIBRARY.mlirIntegerAttrGetValueUInt(self._ptr)
        return LIBRARY.mlirIntegerAttrGetValueInt(self._ptr)

    def _is_bool(self) -> bool:
        kind = self.type
        return isinstance(kind, IntegerType) and kind.is_signless and kind.width == 1

    def __int__(self) -> int:
        return self.value


class BoolAttr(IntegerAttr):
    """An integer attribute of i1."""

    _c_name = None

    @staticmethod
    def get(value: bool, context: Optional[Context] = None) -> "BoolAttr":
        context = check_context(context)
        return Attribute._wrap(context, LIBRARY.mlirBoolAttrGet(context._ptr, bool(value)))

    @property
    def value(self) -> bool:
        return LIBRARY.mlirIntegerAttrGetValueInt(self._ptr) != 0


class FloatAttr(Attribute):
    _c_name = "Float"

    @staticmethod
    def get(type: Type, value: float, loc: Optional[Location] = None) -> "FloatAttr":
        context = _check_type(type).context
        loc = loc or Location.unknown(context)
        function = LIBRARY.mlirFloatAttrDoubleGetChecked
        return Attribute._wrap(context, context._call("Invalid attribute", function, loc._ptr, type._ptr, float(value)))

    @property
    def value(self) -> float:
        return LIBRARY.mlirFloatAttrGetValueDouble(self._ptr)

    def __float__(self) -> float:
        return self.value


class StringAttr(Attribute):
    _c_name = "String"

    @staticmethod
    def get(value: Union[str, bytes], context: Optional[Context] = None) -> "StringAttr":
        context = check_context(context)
        return Attribute._wrap(context, LIBRARY.mlirStringAttrGet(context._ptr, text(value)))

    @property
    def value(self) -> str:
        return str(LIBRARY.mlirStringAttrGetValue(self._ptr))

    @property
    def value_bytes(self) -> bytes:
        return bytes(LIBRARY.mlirStringAttrGetValue(self._ptr))


class SymbolRefAttr(Attribute):
    _c_name = "SymbolRef"

    @property
    def value(self) -> List[str]:
        """The names of the path."""
        count = LIBRARY.mlirSymbolRefAttrGetNumNestedReferences(self._ptr)
        nested = (LIBRARY.mlirSymbolRefAttrGetNestedReference(self._ptr, i) for i in range(count))
        return [str(LIBRARY.mlirSymbolRefAttrGetRootReference(p)) for p in (self._ptr, *nested)]


class FlatSymbolRefAttr(SymbolRefAttr):
    """Builds a symbol reference of one name; handles have the class SymbolRefAttr."""

    _c_name = None

    @staticmethod
    def get(value: str, context: Optional[Context] = None) -> "SymbolRefAttr":
        context = check_context(context)
        return Attribute._wrap(context, LIBRARY.mlirFlatSymbolRefAttrGet(context._ptr, text(value)))


class TypeAttr(Attribute):
    _c_name = "Type"

    @staticmethod
    def get(value: Type) -> "TypeAttr":
        return Attribute._wrap(_check_type(value, "value").context, LIBRARY.mlirTypeAttrGet(value._ptr))

    @property
    def value(self) -> Type:
        return Type._wrap(self.context, LIBRARY.mlirTypeAttrGetValue(self._ptr))


class UnitAttr(Attribute):
    _c_name = "Unit"

    @staticmethod
    def get(context: Optional[Context] = None) -> "UnitAttr":
        context = check_context(context)
        return Attribute._wrap(context, LIBRARY.mlirUnitAttrGet(context._ptr))


class ArrayAttr(Attribute):
    _c_name = "Array"

    @staticmethod
    def get(attributes: Sequence[Attribute], context: Optional[Context] = None) -> "ArrayAttr":
        context = attributes[0].context if attributes and context is None else check_context(context)
        count, array = library.pointers(attribute._ptr for attribute in attributes)
        return Attribute._wrap(context, LIBRARY.mlirArrayAttrGet(context._ptr, count, array))

    def __len__(self) -> int:
        return LIBRARY.mlirArrayAttrGetNumElements(self._ptr)

    def __getitem__(self, index: int) -> Attribute:
        if not 0 <= index < len(self):
            raise IndexError(f"expected an index below {len(self)}, got {index}")
        return Attribute._wrap(self.context, LIBRARY.mlirArrayAttrGetElement(self._ptr, index))


def named_attributes(context: Context, attributes: Mapping[str, Attribute]):
    """(number, array) of MlirNamedAttribute."""
    array = (library.NamedAttribute * len(attributes))()
    for i, (name, attribute) in enumerate(attributes.items()):
        if not isinstance(attribute, Attribute):
            raise TypeError(f"attribute {name!r}: expected an Attribute, got {type(attribute).__name__}")
        check_same(context, attribute, f"attribute {name!r}")
        array[i].name = LIBRARY.mlirIdentifierGet(context._ptr, text(name))
        array[i].attribute = attribute._ptr
    return len(array), array


class DictAttr(Attribute):
    _c_name = "Dictionary"

    @staticmethod
    def get(value: Mapping[str, Attribute], context: Optional[Context] = None) -> "DictAttr":
        context = next(iter(value.values())).context if value and context is None else check_context(context)
        return Attribute._wrap(context, LIBRARY.mlirDictionaryAttrGet(context._ptr, *named_attributes(context, value)))

    def _items(self) -> Dict[str, Attribute]:
        count = LIBRARY.mlirDictionaryAttrGetNumElements(self._ptr)
        pairs = (LIBRARY.mlirDictionaryAttrGetElement(self._ptr, i) for i in range(count))
        return {
            str(LIBRARY.mlirIdentifierStr(pair.name)): Attribute._wrap(self.context, pair.attribute) for pair in pairs
        }

    def __len__(self) -> int:
        return LIBRARY.mlirDictionaryAttrGetNumElements(self._ptr)

    def __contains__(self, name: str) -> bool:
        return name in self._items()

    def __getitem__(self, name: str) -> Attribute:
        return self._items()[name]

    def __iter__(self):
        return iter(self._items())


class AffineMapAttr(Attribute):
    _c_name = "AffineMap"

    @staticmethod
    def get(affine_map: AffineMap) -> "AffineMapAttr":
        return Attribute._wrap(affine_map.context, LIBRARY.mlirAffineMapAttrGet(affine_map._ptr))

    @property
    def value(self) -> AffineMap:
        return AffineMap(self.context, LIBRARY.mlirAffineMapAttrGetValue(self._ptr))


class DenseArrayAttr(Attribute):
    """`array<i32: ..>` and its like; `DenseI32ArrayAttr` and `DenseI64ArrayAttr` build two of them."""

    _c_name = "DenseArray"

    def __len__(self) -> int:
        return LIBRARY.mlirDenseArrayGetNumElements(self._ptr)


class DenseI32ArrayAttr(DenseArrayAttr):
    _c_name = None

    @staticmethod
    def get(values: Sequence[int], context: Optional[Context] = None) -> "DenseArrayAttr":
        context = check_context(context)
        arguments = library.numbers(values, ctypes.c_int32)
        return Attribute._wrap(context, LIBRARY.mlirDenseI32ArrayGet(context._ptr, *arguments))


class DenseI64ArrayAttr(DenseArrayAttr):
    _c_name = None

    @staticmethod
    def get(values: Sequence[int], context: Optional[Context] = None) -> "DenseArrayAttr":
        context = check_context(context)
        return Attribute._wrap(context, LIBRARY.mlirDenseI64ArrayGet(context._ptr, *library.numbers(values)))


class DenseElementsAttr(Attribute):
    _c_name = "DenseIntOrFPElements"

    @staticmethod
    def get_raw(type: Type, data) -> "DenseElementsAttr":
        """Elements of a static tensor or vector from their bytes, in memory order; one element is a splat.

        `data` has the buffer protocol (bytes, a contiguous array of numpy). Raises ValueError for another size.
        """
        if not isinstance(type, ShapedType):
            raise TypeError(f"type: expected a ShapedType, got {type!r}")
        raw = bytes(memoryview(data).cast("B")) if not isinstance(data, bytes) else data
        pointer = LIBRARY.mlirDenseElementsAttrRawBufferGet(
            type._ptr, len(raw), ctypes.cast(ctypes.c_char_p(raw), ctypes.c_void_p)
        )
        if not pointer:
            raise ValueError(f"data: expected the bytes of all elements of {type}, or of one, got {len(raw)} bytes")
        return Attribute._wrap(type.context, pointer)

    def __len__(self) -> int:
        return LIBRARY.mlirElementsAttrGetNumElements(self._ptr)


_CLASSES = ClassTable(Attribute, "Attr", {})
