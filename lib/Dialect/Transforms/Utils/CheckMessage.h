//===- CheckMessage.h - What failed checks print ----------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_UTILS_CHECKMESSAGE_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_UTILS_CHECKMESSAGE_H

#include "mlir/IR/Operation.h"

namespace mlir::blockscale {

/// The message of a failed check of `op`, as on the CPU.
std::string getCheckMessage(Operation *op, const Twine &message);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_UTILS_CHECKMESSAGE_H
