//===- Accumulate.cpp - A licence for all products ------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/Transforms/Selection/Accumulate.h"

#include "blockscale/Dialect/IR/BlockScale.h"
#include "blockscale/Dialect/IR/Grouped.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::blockscale;

LogicalResult blockscale::attachAccumulation(Operation *root,
                                             const Accumulation &licence) {
  if (!licence)
    return success();
  auto attr = AccumulateAttr::getChecked([&] { return root->emitError(); },
                                         root->getContext(), licence.chunk,
                                         licence.rebase);
  if (!attr)
    return failure();
  auto attach = [&](auto op) {
    if (!op.getAccumulateAttr())
      op.setAccumulateAttr(attr);
  };
  root->walk([&](Operation *op) {
    TypeSwitch<Operation *>(op)
        .Case<MmaScaledOp, GroupedMmaScaledOp>(attach)
        .Default([](Operation *) {});
  });
  return success();
}
