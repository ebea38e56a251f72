//===- TensorMapCopies.h - Copies for tensor maps ---------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// TMA reads an operand through a tensor map, which describes whole matrices
// with one contiguous dimension and strides of whole 16 bytes. An operand in
// any other layout is copied first.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_FRONTEND_TENSORMAPCOPIES_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_FRONTEND_TENSORMAPCOPIES_H

#include "Kernels/Gemm/Problem/KernelProblem.h"
#include "Utils/PackedElements.h"

namespace mlir::blockscale {

/// Why no tensor map can describe `view` of an operand of `rank` whose matrices
/// are at `map`; empty if one can.
std::string findTensorMapObstacle(const StoredView &view, unsigned rank,
                                  AffineMap map);

/// A copy of `operand`, whose rows are dimension `rowDim`: columns are
/// contiguous, and rows are padded with zeros as tensor maps need them.
StoredView copyForTensorMap(OpBuilder &builder, Location loc, Value operand,
                            unsigned rowDim);

/// Sets the multiples of `operand`, which a tensor map can describe, to those
/// of the padded rows of `tensor`, which holds it.
void setRowMultiple(KernelOperand &operand, Value tensor);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_FRONTEND_TENSORMAPCOPIES_H
