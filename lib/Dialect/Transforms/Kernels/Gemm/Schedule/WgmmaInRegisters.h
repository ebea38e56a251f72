//===- WgmmaInRegisters.h - Operands that wgmma has in registers -*- C++ -*===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What choosers share whose kernels dequantize an operand in registers: which
// operands that can be, and which schedules fit.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_SCHEDULE_WGMMAINREGISTERS_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_SCHEDULE_WGMMAINREGISTERS_H

#include "Kernels/Gemm/Problem/OpSizes.h"
#include "Kernels/Gemm/Schedule/KernelChooser.h"
#include "blockscale/Support/Chips.h"

namespace mlir::blockscale {

/// The dimension along K of `operand`.
unsigned getKDim(MmaScaledOp::Side side, Value operand);

/// Checks the limits that all kernels which dequantize an operand in registers
/// have; that operand, and its scales, have `types`.
LogicalResult verifyInRegisters(ScheduledProduct product,
                                WarpSpecializedScheduleAttr schedule,
                                const TypeCombination &types,
                                KernelChooser::EmitErrorFn emitError);

/// The argument that `quantized` is a view of, if it is contiguous along
/// dimension `k` of the operand, whose indices `map` maps to its own; null
/// otherwise. `isStream` says whether it is packed.
BlockArgument findContiguousArgument(Value quantized, AffineMap map, unsigned k,
                                     bool &isStream);

/// How many tiles of so many rows and columns the result has.
uint64_t countTiles(const OpSizes &sizes, int64_t rows, int64_t columns);

/// What `make` makes of the largest number of stages, at most `most`, whose
/// shared memory the chip has, and which has room for partial accumulators;
/// null if there is none. `types` are those of verifyInRegisters.
WarpSpecializedScheduleAttr
fitStages(ProductOpInterface op, const Chip &chip, const TypeCombination &types,
          int64_t most,
          function_ref<WarpSpecializedScheduleAttr(int64_t stages)> make);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_SCHEDULE_WGMMAINREGISTERS_H
