//===- PlaceKernel.cpp - Numbers in the order of codes --------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Codes that become numbers on their way to a product have an order of their
// own along K, and are too small by a power of two: numbers beside them get
// that order, and that power. No rounding is in it, as no number of bf16 gets
// smaller.
//
//===----------------------------------------------------------------------===//

#include "Fragments/Convert/Formats.h"
#include "Kernels/Decode/NumberWriter.h"
#include "Utils/IndexValues.h"
#include "Utils/StoredCodes.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::blockscale;

namespace {
class PlaceKernel final : public NumberWriter {
public:
  PlaceKernel(OpBuilder &b, gpu::GPUFuncOp kernel, const DecodeProblem &problem)
      : NumberWriter(b, kernel, problem),
        power(emit.toPair(
            emit.integer(getPowerPair(static_cast<int>(problem.scaleShift))))) {
  }

  void build() { emitEnd(emitLines(emit.integer(0))); }

private:
  SmallVector<Value> load(const Place &place) override;
  Value emitNumbers(const Place &place, ValueRange loaded, Value lost) override;

  Value power;
};
} // namespace

/// Four pairs.
SmallVector<Value> PlaceKernel::load(const Place &place) {
  Value memory = kernel.getArgument(problem.codes.argument);
  constexpr int64_t kPairs = kNumbers / 2, kBytes = 16;
  Type bf16 = b.getBF16Type();
  Value all;
  if (problem.isContiguous()) {
    all =
        vector::LoadOp::create(b, loc, VectorType::get(kNumbers, bf16), memory,
                               applyMap(b, loc, problem.codes.map,
                                        {place.batch, place.row, place.column}),
                               /*nontemporal=*/false, llvm::MaybeAlign(kBytes));
  } else {
    SmallVector<Value> singles;
    for (int64_t i = 0; i != kNumbers; ++i)
      singles.push_back(memref::LoadOp::create(
          b, loc, memory,
          applyMap(b, loc, problem.codes.map,
                   {place.batch, place.row, add(place.column, i)})));
    all = vector::FromElementsOp::create(
        b, loc, VectorType::get(kNumbers, bf16), singles);
  }
  all = vector::BitCastOp::create(b, loc,
                                  VectorType::get(kPairs, b.getI32Type()), all);
  SmallVector<Value> pairs;
  for (int64_t i = 0; i != kPairs; ++i)
    pairs.push_back(vector::ExtractOp::create(b, loc, all, i));
  return pairs;
}

/// Lost are numbers that are beyond bf16 with the power, infinity and NaN among
/// them.
Value PlaceKernel::emitNumbers(const Place &place, ValueRange loaded,
                               Value lost) {
  constexpr uint32_t kMagnitude = 0x7FFF, kLastExponent = 0xFF;
  constexpr unsigned kMantissaBits = 7, kHalfBits = 16;
  uint32_t first = (kLastExponent - problem.scaleShift) << kMantissaBits;
  SmallVector<Value> results;
  for (Value pair : loaded) {
    for (Value half : {pair, emit.shiftRight(pair, kHalfBits)}) {
      Value isLost = emit.isAtLeast(emit.bitAnd(half, kMagnitude), first);
      lost = emit.bitOr(lost,
                        emit.select(isLost, emit.integer(1), emit.integer(0)));
    }
    results.push_back(
        emit.fromPair(emit.multiplyPairs(emit.toPair(pair), power)));
  }
  store(place, results);
  return lost;
}

void blockscale::buildPlace(gpu::GPUFuncOp kernel,
                            const DecodeProblem &problem) {
  OpBuilder b = OpBuilder::atBlockBegin(&kernel.getBody().front());
  PlaceKernel(b, kernel, problem).build();
}
