//===- Tcgen05Instructions.cpp - Instructions of tensor memory ------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The table of the tcgen05 instructions. Target, version and .cta_group are
// checked here for all of them.
//
//===----------------------------------------------------------------------===//

#include "Tcgen05/Tcgen05Instructions.h"

#include "Machine/BlockGroup.h"
#include "Ptx/Targets.h"
#include "Translation/OpcodeTable.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

unsigned sim::takeNumBlocks(Translator &t, Modifiers &modifiers) {
  static constexpr llvm::StringRef names[] = {"cta_group::1", "cta_group::2"};
  // PTX ISA, section 9.7.16.5 "CTA pair".
  unsigned &before = t.code.tensorBlocks;
  std::optional<unsigned> row = modifiers.takeOneOf(names);
  if (!row)
    t.fail("expected .cta_group::1 or .cta_group::2 behind tcgen05." +
           t.current->modifiers.front());
  else if (before != 0 && before != *row + 1)
    t.fail("expected ." + names[before - 1] +
           ", as other instructions of the function have, got ." + names[*row]);
  return before = row.value_or(0) + 1;
}

Slot sim::takeTensorAddress(Translator &t, const PtxOperand &operand,
                            int64_t &offset) {
  bool isRegister =
      operand.kind == PtxOperand::Kind::Address &&
      operand.elements.size() == 1 &&
      operand.elements.front().kind == PtxOperand::Kind::Register &&
      getBits(t.function.registers[operand.elements.front().index].type) == 32;
  if (!isRegister)
    t.fail(operand.location, "expected an address in tensor memory: a register "
                             "of 32 bits in brackets, and an offset");
  return t.addressIn(AddressSpace::Generic, operand, offset);
}

static void translateTensor(Translator &t, Modifiers &modifiers) {
  static constexpr struct {
    llvm::StringRef name;
    void (*translate)(Translator &t, Modifiers &modifiers);
  } rows[] = {
      {"alloc", translateTcgen05Alloc},
      {"dealloc", translateTcgen05Dealloc},
      {"relinquish_alloc_permit", translateTcgen05Relinquish},
      {"ld", translateTcgen05Move},
      {"st", translateTcgen05Move},
      {"wait::ld", translateTcgen05Wait},
      {"wait::st", translateTcgen05Wait},
      {"fence::before_thread_sync", translateTcgen05Fence},
      {"fence::after_thread_sync", translateTcgen05Fence},
      {"cp", translateTensorCopy},
      {"shift", translateTcgen05Shift},
      {"commit", translateTcgen05Commit},
      {"mma", translateTcgen05Mma},
  };
  for (const auto &row : rows) {
    if (modifiers.rest().empty() || modifiers.rest().front() != row.name)
      continue;
    const Module &module = t.program.module;
    if (!hasFeature(module.target, Feature::Tcgen05))
      return t.fail("expected a target that has tcgen05." +
                    llvm::Twine(row.name) + ", got " + module.target);
    constexpr unsigned lowestMajor = 8, lowestMinor = 6;
    if (std::pair(module.versionMajor, module.versionMinor) <
        std::pair(lowestMajor, lowestMinor))
      return t.fail("expected PTX version 8.6 or above for tcgen05, got " +
                    llvm::Twine(module.versionMajor) + "." +
                    llvm::Twine(module.versionMinor));
    t.code.facilities |= UsesTensorMemory | UsesAsyncProxy;
    // wait and fence take out their own modifiers.
    if (!row.name.contains("::"))
      modifiers.take(row.name);
    return row.translate(t, modifiers);
  }
  t.fail("expected an instruction of tcgen05, such as tcgen05.mma");
}

void sim::addTensorInstructions(OpcodeTable &table) {
  table["tcgen05"] = translateTensor;
}
