//===- OpcodeTable.h - All opcodes ------------------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each family of instructions has a folder or a file that adds its opcodes
// here.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SIMULATOR_TRANSLATION_OPCODETABLE_H
#define BLOCKSCALE_LIB_SIMULATOR_TRANSLATION_OPCODETABLE_H

#include "Translation/Modifiers.h"

#include "llvm/ADT/StringMap.h"

namespace mlir::blockscale::sim {

class Translator;

/// Emits the steps of the current instruction; after an error,
/// `translator.hasFailed()`.
using TranslateInstruction = void (*)(Translator &translator,
                                      Modifiers &modifiers);
using OpcodeTable = llvm::StringMap<TranslateInstruction>;

void addArithmeticInstructions(OpcodeTable &table);
void addAtomicInstructions(OpcodeTable &table);
void addBitInstructions(OpcodeTable &table);
void addLaunchControlInstructions(OpcodeTable &table);
void addLogicInstructions(OpcodeTable &table);
void addBarrierInstructions(OpcodeTable &table);
void addGridInstructions(OpcodeTable &table);
void addCacheInstructions(OpcodeTable &table);
void addCallInstructions(OpcodeTable &table);
void addClusterInstructions(OpcodeTable &table);
void addComparisonInstructions(OpcodeTable &table);
void addControlInstructions(OpcodeTable &table);
void addConversionInstructions(OpcodeTable &table);
void addCopyInstructions(OpcodeTable &table);
void addMatrixInstructions(OpcodeTable &table);
void addMBarrierInstructions(OpcodeTable &table);
void addMemoryInstructions(OpcodeTable &table);
void addMoveInstructions(OpcodeTable &table);
void addTensorInstructions(OpcodeTable &table);
void addStackInstructions(OpcodeTable &table);
void addVideoInstructions(OpcodeTable &table);
void addWarpInstructions(OpcodeTable &table);
void addWarpgroupInstructions(OpcodeTable &table);
void addWmmaInstructions(OpcodeTable &table);

/// The opcodes of all families.
const OpcodeTable &getOpcodeTable();

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_TRANSLATION_OPCODETABLE_H
