//===- ScaleAtoms.h - Scales in the 32x4x4 layout ---------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Brings row-major scale factors into the layout that tensor cores read.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_FRONTEND_SCALEATOMS_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_FRONTEND_SCALEATOMS_H

#include "Utils/PackedElements.h"

namespace mlir::blockscale {

/// The scales `operand`, whose rows are dimension `rowDim`, as atoms that a
/// `swizzle_scales` makes: a kernel in front.
StoredView swizzleForKernel(OpBuilder &builder, Location loc, Value operand,
                            unsigned rowDim);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_FRONTEND_SCALEATOMS_H
