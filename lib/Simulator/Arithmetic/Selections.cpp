//===- Selections.cpp - slct ----------------------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// slct picks one of two values by the sign of a third one.
//
// Source: PTX ISA, section 9.7.6.4 "slct".
//
//===----------------------------------------------------------------------===//

#include "Arithmetic/ArithmeticInstructions.h"
#include "Arithmetic/Relations.h"
#include "Translation/Emit.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

namespace {
/// Operands: the destination, two values, and the value whose sign decides.
template <typename T>
struct SelectBySign : Operation<T, 3> {
  using Base = Operation<T, 3>;
  bool isFloat = false, isFlushing = false;

  SelectBySign(Base, bool isFloat, bool isFlushing)
      : isFloat(isFloat), isFlushing(isFlushing) {}

  uint64_t operator()(uint64_t a, uint64_t b, uint64_t c) const {
    return picksFirst(c) ? a : b;
  }
  uint8_t getUndefined(const typename Base::Sources &values,
                       const typename Base::UndefinedBytes &undefined) const {
    uint8_t all = llvm::maskTrailingOnes<uint8_t>(sizeof(T));
    if (undefined[2] & 0xF)
      return all;
    return undefined[picksFirst(values[2]) ? 0 : 1] & all;
  }

private:
  /// -0 is not below 0, and a NaN picks the second.
  bool picksFirst(uint64_t c) const {
    if (!isFloat)
      return static_cast<int32_t>(c) >= 0;
    return Single{isFlushing}.read(c) >= 0;
  }
};
} // namespace

void sim::translateSelectBySign(Translator &t, Modifiers &modifiers) {
  std::optional<Type> type = modifiers.takeType(), by = modifiers.takeType();
  if (!type || (by != Type::S32 && by != Type::F32))
    return t.fail("expected a type, and .s32 or .f32, behind slct");
  bool isFloat = by == Type::F32;
  bool isFlushing = isFloat && modifiers.take("ftz");
  Slots slots = takeOperands(t, modifiers, *type, {*type, *type, *by});
  switch (getBits(*type)) {
  case 16:
    return emitOperation(t, slots,
                         SelectBySign<uint16_t>({}, isFloat, isFlushing));
  case 32:
    return emitOperation(t, slots,
                         SelectBySign<uint32_t>({}, isFloat, isFlushing));
  case 64:
    return emitOperation(t, slots,
                         SelectBySign<uint64_t>({}, isFloat, isFlushing));
  default:
    return failType(t, *type, "16, 32 and 64 bits");
  }
}
