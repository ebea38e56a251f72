//===- TensorMapCopies.h - Operands for tensor maps -------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A tensor map describes whole matrices with one contiguous dimension, in rows
// of whole 16 bytes. Operands that are stored otherwise are copied first.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_FRONTEND_TENSORMAPCOPIES_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_FRONTEND_TENSORMAPCOPIES_H

#include "Kernels/Gemm/Problem/KernelProblem.h"
#include "Utils/PackedElements.h"

namespace mlir::blockscale {

/// Why tensor maps cannot be of what `view` shows of an operand of `rank`, the
/// matrices of which are at `map`; empty if they can.
std::string findTensorMapObstacle(const StoredView &view, unsigned rank,
                                  AffineMap map);

/// A copy of `operand`, whose rows are dimension `rowDim`: columns are
/// contiguous, and rows are padded with zeros as tensor maps need them.
StoredView copyForTensorMap(OpBuilder &builder, Location loc, Value operand,
                            unsigned rowDim);

/// Has `operand`, which tensor maps can be of and which `tensor` holds, know
/// what divides its rows in memory, with their padding.
void setRowMultiple(KernelOperand &operand, Value tensor);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_FRONTEND_TENSORMAPCOPIES_H
