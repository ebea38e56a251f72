//===- QuantizerFusion.h - Epilogues that quantize the result ---*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Whether the epilogue of a GEMM can quantize its result, and what the kernel
// needs for that.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_FORMKERNELS_QUANTIZERFUSION_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_FORMKERNELS_QUANTIZERFUSION_H

#include "Kernels/Gemm/Frontend/QuantizedResults.h"
#include "Kernels/Gemm/GemmKernel.h"
#include "Kernels/Gemm/Problem/HostProblem.h"

namespace mlir::blockscale {

/// The `quantize` of `result`, which the kernels of `gemm` compute for `op`, if
/// their epilogue can do it: accumulators hold whole scale blocks, and tiles
/// hold whole atoms of scales or scales stay row-major.
std::optional<QuantizedResults> findFusedQuantizer(ProductOpInterface op,
                                                   Value result,
                                                   const KernelProblem &problem,
                                                   const GemmKernel &gemm);

/// Makes the epilogue of the kernel of `host` quantize its result, which is the
/// last parameter by now.
void addQuantizer(HostProblem &host, QuantizedResults &results);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_FORMKERNELS_QUANTIZERFUSION_H
