//===- UnscaledMultistage.h - Multistage without scales ---------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Schedules of the multistage kernel for products whose operands are bf16 or
// f16 in shared memory. Nothing but loads of fragments stands between the
// instructions, so tiles are larger than those of quantized operands, and
// stages are shorter along K.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_SCHEDULE_UNSCALEDMULTISTAGE_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_SCHEDULE_UNSCALEDMULTISTAGE_H

#include "Kernels/Gemm/Schedule/KernelChooser.h"
#include "blockscale/Support/TunedRows.h"

namespace mlir::blockscale {

/// The tile of the fewest clocks, with as many stages as fit into shared
/// memory.
MultistageScheduleAttr chooseUnscaledMultistage(ScheduledProduct product);

/// The schedule with this tile and these warps, of rows of x and of y.
MultistageScheduleAttr fitUnscaledMultistage(ScheduledProduct product,
                                             std::array<int64_t, 2> tile,
                                             std::array<int64_t, 2> warps);

/// `tile`, which is for quantized operands and few rows or columns, for
/// elements of 16 bits.
TunedTile getUnscaledNarrowTile(const TunedTile &tile, const Chip &chip);

/// The schedules that --tune measures beside the choice, without split-K.
SmallVector<ScheduleInterface> getUnscaledCandidates(ScheduledProduct product);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_SCHEDULE_UNSCALEDMULTISTAGE_H
