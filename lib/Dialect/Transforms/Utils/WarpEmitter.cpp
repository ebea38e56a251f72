//===- WarpEmitter.cpp - Values of all lanes of a warp --------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Utils/WarpEmitter.h"

#include "blockscale/Support/FragmentLayout.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::blockscale;

WarpEmitter::WarpEmitter(OpBuilder &b, Location loc)
    : b(b), loc(loc), emit(b, loc),
      lane(arith::RemUIOp::create(
          b, loc, toWord(gpu::ThreadIdOp::create(b, loc, gpu::Dimension::x)),
          emit.integer(kWarpLanes))) {}

Value WarpEmitter::toWord(Value index) const {
  return b.createOrFold<arith::IndexCastOp>(loc, b.getI32Type(), index);
}

Value WarpEmitter::toIndex(Value word) const {
  return b.createOrFold<arith::IndexCastOp>(loc, b.getIndexType(), word);
}

Value WarpEmitter::getBefore(Value value, Value first) const {
  Value before = shuffle(value, emit.integer(1), gpu::ShuffleMode::UP);
  return emit.select(emit.isEqual(lane, 0), first, before);
}

Value WarpEmitter::scan(Value value,
                        function_ref<Value(Value, Value)> combine) const {
  for (uint32_t distance = 1; distance != kWarpLanes; distance *= 2) {
    Value before = shuffle(value, emit.integer(distance), gpu::ShuffleMode::UP);
    value = emit.select(emit.isAtLeast(lane, distance), combine(before, value),
                        value);
  }
  return value;
}

Value WarpEmitter::findLane(Value flag) const {
  return getFirst(NVVM::VoteSyncOp::create(b, loc, b.getI32Type(),
                                           emit.integer(~0u), flag,
                                           NVVM::VoteSyncKind::ballot));
}

Value WarpEmitter::findSame(Value value) const {
  return NVVM::MatchSyncOp::create(b, loc, b.getI32Type(), emit.integer(~0u),
                                   value, NVVM::MatchSyncKind::any);
}

Value WarpEmitter::getFirst(Value mask) const {
  return LLVM::CountTrailingZerosOp::create(b, loc, b.getI32Type(), mask,
                                            /*is_zero_poison=*/false);
}

Value WarpEmitter::countBefore(Value mask) const {
  Value before = emit.sub(emit.shiftLeft(emit.integer(1), lane), 1);
  return count(emit.bitAnd(mask, before));
}

Value WarpEmitter::count(Value mask) const {
  return LLVM::CtPopOp::create(b, loc, b.getI32Type(), mask);
}

void WarpEmitter::synchronize() const {
  NVVM::SyncWarpOp::create(b, loc, emit.integer(~0u));
}

Value WarpEmitter::shuffle(Value value, Value by, gpu::ShuffleMode mode) const {
  return gpu::ShuffleOp::create(b, loc, value, by, emit.integer(kWarpLanes),
                                mode)
      .getShuffleResult();
}
