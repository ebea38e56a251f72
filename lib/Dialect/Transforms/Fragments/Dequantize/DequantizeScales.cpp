//===- DequantizeScales.cpp - Scales of rows ------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Scales on the path dequant_mma: how a lane gets the scales of its rows, the
// factors of elements, and when the products with elements are exact.
//
//===----------------------------------------------------------------------===//

#include "Fragments/Dequantize/DequantizeScales.h"

#include "Utils/AccFragment.h"
#include "Utils/IndexValues.h"
#include "Utils/OperandView.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace mlir::blockscale;

/// Both halves of a word.
static constexpr uint32_t kHalves = 0x00010001;
static constexpr uint32_t kHalfSigns = 0x80008000;

DequantizeScales::DequantizeScales(OpBuilder &b, Location loc,
                                   const WarpProduct &product, Operand operand,
                                   unsigned interleave, int64_t k,
                                   SmallVector<SmallVector<Value>> ofGroups,
                                   bool isUniform)
    : emit{b, loc}, types(product.types), lane(product.lane), operand(operand),
      interleave(interleave),
      format(getCodeFormat(operand == Operand::A ? types.lhs : types.rhs)),
      window(getScaleWindow(operand == Operand::A ? types.lhs : types.rhs,
                            types.scale)),
      words(std::move(ofGroups)), isUniform(isUniform) {
  power = emit.toPair(emit.integer(getPowerPair(format.exponent)));
  // The last word may extend beyond K. Its bytes there become an ordinary
  // scale.
  constexpr uint32_t kSomeScale = 0x38;
  int64_t last = k / types.blockSize % kScalesPerWord;
  uint32_t filling = 0;
  for (int64_t byte = last; last != 0 && byte != kScalesPerWord; ++byte)
    filling |= kSomeScale << 8 * byte;
  if (filling != 0)
    for (Value &word : words.back())
      word = emit.bitOr(word, filling);
}

//===----------------------------------------------------------------------===//
// Codes of scales
//===----------------------------------------------------------------------===//

/// The words of `step`, one for each group of 32 rows.
SmallVector<Value> DequantizeScales::getWords(const Step &step) const {
  if (!step.value)
    return words[step.number / getStepsPerWord()];
  SmallVector<Value> chosen = words.front();
  Value number = emit.toWord(step.value);
  for (size_t i = 1; i < words.size(); ++i) {
    Value isBehind = emit.isAtLeast(number, i * getStepsPerWord());
    for (auto [word, other] : llvm::zip_equal(chosen, words[i]))
      word = emit.select(isBehind, other, word);
  }
  return chosen;
}

SmallVector<Value> DequantizeScales::getRowWords(const Step &step,
                                                 unsigned groups) const {
  constexpr unsigned kGroups = kWarpLanes / kGroupRows;
  MLIRContext *context = emit.b.getContext();
  AffineExpr l = getAffineDimExpr(0, context);
  AffineMap toLane =
      getLayoutMap(context, getScaleFragment(operand).toLane,
                   /*numLayoutDims=*/1, /*numLayoutResults=*/1, /*numDims=*/1);
  SmallVector<Value> ofWords = getWords(step), rowWords;
  for (unsigned group = 0; group != groups; ++group) {
    Value word = ofWords[group / kGroups];
    if (!isUniform) {
      // The lane that has the row in a group of 32 rows, in the order of
      // mma.sync.
      unsigned inWord = group % kGroups, turn = group % interleave;
      AffineExpr row = l.floorDiv(kLanesOfRow) * interleave +
                       ((inWord - turn) * kGroupRows + turn);
      Value from = applyMap(emit.b, emit.loc,
                            toLane.compose(AffineMap::get(1, 0, row)), lane)[0];
      word = emit.shuffle(word, emit.toWord(from));
    }
    rowWords.push_back(word);
  }
  return rowWords;
}

/// The index of the byte, in its word, with the first scale of `step`.
Value DequantizeScales::getByteNumber(const Step &step) const {
  int64_t steps = getStepsPerWord();
  if (!step.value)
    return emit.integer(step.number % steps * kStepElements / types.blockSize);
  AffineExpr d0 = getAffineDimExpr(0, emit.b.getContext());
  return emit.toWord(applyExpr(
      emit.b, emit.loc, (d0 % steps * kStepElements).floorDiv(types.blockSize),
      step.value));
}

/// Copies byte `number` of `word` to the bytes whose nibble in `targets` is 1
/// (as in a selector of prmt); other bytes are zero.
Value DequantizeScales::extractByte(Value word, Value number,
                                    uint32_t targets) const {
  constexpr uint32_t kZeros = 0x4444;
  Value nibbles =
      emit.add(emit.mul(number, targets), kZeros & ~(targets * 0xF));
  return emit.permute(word, {}, nibbles);
}

Value DequantizeScales::getCode(const Step &step, unsigned block, Value word,
                                std::optional<unsigned> column) const {
  if (column && !isUniform) {
    // A column of C is a row of the group; the first lane of that row has its
    // scales.
    AffineExpr l = getAffineDimExpr(0, emit.b.getContext());
    auto reg = static_cast<unsigned>(getAccRegister(/*row=*/0, *column));
    Value from = applyExpr(emit.b, emit.loc,
                           getAccPosition(l, reg).column * kLanesOfRow, lane);
    word = emit.shuffle(word, emit.toWord(from));
  }
  Value number = emit.add(getByteNumber(step), block);
  return emit.bitAnd(extractByte(word, number, 0x0001), window.mask);
}

//===----------------------------------------------------------------------===//
// Factors
//===----------------------------------------------------------------------===//

/// The index of the byte, in its word, with the scale of the lane's elements of
/// `step`.
Value DequantizeScales::getByteNumberOfLane(const Step &step) const {
  Value number = getByteNumber(step);
  if (getNumBlocks() != 2)
    return number;
  // Elements are packed: lanes with t < 2 have those of the first block.
  AffineExpr l = getAffineDimExpr(0, emit.b.getContext());
  return emit.add(number, emit.toWord(applyExpr(emit.b, emit.loc,
                                                l.floorDiv(2) % 2, lane)));
}

Value DequantizeScales::getFactor(const Step &step, Value rowWord,
                                  std::optional<unsigned> block) const {
  Value number =
      block ? emit.add(getByteNumber(step), *block) : getByteNumberOfLane(step);
  const FormatInfo &info = getFormatInfo(types.scale);
  constexpr unsigned kMantissaBits = 7, kBias = 127;
  if (info.mantissaBits == 0) {
    // A multiplication by a sum of two powers, which the code generator does
    // not turn into shifts: the units for shifts are busy already.
    Value exponents = emit.mul(extractByte(rowWord, number, 0x0001),
                               (1u << kMantissaBits) * kHalves);
    if (!isFolded())
      return emit.toPair(exponents);
    return emit.toPair(
        emit.add(exponents, (format.exponent << kMantissaBits) * kHalves));
  }
  Value both = extractByte(rowWord, number, 0x0101);
  // The scale, which has fewer bits, as a bf16 times a power of two.
  unsigned shift = kMantissaBits - info.mantissaBits;
  Value shifted = emit.bitAnd(emit.shiftLeft(both, shift),
                              (info.magnitudeMask() << shift) * kHalves);
  // The factors of A are larger by the power of two by which those of B are too
  // small, so that one multiplication dequantizes B.
  auto others = static_cast<int>(getScaleShift(types.rhs, types.scale));
  int exponent = static_cast<int>(kBias) - info.bias;
  if (isFolded())
    exponent += static_cast<int>(format.exponent) - others;
  else if (!isMixedInput())
    exponent += others;
  Value factor = emit.toPair(shifted);
  for (constexpr int kMost = kBias; exponent > 0; exponent -= kMost)
    factor = emit.mul(factor, emit.toPair(emit.integer(
                                  getPowerPair(std::min(exponent, kMost)))));
  return factor;
}

Pairs DequantizeScales::scale(const Pairs &pairs, Value factor) const {
  Pairs scaled;
  for (auto [from, to] : llvm::zip_equal(pairs, scaled)) {
    Value value = emit.toPair(from);
    if (!isFolded())
      value = emit.mul(value, power);
    to = emit.fromPair(emit.mul(value, factor));
  }
  return scaled;
}

Pairs DequantizeScales::unscale(const Pairs &pairs) const {
  Pairs values;
  for (auto [from, to] : llvm::zip_equal(pairs, values)) {
    to = emit.fromPair(emit.mul(emit.toPair(from), power));
    if (format.firstSpecial == 0)
      continue;
    // The sign bit is set if the magnitude is at least `first`. A
    // multiplication copies it to all bits of `specialBits`.
    uint32_t first = format.firstSpecial << (format.shift + format.signShift);
    Value magnitudes = emit.bitAnd(from, ~kHalfSigns);
    Value reached = emit.add(magnitudes, (0x8000 - first) * kHalves);
    Value ones = emit.bitAnd(emit.shiftRight(reached, 15), kHalves);
    to = emit.bitOr(to, emit.mul(ones, format.specialBits));
  }
  return values;
}

Value DequantizeScales::getRealFactor(const Step &step, Value rowWord) const {
  Value byte = extractByte(rowWord, getByteNumberOfLane(step), 0x0001);
  Value code = prepare(emit.bitAnd(byte, window.mask));
  if (getFormatInfo(types.scale).mantissaBits != 0)
    return code;
  constexpr unsigned kMantissaBits = 23;
  // 2^(code - 127), the lowest of which is subnormal.
  Value bits =
      emit.maxU(emit.shiftLeft(code, kMantissaBits), 1u << (kMantissaBits - 1));
  Value power = emit.fromBits(bits);
  Value nan = emit.number(std::numeric_limits<float>::quiet_NaN());
  return emit.select(emit.isEqual(code, window.mask), nan, power);
}

Pairs DequantizeScales::round(const Pairs &pairs, Value factor,
                              const Rounding &to) const {
  OpBuilder &b = emit.b;
  Type f32 = b.getF32Type();
  auto scaleHalf = [&](Value bits) {
    Value value = emit.fromBits(bits);
    for (Value scale : {factor, to.tensorScale})
      if (scale)
        value = emit.mul(value, scale);
    return value;
  };
  Pairs rounded;
  for (auto [from, into] : llvm::zip_equal(unscale(pairs), rounded)) {
    // The bits of a bf16 are the upper half of an f32.
    Value halves[] = {scaleHalf(emit.shiftLeft(from, 16)),
                      scaleHalf(emit.bitAnd(from, 0xFFFF0000))};
    Value both = vector::FromElementsOp::create(
        b, emit.loc, VectorType::get(2, f32), halves);
    both =
        arith::TruncFOp::create(b, emit.loc, VectorType::get(2, to.type), both);
    into = emit.fromPair(both);
  }
  return rounded;
}

Value DequantizeScales::prepare(Value code) const {
  constexpr unsigned kMantissaBits = 23;
  constexpr int kBias = 127;
  const FormatInfo &info = getFormatInfo(types.scale);
  if (info.mantissaBits == 0)
    return code;
  Value nan = emit.number(std::numeric_limits<float>::quiet_NaN());
  Value isNaN = emit.isEqual(code, window.mask);
  Value shifted =
      emit.fromBits(emit.shiftLeft(code, kMantissaBits - info.mantissaBits));
  Value power = emit.number(std::ldexp(1.0f, kBias - info.bias));
  Value value = emit.mul(shifted, power);
  return emit.select(isNaN, nan, value);
}

std::array<Value, 2> DequantizeScales::getFactors(Value x, Value y) const {
  if (getFormatInfo(types.scale).mantissaBits != 0)
    return {x, y};
  constexpr unsigned kMantissaBits = 23;
  Value nan = emit.number(std::numeric_limits<float>::quiet_NaN());
  Value isNaN = emit.isEqual(emit.maxU(x, y), window.mask);
  // 2^(code - 127) for each half of the sum of both codes. The lowest power is
  // not exact (it would be subnormal), but a finite value times it and times
  // the other power is 0 anyway.
  auto getPower = [&](Value half) -> Value {
    // Not arith.maxui, which is lowered to a comparison.
    half = LLVM::UMaxOp::create(emit.b, emit.loc, half, emit.integer(1));
    return emit.fromBits(emit.shiftLeft(half, kMantissaBits));
  };
  Value sum = emit.add(x, y), low = emit.shiftRight(sum, 1);
  return {emit.select(isNaN, nan, getPower(low)), getPower(emit.sub(sum, low))};
}

//===----------------------------------------------------------------------===//
// Tests
//===----------------------------------------------------------------------===//

/// Calls `test` with all scales of the lane, two at a time as halves of a word.
/// True if `test` sets the sign bit of both halves for all of them.
Value DequantizeScales::accumulate(function_ref<Value(Value half)> test) const {
  Value signs;
  for (const SmallVector<Value> &ofGroups : words) {
    for (Value word : ofGroups) {
      for (unsigned shift : {0, 8}) {
        Value codes =
            emit.bitAnd(emit.shiftRight(word, shift), window.mask * kHalves);
        Value set = test(codes);
        signs = signs ? emit.bitAnd(signs, set) : set;
      }
      if (isUniform)
        break;
    }
  }
  return emit.isEqual(emit.bitAnd(signs, kHalfSigns), kHalfSigns);
}

/// Sets the sign bit of a half if its code is in the window: at least the
/// lowest and at most the highest code.
static Value isInWindow(const WordEmitter &emit, const ScaleWindow &window,
                        Value codes) {
  Value isBelow =
      emit.sub(emit.integer((0x8000 + window.highest) * kHalves), codes);
  if (window.lowest == 0)
    return isBelow;
  Value isAbove = emit.add(codes, (0x8000 - window.lowest) * kHalves);
  return emit.bitAnd(isBelow, isAbove);
}

Value DequantizeScales::areExact() const {
  return accumulate(
      [&](Value codes) { return isInWindow(emit, window, codes); });
}

Value DequantizeScales::areExactOrZero() const {
  return accumulate([&](Value codes) {
    Value isZero = emit.sub(emit.integer(kHalfSigns), codes);
    return emit.bitOr(isInWindow(emit, window, codes), isZero);
  });
}

Value DequantizeScales::isInexact(const Step &step, Value rowWord,
                                  const Pairs &pairs) const {
  Value bits = pairs.front();
  for (Value pair : ArrayRef(pairs).drop_front())
    bits = emit.bitOr(bits, pair);
  Value isElement = emit.isDifferent(emit.bitAnd(bits, ~kHalfSigns), 0);
  Value isZero;
  for (unsigned block = 0; block != getNumBlocks(); ++block) {
    Value isZeroHere =
        emit.isEqual(getCode(step, block, rowWord, std::nullopt), 0);
    isZero = isZero ? emit.bitOr(isZero, isZeroHere) : isZeroHere;
  }
  return emit.bitAnd(isElement, isZero);
}
