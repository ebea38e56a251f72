//===- Uses.cpp - What kernels use ----------------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What can be reached from a kernel is what its shared memory and its errors
// are made of.
//
//===----------------------------------------------------------------------===//

#include "Translation/Uses.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

/// Notes an operand, or its parts; new functions go to `worklist`.
static void note(const Module &module, const PtxOperand &operand, Uses &uses,
                 std::vector<Index> &worklist) {
  switch (operand.kind) {
  case PtxOperand::Kind::Function:
    if (!uses.functions.test(operand.index)) {
      uses.functions.set(operand.index);
      worklist.push_back(operand.index);
    }
    break;
  case PtxOperand::Kind::Variable:
    if (module.variables[operand.index].space == Space::Shared)
      uses.sharedVariables.set(operand.index);
    break;
  case PtxOperand::Kind::SpecialRegister:
    uses.groupScratch |= operand.name == "%reserved_smem_offset_1";
    break;
  default:
    for (const PtxOperand &element : operand.elements)
      note(module, element, uses, worklist);
    break;
  }
}

Uses sim::findUses(const Module &module, Index function) {
  Uses uses;
  uses.functions.resize(module.functions.size());
  uses.sharedVariables.resize(module.variables.size());
  uses.functions.set(function);
  std::vector<Index> worklist = {function};
  while (!worklist.empty()) {
    Index next = worklist.back();
    worklist.pop_back();
    for (const PtxInstruction &instruction :
         module.functions[next].instructions)
      for (const PtxOperand &operand : instruction.operands)
        note(module, operand, uses, worklist);
  }
  return uses;
}
