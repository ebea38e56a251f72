//===- CodeWords.cpp - Codes of neighbouring numbers ----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The conversions of chips round to nearest even and saturate, as the rules of
// quantize do; a block that has no number is masked behind them.
//
//===----------------------------------------------------------------------===//

#include "Quantize/CodeWords.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::blockscale;

CodeWords::CodeWords(OpBuilder &b, Location loc, const BlockFormat &format,
                     unsigned codeBits, const Chip &chip)
    : b(b), loc(loc), arithmetic(b, loc), format(format), codeBits(codeBits),
      isNative(getConversionPtx(chip, format.element).has_value()) {}

Value CodeWords::emitPair(Value low, Value high, const BlockFactor &factor) {
  if (!isNative) {
    Value first = arithmetic.emitCode(format, low, factor);
    Value second = arithmetic.emitCode(format, high, factor);
    second =
        arith::ShLIOp::create(b, loc, second, arithmetic.integer(codeBits));
    return arith::OrIOp::create(b, loc, first, second);
  }
  Value a = arithmetic.emitQuotient(format, high, factor);
  Value c = arithmetic.emitQuotient(format, low, factor);
  Type type = format.type;
  Value pair;
  switch (getFormatInfo(format.element).bits) {
  case 4:
    pair = NVVM::ConvertF32x2ToF4x2Op::create(b, loc, b.getI8Type(), a, c,
                                              false, type);
    break;
  case 6:
    pair = NVVM::ConvertF32x2ToF6x2Op::create(b, loc, b.getI16Type(), a, c,
                                              false, type);
    break;
  default:
    pair = NVVM::ConvertF32x2ToF8x2Op::create(
        b, loc, b.getI16Type(), a, c, NVVM::FPRoundingMode::RN,
        NVVM::SaturationMode::SATFINITE, false, type);
  }
  pair = arith::ExtUIOp::create(b, loc, b.getI32Type(), pair);
  constexpr unsigned kNibble = 4, kByte = 8;
  if (codeBits == kByte && getFormatInfo(format.element).bits == kNibble) {
    // Nibbles to bytes.
    Value moved = arith::OrIOp::create(
        b, loc, pair,
        arith::ShLIOp::create(b, loc, pair, arithmetic.integer(kNibble)));
    pair = arith::AndIOp::create(b, loc, moved, arithmetic.integer(0x0F0F));
  }
  return pair;
}

Value CodeWords::emit(ArrayRef<Value> numbers, const BlockFactor &factor) {
  constexpr unsigned kWordBits = 32;
  unsigned pairBits = 2 * codeBits;
  unsigned perWord = std::min<size_t>(kWordBits / pairBits, numbers.size() / 2);
  SmallVector<Value> words;
  for (unsigned i = 0; 2 * i != numbers.size(); ++i) {
    Value pair = emitPair(numbers[2 * i], numbers[2 * i + 1], factor);
    if (i % perWord == 0) {
      words.push_back(pair);
      continue;
    }
    pair = arith::ShLIOp::create(b, loc, pair,
                                 arithmetic.integer(i % perWord * pairBits));
    words.back() = arith::OrIOp::create(b, loc, words.back(), pair);
  }
  // Where codes are numbers of the chip's own, NaN is masked only here.
  if (isNative)
    for (Value &word : words)
      word = arith::SelectOp::create(b, loc, factor.isNaN,
                                     arithmetic.integer(0), word);
  if (perWord * pairBits != kWordBits)
    return arith::TruncIOp::create(b, loc, b.getIntegerType(perWord * pairBits),
                                   words.front());
  if (words.size() == 1)
    return words.front();
  return vector::FromElementsOp::create(
      b, loc,
      VectorType::get(static_cast<int64_t>(words.size()), b.getI32Type()),
      words);
}
