//===- SoftwareTensorCore.h - Who emulates what ----------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Instructions of mma.sync become software before they are converted to NVVM,
// those of tcgen05 behind that. Whoever checks what a chip has in between has
// to know.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_IR_SOFTWARETENSORCORE_H
#define BLOCKSCALE_DIALECT_IR_SOFTWARETENSORCORE_H

#include "blockscale/Dialect/IR/BlockScale.h"

namespace mlir::blockscale {

/// Whether what `target` compiles for has a tensor core with memory of its own,
/// which the chip that runs the code gets in software. `target` may be null.
bool hasSoftwareTensorCore(TargetAttr target);

/// Whether only chips with tensor memory have the instruction, such as those
/// that blockscale-emulate-tcgen05 replaces.
bool needsTensorMemory(InstructionOpInterface op);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_DIALECT_IR_SOFTWARETENSORCORE_H
