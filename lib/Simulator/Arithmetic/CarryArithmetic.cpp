//===- CarryArithmetic.cpp - The carry flag -------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// add.cc, addc, sub.cc, subc, mad.cc and madc, with a carry flag that is a
// predicate of the frame. Cards have one adder: a - b is a + ~b + 1, and sub.cc
// leaves the carry of that sum, which is 1 if nothing is borrowed. subc adds ~b
// and the flag, whichever instruction has set it. The ISA speaks of borrow-in
// and borrow-out. It does not say what happens when additions and subtractions
// follow each other, as they do in nvcc's division of 128-bit integers.
//
// Source: PTX ISA, section 9.7.2 "Extended-Precision Integer Arithmetic
// Instructions".
//
//===----------------------------------------------------------------------===//

#include "Arithmetic/ArithmeticInstructions.h"
#include "Translation/Emit.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

namespace {
enum class Product : uint8_t { None, Low, High };

/// Operands: the result and two sources, or three for mad.
struct CarryForm {
  Slot carry;
  bool isSub, takesCarry, givesCarry;
  Product product;
};
} // namespace

/// The low or high half of a product.
template <typename T>
static T multiply(T a, T b, Product product) {
  if (product == Product::Low)
    return static_cast<std::make_unsigned_t<T>>(a) *
           static_cast<std::make_unsigned_t<T>>(b);
  using Wide =
      std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>;
  return static_cast<Wide>(a) * b >> (8 * sizeof(T));
}

template <typename T>
static void executeCarry(Warp &warp, const Step &step) {
  using U = std::make_unsigned_t<T>;
  const auto &form = step.getForm<CarryForm>();
  bool isProduct = form.product != Product::None;
  Lanes &result = warp.reg(step.operands[0]);
  const Lanes &a = warp.reg(step.operands[1]), &b = warp.reg(step.operands[2]);
  const Lanes *c = isProduct ? &warp.reg(step.operands[3]) : nullptr;
  Predicate &carry = warp.pred(form.carry);
  forEachLane(warp.active, [&](unsigned lane) {
    uint8_t undefined = a.getUndefined(lane) | b.getUndefined(lane);
    U left = static_cast<U>(a.value[lane]),
      right = static_cast<U>(b.value[lane]);
    if (isProduct) {
      left = multiply<T>(left, right, form.product);
      right = static_cast<U>(c->value[lane]);
      if (undefined && form.product == Product::High)
        undefined = 0xFF;
      undefined |= c->getUndefined(lane);
    }
    if (form.isSub)
      right = ~right;
    bool carryIn = form.isSub;
    if (form.takesCarry) {
      carryIn = carry.value >> lane & 1;
      if (carry.undefined >> lane & 1)
        undefined = 0xFF;
    }
    // The carry out is above the sum.
    unsigned __int128 sum = left;
    sum += right;
    sum += carryIn;
    result.set(lane, static_cast<U>(sum),
               spreadUndefined(Spread::Upwards, undefined, sizeof(T)));
    if (form.givesCarry)
      setLane(carry, lane, sum >> (8 * sizeof(T)) & 1, undefined != 0);
  });
}

static Step::Execute selectCarry(Type type) {
  switch (type) {
  case Type::U32:
    return executeCarry<uint32_t>;
  case Type::S32:
    return executeCarry<int32_t>;
  case Type::U64:
    return executeCarry<uint64_t>;
  case Type::S64:
    return executeCarry<int64_t>;
  default:
    return nullptr;
  }
}

void sim::translateCarry(Translator &t, Modifiers &modifiers, Type type) {
  llvm::StringRef opcode = t.current->opcode;
  CarryForm form = {};
  form.takesCarry = opcode.ends_with("c");
  form.isSub = opcode.starts_with("sub");
  form.givesCarry = modifiers.take("cc");
  if (opcode.starts_with("mad")) {
    std::optional<unsigned> half = modifiers.takeOneOf({"lo", "hi"});
    if (!half)
      return t.fail("expected .lo or .hi behind " + opcode);
    form.product = *half ? Product::High : Product::Low;
  }
  Step::Execute execute = selectCarry(type);
  if (!execute)
    return failType(t, type, "u32, s32, u64 and s64 (with a carry)");
  llvm::SmallVector<Type, 3> sources(form.product == Product::None ? 2 : 3,
                                     type);
  Slots slots = takeOperands(t, modifiers, type, sources);
  form.carry = t.carryFlag();
  t.emit(execute, StepClass::Arithmetic, slots, t.keep(form));
}
