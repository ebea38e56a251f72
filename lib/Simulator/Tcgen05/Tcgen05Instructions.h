//===- Tcgen05Instructions.h - Instructions of tensor memory ----*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Helpers that the files of tcgen05 share.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SIMULATOR_TCGEN05_TCGEN05INSTRUCTIONS_H
#define BLOCKSCALE_LIB_SIMULATOR_TCGEN05_TCGEN05INSTRUCTIONS_H

#include "Translation/Translator.h"

namespace mlir::blockscale::sim {

/// The base and the offset of an address in tensor memory, which is in a 32-bit
/// register.
Slot takeTensorAddress(Translator &t, const PtxOperand &operand,
                       int64_t &offset);

/// Takes out .cta_group::1 or ::2; reports if there is none.
unsigned takeNumBlocks(Translator &t, Modifiers &modifiers);

void translateTcgen05Alloc(Translator &t, Modifiers &modifiers);
void translateTcgen05Dealloc(Translator &t, Modifiers &modifiers);
void translateTcgen05Relinquish(Translator &t, Modifiers &modifiers);
void translateTcgen05Move(Translator &t, Modifiers &modifiers);
void translateTcgen05Wait(Translator &t, Modifiers &modifiers);
void translateTcgen05Fence(Translator &t, Modifiers &modifiers);
void translateTensorCopy(Translator &t, Modifiers &modifiers);
void translateTcgen05Shift(Translator &t, Modifiers &modifiers);
void translateTcgen05Commit(Translator &t, Modifiers &modifiers);
void translateTcgen05Mma(Translator &t, Modifiers &modifiers);

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_TCGEN05_TCGEN05INSTRUCTIONS_H
