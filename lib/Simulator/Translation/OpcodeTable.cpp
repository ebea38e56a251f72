//===- OpcodeTable.cpp - All opcodes --------------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The list of instruction families; a new family is a new entry.
//
//===----------------------------------------------------------------------===//

#include "Translation/OpcodeTable.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

const OpcodeTable &sim::getOpcodeTable() {
  static const OpcodeTable table = [] {
    OpcodeTable table;
    for (auto *add : {addArithmeticInstructions,    addAtomicInstructions,
                      addBarrierInstructions,       addBitInstructions,
                      addCacheInstructions,         addCallInstructions,
                      addClusterInstructions,       addComparisonInstructions,
                      addControlInstructions,       addConversionInstructions,
                      addCopyInstructions,          addGridInstructions,
                      addLaunchControlInstructions, addLogicInstructions,
                      addMatrixInstructions,        addMBarrierInstructions,
                      addMemoryInstructions,        addMoveInstructions,
                      addTensorInstructions,        addStackInstructions,
                      addVideoInstructions,         addWarpInstructions,
                      addWarpgroupInstructions,     addWmmaInstructions})
      add(table);
    return table;
  }();
  return table;
}
