//===- Tensors.h - Instructions of tensor memory ----------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the files of tcgen05 share.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_SIMULATOR_INSTRUCTIONS_TENSORS_H
#define BLOCKSCALE_SIMULATOR_INSTRUCTIONS_TENSORS_H

#include "../Translator.h"

namespace mlir::blockscale::sim {

/// Takes out .cta_group::1 or ::2; reports if there is none.
std::optional<unsigned> takeNumBlocks(Translator &t, Modifiers &modifiers);

/// Fails unless the block, or with .cta_group::2 the pair that it belongs to,
/// is there.
bool requireBlocks(Warp &warp, unsigned lane, unsigned numBlocks,
                   llvm::StringRef what);

void translateTensorAlloc(Translator &t, Modifiers &modifiers);
void translateTensorDealloc(Translator &t, Modifiers &modifiers);
void translateTensorRelinquish(Translator &t, Modifiers &modifiers);
void translateTensorLoad(Translator &t, Modifiers &modifiers);
void translateTensorStore(Translator &t, Modifiers &modifiers);
void translateTensorWait(Translator &t, Modifiers &modifiers);
void translateTensorFence(Translator &t, Modifiers &modifiers);
void translateTensorCopy(Translator &t, Modifiers &modifiers);
void translateTensorShift(Translator &t, Modifiers &modifiers);
void translateTensorCommit(Translator &t, Modifiers &modifiers);
void translateTensorMultiply(Translator &t, Modifiers &modifiers);

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_SIMULATOR_INSTRUCTIONS_TENSORS_H
