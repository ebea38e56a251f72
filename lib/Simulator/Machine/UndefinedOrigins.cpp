//===- UndefinedOrigins.cpp - Where undefined values come from ------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The simulator does not track the origins of values while a kernel runs.
// Compilers write most registers in one place, so the origin is found
// afterwards: from the register to the step that writes it, to an undefined
// source of that step, and so on.
//
//===----------------------------------------------------------------------===//

#include "Machine/SpecialRegisters.h"
#include "Machine/Warp.h"

#include "llvm/ADT/STLExtras.h"

#include <set>

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

namespace {
/// A register or a predicate.
struct Place {
  Slot slot;
  bool isPredicate;

  bool operator<(const Place &other) const {
    return std::pair(slot, isPredicate) <
           std::pair(other.slot, other.isPredicate);
  }
  bool operator==(const Place &other) const {
    return slot == other.slot && isPredicate == other.isPredicate;
  }
};
} // namespace

static bool isResult(const Step &step, size_t operand) {
  return operand >= step.firstResult &&
         operand < size_t(step.firstResult) + step.numResults;
}

static Place getPlace(const Step &step, size_t operand) {
  return {step.operands[operand],
          operand < 32 && (step.predicates >> operand & 1) != 0};
}

static bool isUndefined(const Frame &frame, const Place &place, unsigned lane) {
  if (place.isPredicate)
    return place.slot < frame.predicates.size() &&
           (frame.predicates[place.slot].undefined >> lane & 1) != 0;
  return place.slot < frame.registers.size() &&
         (frame.registers[place.slot].undefinedLanes >> lane & 1) != 0;
}

static llvm::StringRef getPlaceName(const Code &code, const Place &place) {
  const auto &names =
      place.isPredicate ? code.predicateNames : code.registerNames;
  return place.slot < names.size() ? names[place.slot] : llvm::StringRef();
}

/// The steps that write to a register or predicate.
static std::vector<const Step *> findWriters(const Code &code,
                                             const Place &place) {
  std::vector<const Step *> writers;
  for (const Step &step : code.steps)
    for (size_t i = 0; i != step.operands.size(); ++i)
      if (isResult(step, i) && getPlace(step, i) == place) {
        writers.push_back(&step);
        break;
      }
  return writers;
}

std::string Warp::describeOrigin(Slot slot, bool isPredicate,
                                 unsigned lane) const {
  const Frame &frame = frames.back();
  const Code &code = *frame.code;
  Place place = {slot, isPredicate};
  std::set<Place> seen;
  std::string first = getPlaceName(code, place).str();
  std::string text = first.empty() ? "" : ": " + first;
  while (seen.insert(place).second) {
    std::vector<const Step *> writers = findWriters(code, place);
    std::string name = getPlaceName(code, place).str();
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
    std::optional<Place> source;
    for (const Step *writer : writers) {
      if (writer->kind == StepClass::Memory && writer->firstResult != 0)
        loads = writer;
      for (size_t i = 0; i != writer->operands.size() && !source; ++i)
        if (!isResult(*writer, i) && writer->operands[i] != kNoSlot &&
            isUndefined(frame, getPlace(*writer, i), lane) &&
            !seen.count(getPlace(*writer, i)) &&
            !getPlaceName(code, getPlace(*writer, i)).empty())
          source = getPlace(*writer, i);
    }
    if (source) {
      place = *source;
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
