"""The ops of the tile level of blockscale; the reference of the dialect says what each computes.

Types of results follow from operands. Block sizes of scales are `(rows, k)`, in which None is all of a dimension;
rules, scorings and granularities are given by name. A wrong combination is found by `verify`, and by each pass; what no
op can be made of raises MLIRError at once.
"""

from __future__ import annotations

from typing import Optional, Sequence, Tuple, Union

from ..ir import Operation, Value, library
from ..ir.attributes import Attribute
from ..ir.context import Context, Location
from ..ir.library import LIBRARY
from ..ir.types import Float8E8M0FNUType, ShapedType, Type
from ._build import location_of, results_of, value_of

ScaleBlock = Tuple[Optional[int], Optional[int]]


def scale_block(rows: Optional[int], k: Optional[int], context: Optional[Context] = None) -> Attribute:
    """`#blockscale.scale_block`: rows of 1, 128 or all (None), k of 16, 32, 64, 128 or all (None). Or MLIRError."""
    context = context or Context.current
    loc = Location.unknown(context)
    call = (LIBRARY.blockscaleScaleBlockAttrGet, loc._ptr, rows or 0, k or 0)
    return Attribute._wrap(context, context._call(f"Invalid block of a scale ({rows}, {k})", *call))


def accumulate(chunk: int, rebase: bool = False, context: Optional[Context] = None) -> Attribute:
    """`#blockscale.accumulate`: the licence of a product, with chunks of 32, 64 or 128. Or MLIRError."""
    context = context or Context.current
    loc = Location.unknown(context)
    call = (LIBRARY.blockscaleAccumulateAttrGet, loc._ptr, chunk, rebase)
    return Attribute._wrap(context, context._call(f"Invalid licence of chunk {chunk}", *call))


def _attribute(context: Context, mnemonic: str, value: Union[str, Attribute, None]) -> Optional[int]:
    if value is None:
        return None
    if not isinstance(value, Attribute):
        value = Attribute.parse(f"#blockscale.{mnemonic}<{value}>", context)
    return value._ptr


def _block(context: Context, value: Union[ScaleBlock, Attribute, None]) -> Optional[int]:
    if value is None:
        return None
    return (value if isinstance(value, Attribute) else scale_block(*value, context=context))._ptr


def _licence(context: Context, value: Union[int, Attribute, None]) -> Optional[int]:
    if value is None:
        return None
    return (value if isinstance(value, Attribute) else accumulate(value, context=context))._ptr


class _Maker:
    """One op from a function of the C API."""

    def __init__(self, name: str, loc: Optional[Location], ip, **operands) -> None:
        self._name, self._ip = name, ip
        self._values = {key: None if value is None else value_of(value, key) for key, value in operands.items()}
        self._loc = location_of(list(self._values.values()), loc)
        self.context = self._loc.context

    def __getitem__(self, name: str) -> Optional[int]:
        value = self._values[name]
        return None if value is None else value._ptr

    def __call__(self, function, *arguments):
        pointer = self.context._call(f"Cannot create blockscale.{self._name}", function, self._loc._ptr, *arguments)
        return results_of(Operation._own(self.context, pointer)._insert(self._ip))

    def product(self, block_size, x_scale_block, y_scale_block, licence) -> library.ProductOptions:
        context = self.context
        return library.ProductOptions(
            block_size or 0, _block(context, x_scale_block), _block(context, y_scale_block), _licence(context, licence)
        )

    def groups(self, legal_groups: bool) -> library.RowGroups:
        return library.RowGroups(self["rows"], self["group_scale"], self["bias"], legal_groups)


# Products


def mma_scaled(
    x: Value, x_scale: Value, y: Value, y_scale: Value, acc: Value, *, block_size: Optional[int] = None,
    x_scale_block=None, y_scale_block=None, accumulate=None, loc=None, ip=None,
) -> Value:
    """acc + (x * x_scale) times (y * y_scale)."""
    make = _Maker("mma_scaled", loc, ip, x=x, x_scale=x_scale, y=y, y_scale=y_scale, acc=acc)
    return make(
        LIBRARY.blockscaleMmaScaledCreate, make["x"], make["x_scale"], make["y"], make["y_scale"], make["acc"],
        make.product(block_size, x_scale_block, y_scale_block, accumulate),
    )


def grouped_mma_scaled(
    x: Value, x_scale: Value, y: Value, y_scale: Value, offsets: Value, acc: Value, *, rows: Optional[Value] = None,
    group_scale: Optional[Value] = None, bias: Optional[Value] = None, block_size: Optional[int] = None,
    x_scale_block=None, y_scale_block=None, legal_groups: bool = False, accumulate=None, loc=None, ip=None,
) -> Value:
    """The rows of x of each group times its matrix of y."""
    make = _Maker(
        "grouped_mma_scaled", loc, ip, x=x, x_scale=x_scale, y=y, y_scale=y_scale, offsets=offsets, acc=acc, rows=rows,
        group_scale=group_scale, bias=bias,
    )
    return make(
        LIBRARY.blockscaleGroupedMmaScaledCreate, make["x"], make["x_scale"], make["y"], make["y_scale"],
        make["offsets"], make["acc"], make.groups(legal_groups),
        make.product(block_size, x_scale_block, y_scale_block, accumulate),
    )


def grouped_matmul(
    x: Value, y: Value, offsets: Value, acc: Value, *, rows: Optional[Value] = None,
    group_scale: Optional[Value] = None, bias: Optional[Value] = None, legal_groups: bool = False, loc=None, ip=None,
) -> Value:
    """grouped_mma_scaled of bf16 or f16, without scales."""
    make = _Maker(
        "grouped_matmul", loc, ip, x=x, y=y, offsets=offsets, acc=acc, rows=rows, group_scale=group_scale, bias=bias
    )
    return make(
        LIBRARY.blockscaleGroupedMatmulCreate, make["x"], make["y"], make["offsets"], make["acc"],
        make.groups(legal_groups),
    )


def sparse_mma_scaled(
    x: Value, metadata: Value, x_scale: Value, y: Value, y_scale: Value, acc: Value, *, granularity,
    block_size: Optional[int] = None, loc=None, ip=None,
) -> Value:
    """mma_scaled of an x that keeps two of every four elements ("2:4") or pairs ("pairs")."""
    make = _Maker(
        "sparse_mma_scaled", loc, ip, x=x, metadata=metadata, x_scale=x_scale, y=y, y_scale=y_scale, acc=acc
    )
    return make(
        LIBRARY.blockscaleSparseMmaScaledCreate, make["x"], make["metadata"], make["x_scale"], make["y"],
        make["y_scale"], make["acc"], _attribute(make.context, "granularity", granularity), block_size or 0,
    )


# Quantization


def quantize(
    x: Value, element_type: Type, *, scale_type: Optional[Type] = None, block_size: Optional[int] = None,
    scale_block=None, rule=None, tensor_scale: Optional[Value] = None, amax: bool = False, pad: bool = False,
    loc=None, ip=None,
) -> Tuple[Value, ...]:
    """(elements, scales), and the largest magnitude with `amax`."""
    make = _Maker("quantize", loc, ip, x=x, tensor_scale=tensor_scale)
    scale_type = scale_type or Float8E8M0FNUType.get(make.context)
    options = library.QuantizeOptions(
        scale_type._ptr, block_size or 0, _block(make.context, scale_block),
        _attribute(make.context, "scale_rule", rule), make["tensor_scale"], amax, pad,
    )
    return make(LIBRARY.blockscaleQuantizeCreate, make["x"], element_type._ptr, options)


def dequantize(
    elements: Value, scales: Value, result_type: Optional[Type] = None, *, tensor_scale: Optional[Value] = None,
    block_size: Optional[int] = None, scale_block=None, loc=None, ip=None,
) -> Value:
    """Elements times scales, of the float `result_type`, which is f32 if it is not given."""
    make = _Maker("dequantize", loc, ip, elements=elements, scales=scales, tensor_scale=tensor_scale)
    return make(
        LIBRARY.blockscaleDequantizeCreate, make["elements"], make["scales"],
        None if result_type is None else result_type._ptr, make["tensor_scale"], block_size or 0,
        _block(make.context, scale_block),
    )


def rebase(elements: Value, scales: Value, block_size: int, *, loc=None, ip=None) -> Tuple[Value, Value]:
    """(elements of fp8, a scale of f32 for each row)."""
    make = _Maker("rebase", loc, ip, elements=elements, scales=scales)
    return make(LIBRARY.blockscaleRebaseCreate, make["elements"], make["scales"], block_size)


# Layouts of scales


def swizzle_scales(source: Value, *, loc=None, ip=None) -> Value:
    """Scales in the 32x4x4 layout."""
    make = _Maker("swizzle_scales", loc, ip, source=source)
    return make(LIBRARY.blockscaleSwizzleScalesCreate, make["source"])


def _with_sizes(name: str, function, source: Value, shape: Sequence[Union[int, Value]], loc, ip) -> Value:
    make = _Maker(name, loc, ip, source=source)
    dynamic = ShapedType.get_dynamic_size()
    sizes = [size for size in shape if not isinstance(size, int)]
    numbers = library.numbers(size if isinstance(size, int) else dynamic for size in shape)
    values = library.pointers(value_of(size, "shape")._ptr for size in sizes)
    return make(function, make["source"], *numbers, *values)


def unswizzle_scales(source: Value, shape: Sequence[Union[int, Value]], *, loc=None, ip=None) -> Value:
    """Scales of `shape` out of the 32x4x4 layout; a dynamic size is a value of type index."""
    return _with_sizes("unswizzle_scales", LIBRARY.blockscaleUnswizzleScalesCreate, source, shape, loc, ip)


def swizzle_group_scales(source: Value, offsets: Value, rows: Optional[Value] = None, *, loc=None, ip=None) -> Value:
    """The same with atoms of its own for each group of rows."""
    make = _Maker("swizzle_group_scales", loc, ip, source=source, offsets=offsets, rows=rows)
    return make(LIBRARY.blockscaleSwizzleGroupScalesCreate, make["source"], make["offsets"], make["rows"])


# Experts


def route(logits: Value, top_k: int, scoring="softmax_of_chosen", *, loc=None, ip=None) -> Tuple[Value, Value]:
    """(ids, weights) of the `top_k` groups of each row; scoring is logits, softmax or softmax_of_chosen."""
    make = _Maker("route", loc, ip, logits=logits)
    return make(LIBRARY.blockscaleRouteCreate, make["logits"], top_k, _attribute(make.context, "scoring", scoring))


def sort_routes(
    ids: Value, groups: Value, *, num_groups: Optional[int] = None, loc=None, ip=None
) -> Tuple[Value, Value, Value]:
    """(offsets, rows, positions); offsets have a static size if `num_groups` is given, the value of `groups`."""
    make = _Maker("sort_routes", loc, ip, ids=ids, groups=groups)
    return make(LIBRARY.blockscaleSortRoutesCreate, make["ids"], make["groups"], num_groups or 0)


def combine_rows(
    source: Value, positions: Value, weights: Value, element_type: Optional[Type] = None, *, loc=None, ip=None
) -> Value:
    """Weighted sums of rows; elements have the type of `source` if none is given."""
    make = _Maker("combine_rows", loc, ip, source=source, positions=positions, weights=weights)
    element_type = element_type or ShapedType(source.type).element_type
    return make(
        LIBRARY.blockscaleCombineRowsCreate, make["source"], make["positions"], make["weights"], element_type._ptr
    )


# Sparse operands; granularity is "2:4" or "pairs"


def sparsify(source: Value, granularity, *, loc=None, ip=None) -> Value:
    """Zeros for the two of every four units that have the smaller magnitudes."""
    make = _Maker("sparsify", loc, ip, source=source)
    return make(
        LIBRARY.blockscaleSparsifyCreate, make["source"], _attribute(make.context, "granularity", granularity)
    )


def compress(source: Value, granularity, *, loc=None, ip=None) -> Tuple[Value, Value]:
    """(kept elements, metadata)."""
    make = _Maker("compress", loc, ip, source=source)
    return make(
        LIBRARY.blockscaleCompressCreate, make["source"], _attribute(make.context, "granularity", granularity)
    )


def decompress(elements: Value, metadata: Value, granularity, *, loc=None, ip=None) -> Value:
    """The inverse of `compress`, with zeros for what is not kept."""
    make = _Maker("decompress", loc, ip, elements=elements, metadata=metadata)
    return make(
        LIBRARY.blockscaleDecompressCreate, make["elements"], make["metadata"],
        _attribute(make.context, "granularity", granularity),
    )


def tile_metadata(source: Value, *, loc=None, ip=None) -> Value:
    """Metadata in the atoms of tcgen05."""
    make = _Maker("tile_metadata", loc, ip, source=source)
    return make(LIBRARY.blockscaleTileMetadataCreate, make["source"])


def untile_metadata(source: Value, shape: Sequence[Union[int, Value]], *, loc=None, ip=None) -> Value:
    """Metadata of `shape` out of atoms; a dynamic size is a value of type index."""
    return _with_sizes("untile_metadata", LIBRARY.blockscaleUntileMetadataCreate, source, shape, loc, ip)
