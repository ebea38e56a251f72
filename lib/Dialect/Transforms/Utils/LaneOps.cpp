//===- LaneOps.cpp - Work of a lane ---------------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Short forms of shuffles and branches.
//
//===----------------------------------------------------------------------===//

#include "Utils/LaneOps.h"

#include "blockscale/Dialect/IR/BlockScale.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::blockscale;

void blockscale::emitIf(OpBuilder &b, Location loc, Value condition,
                        function_ref<void()> body) {
  if (!condition)
    return body();
  auto guard = scf::IfOp::create(b, loc, condition);
  OpBuilder::InsertionGuard insertion(b);
  b.setInsertionPointToStart(guard.thenBlock());
  body();
}

Value blockscale::emitShuffle(OpBuilder &b, Location loc, Value value,
                              int64_t distance) {
  return gpu::ShuffleOp::create(b, loc, value, static_cast<int32_t>(distance),
                                int32_t(kWarpLanes), gpu::ShuffleMode::XOR)
      .getShuffleResult();
}
