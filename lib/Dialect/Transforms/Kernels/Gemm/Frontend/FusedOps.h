//===- FusedOps.h - Parameters of fused ops ---------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a kernel needs to know of the ops that it fuses.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_FRONTEND_FUSEDOPS_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_FRONTEND_FUSEDOPS_H

#include "Kernels/Gemm/Problem/HostProblem.h"

namespace mlir::blockscale {

/// `generic`, an elementwise op in front of a product or behind it, as the
/// kernel of `host` fuses it: the tensors and scalars that its body reads
/// become parameters, after checks of their sizes. `product` is the result of
/// the product, for an op behind it. Nullopt for null.
std::optional<FusedElementwise> fuseElementwise(OpBuilder &builder,
                                                Location loc, HostProblem &host,
                                                linalg::GenericOp generic,
                                                Value product);

/// `scalar`, which the kernel of `host` computes itself from new parameters.
FusedScalar fuseScalar(HostProblem &host, Value scalar);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_FRONTEND_FUSEDOPS_H
