"""Block-scaled matrix multiply in numpy: formats, quantisation, scale layout, reference results.

Values travel as uint8 codes, one element per byte, as in the .npy files of `blockscale-run`.
Everything here is written from the public specifications (OCP MX v1.0, PTX ISA), apart from the
compiler, so that the two can be compared.

Ones times ones over K = 64 with all scales 2 is 64 * 2 * 2:

>>> import numpy as np
>>> import blockscale
>>> x = blockscale.encode(np.ones((2, 64)), "f8E4M3FN")
>>> y = blockscale.encode(np.ones((64, 3)), "f4E2M1FN")
>>> x_scale = blockscale.encode(np.full((2, 2), 2.0), "f8E8M0FNU")
>>> y_scale = blockscale.encode(np.full((2, 3), 2.0), "f8E8M0FNU")
>>> acc = np.zeros((2, 3), np.float32)
>>> blockscale.mma_scaled(x, x_scale, y, y_scale, acc,
...                       x_type="f8E4M3FN", y_type="f4E2M1FN", scale_type="f8E8M0FNU")
array([[256., 256., 256.],
       [256., 256., 256.]], dtype=float32)
"""

import importlib

# Which module has which name: looked up at the first use, so that `blockscale.runtime` needs no numpy.
_MODULES = {
    "formats": ("FORMATS", "Format", "decode", "encode"),
    "quantization": ("QUANTIZE_ROWS", "SCALE_RULES", "dequantize", "quantize"),
    "reference": (
        "ELEMENT_TYPES", "LEGAL_ROWS", "OVERFLOW_LIMIT", "SCALE_FORMATS", "compare", "error_bound", "mma_scaled",
    ),
    "scales": ("swizzle_scales", "unswizzle_scales"),
}
_PLACES = {name: module for module, names in _MODULES.items() for name in names}

__all__ = sorted(_PLACES)


def __getattr__(name):
    if name in _MODULES or name == "runtime":
        return importlib.import_module(f".{name}", __name__)
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f".{_PLACES[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__():
    return sorted({*globals(), *__all__, *_MODULES, "runtime"})
