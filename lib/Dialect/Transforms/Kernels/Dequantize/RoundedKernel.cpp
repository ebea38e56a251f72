//===- RoundedKernel.cpp - The policy Rounded -----------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Values as the op `dequantize` defines them, rounded to the type of its
// result.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Dequantize/ValueWriter.h"
#include "Kernels/Gemm/Problem/ScalarSlice.h"
#include "Quantize/BlockArithmetic.h"

using namespace mlir;
using namespace mlir::blockscale;

namespace {
class RoundedWriter final : public ValueWriter {
public:
  RoundedWriter(OpBuilder &b, gpu::GPUFuncOp kernel,
                const DequantizedOperandProblem &problem)
      : ValueWriter(b, kernel, problem), arithmetic(b, loc),
        tensorScale(emitScalar(b, kernel, problem.tensorScale)) {}

private:
  SmallVector<Value> emitValues(ValueRange loaded, Value &) override {
    constexpr int64_t kWordBits = 32;
    Type type = getType().getElementType();
    ValueRange words = loaded.drop_back();
    int64_t perWord = kValues / static_cast<int64_t>(words.size());
    uint32_t mask = getFormatInfo(problem.format).codeMask();
    Value scale = problem.hasF32Scales
                      ? arithmetic.fromBits(loaded.back())
                      : arithmetic.decode(problem.scaleFormat, loaded.back());
    SmallVector<Value> values;
    for (int64_t i = 0; i != kValues; ++i) {
      auto shift = static_cast<unsigned>(i % perWord * (kWordBits / perWord));
      Value code = emit.bitAnd(
          emit.shiftRight(words[static_cast<size_t>(i / perWord)], shift),
          mask);
      Value value = arith::MulFOp::create(
          b, loc, arithmetic.decode(problem.format, code), scale);
      if (tensorScale)
        value = arith::MulFOp::create(b, loc, value, tensorScale);
      if (type != value.getType())
        value = arith::TruncFOp::create(b, loc, type, value);
      values.push_back(value);
    }
    return values;
  }

  BlockArithmetic arithmetic;
  Value tensorScale;
};
} // namespace

ValueWriterPtr
blockscale::makeRoundedWriter(OpBuilder &b, gpu::GPUFuncOp kernel,
                              const DequantizedOperandProblem &problem) {
  return std::make_unique<RoundedWriter>(b, kernel, problem);
}
