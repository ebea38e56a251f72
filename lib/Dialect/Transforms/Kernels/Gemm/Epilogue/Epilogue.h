//===- Epilogue.h - The epilogue of a GEMM ----------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The epilogue: load C (or the elementwise op that makes it), apply the fused
// elementwise op, quantize if a `quantize` is fused, store D. The same
// functions serve all mainloops; they know nothing of paths and instructions.
// Warp-specialized kernels call them by RoleEmitter::emitStore
// (Mainloop/WarpSpecialized/EpilogueStores.cpp), tcgen05 from its epilogue
// warps, once for each group of columns that it reads from tensor memory
// (Mma/Tcgen05/EpilogueWarps.cpp).
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_EPILOGUE_EPILOGUE_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_EPILOGUE_EPILOGUE_H

#include "Kernels/Gemm/TileScheduler/WorkTile.h"

namespace mlir::blockscale {

/// Loads C at `position` of the result, or computes it with the fused producer.
/// The problem has one of both.
Value emitInitialElement(OpBuilder &b, gpu::GPUFuncOp kernel,
                         const KernelProblem &problem,
                         ArrayRef<Value> position);

/// D at `position` of the result: `sum`, behind the fused elementwise op.
Value emitResultElement(OpBuilder &b, gpu::GPUFuncOp kernel,
                        const KernelProblem &problem, ArrayRef<Value> position,
                        Value sum);

/// Stores that.
void emitEpilogueElement(OpBuilder &b, gpu::GPUFuncOp kernel,
                         const KernelProblem &problem, ArrayRef<Value> position,
                         Value sum);

/// Loads C: the accumulator of `tile` to start with.
Value emitInitialAccumulator(OpBuilder &b, gpu::GPUFuncOp kernel,
                             const KernelProblem &problem,
                             const ProblemSizes &sizes, const BlockTile &tile,
                             AccType type);

/// Stores D: `acc`, behind the fused elementwise op and quantization. With
/// `addsFirst`, the mainloop started at zero, and C is added here.
void emitEpilogue(OpBuilder &b, gpu::GPUFuncOp kernel,
                  const KernelProblem &problem, const ProblemSizes &sizes,
                  const BlockTile &tile, Value acc, bool addsFirst = false);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_EPILOGUE_EPILOGUE_H
