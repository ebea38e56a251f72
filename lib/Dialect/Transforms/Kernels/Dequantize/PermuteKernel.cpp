//===- PermuteKernel.cpp - bf16 values in the order of elements -----------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Quantized elements that are dequantized in registers have an order of their
// own along K, and are too small by a power of two: bf16 values beside them get
// that order, and that power. Nothing is rounded, as no value gets smaller.
//
//===----------------------------------------------------------------------===//

#include "Fragments/Dequantize/Formats.h"
#include "Kernels/Dequantize/NumberWriter.h"
#include "Utils/PackedElements.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::blockscale;

namespace {
class PermutedWriter final : public NumberWriter {
public:
  PermutedWriter(OpBuilder &b, gpu::GPUFuncOp kernel,
                 const DequantizedOperandProblem &problem)
      : NumberWriter(b, kernel, problem),
        power(emit.toPair(
            emit.integer(getPowerPair(static_cast<int>(problem.scaleShift))))) {
  }

private:
  SmallVector<Value> load(const Place &place) override;
  SmallVector<Value> emitNumbers(ValueRange loaded, Value &inexact) override;

  Value power;
};
} // namespace

/// Four pairs.
SmallVector<Value> PermutedWriter::load(const Place &place) {
  Value memory = kernel.getArgument(problem.codes.argument);
  constexpr int64_t kPairs = kNumbers / 2, kBytes = 16;
  auto type = VectorType::get(kNumbers, b.getBF16Type());
  auto getPosition = [&](int64_t i) {
    return applyMap(b, loc, problem.codes.map,
                    {place.batch, place.row, add(place.column, i)});
  };
  Value all;
  if (problem.isContiguous()) {
    all =
        vector::LoadOp::create(b, loc, type, memory, getPosition(0),
                               /*nontemporal=*/false, llvm::MaybeAlign(kBytes));
  } else {
    SmallVector<Value> singles;
    for (int64_t i = 0; i != kNumbers; ++i)
      singles.push_back(memref::LoadOp::create(b, loc, memory, getPosition(i)));
    all = vector::FromElementsOp::create(b, loc, type, singles);
  }
  all = vector::BitCastOp::create(b, loc,
                                  VectorType::get(kPairs, b.getI32Type()), all);
  SmallVector<Value> pairs;
  for (int64_t i = 0; i != kPairs; ++i)
    pairs.push_back(vector::ExtractOp::create(b, loc, all, i));
  return pairs;
}

/// Inexact are values that are beyond bf16 with the power, infinity and NaN
/// among them.
SmallVector<Value> PermutedWriter::emitNumbers(ValueRange loaded,
                                               Value &inexact) {
  constexpr uint32_t kMagnitude = 0x7FFF, kLastExponent = 0xFF;
  constexpr unsigned kMantissaBits = 7, kHalfBits = 16;
  uint32_t first = (kLastExponent - problem.scaleShift) << kMantissaBits;
  SmallVector<Value> results;
  for (Value pair : loaded) {
    for (Value half : {pair, emit.shiftRight(pair, kHalfBits)}) {
      Value isInexact = emit.isAtLeast(emit.bitAnd(half, kMagnitude), first);
      inexact = emit.bitOr(
          inexact, emit.select(isInexact, emit.integer(1), emit.integer(0)));
    }
    results.push_back(emit.fromPair(emit.mul(emit.toPair(pair), power)));
  }
  return results;
}

NumberWriterPtr
blockscale::makePermutedWriter(OpBuilder &b, gpu::GPUFuncOp kernel,
                               const DequantizedOperandProblem &problem) {
  return std::make_unique<PermutedWriter>(b, kernel, problem);
}
