"""Block-scaled matrix multiply in numpy: formats, quantisation, layouts, reference results.

Quantized elements are passed as uint8 arrays of codes (bit patterns), one element per byte, as in the
.npy files of `blockscale-run`. Formats, layouts and results follow the public specifications (OCP MX
v1.0, PTX ISA) and share no code with the compiler, so that the two can be compared. `compile` and its
kernels call the compiler's programs, if they are installed.

A product of ones over K = 64 with all scales 2 is 64 * 2 * 2:

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

Names are imported when they are first used, so that parts that need no numpy do not import it.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from ._version import __version__

if TYPE_CHECKING:  # what tools see; the same names as in _MODULES
    from .arrays import as_ml_dtypes
    from .bfloat16 import from_bf16, to_bf16
    from .block_formats import BLOCK_FORMATS, BlockFormat
    from .bundles import compile_bundle
    from .compilation import compile
    from .diagnostics import CompileError, Diagnostic, RunError
    from .formats import FORMATS, Format, decode, encode
    from .grouped import combine_rows, grouped_mma_scaled
    from .kernel import Kernel
    from .packing import pack, unpack
    from .programs import ProgramNotFoundError
    from .quantization import QUANTIZE_TYPE_COMBINATIONS, SCALE_RULES, dequantize, quantize
    from .rebasing import REBASE_BLOCK_SIZES, REBASED_TYPES, rebase
    from .reference import (
        ELEMENT_TYPES,
        LEGAL_TYPE_COMBINATIONS,
        OVERFLOW_LIMIT,
        SCALE_FORMATS,
        compare,
        error_bound,
        mma_scaled,
    )
    from .routing import route, sort_routes
    from .scale_blocks import SCALE_BLOCK_KS, SCALE_BLOCK_ROWS, SCALE_BLOCKS
    from .scales import swizzle_group_scales, swizzle_scales, unswizzle_scales
    from .sparse_metadata import GRANULARITIES, compress_bitmask, tile_metadata, untile_metadata
    from .sparse_reference import SPARSE_TYPE_COMBINATIONS, sparse_mma_scaled
    from .sparsity import compress, decompress, sparsify

__all__ = [
    "BLOCK_FORMATS",
    "BlockFormat",
    "CompileError",
    "Diagnostic",
    "ELEMENT_TYPES",
    "FORMATS",
    "Format",
    "GRANULARITIES",
    "Kernel",
    "LEGAL_TYPE_COMBINATIONS",
    "OVERFLOW_LIMIT",
    "ProgramNotFoundError",
    "QUANTIZE_TYPE_COMBINATIONS",
    "REBASED_TYPES",
    "REBASE_BLOCK_SIZES",
    "RunError",
    "SCALE_BLOCKS",
    "SCALE_BLOCK_KS",
    "SCALE_BLOCK_ROWS",
    "SCALE_FORMATS",
    "SCALE_RULES",
    "SPARSE_TYPE_COMBINATIONS",
    "__version__",
    "as_ml_dtypes",
    "combine_rows",
    "compare",
    "compile",
    "compile_bundle",
    "compress",
    "compress_bitmask",
    "decode",
    "decompress",
    "dequantize",
    "encode",
    "error_bound",
    "from_bf16",
    "grouped_mma_scaled",
    "mma_scaled",
    "pack",
    "quantize",
    "rebase",
    "route",
    "sort_routes",
    "sparse_mma_scaled",
    "sparsify",
    "swizzle_group_scales",
    "swizzle_scales",
    "tile_metadata",
    "to_bf16",
    "unpack",
    "unswizzle_scales",
    "untile_metadata",
]

# The names of each module; none for a package that is used as blockscale.PACKAGE.
_MODULES = {
    "arrays": ("as_ml_dtypes",),
    "bfloat16": ("from_bf16", "to_bf16"),
    "block_formats": ("BLOCK_FORMATS", "BlockFormat"),
    "bundles": ("compile_bundle",),
    "cache": (),
    "compilation": ("compile",),
    "dialects": (),
    "diagnostics": ("CompileError", "Diagnostic", "RunError"),
    "formats": ("FORMATS", "Format", "decode", "encode"),
    "gpu_code": (),
    "grouped": ("combine_rows", "grouped_mma_scaled"),
    "ir": (),
    "kernel": ("Kernel",),
    "layouts": (),
    "packing": ("pack", "unpack"),
    "passmanager": (),
    "programs": ("ProgramNotFoundError",),
    "quantization": ("QUANTIZE_TYPE_COMBINATIONS", "SCALE_RULES", "dequantize", "quantize"),
    "rebasing": ("REBASE_BLOCK_SIZES", "REBASED_TYPES", "rebase"),
    "reference": (
        "ELEMENT_TYPES", "LEGAL_TYPE_COMBINATIONS", "OVERFLOW_LIMIT", "SCALE_FORMATS", "compare", "error_bound",
        "mma_scaled",
    ),
    "routing": ("route", "sort_routes"),
    "runtime": (),
    "scale_blocks": ("SCALE_BLOCK_KS", "SCALE_BLOCK_ROWS", "SCALE_BLOCKS"),
    "scales": ("swizzle_group_scales", "swizzle_scales", "unswizzle_scales"),
    "sparse_metadata": ("GRANULARITIES", "compress_bitmask", "tile_metadata", "untile_metadata"),
    "sparse_reference": ("SPARSE_TYPE_COMBINATIONS", "sparse_mma_scaled"),
    "sparsity": ("compress", "decompress", "sparsify"),
    "torch": (),
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name):
    if name in _MODULES:
        try:
            return import_module(f".{name}", __name__)
        except ImportError as error:  # so that who looks at all names, as help() does, leaves this one out
            raise AttributeError(f"module {__name__!r}: cannot import {name!r}: {error}") from error
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f".{_MODULE_OF[name]}", __name__), name)
    globals()[name] = value  # this function is not asked again
    return value


def __dir__():
    return sorted({*globals(), *_MODULES, *_MODULE_OF})
