//===- Emulation.h - Instructions in software -----------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_EMULATION_EMULATION_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_EMULATION_EMULATION_H

#include "blockscale/Dialect/IR/BlockScale.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::blockscale {

/// Creates a private function, in no module yet, that computes `instruction`.
/// Its arguments are the operands of `mma_sync` or, if it is sparse, of
/// `mma_sp` in their order, with the selectors as i32. All lanes of a warp call
/// it together.
func::FuncOp createEmulatedMma(Location loc, InstructionAttr instruction);

/// Replaces `op` by equivalent loads and shuffles. All lanes of a warp must
/// reach them together, as for the instruction.
void emulateLoadMatrix(LoadMatrixOp op);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_EMULATION_EMULATION_H
