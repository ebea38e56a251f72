//===- AttachTarget.cpp - The chip of a module ----------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The only pass with the name of a chip as an option; all others read the
// attribute.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/IR/BlockScale.h"
#include "blockscale/Dialect/Transforms/Passes.h"

namespace mlir::blockscale {
#define GEN_PASS_DEF_ATTACHTARGETPASS
#include "blockscale/Dialect/Transforms/Passes.h.inc"
} // namespace mlir::blockscale

using namespace mlir;
using namespace mlir::blockscale;

namespace {

struct AttachTargetPass final
    : mlir::blockscale::impl::AttachTargetPassBase<AttachTargetPass> {
  using Base::Base;

  void runOnOperation() override {
    const Chip *wanted = lookup(target);
    const Chip *other = emulateOn.empty() ? nullptr : lookup(emulateOn);
    if (!wanted || (!emulateOn.empty() && !other))
      return signalPassFailure();
    getOperation()->setAttr(kTargetAttrName,
                            TargetAttr::get(&getContext(), wanted, other));
  }

private:
  const Chip *lookup(StringRef name) {
    const Chip *found = lookupChip(name);
    if (!found)
      // The option is wrong, not an op of the module.
      emitError(UnknownLoc::get(&getContext()), describeUnknownChip(name));
    return found;
  }
};

} // namespace
