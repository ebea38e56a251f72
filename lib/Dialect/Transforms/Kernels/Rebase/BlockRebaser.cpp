//===- BlockRebaser.cpp - Elements of a block as fp8 ----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// f16 has all values of fp8, so elements are converted to pairs of f16,
// multiplied by a power of two, and converted back, which rounds to nearest
// even. A product that is below normal f16 is rounded twice, but never to
// another element: fp8 has at most 4 bits, and what is no tie is too far from
// one.
//
// Packed fp4 has eight magnitudes. These are rebased instead of elements, and
// make a table.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Rebase/BlockRebaser.h"

#include "Kernels/Gemm/Mainloop/Multistage/WidenToE4M3.h"
#include "blockscale/Dialect/IR/Rebase.h"
#include "blockscale/Dialect/IR/ScaleRules.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::blockscale;

/// `value` in each byte.
static constexpr uint32_t inBytes(uint32_t value) { return value * 0x01010101; }

static constexpr uint32_t kSign = 0x80;
static constexpr unsigned kByteBits = 8, kHalfBits = 16;
/// The smallest power of two of f16.
static constexpr int kSmallestF16 = -24;

BlockRebaser::BlockRebaser(OpBuilder &b, Location loc, Format format)
    : b(b), loc(loc), emit(b, loc), format(format),
      rebasedFormat(getRebasedFormat(format)) {}

SmallVector<Value> BlockRebaser::unpack(ArrayRef<Value> words, unsigned bits) {
  constexpr unsigned kBitsOf6 = 6, kWordBits = 32;
  if (bits != kBitsOf6)
    return SmallVector<Value>(words);
  // Four elements are 24 bits, in one word or in two.
  constexpr unsigned kFour = 24;
  constexpr uint32_t kCode = 0x3F;
  SmallVector<Value> result;
  for (unsigned first = 0; first != words.size() * kWordBits; first += kFour) {
    unsigned shift = first % kWordBits, at = first / kWordBits;
    Value four = shift ? emit.shiftRight(words[at], shift) : words[at];
    if (shift + kFour > kWordBits)
      four = emit.bitOr(four, emit.shiftLeft(words[at + 1], kWordBits - shift));
    Value spread = emit.bitAnd(four, kCode);
    for (unsigned i = 1; i != 4; ++i)
      spread = emit.bitOr(
          spread, emit.bitAnd(emit.shiftLeft(four, (kByteBits - kBitsOf6) * i),
                              kCode << kByteBits * i));
    result.push_back(spread);
  }
  return result;
}

SmallVector<Value> BlockRebaser::makePowers(Value difference) {
  constexpr unsigned kF32Bias = 127;
  int underflow = getRebaseUnderflow(format);
  Value rest = emit.maxS(
      emit.add(difference, static_cast<uint32_t>(getRebaseShift(format))),
      static_cast<uint32_t>(underflow));
  SmallVector<Value> powers;
  for (int covered = 0; covered > underflow; covered += kSmallestF16) {
    Value exponent = rest;
    if (underflow < kSmallestF16) {
      exponent = emit.maxS(rest, static_cast<uint32_t>(kSmallestF16));
      rest = emit.sub(rest, exponent);
    }
    Value wide = emit.fromBits(
        emit.shiftLeft(emit.add(exponent, kF32Bias), kF32MantissaBits));
    Value power = arith::TruncFOp::create(b, loc, b.getF16Type(), wide);
    powers.push_back(vector::BroadcastOp::create(
        b, loc, VectorType::get(2, b.getF16Type()), power));
  }
  return powers;
}

Value BlockRebaser::multiply(Value word, ArrayRef<Value> powers) {
  Type type = getRebasedType(b.getContext(), format);
  auto bytes = VectorType::get(2, b.getI8Type());
  auto pair = VectorType::get(2, b.getF16Type());
  SmallVector<Value> halves;
  for (unsigned shift : {0u, kHalfBits}) {
    Value half =
        emit.narrow(shift ? emit.shiftRight(word, shift) : word, kHalfBits);
    half = LLVM::BitcastOp::create(b, loc, bytes, half);
    Value values = NVVM::ConvertF8x2ToF16x2Op::create(b, loc, pair, half,
                                                      /*relu=*/false, type);
    for (Value power : powers)
      values = arith::MulFOp::create(b, loc, values, power);
    Value result = NVVM::ConvertF16x2ToF8x2Op::create(
        b, loc, b.getI16Type(), values, /*relu=*/false, type);
    halves.push_back(emit.widen(result));
  }
  return emit.bitOr(halves[0], emit.shiftLeft(halves[1], kHalfBits));
}

Value BlockRebaser::keepSpecials(Value original, Value word) {
  uint32_t special = getFirstSpecial(format);
  if (special > getFormatInfo(format).magnitudeMask())
    return word;
  // The addition carries to the sign of each byte that is one.
  Value magnitude = emit.bitAnd(original, inBytes(kSign - 1));
  Value carried = emit.bitAnd(emit.add(magnitude, inBytes(kSign - special)),
                              inBytes(kSign));
  Value mask = emit.mul(emit.shiftRight(carried, kByteBits - 1), 0xFF);
  return emit.bitOr(emit.bitAnd(original, mask),
                    emit.bitAnd(word, emit.bitXor(mask, ~0u)));
}

/// Bit 3 of each nibble of `word` as the sign of bytes, in two words.
static std::array<Value, 2> spreadSigns(const WordEmitter &emit, Value word) {
  constexpr uint32_t kNibble = 4, kFirst = 0x5140, kSecond = 0x7362;
  Value odd = emit.bitAnd(word, inBytes(kSign));
  Value even = emit.bitAnd(emit.shiftLeft(word, kNibble), inBytes(kSign));
  return {emit.permute(even, odd, emit.integer(kFirst)),
          emit.permute(even, odd, emit.integer(kSecond))};
}

SmallVector<Value> BlockRebaser::rebase(ArrayRef<Value> words, bool arePacked,
                                        Value difference) {
  SmallVector<Value> powers = makePowers(difference);
  SmallVector<Value> results;
  if (!arePacked) {
    for (Value word : words) {
      Value wide =
          format == rebasedFormat ? word : emitWiden(b, loc, word, format);
      results.push_back(keepSpecials(word, multiply(wide, powers)));
    }
    return results;
  }
  constexpr uint32_t kMagnitudes = 0x77777777;
  std::array<Value, 2> table;
  for (auto [i, codes] : llvm::enumerate(ArrayRef{0x03020100u, 0x07060504u}))
    table[i] = multiply(emitWiden(b, loc, emit.integer(codes), format), powers);
  for (Value word : words) {
    Value selector = emit.bitAnd(word, kMagnitudes);
    for (auto [i, sign] : llvm::enumerate(spreadSigns(emit, word)))
      results.push_back(emit.bitOr(
          emit.permute(table[0], table[1],
                       i ? emit.shiftRight(selector, kHalfBits) : selector),
          sign));
  }
  return results;
}
