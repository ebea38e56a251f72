//===- PermuteKernel.cpp - The policy Permuted ----------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The high-precision operand of a mixed-input GEMM. The mainloop that
// dequantizes in registers gets its values in an order of its own along K, and
// too small by a power of two. This policy permutes the bf16 values of the
// other operand to that order and multiplies them by the missing power. It
// rounds nothing, since no value gets smaller.
//
//===----------------------------------------------------------------------===//

#include "Fragments/Dequantize/Formats.h"
#include "Kernels/Dequantize/ValueWriter.h"
#include "Utils/PackedElements.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::blockscale;

namespace {
class PermutedWriter final : public ValueWriter {
public:
  PermutedWriter(OpBuilder &b, gpu::GPUFuncOp kernel,
                 const DequantizedOperandProblem &problem)
      : ValueWriter(b, kernel, problem),
        power(emit.toPair(
            emit.integer(getPowerPair(static_cast<int>(problem.scaleShift))))) {
  }

private:
  /// Four pairs.
  SmallVector<Value> load(const Origin &origin) override {
    Value memory = kernel.getArgument(problem.elements.argument);
    constexpr int64_t kPairs = kValues / 2, kBytes = 16;
    auto type = VectorType::get(kValues, getType().getElementType());
    auto getPosition = [&](int64_t i) {
      return applyMap(b, loc, problem.elements.map,
                      {origin.batch, origin.row, add(origin.column, i)});
    };
    Value all;
    if (problem.isContiguous()) {
      all = vector::LoadOp::create(b, loc, type, memory, getPosition(0),
                                   /*nontemporal=*/false,
                                   llvm::MaybeAlign(kBytes));
    } else {
      SmallVector<Value> singles;
      for (int64_t i = 0; i != kValues; ++i)
        singles.push_back(
            memref::LoadOp::create(b, loc, memory, getPosition(i)));
      all = vector::FromElementsOp::create(b, loc, type, singles);
    }
    all = vector::BitCastOp::create(
        b, loc, VectorType::get(kPairs, b.getI32Type()), all);
    SmallVector<Value> pairs;
    for (int64_t i = 0; i != kPairs; ++i)
      pairs.push_back(vector::ExtractOp::create(b, loc, all, i));
    return pairs;
  }

  /// A finite value is inexact if it overflows when multiplied by the power.
  /// Infinity and NaN stay what they are, and so do products with them.
  SmallVector<Value> emitValues(ValueRange loaded, Value &inexact) override {
    // f16 values are not multiplied.
    if (problem.scaleShift == 0)
      return llvm::to_vector(loaded);
    constexpr uint32_t kMagnitude = 0x7FFF, kInfinity = 0x7F80;
    constexpr unsigned kHalfBits = 16, kMantissaBits = 7;
    uint32_t count = problem.scaleShift << kMantissaBits;
    SmallVector<Value> results;
    for (Value pair : loaded) {
      for (Value half : {pair, emit.shiftRight(pair, kHalfBits)}) {
        Value distance = emit.sub(emit.bitAnd(half, kMagnitude),
                                  emit.integer(kInfinity - count));
        Value isInexact =
            emit.is(WordEmitter::IP::ult, distance, emit.integer(count));
        inexact = emit.bitOr(
            inexact, emit.select(isInexact, emit.integer(1), emit.integer(0)));
      }
      results.push_back(emit.fromPair(emit.mul(emit.toPair(pair), power)));
    }
    return results;
  }

  Value power;
};
} // namespace

ValueWriterPtr
blockscale::makePermutedWriter(OpBuilder &b, gpu::GPUFuncOp kernel,
                               const DequantizedOperandProblem &problem) {
  return std::make_unique<PermutedWriter>(b, kernel, problem);
}
