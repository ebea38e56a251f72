//===- SoftwareTensorCore.h - Emulated instructions -------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Instructions of mma.sync are emulated before the conversion to NVVM, those of
// tcgen05 after it. Checks of a chip's instructions in between must take that
// into account.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_IR_SOFTWARETENSORCORE_H
#define BLOCKSCALE_DIALECT_IR_SOFTWARETENSORCORE_H

#include "blockscale/Dialect/IR/BlockScale.h"

namespace mlir::blockscale {

/// Whether the chip of `target` has tensor memory, and the chip that runs the
/// code emulates it. `target` may be null.
bool hasSoftwareTensorCore(TargetAttr target);

/// Whether only chips with tensor memory have the instruction, such as those
/// that blockscale-emulate-tcgen05 replaces.
bool needsTensorMemory(InstructionOpInterface op);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_DIALECT_IR_SOFTWARETENSORCORE_H
