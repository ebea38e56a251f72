//===- NumberTests.cpp - testp --------------------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// testp tests a property of a floating-point value, such as whether it is
// finite.
//
// Source: PTX ISA, section 9.7.3.1 "testp".
//
//===----------------------------------------------------------------------===//

#include "Arithmetic/ArithmeticInstructions.h"
#include "Arithmetic/FloatFormats.h"
#include "Translation/Emit.h"

#include <cmath>

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

namespace {
struct TestRow {
  llvm::StringRef name;
  bool (*holds)(double value, bool isSubnormal);
};

struct TestForm {
  const TestRow *row;
  bool isDouble;
};
} // namespace

static const TestRow kTests[] = {
    {"finite", [](double x, bool) { return std::isfinite(x); }},
    {"infinite", [](double x, bool) { return std::isinf(x); }},
    {"number", [](double x, bool) { return !std::isnan(x); }},
    {"notanumber", [](double x, bool) { return std::isnan(x); }},
    {"normal",
     [](double x, bool isSubnormal) {
       // Zeros are normal.
       return std::isfinite(x) && !isSubnormal;
     }},
    {"subnormal", [](double, bool isSubnormal) { return isSubnormal; }},
};

static void executeTest(Warp &warp, const Step &step) {
  const auto &form = step.getForm<TestForm>();
  const FloatFormat &format = form.isDouble ? kF64 : kF32;
  Predicate &to = warp.pred(step.operands[0]);
  const Lanes &from = warp.reg(step.operands[1]);
  forEachLane(warp.active, [&](unsigned lane) {
    uint64_t bits = from.value[lane];
    bool isSubnormal = flushSubnormal(bits, format) != bits;
    double value = form.isDouble ? llvm::bit_cast<double>(bits)
                                 : toDouble(bits & 0xFFFFFFFF, kF32);
    setLane(to, lane, form.row->holds(value, isSubnormal),
            from.isUndefined(lane));
  });
}

void sim::translateTest(Translator &t, Modifiers &modifiers) {
  const TestRow *row = modifiers.takeRow(kTests);
  if (!row)
    return t.fail("expected a property such as .finite behind testp");
  std::optional<Type> type = modifiers.takeType();
  if (type != Type::F32 && type != Type::F64)
    return t.fail("expected .f32 or .f64 behind testp");
  t.emit(executeTest, StepClass::Arithmetic,
         takeOperands(t, modifiers, Type::Pred, {*type}),
         t.keep(TestForm{row, type == Type::F64}));
}
