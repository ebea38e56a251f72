"""Tensors: shapes, slices and sizes."""

from __future__ import annotations

from typing import Optional, Sequence, Union

from ..ir import InsertionPoint, Operation, Value
from ..ir.attributes import ArrayAttr, DenseI32ArrayAttr, DenseI64ArrayAttr, IntegerAttr
from ..ir.context import Context
from ..ir.types import IndexType, RankedTensorType, ShapedType, Type
from . import arith
from ._build import build, location_of, results_of, value_of

Size = Union[int, Value]


def _mixed(sizes: Sequence[Size]):
    """(static numbers, with a dynamic one for each value; values)."""
    dynamic = ShapedType.get_dynamic_size()
    numbers = [size if isinstance(size, int) else dynamic for size in sizes]
    return numbers, [value_of(size, "size") for size in sizes if not isinstance(size, int)]


def empty(sizes: Sequence[Size], element_type: Type, *, loc=None, ip=None) -> Value:
    """A tensor without contents; dynamic sizes are values of type index."""
    numbers, values = _mixed(sizes)
    return build("tensor.empty", values, [RankedTensorType.get(numbers, element_type)], loc=loc, ip=ip)


def dim(source: Value, index: Size, *, loc=None, ip=None) -> Value:
    """The size of a dimension, an index."""
    if isinstance(index, int):
        index = arith.constant(IndexType.get(source.context), index, loc=loc, ip=ip)
    return build("tensor.dim", [source, index], infer_type=True, loc=loc, ip=ip)


def cast(dest: Type, source: Value, *, loc=None, ip=None) -> Value:
    return build("tensor.cast", [source], [dest], loc=loc, ip=ip)


def bitcast(dest: Type, source: Value, *, loc=None, ip=None) -> Value:
    return build("tensor.bitcast", [source], [dest], loc=loc, ip=ip)


def extract(source: Value, indices: Sequence[Value], *, loc=None, ip=None) -> Value:
    return build("tensor.extract", [source, *indices], infer_type=True, loc=loc, ip=ip)


def splat(aggregate: Type, value: Value, *, loc=None, ip=None) -> Value:
    return build("tensor.splat", [value], [aggregate], loc=loc, ip=ip)


def _slice(name: str, operands, offsets, sizes, strides, result, loc, ip) -> Value:
    context = operands[0].context
    numbers, values = zip(*(_mixed(part) for part in (offsets, sizes, strides)))
    attributes = {
        f"static_{part}": DenseI64ArrayAttr.get(value, context)
        for part, value in zip(("offsets", "sizes", "strides"), numbers)
    }
    counts = [*(1 for _ in operands), *map(len, values)]
    attributes["operandSegmentSizes"] = DenseI32ArrayAttr.get(counts, context)
    return build(name, [*operands, *(v for part in values for v in part)], [result], attributes, loc=loc, ip=ip)


def extract_slice(
    source: Value, offsets: Sequence[Size], sizes: Sequence[Size], strides: Optional[Sequence[Size]] = None,
    result: Optional[Type] = None, *, loc=None, ip=None,
) -> Value:
    """A part of a tensor, of the rank of `source` if no result type is given."""
    result = result or RankedTensorType.get(_mixed(sizes)[0], ShapedType(source.type).element_type)
    strides = strides or [1] * len(sizes)
    return _slice("tensor.extract_slice", [source], offsets, sizes, strides, result, loc, ip)


def insert_slice(
    source: Value, dest: Value, offsets: Sequence[Size], sizes: Sequence[Size],
    strides: Optional[Sequence[Size]] = None, *, loc=None, ip=None,
) -> Value:
    strides = strides or [1] * len(sizes)
    return _slice("tensor.insert_slice", [source, dest], offsets, sizes, strides, dest.type, loc, ip)


def _reassociation(groups: Sequence[Sequence[int]], context: Context) -> ArrayAttr:
    i64 = Type.parse("i64", context)
    rows = [ArrayAttr.get([IntegerAttr.get(i64, d) for d in group], context) for group in groups]
    return ArrayAttr.get(rows, context)


def expand_shape(
    result: Type, src: Value, reassociation: Sequence[Sequence[int]], sizes: Optional[Sequence[Size]] = None, *,
    loc=None, ip=None,
) -> Value:
    """`sizes` are all of the result; those of its type if they are static."""
    numbers, values = _mixed(sizes if sizes is not None else ShapedType(result).shape)
    attributes = {
        "reassociation": _reassociation(reassociation, src.context),
        "static_output_shape": DenseI64ArrayAttr.get(numbers, src.context),
    }
    return build("tensor.expand_shape", [src, *values], [result], attributes, loc=loc, ip=ip)


def collapse_shape(result: Type, src: Value, reassociation: Sequence[Sequence[int]], *, loc=None, ip=None) -> Value:
    attributes = {"reassociation": _reassociation(reassociation, src.context)}
    return build("tensor.collapse_shape", [src], [result], attributes, loc=loc, ip=ip)


def yield_(value: Value, *, loc=None, ip=None) -> Operation:
    return build("tensor.yield", [value], loc=loc, ip=ip)


def pad(
    result: Type, source: Value, low: Sequence[Size], high: Sequence[Size], value: Value, *, loc=None, ip=None
) -> Value:
    """`source` with `value` around it."""
    (low_numbers, low_values), (high_numbers, high_values) = _mixed(low), _mixed(high)
    context = source.context
    attributes = {
        "static_low": DenseI64ArrayAttr.get(low_numbers, context),
        "static_high": DenseI64ArrayAttr.get(high_numbers, context),
        "operandSegmentSizes": DenseI32ArrayAttr.get([1, len(low_values), len(high_values)], context),
    }
    loc = location_of([source], loc)
    operation = Operation.create(
        "tensor.pad", [result], [source, *low_values, *high_values], attributes, regions=1, loc=loc, ip=ip
    )
    index = IndexType.get(context)
    block = operation.regions[0].blocks.append(*[index] * ShapedType(source.type).rank)
    yield_(value, loc=loc, ip=InsertionPoint(block))
    return results_of(operation)
