"""What `quantize` and `dequantize` give, in exact rationals, and blocks that are hard for both.

For the tests of the Python package and of compiled kernels. Shares no code with either: one number
after the other, `fractions.Fraction` throughout, the nearest code found by its distance among all
codes of the format.

Values are Python floats, codes are ints, and bf16 is a float that bf16 can hold.
"""

import math
from fractions import Fraction
from functools import lru_cache

import numpy as np

# Exponent bits, mantissa bits, bias, number of finite magnitudes; OCP MX v1.0, section 5.3.
ELEMENTS = {
    "f8E4M3FN": (4, 3, 7, 127),
    "f8E5M2": (5, 2, 15, 124),
    "f6E3M2FN": (3, 2, 3, 32),
    "f6E2M3FN": (2, 3, 1, 32),
    "f4E2M1FN": (2, 1, 1, 8),
}
# The largest value and its exponent, as the rules give them.
LARGEST = {
    "f8E4M3FN": (448, 8), "f8E5M2": (57344, 15), "f6E3M2FN": (28, 4), "f6E2M3FN": (7.5, 2),
    "f4E2M1FN": (6, 2),
}
# Of dense products, then those with twice their blocks, for sparse ones.
COMBINATIONS = [(element, "f8E8M0FNU", 32) for element in ELEMENTS] + [
    ("f4E2M1FN", "f8E8M0FNU", 16), ("f4E2M1FN", "f8E4M3FN", 16),
] + [(element, "f8E8M0FNU", 64) for element in ELEMENTS] + [("f4E2M1FN", "f8E4M3FN", 32)]
RULES = ("floor", "ceil", "even", "rceil")
NAN_CODES = {"f8E8M0FNU": 0xFF, "f8E4M3FN": 0x7F}

# Of IEEE's kind: bits of the significand, exponent of the smallest subnormal, first power beyond.
VALUE_TYPES = {"f32": (24, -149, 128), "f16": (11, -24, 16), "bf16": (8, -133, 128)}


@lru_cache(maxsize=None)
def magnitudes(element):
    """The finite values >= 0 of an element type, by code."""
    _, mantissa_bits, bias, count = ELEMENTS[element]
    values = []
    for code in range(count):
        exponent, fraction = divmod(code, 2**mantissa_bits)
        whole = Fraction(fraction, 2**mantissa_bits) + (exponent > 0)
        values.append(whole * Fraction(2) ** (max(exponent, 1) - bias))
    return values


@lru_cache(maxsize=None)
def _integer_magnitudes(element):
    values = magnitudes(element)
    unit = max(value.denominator for value in values)
    return unit, [int(value * unit) for value in values]


@lru_cache(maxsize=None)
def _nearest_magnitude(value, element):
    """The code nearest to a Fraction or float >= 0: the even one of two, the largest one beyond all."""
    unit, codes = _integer_magnitudes(element)
    numerator, divisor = value.as_integer_ratio()
    wanted = numerator * unit
    return min(
        range(len(codes)), key=lambda code: (abs(wanted - codes[code] * divisor), code % 2)
    )


def nearest_code(value, negative, element):
    """The code of `value`, a Fraction or a float but NaN, whose sign is `negative` if it is zero."""
    exponent_bits, mantissa_bits, _, count = ELEMENTS[element]
    code = count - 1 if math.isinf(value) else _nearest_magnitude(abs(value), element)
    return code | negative << (exponent_bits + mantissa_bits)


def floor_log2(value):
    """floor(log2 value) of a positive Fraction."""
    guess = value.numerator.bit_length() - value.denominator.bit_length()
    return guess if Fraction(2) ** guess <= value else guess - 1


def round_to(value, value_type="f32"):
    """`value`, a Fraction, rounded to nearest even: a Fraction, or an infinity."""
    bits, smallest, beyond = VALUE_TYPES[value_type]
    if value == 0 or math.isinf(value):
        return value
    unit = Fraction(2) ** max(floor_log2(abs(value)) - bits + 1, smallest)
    rounded = round(value / unit) * unit  # Fraction rounds halves to even
    return rounded if abs(rounded) < 2**beyond else math.copysign(math.inf, value)


@lru_cache(maxsize=None)
def scale_exponent(amax, element, rule):
    """e of the scale 2^e of a block whose largest magnitude is `amax`, a positive Fraction."""
    largest, largest_exponent = LARGEST[element]
    mantissa_bits = ELEMENTS[element][1]
    if rule == "rceil":
        e = floor_log2(amax / Fraction(largest)) - 1
        while amax > Fraction(largest) * Fraction(2) ** e:
            e += 1
    elif rule == "ceil":
        e = floor_log2(amax) + (amax != Fraction(2) ** floor_log2(amax)) - largest_exponent
    else:
        if rule == "even":
            unit = Fraction(2) ** (floor_log2(amax) - mantissa_bits)
            amax = round(amax / unit) * unit
        e = floor_log2(amax) - largest_exponent
    return max(-127, min(127, e))


def _block_of_powers(block, element, rule):
    amax = Fraction(max(map(abs, block)))
    e = scale_exponent(amax, element, rule) if amax else -127
    return [math.ldexp(number, -e) for number in block], e + 127  # exact: 2^-149 / 2^127 is a normal double


def _quotient(value, divisor):
    """fl(value / divisor) of Fractions with a divisor that is not 0, or of an infinite value."""
    return round_to(value / divisor) if not math.isinf(value) else value


def _block_of_ue4m3(block, tensor_scale):
    values = [Fraction(number) for number in block]
    amax = max(map(abs, values))
    wanted = _quotient(round_to(amax / 6), tensor_scale)
    code = nearest_code(wanted, False, "f8E4M3FN")
    if code == 0:
        return [Fraction(0)] * len(values), code
    divisor = round_to(magnitudes("f8E4M3FN")[code] * tensor_scale)
    return [_quotient(value, divisor) for value in values], code


def quantize_block(block, element, scale, rule=None, tensor_scale=None):
    """(codes, scale code) of one block, a list of floats."""
    if not all(map(math.isfinite, block)):
        return [0] * len(block), NAN_CODES[scale]
    if scale == "f8E8M0FNU":
        quotients, code = _block_of_powers(block, element, rule or "rceil")
    else:
        g = Fraction(1 if tensor_scale is None else float(tensor_scale))
        quotients, code = _block_of_ue4m3(block, g)
    signs = [math.copysign(1, number) < 0 for number in block]
    return [nearest_code(q, s, element) for q, s in zip(quotients, signs)], code


def quantize(x, element, scale, block, rule=None, tensor_scale=None):
    """(codes, scales) of a row x of floats, lists of ints; the last block may be short.

    `rule` is for e8m0 (None: rceil), `tensor_scale` for ue4m3 (None: 1).
    """
    codes, scales = [], []
    for start in range(0, len(x), block):
        part = [float(number) for number in x[start : start + block]]
        block_codes, code = quantize_block(part, element, scale, rule, tensor_scale)
        codes += block_codes
        scales.append(code)
    return codes, scales


def largest_magnitude(x):
    """The largest magnitude of a row of floats, NaN if one is."""
    return math.nan if any(map(math.isnan, x)) else max(map(abs, x))


def _element_value(code, element):
    """A Fraction, or a float for what none can say: NaN, infinities and -0."""
    exponent_bits, mantissa_bits, _, count = ELEMENTS[element]
    sign, magnitude = divmod(code, 2 ** (exponent_bits + mantissa_bits))
    if magnitude >= count:  # f8E5M2 has an infinity before its NaNs, f8E4M3FN one NaN
        is_infinity = element == "f8E5M2" and magnitude == count
        return (math.inf if is_infinity else math.nan) * (-1) ** sign
    return magnitudes(element)[magnitude] * (-1) ** sign


def _scale_value(code, scale):
    if scale == "f8E8M0FNU":
        return math.nan if code == 0xFF else Fraction(2) ** (code - 127)
    return _element_value(code & 0x7F, "f8E4M3FN")


def _product(x, y, negative):
    """fl(x * y) of Fractions or floats; `negative` is the sign of an x that is zero."""
    if math.isnan(x) or math.isnan(y) or {0, math.inf} == {abs(x), abs(y)}:
        return math.nan
    if math.isinf(x) or math.isinf(y):
        return -math.inf if negative else math.inf
    return round_to(x * y)


def dequantize(codes, scales, element, scale, block, tensor_scale=None, dtype="f32"):
    """The dequantized values of a row: floats that `dtype` can hold, with the signs of zeros."""
    values = []
    for i, code in enumerate(codes):
        negative = code >> sum(ELEMENTS[element][:2]) == 1
        factor = _scale_value(scales[i // block], scale)
        value = _product(_element_value(code, element), factor, negative)
        if tensor_scale is not None:
            value = _product(value, Fraction(float(tensor_scale)), negative)
        value = value if math.isnan(value) else round_to(value, dtype)
        values.append(math.copysign(abs(float(value)), -1 if negative else 1))
    return values


# Hard blocks


@lru_cache(maxsize=None)
def _largest(value_type):
    bits, _, beyond = VALUE_TYPES[value_type]
    return float((2 - Fraction(2) ** (1 - bits)) * 2 ** (beyond - 1))


def _unit(number, value_type):
    """What the last bit of a float is worth in the type."""
    bits, smallest, _ = VALUE_TYPES[value_type]
    return 2.0 ** max(math.frexp(number)[1] - bits, smallest)


def representable(values, value_type):
    """Values rounded to floats of the type; beyond it, its largest one."""
    largest, result = _largest(value_type), []
    for number in map(float, values):
        unit = _unit(number, value_type)  # a power of two: this is exact but for `round`
        result.append(max(-largest, min(largest, round(number / unit) * unit)))
    return result


def _step(number, value_type, up):
    """The next value of the type, of larger magnitude or smaller; it ends at the largest and 0."""
    unit = _unit(number, value_type)
    # Below a power of two, values lie closer.
    if not up and math.frexp(abs(number))[0] == 0.5:
        unit = max(unit / 2, 2.0 ** VALUE_TYPES[value_type][1])
    moved = abs(number) + (unit if up else -unit)
    return math.copysign(max(0.0, min(moved, _largest(value_type))), number)


def _with_neighbours(values, value_type):
    """Each value as the type has it, one step above and one below."""
    result = []
    for number in representable(values, value_type):
        result += [number, _step(number, value_type, True), _step(number, value_type, False)]
    return result


@lru_cache(maxsize=None)
def _probes(element):
    """Values of the element type, and what lies halfway between two of them."""
    values = magnitudes(element)
    return sorted([*values, *((a + b) / 2 for a, b in zip(values, values[1:]))])


def _anchor(element, scale, rule):
    """A largest magnitude of a block that gives it the scale 1 and with which no element saturates."""
    largest, exponent = LARGEST[element]
    return 2**exponent if scale == "f8E8M0FNU" and rule == "ceil" else largest


def _thresholds(element, rule):
    """Largest magnitudes at which some rule changes its mind, for a scale near 1."""
    largest, exponent = LARGEST[element]
    carry = (2 - Fraction(1, 2 ** (ELEMENTS[element][1] + 1))) * 2**exponent
    halfway = (1 + Fraction(1, 2 ** (ELEMENTS[element][1] + 1))) * 2**exponent
    return [Fraction(largest), Fraction(2) ** exponent, carry, halfway]


def _exponents(element, value_type):
    """Exponents e of scales that the type's values reach, from the clamped ones upwards."""
    _, smallest, beyond = VALUE_TYPES[value_type]
    exponent = LARGEST[element][1]
    return list(range(max(smallest - exponent, -127 - 3), beyond - exponent))


class _Blocks:
    """Blocks under construction: each has one number in a lane that moves from block to block, so
    that every lane holds the largest magnitude now and then, and others around it."""

    def __init__(self, size, value_type):
        self.size, self.value_type = size, value_type
        self.rows = []

    def add(self, first, others):
        others = list(others)[: self.size - 1]
        row = others + [0.0] * (self.size - 1 - len(others))
        row.insert(len(self.rows) * 5 % self.size, first)
        self.rows.append(row)

    def around(self, first, values):
        """One block: `first`, and values of the type that are not larger, with changing signs."""
        first = representable([first], self.value_type)[0]
        others = representable(values, self.value_type)
        signs = (-1 if (len(self.rows) + i) % 2 else 1 for i in range(len(others)))
        self.add(first, [min(abs(v), abs(first)) * s for v, s in zip(others, signs)])


def _scale_blocks(blocks, element, scale, rule, value_type, tensor_scale):
    """All element values and the midpoints between them, and their neighbours, times all scales."""
    if scale == "f8E8M0FNU":
        factors = [Fraction(2) ** e for e in _exponents(element, value_type)]
    else:
        grid = _probes("f8E4M3FN")[1:]
        factors = [value * Fraction(float(tensor_scale or 1)) for value in grid]
    anchor = Fraction(_anchor(element, scale, rule))
    probes = [probe for probe in _probes(element) if probe <= anchor]
    per_block, at = max((blocks.size - 1) // 3, 1), 0
    laps = -(-2 * len(probes) // (per_block * len(factors)))
    for factor in factors * laps:
        chosen = [probes[(at + i) % len(probes)] * factor for i in range(per_block)]
        at += per_block
        others = _with_neighbours(chosen, value_type)
        blocks.around(anchor * factor, others)
        if scale == "f8E4M3FN":  # the largest magnitude beside the code or half, too
            for first in _with_neighbours([anchor * factor], value_type)[1:]:
                blocks.around(first, others)


def _threshold_blocks(blocks, element, rule, value_type):
    """Largest magnitudes where rules change, and beside them, at both ends and in the middle."""
    exponents = _exponents(element, value_type)
    middle = len(exponents) // 2
    for e in [*exponents[:6], *exponents[middle : middle + 2], *exponents[-4:]]:
        factor = Fraction(2) ** e
        probes = [probe * factor for probe in _probes(element)[-blocks.size :]]
        thresholds = [threshold * factor for threshold in _thresholds(element, rule)]
        for first in _with_neighbours(thresholds, value_type):
            blocks.around(first, probes)


def _special_blocks(blocks, value_type):
    """Zeros, NaN, infinities, subnormals, and the ends of the type."""
    bits, smallest, _ = VALUE_TYPES[value_type]
    tiny = 2.0**smallest
    normal = 2.0 ** (smallest + bits - 1)
    largest = _largest(value_type)
    inf, nan = math.inf, math.nan

    for zeros in ([0.0], [-0.0], [0.0, -0.0]):
        blocks.add(zeros[-1], zeros * blocks.size)
    for special in ([nan], [-nan], [inf], [-inf], [nan, inf], [-inf, -nan], [inf, -inf]):
        for others in ([0.0, -0.0], [1.0, -2.5, largest], [tiny, -tiny], [-largest]):
            blocks.add(special[0], (special[1:] + others * blocks.size))
        blocks.add(special[0], special * blocks.size)
    for amax in (tiny, 2 * tiny, 3 * tiny, normal / 2, normal - tiny, normal, 2 * normal):
        steps = [tiny * i for i in (0, 1, 2, 3, 5, 7)] + [amax * i / 16 for i in range(1, 16)]
        for first in _with_neighbours([amax], value_type):
            blocks.around(first, [0.0, *steps])
            blocks.around(-first, [first] * blocks.size)
    # Subnormals around the smallest scale, whatever the type can say of them.
    for exponent in range(-149, -115, 3):
        if exponent >= smallest:
            blocks.around(1.75 * 2.0**exponent, [2.0**exponent * i / 16 for i in range(32)])
    for first in [largest, -largest, _step(largest, value_type, False)]:
        blocks.add(first, [-largest, largest / 2, tiny, -0.0, normal, 1.0] * blocks.size)
        blocks.add(first, [largest] * blocks.size)


def _random_blocks(blocks, value_type, tensor_scale, count=48):
    rng = np.random.default_rng(blocks.size)
    for i in range(count):
        values = rng.standard_normal(blocks.size) * 2.0 ** int(rng.integers(-12, 12))
        if i % 3 == 1:  # one number far above the others
            values[0] *= 1000
        if i % 3 == 2 and value_type != "f16":  # exponents from one end to the other
            values *= 2.0 ** rng.integers(-130, 110, blocks.size)
        values *= float(tensor_scale or 1)
        values = representable(values, value_type)
        blocks.add(values[0], values[1:])


def hard_blocks(element, scale, block, rule=None, input_type="f32", tensor_scale=None):
    """A float32 array of shape (blocks, block), of values that `input_type` can hold.

    Blocks hold all values of the element type and what is halfway between two, times all scales in
    turn, with their neighbours in `input_type`; largest magnitudes at which a rule or a ue4m3 scale
    changes, and their neighbours; zeros, NaN, infinities, subnormals, the ends of the type; random
    values. With `tensor_scale` the scales of ue4m3 are met with that one.
    """
    blocks = _Blocks(block, input_type)
    _scale_blocks(blocks, element, scale, rule or "rceil", input_type, tensor_scale)
    if scale == "f8E8M0FNU":
        _threshold_blocks(blocks, element, rule or "rceil", input_type)
    _special_blocks(blocks, input_type)
    _random_blocks(blocks, input_type, tensor_scale)
    rows = np.array(blocks.rows, np.float32)
    # Of large blocks there are few, so that some lane may never have had the largest magnitude.
    finite = rows[np.isfinite(rows).all(axis=1)]
    missing = sorted(set(range(block)) - set(np.abs(finite).argmax(axis=1).tolist()))
    more = np.ones((len(missing), block), np.float32)
    more[range(len(missing)), missing] = -1.5
    return np.concatenate([rows, more])
