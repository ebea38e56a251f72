//===- LaneOps.cpp - Work of a lane ---------------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Utils/LaneOps.h"

#include "blockscale/Dialect/IR/BlockScale.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

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

SmallVector<Value> blockscale::extractElements(OpBuilder &b, Location loc,
                                               Value vector) {
  SmallVector<Value> elements;
  int64_t count = cast<VectorType>(vector.getType()).getNumElements();
  for (int64_t i = 0; i != count; ++i)
    elements.push_back(vector::ExtractOp::create(b, loc, vector, i));
  return elements;
}

SmallVector<Value> blockscale::loadWords(OpBuilder &b, Location loc,
                                         Value memory, ValueRange indices,
                                         int64_t bytes) {
  Value loaded = vector::LoadOp::create(
      b, loc, VectorType::get(bytes, b.getI8Type()), memory, indices,
      /*nontemporal=*/false, llvm::MaybeAlign(bytes));
  constexpr int64_t kWordBytes = 4;
  auto type = VectorType::get(bytes / kWordBytes, b.getI32Type());
  Value words = vector::BitCastOp::create(b, loc, type, loaded);
  return extractElements(b, loc, words);
}
