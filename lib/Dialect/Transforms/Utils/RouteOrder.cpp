//===- RouteOrder.cpp - The order of logits -------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The upper half of a key has the bits of the f32, changed so that their order
// as an unsigned integer is that of numbers; the lower half has all bits of the
// column inverted.
//
//===----------------------------------------------------------------------===//

#include "Utils/RouteOrder.h"

#include "Utils/ArithEmitter.h"
#include "Utils/IndexValues.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::blockscale;

static constexpr uint64_t kSign = uint64_t(1) << 31, kAllBits = 0xFFFFFFFF,
                          kNaN = 0x7FC00000;
static constexpr uint64_t kHalfBits = 32;

Value blockscale::extendLogit(OpBuilder &b, Location loc, Value logit) {
  return logit.getType().isF32()
             ? logit
             : arith::ExtFOp::create(b, loc, b.getF32Type(), logit);
}

Value blockscale::emitFirstKey(OpBuilder &b, Location loc) {
  return arith::ConstantIntOp::create(b, loc, b.getI64Type(), -1);
}

static Value emitKey(OpBuilder &b, Location loc, Value logit, Value column) {
  ArithEmitter emit(b, loc);
  // -0 becomes +0.
  Value bits = emit.toBits(emit.add(logit, emit.number(0.0)));
  bits = emit.select(emit.isNaN(logit), emit.integer(kNaN), bits);
  Value isNegative = emit.isAtLeast(bits, kSign);
  Value ordered =
      emit.bitXor(bits, emit.select(isNegative, emit.integer(kAllBits),
                                    emit.integer(kSign)));
  Value number = arith::IndexCastOp::create(b, loc, b.getI32Type(), column);
  auto widen = [&](Value half) -> Value {
    return arith::ExtUIOp::create(b, loc, b.getI64Type(), half);
  };
  return emit.bitOr(emit.shiftLeft(widen(ordered), kHalfBits),
                    widen(emit.bitXor(number, kAllBits)));
}

Value blockscale::emitNextKey(OpBuilder &b, Location loc, Value previous,
                              Value first, Value end, Value step,
                              function_ref<Value(OpBuilder &, Value)> load) {
  Value none = arith::ConstantIntOp::create(b, loc, b.getI64Type(), 0);
  auto loop = scf::ForOp::create(
      b, loc, first, end, step, none,
      [&](OpBuilder &at, Location, Value column, ValueRange best) {
        ArithEmitter emit(at, loc);
        Value key = emitKey(at, loc, load(at, column), column);
        Value isLeft = emit.is(ArithEmitter::IP::ult, key, previous);
        Value larger = emit.maxU(key, best[0]);
        scf::YieldOp::create(at, loc, emit.select(isLeft, larger, best[0]));
      });
  return loop.getResult(0);
}

Value blockscale::emitColumnOfKey(OpBuilder &b, Location loc, Value key) {
  ArithEmitter emit(b, loc);
  return emit.bitXor(emit.narrow(key, kHalfBits), kAllBits);
}

Value blockscale::emitLogitOfKey(OpBuilder &b, Location loc, Value key) {
  ArithEmitter emit(b, loc);
  Value ordered = emit.narrow(emit.shiftRight(key, kHalfBits), kHalfBits);
  Value wasNegative = emit.is(ArithEmitter::IP::ult, ordered, kSign);
  return emit.fromBits(
      emit.bitXor(ordered, emit.select(wasNegative, emit.integer(kAllBits),
                                       emit.integer(kSign))));
}
