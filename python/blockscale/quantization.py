"""The meaning of `blockscale.quantize` and `blockscale.dequantize`, in numpy.

A block is B neighbours along the last dimension. It has one scale, and each value becomes the element
nearest to the value divided by the scale. There are two kinds of scales (formulas:
docs/Quantization.md):

    e8m0    a power of two, chosen by a rule from the largest magnitude of the block; division by
            it is exact, and an element is rounded once (OCP MX v1.0, section 6.3)
    ue4m3   the largest magnitude over 6, over the scale of the tensor, rounded to e4m3 (NVFP4);
            each operation is one of f32

Coarse scales (`scale_block`) are e8m0 or f32, and their blocks may have several rows:

    f32     the largest magnitude over the largest element, in f32; or, with a rule, the power of two
            that e8m0 would have

Results are exact to the bit: exponents come from the bits of values and not from logarithms, and f32
keeps its subnormals, as numpy does.
"""

from __future__ import annotations

from typing import Optional, Tuple, Union

import numpy as np

from . import bfloat16
from .arrays import expect_codes, expect_flag, expect_name, ml_name, require, type_name
from .block_formats import BLOCK_FORMATS, resolve
from .formats import decode, encode, get_format
from .packing import packed_hint
from .reference import ELEMENT_TYPES, LEGAL_TYPE_COMBINATIONS, SCALE_FORMATS
from .scale_blocks import (
    ALL, Block, Scales, count, expect_block, is_coarse, is_whole, legal_blocks, read_scales,
)

# The legal (element, scale, B): those of one operand of the 27 combinations, with B or, for sparse products, 2 B.
QUANTIZE_TYPE_COMBINATIONS = tuple(
    dict.fromkeys(
        (x, scale, times * block) for times in (1, 2) for x, y, scale, block in LEGAL_TYPE_COMBINATIONS if x == y
    )
)

_E8M0_BIAS = 127
_E8M0_LIMIT = 127  # exponents are -127 to 127
_SIGNIFICAND_BITS = 23  # of an f32, behind the leading one
_ONE = 1 << _SIGNIFICAND_BITS


class _Largest:
    """The largest value of an element format, as significand * 2^(exponent - 23)."""

    def __init__(self, element):
        row = get_format(element)
        fraction, exponent = np.frexp(row.formula(np.array(row.finite_count - 1)))
        self.value = float(np.ldexp(fraction, exponent))
        self.significand = int(np.ldexp(fraction, _SIGNIFICAND_BITS + 1))
        self.exponent = int(exponent) - 1
        self.mantissa_bits = row.mantissa_bits


def _floor(_, largest):
    return 0


def _ceil(significand, largest):
    return significand > _ONE


def _even(significand, largest):
    # Rounded to mantissa_bits behind the leading one, ties to even: it can only carry to 2.
    dropped = _SIGNIFICAND_BITS - largest.mantissa_bits
    odd = significand >> dropped & 1
    rounded = (significand + (1 << dropped - 1) - 1 + odd) >> dropped
    return rounded >> largest.mantissa_bits + 1


def _rceil(significand, largest):
    return significand > largest.significand


# The exponent of a scale is floor(log2 amax) - emax plus what the rule adds: a function of the
# significand of amax, an integer from 2^23 to 2^24 - 1, and of the largest value of the element type.
SCALE_RULES = {"floor": _floor, "ceil": _ceil, "even": _even, "rceil": _rceil}
DEFAULT_RULE = "rceil"


# Values in and out


def _round_f16(values):
    with np.errstate(over="ignore", under="ignore"):
        return values.astype(np.float16)


# name: (numpy type of an array, from that to f32, from f32 to that)
_VALUE_TYPES = {
    "f32": (np.dtype(np.float32), lambda x: x, lambda values: values),
    "f16": (np.dtype(np.float16), lambda x: x.astype(np.float32), _round_f16),
    "bf16": (np.dtype(np.uint16), bfloat16.widen, bfloat16.round_f32),
}


def to_f32(x, name):
    """`x`, an array of values of one of the types above, as float32.

    Raises TypeError, which names the argument, for everything else.
    """
    if isinstance(x, np.ndarray):
        if ml_name(x) == "bfloat16":
            x = x.view(np.uint16)
        for dtype, widen, _ in _VALUE_TYPES.values():
            if x.dtype == dtype:
                return widen(x)
    raise TypeError(
        f"{name}: expected an array of float32, float16, bfloat16 or uint16 (bits of bf16), "
        f"got {type_name(x)}"
    )


# Checks


def _check_types(element, scale, block_size):
    """(element, scale, block_size), where `element` may be a block format."""
    row = resolve(element, scale, block_size)
    legal = ", ".join(str(row) for row in QUANTIZE_TYPE_COMBINATIONS)
    require(
        row in QUANTIZE_TYPE_COMBINATIONS, "element, scale and block_size",
        f"one of {legal}, or as element alone one of {', '.join(BLOCK_FORMATS)}", tuple(row),
    )
    return row


def _check_shape(shape, name, block_size, pad):
    """The shape of the scales of `shape`."""
    require(len(shape) >= 1, f"{name} rank", "at least 1", len(shape))
    require(min(shape) >= 1, f"{name} shape", "sizes of at least 1", shape)
    size = shape[-1]
    require(
        pad or size % block_size == 0,
        f"last dimension of {name}", f"a multiple of {block_size}, or pad=True", size,
    )
    return (*shape[:-1], -(-size // block_size))


def _check_tensor_scale(tensor_scale):
    """The scale of the tensor as an f32, 1 if there is none."""
    if tensor_scale is None:
        return np.float32(1)
    if not isinstance(tensor_scale, (float, int, np.floating, np.integer)) or isinstance(tensor_scale, bool):
        raise TypeError(f"tensor_scale: expected a real number, got {type_name(tensor_scale)}")
    with np.errstate(over="ignore", under="ignore"):
        number = np.float32(tensor_scale)
    require(
        number > 0 and np.isfinite(number),
        "tensor_scale", "a positive, finite f32", tensor_scale,
    )
    return number


def _check_rule(rule, scale):
    expect_name(rule, "rule")
    if scale == "f8E4M3FN":
        require(rule is None, "rule", f"none with {scale}", repr(rule))
        return None
    if rule is None:
        return None if scale == "f32" else DEFAULT_RULE
    require(rule in SCALE_RULES, "rule", f"one of {', '.join(SCALE_RULES)}", repr(rule))
    return rule


# Scales. A scheme makes the scale codes from the largest magnitude of each block, a finite f32, and
# divides values by their scales, before they are rounded to the element type.


def _power_codes(amax, largest, rule, _):
    fraction, exponent = np.frexp(amax)  # exact, subnormals included; 0 gives 0
    significand = np.ldexp(fraction, _SIGNIFICAND_BITS + 1).astype(np.int64)
    power = exponent.astype(np.int64) - 1 - largest.exponent
    power += SCALE_RULES[rule](significand, largest)
    power = np.clip(power, -_E8M0_LIMIT, _E8M0_LIMIT)
    return np.where(amax == 0, 0, power + _E8M0_BIAS).astype(np.uint8)


def _over_powers(x, codes, _):
    """Exact in float64: an f32 times a power of two between 2^-127 and 2^127."""
    return np.ldexp(x.astype(np.float64), _E8M0_BIAS - codes.astype(np.int64))


def _ue4m3_codes(amax, largest, _, tensor_scale):
    with np.errstate(over="ignore", under="ignore"):
        return encode(amax / np.float32(largest.value) / tensor_scale, "ue4m3")


def _over_ue4m3(x, codes, tensor_scale):
    # scale * g is neither 0 nor infinity where the scale is not 0: it is between 0.6 and 2 times
    # fl(amax / 6), which is a multiple of 2^-149, or amax / 6 is far above both.
    scales = decode(codes, "ue4m3").astype(np.float32)
    zero = scales == 0
    with np.errstate(over="ignore", under="ignore"):
        divisors = np.where(zero, np.float32(1), scales * tensor_scale)
        return np.where(zero, np.copysign(np.float32(0), x), x / divisors)


_SCHEMES = {"f8E8M0FNU": (_power_codes, _over_powers), "ue4m3": (_ue4m3_codes, _over_ue4m3)}


def _f32_scales(amax, largest, rule):
    """1 where the scale would be 0: in a block of zeros, or of magnitudes that are too small for it."""
    if rule is not None:
        powers = decode(_power_codes(amax, largest, rule, None), "f8E8M0FNU").astype(np.float32)
        return np.where(amax == 0, np.float32(1), powers)
    with np.errstate(under="ignore"):
        scales = amax / np.float32(largest.value)
    return np.where(scales == 0, np.float32(1), scales)


def _over_f32(x, scales):
    with np.errstate(over="ignore", under="ignore"):
        return x / scales


# Coarse scales


def _check_coarse(shape, name, element, scale, block_size, block):
    """(element, scale, block) of coarse scales."""
    element, scale, block_size = resolve(element, scale, block_size)
    require(block_size is None, "block_size", "none with scale_block", block_size)
    require(len(shape) >= 2, f"{name} rank", "at least 2 with coarse scales", len(shape))
    require(min(shape) >= 1, f"{name} shape", "sizes of at least 1", shape)
    require(element in ELEMENT_TYPES, "element", f"one of {', '.join(ELEMENT_TYPES)}", repr(element))
    legal = legal_blocks(element, scale)
    require(legal, "scale", f"f32 or f8E8M0FNU for {element}", repr(scale))
    if block is not None:
        require(
            block in legal and not is_whole(block, scale), "scale_block",
            f"one of {[each for each in legal if not is_whole(each, scale)]} for {element} with {scale} scales", block,
        )
    return element, scale, block


def _quantize_coarse(values, element, scale, block, rule, amax):
    shape = values.shape[-2:]
    sizes = [size if each == ALL else each for size, each in zip(shape, block)]
    counts = [count(size, each) for size, each in zip(shape, block)]
    padding = [(0, 0)] * (values.ndim - 2) + [(0, n * each - size) for n, each, size in zip(counts, sizes, shape)]
    blocks = np.pad(values, padding).reshape(*values.shape[:-2], counts[0], sizes[0], counts[1], sizes[1])
    magnitudes = np.abs(blocks).max(axis=(-3, -1))  # NaN if the block has one
    bad = ~np.isfinite(magnitudes)

    largest, amaxes = _Largest(element), np.where(bad, np.float32(0), magnitudes)
    if scale == "f32":
        scales = _f32_scales(amaxes, largest, rule)
    else:
        scales = _power_codes(amaxes, largest, rule, None)
    spread = Scales(np.arange(scales.size).reshape(scales.shape), block).spread(values.shape, -2, -1)
    of_element = scales.ravel()[spread]
    numbers = np.where(bad.ravel()[spread], np.float32(0), values)
    quotients = _over_f32(numbers, of_element) if scale == "f32" else _over_powers(numbers, of_element, None)
    codes = np.where(bad.ravel()[spread], np.uint8(0), encode(quotients, element))
    scales[bad] = np.nan if scale == "f32" else get_format(scale).nan
    return (codes, scales, magnitudes.max()) if amax else (codes, scales)


def quantize(
    x: np.ndarray,
    element: str,
    scale: Optional[str] = None,
    block_size: Optional[int] = None,
    rule: Optional[str] = None,
    tensor_scale: Optional[float] = None,
    amax: bool = False,
    pad: bool = False,
    scale_block: Optional[Block] = None,
) -> Union[Tuple[np.ndarray, np.ndarray], Tuple[np.ndarray, np.ndarray, np.float32]]:
    """Quantizes x: (codes, scales), or (codes, scales, amax) with `amax=True`.

    x             float32, float16, bfloat16 of ml_dtypes, or uint16 (the bits of bf16), of shape
                  (..., K)
    element       a block format, one of BLOCK_FORMATS such as "mxfp8"; or the element type, MLIR's
                  name such as "f8E4M3FN", and then
    scale         "f8E8M0FNU", or "f8E4M3FN" (read as ue4m3)
    block_size    B; element, scale and B must be one of QUANTIZE_TYPE_COMBINATIONS
    rule          for e8m0 scales: "floor", "ceil", "even" or "rceil" (the default)
    tensor_scale  for ue4m3 scales: g, rounded to f32; 1 by default
    amax          also return the largest magnitude of x, a float32 scalar: NaN if x has one, else
                  infinity if x has one
    pad           allow any K: the last block of a row may be short, as if zeros followed
    scale_block   coarse scales in place of block_size: (rows, k) with rows of 1, 128 or "all", and k of
                  32, 64, 128 or "all"; with scale "f32" also 16. rows counts along the dimension before
                  the last one. Last blocks may be partial, without `pad`

    codes, the quantized elements, is uint8 of shape (..., K), scales uint8 of shape (..., ceil(K / B));
    coarse scales have the shape (..., ceil(R / rows), ceil(K / k)), and are float32 for "f32". Scales are
    factors. For every block, with its largest magnitude a, and max = m * 2^emax the largest
    value of the element type:

      * e8m0 scales are 2^e, e between -127 and 127. floor: floor(log2 a) - emax (OCP MX v1.0,
        section 6.3). ceil: ceil(log2 a) - emax. even: floor, of a rounded to nearest even at the
        mantissa bits of the element type. rceil: the smallest e with a <= max * 2^e. An element is
        x * 2^-e, exact, then rounded.
      * ue4m3 scales are e4m3(fl(fl(a / 6) / g)), an element is fl(x / fl(scale * g)), then
        rounded; fl is one operation of f32. With scale 0, elements are 0 with the sign of x.
      * f32 scales are fl(a / max), or 1 where that is 0; there is no epsilon. With a rule they are 2^e of
        it, and 1 for a block of zeros. An element is fl(x / scale), then rounded.
      * Elements are rounded to nearest even, saturate at max, and keep the sign of zero.
      * a block of zeros has scale 0x00, a block with NaN or infinity has scale NaN (0xFF, 0x7F for
        ue4m3) and elements 0x00. (Of f32 scales, a block of zeros has 1.)

    >>> import numpy as np
    >>> x = np.zeros((1, 32), np.float32)
    >>> x[0, :4] = [1000, -3, 0.3, 450]
    >>> codes, scales = quantize(x, "mxfp8")
    >>> scales  # 2^2, because 448 * 2 < 1000 <= 448 * 4
    array([[129]], dtype=uint8)
    >>> dequantize(codes, scales, "mxfp8")[0, :4]
    array([ 1.024e+03, -3.000e+00,  3.125e-01,  4.480e+02], dtype=float32)

    Raises TypeError for arrays of another type, ValueError for illegal types, sizes, rules and tensor
    scales; both name what was expected and what was given.
    """
    amax, pad = expect_flag(amax, "amax"), expect_flag(pad, "pad")
    scale_block = expect_block(scale_block, "scale_block")
    if scale_block is not None or scale == "f32":
        values = to_f32(x, "x")
        element, scale, block = _check_coarse(values.shape, "x", element, scale, block_size, scale_block)
        require(block is not None, "scale_block", "a block with scales of f32", None)
        require(not pad, "pad", "False with scale_block", pad)
        require(tensor_scale is None, "tensor_scale", "none with scale_block", tensor_scale)
        return _quantize_coarse(values, element, scale, block, _check_rule(rule, scale), amax)
    element, scale, block_size = _check_types(element, scale, block_size)
    rule = _check_rule(rule, scale)
    if SCALE_FORMATS[scale] != "ue4m3":
        require(tensor_scale is None, "tensor_scale", f"none with {scale}", tensor_scale)
    tensor_scale = _check_tensor_scale(tensor_scale)
    values = to_f32(x, "x")
    scale_shape = _check_shape(values.shape, "x", block_size, pad)

    size = values.shape[-1]
    padding = [(0, 0)] * (values.ndim - 1) + [(0, scale_shape[-1] * block_size - size)]
    blocks = np.pad(values, padding).reshape(*scale_shape, block_size)
    magnitudes = np.abs(blocks).max(axis=-1)  # NaN if the block has one
    bad = ~np.isfinite(magnitudes)

    format = SCALE_FORMATS[scale]
    to_codes, divide = _SCHEMES[format]
    amaxes = np.where(bad, np.float32(0), magnitudes)
    scales = to_codes(amaxes, _Largest(element), rule, tensor_scale)
    blocks = np.where(bad[..., None], np.float32(0), blocks)
    codes = encode(divide(blocks, scales[..., None], tensor_scale), element)
    scales[bad] = get_format(format).nan

    codes = np.ascontiguousarray(codes.reshape(*scale_shape[:-1], -1)[..., :size])
    return (codes, scales, magnitudes.max()) if amax else (codes, scales)


def dequantize(
    codes: np.ndarray,
    scales: np.ndarray,
    element: str,
    scale: Optional[str] = None,
    block_size: Optional[int] = None,
    tensor_scale: Optional[float] = None,
    dtype: str = "f32",
    scale_block: Optional[Block] = None,
) -> np.ndarray:
    """Dequantizes: fl(fl(element * scale) * g), of shape (..., K).

    codes   quantized elements: uint8, or the type of ml_dtypes, of shape (..., K)
    scales  uint8, or the type of ml_dtypes, of shape (..., ceil(K / B)), row-major; coarse scales, which
            may be float32, of shape (..., ceil(R / rows), ceil(K / k))
    dtype   "f32", "f16" or "bf16": the result is float32, float16 or uint16 (the bits of bf16)
    scale_block  (rows, k) of coarse scales; float32 scales have one anyway, which may be left out if
            exactly one fits the shapes

    The other arguments are those of `quantize`; here `tensor_scale` may be used with scales of either
    type, and the last block of a row may be short. fl rounds to f32, to nearest even, and keeps
    subnormals; without `tensor_scale` there is one such rounding. f16 and bf16 are rounded from f32.
    Overflow gives infinity; a NaN element or scale gives NaN.

    >>> import numpy as np
    >>> codes, scales = np.full((1, 16), 7, np.uint8), np.array([[0x38]], np.uint8)
    >>> dequantize(codes, scales, "f4E2M1FN", "f8E4M3FN", 16, tensor_scale=0.5)[0, :2]
    array([3., 3.], dtype=float32)

    Raises TypeError for arrays of another type, ValueError for illegal types, shapes, codes and tensor
    scales; both name what was expected and what was given.
    """
    scale_block = expect_block(scale_block, "scale_block")
    if scale == "f32" or is_coarse(scales, scale_block):
        return _dequantize_coarse(codes, scales, element, scale, block_size, tensor_scale, dtype, scale_block)
    element, scale, block_size = _check_types(element, scale, block_size)
    require(expect_name(dtype, "dtype") in _VALUE_TYPES, "dtype", f"one of {', '.join(_VALUE_TYPES)}", repr(dtype))
    number = _check_tensor_scale(tensor_scale)
    codes = expect_codes(codes, "codes", element)
    scales = expect_codes(scales, "scales", SCALE_FORMATS[scale])
    scale_shape = _check_shape(codes.shape, "codes", block_size, pad=True)
    wanted = scales.shape[-1] * block_size if scales.ndim else 0
    hint = packed_hint("codes", element, codes.shape[-1], wanted)
    require(scales.shape == scale_shape, "scales shape", f"{scale_shape}{hint}", scales.shape)

    factors = np.repeat(decode(scales, SCALE_FORMATS[scale], "scales"), block_size, axis=-1)
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        # The product is exact in float64, so this rounds once.
        values = (decode(codes, element) * factors[..., : codes.shape[-1]]).astype(np.float32)
        if tensor_scale is not None:
            values = values * number
    return _VALUE_TYPES[dtype][2](values)


def _dequantize_coarse(codes, scales, element, scale, block_size, tensor_scale, dtype, block):
    require(expect_name(dtype, "dtype") in _VALUE_TYPES, "dtype", f"one of {', '.join(_VALUE_TYPES)}", repr(dtype))
    is_f32 = isinstance(scales, np.ndarray) and scales.dtype == np.float32
    scale = "f32" if scale is None and is_f32 else scale
    require(is_f32 == (scale == "f32"), "scale", "'f32' for float32 scales and only for them", repr(scale))
    number = _check_tensor_scale(tensor_scale)
    element, scale, block = _check_coarse(np.shape(codes), "codes", element, scale, block_size, block)
    codes = expect_codes(codes, "codes", element)
    names = ("scales", "scale_block")
    factors = read_scales(scales, codes.shape, -2, -1, element, scale, block, names).spread(codes.shape, -2, -1)
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        # The product is exact in float64, so this rounds once.
        values = (decode(codes, element) * factors).astype(np.float32)
        if tensor_scale is not None:
            values = values * number
    return _VALUE_TYPES[dtype][2](values)
