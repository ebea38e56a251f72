//===- AccElements.cpp - Elements of accumulators, one by one -------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Copies the body of an op on an accumulator for each element of the lane.
//
//===----------------------------------------------------------------------===//

#include "Fragments/AccElements.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::blockscale;

SmallVector<Value> blockscale::cloneBody(OpBuilder &b, Block &block,
                                         ValueRange arguments) {
  IRMapping mapping;
  mapping.map(block.getArguments(), arguments);
  for (Operation &op : block.without_terminator())
    b.clone(op, mapping);
  return llvm::map_to_vector(
      block.getTerminator()->getOperands(),
      [&](Value v) { return mapping.lookupOrDefault(v); });
}
