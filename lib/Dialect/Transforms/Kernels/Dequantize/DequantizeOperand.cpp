//===- DequantizeOperand.cpp - The policy Exact ---------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Dequantization with integer operations, as in the mixed-input mainloop: the
// bits of an element are shifted into position in a bf16, and the bf16 is
// multiplied by a power of two and by the scale. bf16 holds both factors, so
// the value is exact wherever it is zero or normal in bf16. The scale alone
// tells where that is not so; such a block sets its inexact flag.
//
//===----------------------------------------------------------------------===//

#include "Fragments/Dequantize/ElementPairs.h"
#include "Fragments/Dequantize/SpecialTest.h"
#include "Kernels/Dequantize/ValueWriter.h"
#include "Utils/IndexValues.h"

using namespace mlir;
using namespace mlir::blockscale;

static constexpr uint32_t kHalves = 0x00010001;

namespace {
/// Each for two values: factors, and masks of the bits that make a value
/// inexact if one of them is not 0.
struct Factors {
  SmallVector<Value> pairs, masks;
  /// Not 0 if a scale is NaN.
  Value inexact;
};

class ExactWriter final : public ValueWriter {
public:
  ExactWriter(OpBuilder &b, gpu::GPUFuncOp kernel,
              const DequantizedOperandProblem &problem)
      : ValueWriter(b, kernel, problem), format(getCodeFormat(problem.format)),
        shifter(emit, problem.format, {/*isPacked=*/true, /*isSwapped=*/false},
                lane) {}

private:
  SmallVector<Value> emitValues(ValueRange loaded, Value &inexact) override {
    return emitProducts(loaded.drop_back(), makeFactors(loaded.back()),
                        inexact);
  }
  Value emitTasks(Value none) override {
    return problem.isTransposed ? emitColumns(none)
                                : ValueWriter::emitTasks(none);
  }

  /// For a transposed result, a warp takes a strip of rows by a scale block
  /// along K, so that it loads each scale once.
  Value emitColumns(Value none) {
    constexpr int64_t kStrip = kValues * int64_t(kWarpLanes);
    AffineExpr d0, d1;
    bindDims(b.getContext(), d0, d1);
    Value columns = size(2), rows = size(1);
    auto blockSize = static_cast<int64_t>(problem.blockSize);
    Value strips = compute({d0.ceilDiv(kStrip)}, rows)[0];
    Value blocks = compute({d0.floorDiv(blockSize)}, columns)[0];
    Value last = add(rows, -kValues);
    return forEachTask(
        blocks, strips, none,
        [&](Value batch, Value block, Value strip, Value inexact) {
          Value at = compute({d0 * kStrip + d1 * kValues}, {strip, lane})[0];
          Value from = compute({d0 * blockSize}, block)[0];
          Origin origin = {batch, arith::MinUIOp::create(b, loc, at, last),
                           from, isBelow(b, loc, at, rows)};
          SmallVector<Value> scales;
          for (int64_t i = 0; i != kValues; ++i)
            scales.push_back(loadScale(origin, i));
          Factors factors = makeFactors(scales);
          return forEach(from, add(from, blockSize), emit.index(kRounds),
                         inexact, [&](Value column, Value inner) {
                           SmallVector<Origin> origins(kRounds, origin);
                           SmallVector<SmallVector<Value>> words;
                           for (auto [i, of] : llvm::enumerate(origins)) {
                             of.column = add(column, static_cast<int64_t>(i));
                             words.push_back(loadWords(of));
                           }
                           for (auto [of, loaded] :
                                llvm::zip_equal(origins, words))
                             store(of, emitProducts(loaded, factors, inner));
                           return inner;
                         });
        });
  }

  /// Made from one scale for all values, or from 8 scales.
  Factors makeFactors(ArrayRef<Value> scales) {
    bool isPower = getFormatInfo(problem.scaleFormat).mantissaBits == 0;
    constexpr uint32_t kPowerNaN = 0xFF, kNaN = 0x7F, kSmallest = 0x0040;
    constexpr unsigned kMantissaBits = 7, kShift = 4;
    constexpr int kExponent = 120;
    Factors factors;
    factors.inexact = emit.integer(0);
    SmallVector<Value> halves, masks;
    for (Value scale : scales) {
      Value isNaN, isOut, half;
      if (isPower) {
        // 2^-127 is not normal; the check of the scale finds products with it,
        // too.
        Value shifted = scale;
        if (problem.scaleShift != 0)
          shifted = emit.add(scale, problem.scaleShift);
        half = emit.select(emit.isEqual(shifted, 0), emit.integer(kSmallest),
                           emit.shiftLeft(shifted, kMantissaBits));
        isNaN = emit.isEqual(scale, kPowerNaN);
        isOut =
            emit.isAtLeast(emit.sub(shifted, emit.integer(format.lowestScale)),
                           format.highestExact - format.lowestScale + 1);
      } else {
        // The sign does not count. All scales have few bits, and are normal.
        Value magnitude = emit.bitAnd(scale, kNaN);
        half = emit.shiftLeft(magnitude, kShift);
        isNaN = emit.isEqual(magnitude, kNaN);
        isOut = emit.flag(false);
      }
      halves.push_back(half);
      constexpr uint32_t kMagnitude = 0x7FFF;
      masks.push_back(
          emit.select(isOut, emit.integer(kMagnitude), emit.integer(0)));
      factors.inexact =
          emit.bitOr(factors.inexact,
                     emit.select(isNaN, emit.integer(1), emit.integer(0)));
    }
    auto join = [&](ArrayRef<Value> values, unsigned pair) -> Value {
      if (values.size() == 1)
        return emit.mul(values[0], kHalves);
      constexpr unsigned kHalfBits = 16;
      return emit.bitOr(values[2 * pair],
                        emit.shiftLeft(values[2 * pair + 1], kHalfBits));
    };
    for (unsigned pair = 0; pair != std::max<size_t>(scales.size() / 2, 1);
         ++pair) {
      Value factor = emit.toPair(join(halves, pair));
      if (!isPower)
        factor = emit.mul(
            factor, emit.toPair(emit.integer(getPowerPair(
                        kExponent + static_cast<int>(problem.scaleShift)))));
      factors.pairs.push_back(factor);
      factors.masks.push_back(join(masks, pair));
    }
    return factors;
  }

  SmallVector<Value> emitProducts(ValueRange words, const Factors &factors,
                                  Value &inexact) {
    SpecialTest test(emit, problem.format);
    if (test.isNeeded()) {
      for (Value word : words)
        test.add(word);
      inexact = emit.bitOr(inexact, emit.select(test.isFound(), emit.integer(1),
                                                emit.integer(0)));
    }
    SmallVector<Value> pairs;
    bool isNibbles = words.size() == 1;
    for (unsigned i : {0, 1})
      llvm::append_range(pairs, isNibbles ? shifter.shiftNibbles(words[0], i)
                                          : shifter.shiftBytes(words[i]));
    Value power = emit.toPair(
        emit.integer(getPowerPair(static_cast<int>(format.exponent))));
    SmallVector<Value> results;
    for (auto [i, inPosition] : llvm::enumerate(pairs)) {
      size_t of = factors.pairs.size() == 1 ? 0 : i;
      inexact = emit.bitOr(inexact, emit.bitAnd(inPosition, factors.masks[of]));
      Value element = emit.mul(emit.toPair(inPosition), power);
      results.push_back(emit.fromPair(emit.mul(element, factors.pairs[of])));
    }
    inexact = emit.bitOr(inexact, factors.inexact);
    return results;
  }

  CodeFormat format;
  ElementShifter shifter;
};
} // namespace

ValueWriterPtr
blockscale::makeExactWriter(OpBuilder &b, gpu::GPUFuncOp kernel,
                            const DequantizedOperandProblem &problem) {
  return std::make_unique<ExactWriter>(b, kernel, problem);
}
