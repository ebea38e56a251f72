//===- DynamicMemory.h - Where dynamic shared memory begins -----*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_IR_DYNAMICMEMORY_H
#define BLOCKSCALE_DIALECT_IR_DYNAMICMEMORY_H

#include "mlir/Support/LLVM.h"

namespace mlir::blockscale {

/// A discardable attribute of gpu.dynamic_shared_memory: its alignment in
/// bytes.
inline constexpr StringLiteral kDynamicAlignmentName =
    "blockscale.dynamic_alignment";

} // namespace mlir::blockscale

#endif // BLOCKSCALE_DIALECT_IR_DYNAMICMEMORY_H
