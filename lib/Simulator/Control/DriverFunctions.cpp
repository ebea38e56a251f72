//===- DriverFunctions.cpp - Functions that the driver has ----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compilers call functions that no PTX defines, such as that of a failed
// assert; those that can be met are known by name.
//
// Source: PTX Writer's Guide to Interoperability, "System Calls".
//
//===----------------------------------------------------------------------===//

#include "Control/DriverFunctions.h"

#include "Machine/Block.h"
#include "Translation/Translator.h"

#include <cstring>

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

/// The text at the generic address `address`, as far as a message needs it;
/// nothing after a failure.
static std::optional<std::string> readText(Warp &warp, unsigned lane,
                                           uint64_t address) {
  constexpr size_t kMostBytes = 4096;
  std::string text;
  while (text.size() != kMostBytes) {
    AddressSpace space = AddressSpace::Generic;
    uint64_t place = address + text.size();
    Span span;
    if (!warp.resolve(lane, space, place, 1, 1, /*isStore=*/false, span))
      return std::nullopt;
    if (*span.bytes == 0)
      break;
    text.push_back(static_cast<char>(*span.bytes));
  }
  return text;
}

namespace {
/// Where the arguments are in the caller's local variables.
struct AssertForm {
  uint64_t message, file, line;
};
} // namespace

/// __assertfail(message, file, line, function, charSize)
static void executeAssertFail(Warp &warp, const Step &step) {
  const auto &form = step.getForm<AssertForm>();
  unsigned lane = __builtin_ctz(warp.active);
  const Frame &frame = warp.frames.back();
  auto read = [&](uint64_t offset, auto number) {
    std::memcpy(&number, warp.local[lane].data() + frame.localBase + offset,
                sizeof(number));
    return number;
  };
  std::optional<std::string> message =
      readText(warp, lane, read(form.message, uint64_t()));
  if (!message)
    return;
  std::optional<std::string> file =
      readText(warp, lane, read(form.file, uint64_t()));
  if (file)
    warp.fail(lane, "assertion failed at " + llvm::Twine(*file) + ":" +
                        llvm::Twine(read(form.line, uint32_t())) + ": " +
                        *message);
}

static void translateAssertFail(Translator &t, const uint64_t *offsets) {
  t.emit(executeAssertFail, StepClass::Control, {},
         t.keep(AssertForm{offsets[0], offsets[1], offsets[2]}));
}

static constexpr struct {
  llvm::StringLiteral name;
  /// Bytes of each argument.
  std::array<uint64_t, 5> sizes;
  void (*translate)(Translator &t, const uint64_t *offsets);
} driverFunctions[] = {
    {"__assertfail", {8, 8, 4, 8, 8}, translateAssertFail},
};

bool sim::translateDriverCall(Translator &t, const Function &function,
                              llvm::ArrayRef<PtxOperand> arguments) {
  for (const auto &driver : driverFunctions) {
    if (driver.name != function.name)
      continue;
    if (arguments.size() != driver.sizes.size()) {
      t.fail("expected " + llvm::Twine(driver.sizes.size()) + " arguments of " +
             driver.name + ", got " + llvm::Twine(arguments.size()));
      return true;
    }
    std::array<uint64_t, 5> offsets;
    for (auto [operand, size, offset] :
         llvm::zip_equal(arguments, driver.sizes, offsets)) {
      std::optional<uint64_t> place;
      if (operand.kind == PtxOperand::Kind::Variable)
        place = t.getLocalOffset(operand.index);
      if (!place || t.program.module.variables[operand.index].size != size) {
        t.fail(operand.location, "expected a variable of " + llvm::Twine(size) +
                                     " bytes in .param space");
        return true;
      }
      offset = *place;
    }
    driver.translate(t, offsets.data());
    return true;
  }
  return false;
}
