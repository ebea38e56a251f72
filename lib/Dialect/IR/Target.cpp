//===- Target.cpp - The chip of a module ----------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/IR/BlockScale.h"
#include "blockscale/Dialect/IR/SoftwareTensorCore.h"

using namespace mlir;
using namespace mlir::blockscale;

FailureOr<TargetAttr> blockscale::lookupTarget(Operation *op) {
  for (; op; op = op->getParentOp()) {
    Attribute attr = op->getAttr(kTargetAttrName);
    if (!attr)
      continue;
    if (auto target = dyn_cast<TargetAttr>(attr))
      return target;
    return op->emitError("expected the attribute '")
           << kTargetAttrName << "' to be a #blockscale.target, got " << attr;
  }
  return TargetAttr();
}

FailureOr<TargetAttr> blockscale::getTarget(Operation *op) {
  FailureOr<TargetAttr> target = lookupTarget(op);
  if (failed(target))
    return target;
  if (*target && (*target).getFinalChip().isCpu())
    return emitError(op->getLoc(), "expected a GPU, got cpu");
  if (*target)
    return target;
  return emitError(op->getLoc(), "expected a module with the attribute '")
         << kTargetAttrName << "' of blockscale-attach-target";
}

bool blockscale::hasSoftwareTensorCore(TargetAttr target) {
  return target && target.getEmulatedOn() && hasTensorMemory(*target.getChip());
}

bool blockscale::needsTensorMemory(InstructionOpInterface op) {
  return llvm::none_of(getChips(), [&](const Chip &chip) {
    return !hasTensorMemory(chip) && op.isSupportedOn(chip);
  });
}
