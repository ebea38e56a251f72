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

/// The coarse scales of an op; empty for others.
static std::string describeCoarseScales(Operation *op) {
  return TypeSwitch<Operation *, std::string>(op)
      .Case([](MmaScaledOp mma) -> std::string {
        using Side = MmaScaledOp::Side;
        if (!mma.hasCoarseScales())
          return "";
        return describe(mma.getBlockShape(Side::X), mma.getXScale()) +
               " for x and " +
               describe(mma.getBlockShape(Side::Y), mma.getYScale()) + " for y";
      })
      .Case<QuantizeOp, DequantizeOp>([](auto quantized) -> std::string {
        if (!quantized.hasCoarseScales())
          return "";
        return describe(quantized.getBlockShape(), quantized.getScales());
      })
      .Default(std::string());
}

LogicalResult blockscale::refuseCoarseScales(Operation *root) {
  bool isRefused = false;
  root->walk([&](Operation *op) {
    std::string scales = describeCoarseScales(op);
    if (scales.empty())
      return;
    op->emitOpError("coarse scales have no GPU kernels yet, expected blocks of "
                    "block_size elements of a row, got blocks of ")
        << scales;
    isRefused = true;
  });
  return failure(isRefused);
}
