//===- Epilogue.h - How sums of a tile begin and end ------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The accumulator before the loop along K, and what becomes of it: with the
// elementwise ops that the kernel takes over, on accumulators of any layout.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_EPILOGUE_EPILOGUE_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_EPILOGUE_EPILOGUE_H

#include "Kernels/Gemm/TileScheduler/WorkTile.h"

namespace mlir::blockscale {

/// The element of the accumulator at `position` of the result; there is one, or
/// what makes it.
Value emitInitialElement(OpBuilder &b, gpu::GPUFuncOp kernel,
                         const KernelProblem &problem,
                         ArrayRef<Value> position);

/// Stores `sum`, or what the problem makes of it, at `position` of the result.
void emitEpilogueElement(OpBuilder &b, gpu::GPUFuncOp kernel,
                         const KernelProblem &problem, ArrayRef<Value> position,
                         Value sum);

/// The accumulator of `tile` that the products are added to.
Value emitInitialAccumulator(OpBuilder &b, gpu::GPUFuncOp kernel,
                             const KernelProblem &problem,
                             const ProblemSizes &sizes, const BlockTile &tile,
                             AccType type);

/// Stores `acc`, or what the problem makes of it, of which the products may
/// still lack what they are added to (`addsFirst`).
void emitEpilogue(OpBuilder &b, gpu::GPUFuncOp kernel,
                  const KernelProblem &problem, const ProblemSizes &sizes,
                  const BlockTile &tile, Value acc, bool addsFirst = false);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_EPILOGUE_EPILOGUE_H
