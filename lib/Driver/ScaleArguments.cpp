//===- ScaleArguments.cpp - Arguments that are scales or metadata ---------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Finds arguments that become scales or metadata, by following uses through ops
// that move elements, into loops and into functions. If a use is missed, random
// scales may have signs, which does no harm, and random metadata fails at run
// time.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Driver/ScaleArguments.h"

#include "blockscale/Dialect/IR/Sparse.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace mlir::blockscale;

/// Whether an op uses this operand as scales.
static bool isScaleOperand(OpOperand &use) {
  if (auto mma = dyn_cast<MmaScaledOp>(use.getOwner()))
    return &use == &mma.getXScaleMutable() || &use == &mma.getYScaleMutable();
  if (auto mma = dyn_cast<SparseMmaScaledOp>(use.getOwner()))
    return &use == &mma.getXScaleMutable() || &use == &mma.getYScaleMutable();
  return use.getOwner()->getName().getStringRef() == "blockscale.dequantize" &&
         use.getOperandNumber() == 1;
}

/// Whether an op uses this operand as metadata.
static bool isMetadataOperand(OpOperand &use) {
  if (auto mma = dyn_cast<SparseMmaScaledOp>(use.getOwner()))
    return &use == &mma.getMetadataMutable();
  if (auto decompress = dyn_cast<DecompressOp>(use.getOwner()))
    return &use == &decompress.getMetadataMutable();
  return false;
}

/// Ops whose results are elements of their operands.
static bool isMovement(Operation *op) {
  static const llvm::StringSet<> names = {"blockscale.swizzle_scales",
                                          "blockscale.tile_metadata",
                                          "blockscale.unswizzle_scales",
                                          "blockscale.untile_metadata",
                                          "linalg.broadcast",
                                          "linalg.copy",
                                          "linalg.transpose",
                                          "tensor.cast",
                                          "tensor.collapse_shape",
                                          "tensor.concat",
                                          "tensor.expand_shape",
                                          "tensor.extract_slice",
                                          "tensor.insert_slice",
                                          "tensor.pad",
                                          "tensor.reshape"};
  return names.contains(op->getName().getStringRef());
}

/// The values that `use` passes its value on to.
static SmallVector<Value> follow(OpOperand &use) {
  Operation *op = use.getOwner();
  if (auto call = dyn_cast<func::CallOp>(op)) {
    auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
        op, call.getCalleeAttr());
    if (callee && !callee.isExternal())
      return {callee.getArgument(use.getOperandNumber())};
    return {};
  }
  if (auto loop = dyn_cast<LoopLikeOpInterface>(op)) {
    // An operand may be a bound or a step, and a loop may have no results.
    SmallVector<Value> values;
    if (BlockArgument argument = loop.getTiedLoopRegionIterArg(&use))
      values.push_back(argument);
    if (OpResult result = loop.getTiedLoopResult(&use))
      values.push_back(result);
    return values;
  }
  if (isMovement(op))
    return llvm::to_vector(llvm::map_range(
        op->getResults(), [](OpResult result) -> Value { return result; }));
  return {};
}

static bool reaches(BlockArgument argument, bool (*isWanted)(OpOperand &)) {
  SmallVector<Value> worklist = {argument};
  DenseSet<Value> visited; // Functions may call themselves.
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    if (!visited.insert(value).second)
      continue;
    for (OpOperand &use : value.getUses()) {
      if (isWanted(use))
        return true;
      worklist.append(follow(use));
    }
  }
  return false;
}

bool blockscale::becomesScales(BlockArgument argument) {
  return reaches(argument, isScaleOperand);
}

bool blockscale::becomesMetadata(BlockArgument argument) {
  return reaches(argument, isMetadataOperand);
}

void blockscale::makeLegalMetadata(NpyArray &array) {
  SmallVector<uint8_t> legal;
  for (unsigned field = 0; field != kNumFields; ++field)
    if (isLegalField(field))
      legal.push_back(field);
  for (auto &byte : array.data) {
    auto bits = static_cast<uint8_t>(byte);
    unsigned low = legal[bits % kNumFields % legal.size()];
    unsigned high = legal[(bits >> kFieldBits) % legal.size()];
    byte = static_cast<uint8_t>(high << kFieldBits | low);
  }
}
