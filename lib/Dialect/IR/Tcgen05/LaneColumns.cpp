//===- LaneColumns.cpp - Accumulators in columns of lanes -----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The layout of accumulators that are read from tensor memory transposed.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/IR/BlockScale.h"
#include "blockscale/Support/TensorMemory.h"

using namespace mlir;
using namespace mlir::blockscale;

LogicalResult
LaneColumnsAttr::verifyShape(function_ref<InFlightDiagnostic()> emitError,
                             int64_t m, int64_t n) const {
  if (m < 1 || m > kMaxAccElements || n != kTensorLanes)
    return emitError() << "expected 1 to " << kMaxAccElements << " rows of "
                       << kTensorLanes << " columns, one for each thread, got "
                       << m << "x" << n;
  return success();
}

LogicalResult LaneColumnsAttr::verifyTile(TileMmaOp &op) const {
  return op.emitOpError("expected an accumulator that instructions of a warp "
                        "add to, got ")
         << op.getAcc().getType();
}
