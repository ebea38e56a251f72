//===- Uses.cpp - Functions and variables of kernels ----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Finds what a kernel can reach: that determines its shared memory and its
// errors.
//
//===----------------------------------------------------------------------===//

#include "Translation/Uses.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

struct UseFinder::Search {
  Uses uses;
  /// The variables whose initializers have been visited.
  llvm::BitVector variables;
  std::vector<Index> worklist;

  void addFunction(Index function) {
    if (uses.functions.test(function))
      return;
    uses.functions.set(function);
    worklist.push_back(function);
  }
};

/// Notes a variable, and the variables and functions whose addresses are in its
/// initializer.
void UseFinder::noteRelocations(Index variable, Search &search) const {
  std::vector<Index> worklist = {variable};
  while (!worklist.empty()) {
    Index next = worklist.back();
    worklist.pop_back();
    if (search.variables.test(next))
      continue;
    search.variables.set(next);
    if (module.variables[next].space == Space::Shared)
      search.uses.sharedVariables.set(next);
    for (const Relocation &relocation : module.variables[next].relocations)
      if (!relocation.isFunction)
        worklist.push_back(relocation.target);
  }
}

/// Notes an operand, and its elements.
void UseFinder::note(const PtxOperand &operand, Search &search) const {
  switch (operand.kind) {
  case PtxOperand::Kind::Function:
    search.addFunction(operand.index);
    break;
  case PtxOperand::Kind::Variable:
    noteRelocations(operand.index, search);
    break;
  case PtxOperand::Kind::SpecialRegister:
    search.uses.groupScratch |= operand.name == "%reserved_smem_offset_1";
    break;
  default:
    for (const PtxOperand &element : operand.elements)
      note(element, search);
    break;
  }
}

/// The function or the address of a call; null if it is none.
static const PtxOperand *getCallee(const PtxInstruction &instruction) {
  return instruction.opcode == "call"
             ? &instruction.operands[instruction.hasReturns ? 1 : 0]
             : nullptr;
}

const std::vector<Index> &UseFinder::getAddressed() {
  if (addressed)
    return *addressed;
  addressed.emplace();
  llvm::BitVector isAddressed(module.functions.size());
  auto add = [&](Index function) {
    if (isAddressed.test(function) || module.functions[function].isEntry)
      return;
    isAddressed.set(function);
    addressed->push_back(function);
  };
  for (const Variable &variable : module.variables)
    for (const Relocation &relocation : variable.relocations)
      if (relocation.isFunction)
        add(relocation.target);
  // Functions are not nested deeper in an operand.
  for (const Function &function : module.functions)
    for (const PtxInstruction &instruction : function.instructions)
      for (const PtxOperand &operand : instruction.operands) {
        if (operand.kind == PtxOperand::Kind::Function &&
            &operand != getCallee(instruction))
          add(operand.index);
        for (const PtxOperand &element : operand.elements)
          if (element.kind == PtxOperand::Kind::Function)
            add(element.index);
      }
  return *addressed;
}

Uses UseFinder::find(Index function) {
  Search search;
  search.uses.functions.resize(module.functions.size());
  search.uses.sharedVariables.resize(module.variables.size());
  search.variables.resize(module.variables.size());
  search.addFunction(function);
  bool callsAddresses = false;
  while (!search.worklist.empty()) {
    Index next = search.worklist.back();
    search.worklist.pop_back();
    for (const PtxInstruction &instruction :
         module.functions[next].instructions) {
      const PtxOperand *callee = getCallee(instruction);
      callsAddresses |= callee && callee->kind != PtxOperand::Kind::Function;
      for (const PtxOperand &operand : instruction.operands)
        note(operand, search);
    }
    if (callsAddresses && search.worklist.empty())
      for (Index each : getAddressed())
        search.addFunction(each);
  }
  return std::move(search.uses);
}
