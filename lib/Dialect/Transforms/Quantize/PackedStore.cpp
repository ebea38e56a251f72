//===- PackedStore.cpp - Packing of neighbours ----------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Conversion instructions round to nearest even and saturate, like the rules of
// quantize. A block with NaN or infinity is masked after them.
//
//===----------------------------------------------------------------------===//

#include "Quantize/PackedStore.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::blockscale;

PackedStore::PackedStore(OpBuilder &b, Location loc, const BlockFormat &format,
                         unsigned codeBits, const Chip &chip)
    : b(b), loc(loc), arithmetic(b, loc), format(format), codeBits(codeBits),
      isNative(getConversionPtx(chip, format.element).has_value()) {}

Value PackedStore::emitPair(Value low, Value high) {
  if (!isNative) {
    Value first = arithmetic.encode(format.element, low);
    Value second = arithmetic.encode(format.element, high);
    second = arithmetic.shiftLeft(second, codeBits);
    return arithmetic.bitOr(first, second);
  }
  Type type = format.type;
  Value pair;
  switch (getFormatInfo(format.element).bits) {
  case 4:
    pair = NVVM::ConvertF32x2ToF4x2Op::create(b, loc, b.getI8Type(), high, low,
                                              false, type);
    break;
  case 6:
    pair = NVVM::ConvertF32x2ToF6x2Op::create(b, loc, b.getI16Type(), high, low,
                                              false, type);
    break;
  default:
    pair = NVVM::ConvertF32x2ToF8x2Op::create(
        b, loc, b.getI16Type(), high, low, NVVM::FPRoundingMode::RN,
        NVVM::SaturationMode::SATFINITE, false, type);
  }
  pair = arith::ExtUIOp::create(b, loc, b.getI32Type(), pair);
  constexpr unsigned kNibble = 4, kByte = 8;
  if (codeBits == kByte && getFormatInfo(format.element).bits == kNibble) {
    // Nibbles to bytes.
    Value moved = arithmetic.bitOr(pair, arithmetic.shiftLeft(pair, kNibble));
    pair = arithmetic.bitAnd(moved, 0x0F0F);
  }
  return pair;
}

Value PackedStore::join(ArrayRef<Value> quotients, const BlockFactor &factor) {
  constexpr unsigned kWordBits = 32;
  unsigned pairBits = 2 * codeBits;
  unsigned perWord =
      std::min<size_t>(kWordBits / pairBits, quotients.size() / 2);
  SmallVector<Value> words;
  for (unsigned i = 0; 2 * i != quotients.size(); ++i) {
    Value pair = emitPair(quotients[2 * i], quotients[2 * i + 1]);
    if (i % perWord == 0) {
      words.push_back(pair);
      continue;
    }
    pair = arithmetic.shiftLeft(pair, i % perWord * pairBits);
    words.back() = arithmetic.bitOr(words.back(), pair);
  }
  for (Value &word : words)
    word = arithmetic.select(factor.isNaN, arithmetic.integer(0), word);
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

Value PackedStore::emitBy(bool byReciprocal, ArrayRef<Value> values,
                          const BlockFactor &factor) {
  SmallVector<Value> quotients = llvm::map_to_vector(values, [&](Value value) {
    return byReciprocal ? arithmetic.emitQuotientByReciprocal(value, factor)
                        : arithmetic.emitQuotient(format, value, factor);
  });
  return join(quotients, factor);
}

Value PackedStore::emit(ArrayRef<Value> values, const BlockFactor &factor) {
  if (!factor.allowsReciprocal)
    return emitBy(factor.reciprocal != nullptr, values, factor);
  auto getBranch = [&](bool byReciprocal) {
    return [&, byReciprocal](OpBuilder &, Location) {
      scf::YieldOp::create(b, loc, emitBy(byReciprocal, values, factor));
    };
  };
  return scf::IfOp::create(b, loc, factor.allowsReciprocal, getBranch(true),
                           getBranch(false))
      .getResult(0);
}
