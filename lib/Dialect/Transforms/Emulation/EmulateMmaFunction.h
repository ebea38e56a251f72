//===- EmulateMmaFunction.h - One instruction in software -------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_EMULATION_EMULATEMMAFUNCTION_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_EMULATION_EMULATEMMAFUNCTION_H

#include "blockscale/Dialect/IR/BlockScale.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::blockscale {

/// A private function, in no module yet, that computes what `instruction`
/// does. Its arguments are the operands of `mma_sync` in their order, with the
/// selectors as i32. All lanes of a warp call it together.
func::FuncOp createEmulatedMma(Location loc, InstructionAttr instruction);

/// Replaces `op` by loads and shuffles that do the same. All lanes of a warp
/// reach them together, as they do the instruction.
void emulateLoadMatrix(LoadMatrixOp op);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_EMULATION_EMULATEMMAFUNCTION_H
