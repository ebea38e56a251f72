//===- CheckMessage.h - Messages of failed checks ---------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_UTILS_CHECKMESSAGE_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_UTILS_CHECKMESSAGE_H

#include "mlir/IR/AsmState.h"
#include "mlir/IR/Operation.h"

namespace mlir::blockscale {

/// The message of a failed check of `op`, as on the CPU.
std::string getCheckMessage(Operation *op, const Twine &message);

/// The same for ops of one function. The constructor numbers the values of the
/// function once. Numbering them again for each message takes time that is
/// quadratic in the size of the function.
class CheckMessages {
public:
  explicit CheckMessages(Operation *function);

  std::string get(Operation *op, const Twine &message);

private:
  AsmState state;
};

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_UTILS_CHECKMESSAGE_H
