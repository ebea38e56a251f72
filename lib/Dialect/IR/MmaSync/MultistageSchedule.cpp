//===- MultistageSchedule.cpp - Schedules of the path mma_sync ------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The constraints of a multistage schedule that do not depend on chip and
// types.
//
//===----------------------------------------------------------------------===//

#include "VerifySplitK.h"
#include "blockscale/Dialect/IR/BlockScale.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::blockscale;

/// Whether the scales of a warp's share can have the layout `lanes`.
static bool isWholeShare(int64_t extent, int64_t unit) {
  constexpr int64_t kGroup = kWarpLanes;
  return extent >= unit && (extent % kGroup == 0 || kGroup % extent == 0);
}

LogicalResult
MultistageScheduleAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                               ArrayRef<int64_t> tile, ArrayRef<int64_t> warps,
                               int64_t stages, int64_t splitK) {
  if (tile.size() != 3 || warps.size() != 2)
    return emitError() << "expected three sizes of a tile and two numbers of "
                          "warps, got "
                       << tile.size() << " and " << warps.size();
  constexpr int64_t kMaxStages = 16, kMinK = 32, kMaxK = 1024;
  if (stages < 1 || stages > kMaxStages)
    return emitError() << "expected 1 to " << kMaxStages << " stages, got "
                       << stages;
  if (tile[2] < kMinK || tile[2] > kMaxK || !llvm::isPowerOf2_64(tile[2]))
    return emitError() << "expected K of the tile to be a power of two from "
                       << kMinK << " to " << kMaxK << ", got " << tile[2];
  if (failed(WarpsAttr::verify(emitError, warps[0], warps[1], 1, 1)) ||
      failed(WarpsAttr::verifyShares(emitError, warps[0], warps[1], tile[0],
                                     tile[1])))
    return failure();
  const FragmentLayout &sums = getFragmentLayout(Operand::C, kSumBits);
  const int64_t units[] = {sums.rows, sums.columns};
  for (unsigned i : {0, 1})
    if (!isWholeShare(tile[i] / warps[i], units[i]))
      return emitError() << "expected " << (i == 0 ? "M" : "N")
                         << " of a warp to be a power of two or a multiple of "
                         << kWarpLanes << ", got " << tile[i] / warps[i];
  return verifySplitK(emitError, splitK);
}

KernelKind MultistageScheduleAttr::getKernelKind() const {
  return KernelKind::Multistage;
}

bool MultistageScheduleAttr::isFor(Path path) const {
  return getPathInfo(path).isWarpLevel;
}
