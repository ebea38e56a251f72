//===- CopyInstructions.h - Families of cp ----------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `cp` is one opcode with several families of instructions; each has a function
// that gets the remaining modifiers.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SIMULATOR_COPIES_COPYINSTRUCTIONS_H
#define BLOCKSCALE_LIB_SIMULATOR_COPIES_COPYINSTRUCTIONS_H

#include "Memory/ElementOperation.h"
#include "Translation/Translator.h"

namespace mlir::blockscale::sim {

/// cp.async.bulk and cp.reduce.async.bulk: BulkCopyInstructions.cpp.
void translateBulk(Translator &t, Modifiers &modifiers);
void translateBulkReduction(Translator &t, Modifiers &modifiers);

/// The same with .tensor, which has been taken out: TensorMapInstructions.cpp.
void translateTensorMapCopy(Translator &t, Modifiers &modifiers,
                            bool isReduction);
void translateTensorMapPrefetch(Translator &t, Modifiers &modifiers);

/// st.async and red.async: AsyncStores.cpp.
void translateAsyncStore(Translator &t, Modifiers &modifiers);
void translateAsyncReduction(Translator &t, Modifiers &modifiers);

/// tensormap: TensorMapReplace.cpp.
void translateTensorMap(Translator &t, Modifiers &modifiers);

/// A reduction operation of bulk copies, and its name.
struct ReductionName {
  llvm::StringRef name;
  ElementOperation::Kind kind;
};
/// Takes out the reduction operation; null if there is none.
const ReductionName *takeReduction(Modifiers &modifiers);

/// The value of a lane's operand; fails if it is undefined.
std::optional<uint64_t> getLaneValue(Warp &warp, Slot slot, unsigned lane,
                                     llvm::StringRef use);

/// The only operand of a wait: how many of the most recent groups may be in
/// flight.
uint64_t takeNumGroups(Translator &t);

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_COPIES_COPYINSTRUCTIONS_H
