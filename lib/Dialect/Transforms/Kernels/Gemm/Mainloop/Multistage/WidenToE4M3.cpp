//===- WidenToE4M3.cpp - fp6 and fp4 as e4m3 ------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Elements with an exponent get the other bias and mantissa width by a shift
// and an addition, for all four bytes of a u32 at once. Formats without one
// have few values, which come from a table of at most eight bytes.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Gemm/Mainloop/Multistage/WidenToE4M3.h"

#include "Utils/ArithEmitter.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::blockscale;

/// `value` in each byte.
static constexpr uint32_t inBytes(uint32_t value) { return value * 0x01010101; }

/// The e4m3 code with the value of `code` of `format`.
static uint32_t getWide(uint32_t code, Format format) {
  double value = decode(format, code);
  uint32_t wide = 0;
  while (decode(Format::E4M3, wide) != value)
    ++wide;
  return wide;
}

/// Packs the low nibbles of all bytes.
static Value joinNibbles(const ArithEmitter &emit, Value bytes) {
  constexpr uint32_t kPairs = 0x00FF00FF, kNibble = 4, kByte = 8;
  Value pairs = emit.bitOr(bytes, emit.shiftRight(bytes, kNibble));
  pairs = emit.bitAnd(pairs, kPairs);
  return emit.bitOr(pairs, emit.shiftRight(pairs, kByte));
}

Value blockscale::emitWiden(OpBuilder &b, Location loc, Value word,
                            Format format) {
  constexpr uint32_t kByte = 8, kSign = 0x80, kTable = 8;
  const FormatInfo &narrow = getFormatInfo(format);
  const FormatInfo &wide = getFormatInfo(Format::E4M3);
  ArithEmitter emit(b, loc);
  Value sign =
      emit.bitAnd(emit.shiftLeft(word, kByte - narrow.bits), inBytes(kSign));
  Value magnitude = emit.bitAnd(word, inBytes((1u << (narrow.bits - 1)) - 1));

  // Up to eight codes, by the low three bits of each.
  uint64_t table = 0;
  for (uint32_t code = 0; code != kTable; ++code)
    table |= uint64_t(getWide(code, format)) << (kByte * code);
  Value low = emit.integer(static_cast<uint32_t>(table));
  Value high = emit.integer(static_cast<uint32_t>(table >> (4 * kByte)));
  Value selector =
      joinNibbles(emit, emit.bitAnd(magnitude, inBytes(kTable - 1)));
  Value looked = NVVM::PermuteOp::create(
      b, loc, b.getI32Type(), low, high, selector,
      NVVM::PermuteModeAttr::get(b.getContext(), NVVM::PermuteMode::DEFAULT));
  if ((1u << (narrow.bits - 1)) <= kTable)
    return emit.bitOr(sign, looked);

  Value shifted =
      emit.shiftLeft(magnitude, wide.mantissaBits - narrow.mantissaBits);
  uint32_t bias = static_cast<uint32_t>(wide.bias - narrow.bias)
                  << wide.mantissaBits;
  Value normal = emit.add(shifted, inBytes(bias));
  // All ones in each byte whose index is beyond the table: the addition carries
  // to the sign.
  Value carried = emit.add(magnitude, inBytes(kSign - kTable));
  Value ones = emit.shiftRight(emit.bitAnd(carried, inBytes(kSign)), 7);
  ones = emit.mul(ones, 0xFF);
  Value inverse = emit.bitXor(ones, ~0u);
  normal = emit.bitAnd(normal, ones);
  looked = emit.bitAnd(looked, inverse);
  return emit.bitOr(sign, emit.bitOr(normal, looked));
}
