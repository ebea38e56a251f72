"""Launches functions that blockscale-compile has put into a bundle, through the CUDA driver.

    blockscale-compile gemm.mlir --target=sm_90a,sm_120a --bundle=gemm.bundle

    bundle = blockscale.runtime.load("gemm.bundle")
    result = bundle["gemm"](x, x_scale, y, y_scale, acc)

Needs neither a compiler nor LLVM nor CUDA's toolkit: `libcuda.so.1` is opened at the first call. numpy and torch
are used where arguments are theirs, and not imported before. docs/Runtime.md has the rest.
"""

from .bundle import Bundle, load
from .errors import (
    ArgumentError,
    BlockscaleError,
    BundleError,
    CaptureError,
    DriverError,
    ImageError,
    MissingFunctionError,
)
from .kernel import Kernel

__all__ = [
    "ArgumentError",
    "BlockscaleError",
    "Bundle",
    "BundleError",
    "CaptureError",
    "DriverError",
    "ImageError",
    "Kernel",
    "MissingFunctionError",
    "load",
]
