//===- RaiseVerdict.h - Whether an op is raised --------------- -*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_RAISE_RAISEVERDICT_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_RAISE_RAISEVERDICT_H

#include "llvm/ADT/StringRef.h"
#include <string>

namespace mlir::blockscale {

/// What an op is raised to, and why it is not, if there is a reason.
struct Verdict {
  llvm::StringRef target;
  std::string reason;

  bool isRaised() const { return reason.empty(); }
};

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_RAISE_RAISEVERDICT_H
