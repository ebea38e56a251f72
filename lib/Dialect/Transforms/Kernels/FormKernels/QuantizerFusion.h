//===- QuantizerFusion.h - Products that quantise results -------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_FORMKERNELS_QUANTIZERFUSION_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_FORMKERNELS_QUANTIZERFUSION_H

#include "Kernels/Gemm/Frontend/QuantizedResults.h"
#include "Kernels/Gemm/GemmKernel.h"
#include "Kernels/Gemm/Problem/HostProblem.h"

namespace mlir::blockscale {

/// The `quantize` of `result`, what the kernels of `gemm` make of `op`, if
/// they can quantise it themselves: blocks are whole in their accumulators, and
/// so are atoms of scales in their tiles, or scales stay rows.
std::optional<QuantizedResults> findFusedQuantizer(ProductOpInterface op,
                                                   Value result,
                                                   const KernelProblem &problem,
                                                   const GemmKernel &gemm);

/// Has the kernel of `host` quantise its result, which is its last parameter by
/// now.
void addQuantizer(HostProblem &host, QuantizedResults &results);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_FORMKERNELS_QUANTIZERFUSION_H
