//===- CoarseScales.cpp - Coarse scales on GPUs ---------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Selection/CoarseScales.h"

#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/ScopedPrinter.h"

using namespace mlir;
using namespace mlir::blockscale;

/// The scales of an operand, such as "<rows = 1, k = 128> with f32 scales".
static std::string describe(const ScaleBlock &block, Value scales) {
  return stringifyScaleBlock(block) + " with " +
         llvm::to_string(getElementTypeOrSelf(scales.getType())) + " scales";
}

CoarseProduct::CoarseProduct(MmaScaledOp op)
    : op(op), xBlock(op.getBlockShape(Side::X)),
      yBlock(op.getBlockShape(Side::Y)), accumulate(op.getAccumulateAttr()) {}

CoarseProduct::CoarseProduct(GroupedMmaScaledOp op)
    : op(op), xBlock(op.getBlockShape(Side::X)),
      yBlock(op.getBlockShape(Side::Y)), accumulate(op.getAccumulateAttr()) {}

/// What kernels expect, and the coarse scales of an op; empty for others.
static std::string describeCoarseScales(Operation *op) {
  auto describeBlocks = [](auto product) -> std::string {
    using Side = MmaScaledOp::Side;
    if (!product.hasCoarseScales())
      return "";
    return std::string(product.hasTensorSemantics()
                           ? "expected blockscale-select-path first"
                           : "expected tensors") +
           ", got blocks of " +
           describe(product.getBlockShape(Side::X), product.getXScale()) +
           " for x and " +
           describe(product.getBlockShape(Side::Y), product.getYScale()) +
           " for y, with " + llvm::to_string(product.getX().getType()) +
           " and " + llvm::to_string(product.getY().getType());
  };
  return TypeSwitch<Operation *, std::string>(op)
      .Case<MmaScaledOp, GroupedMmaScaledOp>(describeBlocks)
      .Default(std::string());
}

LogicalResult blockscale::refuseCoarseScales(Operation *root) {
  bool isRefused = false;
  root->walk([&](Operation *op) {
    std::string scales = describeCoarseScales(op);
    if (scales.empty())
      return;
    op->emitOpError("not supported in this version: coarse scales in kernels, ")
        << scales;
    isRefused = true;
  });
  return failure(isRefused);
}
