//===- DriverFunctions.cpp - Functions of the driver ----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compilers call functions that the driver defines, such as the one for a
// failed assert. The table here has the supported ones by name.
//
// Source: PTX Writer's Guide to Interoperability, "System Calls".
//
//===----------------------------------------------------------------------===//

#include "Control/DriverFunctions.h"

#include "Machine/BlockGroup.h"
#include "Memory/MemoryOperands.h"

#include <cstring>

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

namespace {
/// A row of the table of functions.
struct DriverFunction {
  static constexpr size_t kMostArguments = 5;

  llvm::StringLiteral name;
  /// Bytes of each argument, and 0 behind the last one; bytes of the result.
  std::array<uint8_t, kMostArguments> arguments;
  uint8_t result;
  /// Carries out the call of a lane; false after a failure.
  bool (*execute)(const DriverCall &call);
  /// Bits of Facility.
  uint8_t facilities = 0;

  size_t getNumArguments() const {
    return llvm::find(arguments, 0) - arguments.begin();
  }
};

/// The offsets of arguments and result in the caller's local variables.
struct DriverForm {
  const DriverFunction *function;
  std::array<uint64_t, DriverFunction::kMostArguments> arguments;
  uint64_t result;
};
} // namespace

//===----------------------------------------------------------------------===//
// Arguments of a call
//===----------------------------------------------------------------------===//

uint8_t *DriverCall::getVariable(
    uint64_t offset, std::array<std::vector<uint8_t>, kLanes> &memory) const {
  return memory[lane].data() + warp.frames.back().localBase + offset;
}

std::optional<uint64_t> DriverCall::read(unsigned argument) const {
  const auto &form = step.getForm<DriverForm>();
  uint64_t offset = form.arguments[argument], value = 0;
  unsigned size = form.function->arguments[argument];
  const uint8_t *states = getVariable(offset, warp.localStates);
  if (std::any_of(states, states + size,
                  [](uint8_t state) { return (state & ByteUndefined) != 0; }))
    return warp.error(lane, "argument " + llvm::Twine(argument) + " of " +
                                form.function->name + " is undefined");
  std::memcpy(&value, getVariable(offset, warp.local), size);
  return value;
}

void DriverCall::giveResult(uint64_t value) const {
  const auto &form = step.getForm<DriverForm>();
  unsigned size = form.function->result;
  std::memcpy(getVariable(form.result, warp.local), &value, size);
  std::memset(getVariable(form.result, warp.localStates), 0, size);
}

std::optional<uint64_t> DriverCall::load(uint64_t address, unsigned size,
                                         const llvm::Twine &what) const {
  AddressSpace space = AddressSpace::Generic;
  Span span;
  if (!warp.resolve(lane, space, address, size, size, /*isStore=*/false,
                    span) ||
      !warp.checkReadable(lane, span, size))
    return std::nullopt;
  uint64_t value;
  uint8_t undefined;
  readBytes(span, size, value, undefined);
  if (undefined)
    return warp.error(lane, what + " is undefined");
  return value;
}

std::optional<std::string> DriverCall::readText(uint64_t address,
                                                size_t most) const {
  std::string text;
  while (text.size() != most) {
    std::optional<uint64_t> byte =
        load(address + text.size(), 1,
             "byte " + llvm::Twine(text.size()) + " of a text");
    if (!byte)
      return std::nullopt;
    if (*byte == 0)
      break;
    text.push_back(static_cast<char>(*byte));
  }
  return text;
}

//===----------------------------------------------------------------------===//
// The functions
//===----------------------------------------------------------------------===//

/// __assertfail(message, file, line, function, charSize)
static bool executeAssertFail(const DriverCall &call) {
  // Enough for a message.
  constexpr size_t kMostBytes = 4096;
  std::optional<uint64_t> messageAddress = call.read(0);
  if (!messageAddress)
    return false;
  std::optional<std::string> message =
      call.readText(*messageAddress, kMostBytes);
  std::optional<uint64_t> fileAddress = message ? call.read(1) : std::nullopt;
  if (!fileAddress)
    return false;
  std::optional<std::string> file = call.readText(*fileAddress, kMostBytes);
  std::optional<uint64_t> line = file ? call.read(2) : std::nullopt;
  if (line)
    call.warp.fail(call.lane, "assertion failed at " + llvm::Twine(*file) +
                                  ":" + llvm::Twine(*line) + ": " + *message);
  return false;
}

static bool executePrint(const DriverCall &call) {
  std::optional<uint64_t> format = call.read(0);
  std::optional<uint64_t> arguments = format ? call.read(1) : std::nullopt;
  std::optional<int> count =
      arguments ? print(call, *format, *arguments) : std::nullopt;
  if (count)
    call.giveResult(static_cast<uint32_t>(*count));
  return count.has_value();
}

static bool executeAllocate(const DriverCall &call) {
  std::optional<uint64_t> size = call.read(0);
  if (!size)
    return false;
  Heap &heap = *call.warp.block.launch.heap;
  if (heap.isSpent())
    return call.warp.error(
        call.lane, "not supported in this version: more than " +
                       llvm::Twine(Heap::kMostGiven) + " calls of malloc or " +
                       llvm::Twine(Heap::kMostAllocated) +
                       " bytes allocated by them in a run");
  call.giveResult(heap.allocate(*size));
  return true;
}

static bool executeFree(const DriverCall &call) {
  std::optional<uint64_t> address = call.read(0);
  if (!address)
    return false;
  if (*address == 0 || call.warp.block.launch.heap->release(*address))
    return true;
  return call.warp.error(call.lane,
                         "free expected an address that malloc has returned "
                         "and that was not freed, got " +
                             printHex(*address));
}

static constexpr DriverFunction driverFunctions[] = {
    {"__assertfail", {8, 8, 4, 8, 8}, 0, executeAssertFail},
    {"vprintf", {8, 8}, 4, executePrint},
    {"malloc", {8}, 8, executeAllocate, UsesGlobalSynchronization},
    {"free", {8}, 0, executeFree, UsesGlobalSynchronization},
};

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// One lane after the other.
static void executeDriverCall(Warp &warp, const Step &step) {
  const DriverFunction &function = *step.getForm<DriverForm>().function;
  warp.act();
  for (LaneMask lanes = warp.active; lanes; lanes &= lanes - 1)
    if (!function.execute(DriverCall(warp, step, __builtin_ctz(lanes))))
      return;
}

/// The offset of an argument or a result of so many bytes.
static std::optional<uint64_t>
findVariable(Translator &t, const PtxOperand &operand, uint64_t size) {
  std::optional<uint64_t> offset;
  if (operand.kind == PtxOperand::Kind::Variable)
    offset = t.getLocalOffset(operand.index);
  if (offset && t.program.module.variables[operand.index].size == size)
    return offset;
  return t.error(operand.location, "expected a variable of " +
                                       llvm::Twine(size) +
                                       " bytes in .param space");
}

static void translateCallOf(Translator &t, const DriverFunction &function,
                            llvm::ArrayRef<PtxOperand> arguments,
                            llvm::ArrayRef<PtxOperand> results) {
  if (arguments.size() != function.getNumArguments())
    return t.fail("expected " + llvm::Twine(function.getNumArguments()) +
                  " arguments of " + function.name + ", got " +
                  llvm::Twine(arguments.size()));
  size_t numResults = function.result != 0 ? 1 : 0;
  if (results.size() != numResults)
    return t.fail("expected " + llvm::Twine(numResults) + " results of " +
                  function.name + ", got " + llvm::Twine(results.size()));
  DriverForm form = {&function, {}, 0};
  for (size_t i = 0; i != arguments.size(); ++i) {
    std::optional<uint64_t> offset =
        findVariable(t, arguments[i], function.arguments[i]);
    if (!offset)
      return;
    form.arguments[i] = *offset;
  }
  if (numResults) {
    std::optional<uint64_t> offset =
        findVariable(t, results.front(), function.result);
    if (!offset)
      return;
    form.result = *offset;
  }
  t.code.facilities |= function.facilities;
  t.emit(executeDriverCall, StepClass::Control, {}, t.keep(form));
}

bool sim::translateDriverCall(Translator &t, const Function &function,
                              llvm::ArrayRef<PtxOperand> arguments,
                              llvm::ArrayRef<PtxOperand> results) {
  for (const DriverFunction &driver : driverFunctions) {
    if (driver.name != function.name)
      continue;
    translateCallOf(t, driver, arguments, results);
    return true;
  }
  return false;
}
