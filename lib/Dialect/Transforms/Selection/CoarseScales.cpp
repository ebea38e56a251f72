//===- CoarseScales.cpp - Coarse scales on GPUs ---------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Selection/CoarseScales.h"

#include "blockscale/Dialect/IR/BlockScale.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/ScopedPrinter.h"

using namespace mlir;
using namespace mlir::blockscale;

/// The scales of an operand, such as "<rows = 1, k = 128> with f32 scales".
static std::string describe(const ScaleBlock &block, Value scales) {
  return stringifyScaleBlock(block) + " with " +
         llvm::to_string(getElementTypeOrSelf(scales.getType())) + " scales";
}

/// What kernels expect, and the coarse scales of an op; empty for others.
static std::string describeCoarseScales(Operation *op) {
  return TypeSwitch<Operation *, std::string>(op)
      .Case([](MmaScaledOp mma) -> std::string {
        using Side = MmaScaledOp::Side;
        if (!mma.hasCoarseScales())
          return "";
        return std::string(mma.hasTensorSemantics()
                               ? "expected blockscale-select-path first"
                               : "expected tensors") +
               ", got blocks of " +
               describe(mma.getBlockShape(Side::X), mma.getXScale()) +
               " for x and " +
               describe(mma.getBlockShape(Side::Y), mma.getYScale()) +
               " for y, with " + llvm::to_string(mma.getX().getType()) +
               " and " + llvm::to_string(mma.getY().getType());
      })
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
