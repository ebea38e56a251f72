//===- Decode.cpp - Exact decoding of codes -------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Decodes all formats to f64 or f32 by arithmetic on these types and on
// integers, which hosts and GPUs have, unlike the formats.
//
//===----------------------------------------------------------------------===//

#include "Reference/BitsEmitter.h"
#include "blockscale/Dialect/Transforms/Transforms.h"

#include <cmath>

using namespace mlir;
using namespace mlir::blockscale;

Value blockscale::emitDecode(OpBuilder &builder, Location loc, Value code,
                             Format format, FloatType type) {
  const FormatInfo &info = getFormatInfo(format);
  BitsEmitter emit(builder, loc, code.getType(),
                   type ? type : builder.getF64Type());
  unsigned mantissaShift = emit.mantissaBits() - info.mantissaBits;
  uint64_t firstNormal = uint64_t(1) << info.mantissaBits;

  Value wide = emit.widen(code);
  Value magnitude = emit.bitAnd(wide, info.magnitudeMask());

  // Normal values: the fields move up, and the bias of the exponent changes.
  Value moved = emit.shiftLeft(magnitude, mantissaShift);
  Value value = emit.fromBits(
      emit.add(moved, static_cast<uint64_t>(emit.bias() - info.bias)
                          << emit.mantissaBits()));

  // Subnormals: the mantissa as an integer, times a power. (Subnormals of the
  // result type do not occur, so a caller's flush-to-zero mode does no harm.)
  if (info.hasSubnormals) {
    Value mantissa = arith::UIToFPOp::create(
        builder, loc, emit.withShape(emit.type), magnitude);
    int exponent = 1 - info.bias - static_cast<int>(info.mantissaBits);
    Value subnormal = emit.mul(mantissa, std::ldexp(1.0, exponent));
    value =
        emit.select(emit.is(arith::CmpIPredicate::ult, magnitude, firstNormal),
                    subnormal, value);
  }

  switch (info.special) {
  case SpecialCodes::None:
    break;
  case SpecialCodes::AllOnesNaN: {
    Value isNaN =
        emit.is(arith::CmpIPredicate::eq, magnitude, info.magnitudeMask());
    value = emit.select(isNaN, emit.number(std::nan("")), value);
    break;
  }
  case SpecialCodes::Ieee: {
    // The mantissa moves, too: 0 stays infinity, other mantissas stay NaN.
    uint64_t firstSpecial = info.magnitudeMask() + 1 - firstNormal;
    Value special = emit.fromBits(emit.bitOr(moved, emit.infinity()));
    value =
        emit.select(emit.is(arith::CmpIPredicate::uge, magnitude, firstSpecial),
                    special, value);
    break;
  }
  }

  if (info.signBits == 0)
    return value;
  Value isNegative =
      emit.is(arith::CmpIPredicate::ne,
              emit.bitAnd(wide, uint64_t(1) << (info.bits - 1)), 0);
  return emit.select(isNegative, emit.neg(value), value);
}
