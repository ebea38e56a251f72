//===- WarpColumns.cpp - Transposed sums of wgmma -------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The layout of accumulators with swapped operands: the transpose of wgmma's.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/IR/BlockScale.h"
#include "blockscale/Support/TensorMemory.h"

using namespace mlir;
using namespace mlir::blockscale;

LogicalResult
WarpColumnsAttr::verifyShape(function_ref<InFlightDiagnostic()> emitError,
                             int64_t m, int64_t n) const {
  const FragmentLayout &sums = getFragmentLayout(Operand::C, kSumBits);
  int64_t rowsOfTile = sums.columns, columnsOfWarp = sums.rows;
  if (m < 1 || m > kMostN || m % rowsOfTile != 0 || getWarps() < 1 ||
      n != columnsOfWarp * getWarps())
    return emitError() << "expected a multiple of " << rowsOfTile
                       << " rows up to " << kMostN << ", and " << columnsOfWarp
                       << " columns for each of " << getWarps()
                       << " warps, got " << m << "x" << n;
  return success();
}

LogicalResult WarpColumnsAttr::verifyTile(TileMmaOp &op) const {
  return op.emitOpError("expected an accumulator that instructions of a warp "
                        "add to, got ")
         << op.getAcc().getType();
}
