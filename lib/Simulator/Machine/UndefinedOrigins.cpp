//===- UndefinedOrigins.cpp - Origins of undefined values -----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The simulator does not track the origins of values while a kernel runs.
// Compilers write most registers in a single step, so the origin is found
// afterwards: from the register to the step that writes it, to an undefined
// source of that step, and so on.
//
//===----------------------------------------------------------------------===//

#include "Machine/SpecialRegisters.h"
#include "Machine/Warp.h"

#include <set>

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

namespace {
/// A register or a predicate.
struct RegisterId {
  Slot slot;
  bool isPredicate;

  bool operator<(const RegisterId &other) const {
    return std::pair(slot, isPredicate) <
           std::pair(other.slot, other.isPredicate);
  }
  bool operator==(const RegisterId &other) const {
    return slot == other.slot && isPredicate == other.isPredicate;
  }
};
} // namespace

static bool isResult(const Step &step, size_t operand) {
  return operand >= step.firstResult &&
         operand < size_t(step.firstResult) + step.numResults;
}

static RegisterId getRegister(const Step &step, size_t operand) {
  return {step.operands[operand],
          operand < 32 && (step.predicates >> operand & 1) != 0};
}

static bool isUndefined(const Frame &frame, const RegisterId &reg,
                        unsigned lane) {
  if (reg.isPredicate)
    return reg.slot < frame.predicates.size() &&
           (frame.predicates[reg.slot].undefined >> lane & 1) != 0;
  return reg.slot < frame.registers.size() &&
         (frame.registers[reg.slot].undefinedLanes >> lane & 1) != 0;
}

static llvm::StringRef getRegisterName(const Code &code,
                                       const RegisterId &reg) {
  const auto &names =
      reg.isPredicate ? code.predicateNames : code.registerNames;
  return reg.slot < names.size() ? names[reg.slot] : llvm::StringRef();
}

/// The steps that write to a register or predicate.
static std::vector<const Step *> findWriters(const Code &code,
                                             const RegisterId &reg) {
  std::vector<const Step *> writers;
  for (const Step &step : code.steps)
    for (size_t i = 0; i != step.operands.size(); ++i)
      if (isResult(step, i) && getRegister(step, i) == reg) {
        writers.push_back(&step);
        break;
      }
  return writers;
}

std::string Warp::describeOrigin(Slot slot, bool isPredicate,
                                 unsigned lane) const {
  const Frame &frame = frames.back();
  const Code &code = *frame.code;
  RegisterId reg = {slot, isPredicate};
  std::set<RegisterId> seen;
  std::string first = getRegisterName(code, reg).str();
  std::string text = first.empty() ? "" : ": " + first;
  while (seen.insert(reg).second) {
    std::vector<const Step *> writers = findWriters(code, reg);
    std::string name = getRegisterName(code, reg).str();
    if (name.empty())
      return "";
    if (name != first)
      text = ": " + first + " is computed from " + name + ", which";
    if (lookupSpecialRegister(name))
      return text + " is undefined in the simulator";
    if (writers.empty())
      return text + " is never given a value";
    // If there are several writers, prefer the first one with an undefined
    // source, else one that loads.
    const Step *loads = nullptr;
    std::optional<RegisterId> source;
    for (const Step *writer : writers) {
      if (writer->kind == StepClass::Memory && writer->firstResult != 0)
        loads = writer;
      for (size_t i = 0; i != writer->operands.size() && !source; ++i)
        if (!isResult(*writer, i) && writer->operands[i] != kNoSlot &&
            isUndefined(frame, getRegister(*writer, i), lane) &&
            !seen.count(getRegister(*writer, i)) &&
            !getRegisterName(code, getRegister(*writer, i)).empty())
          source = getRegister(*writer, i);
    }
    if (source) {
      reg = *source;
      continue;
    }
    std::string line = std::to_string((loads ? loads : writers[0])->line);
    if (loads)
      return text + " comes from the load in line " + line +
             ", of bytes that nothing has written";
    return text + " is given a value in line " + line +
           (writers.size() == 1 ? "" : " or another one") +
           ", which has not been executed or computed it from undefined values";
  }
  return "";
}
