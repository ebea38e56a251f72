//===- HostChecks.cpp - Checks in front of a kernel -----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernels/Gemm/Frontend/HostChecks.h"

#include "Utils/CheckMessage.h"
#include "Utils/IndexValues.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::blockscale;

void blockscale::checkWholeBlocks(OpBuilder &builder, ProductOpInterface op,
                                  OpFoldResult k, unsigned blockSize) {
  Location loc = op->getLoc();
  Value size = makeIndex(builder, loc, blockSize);
  Value zero = makeIndex(builder, loc, 0);
  Value rest = arith::RemUIOp::create(
      builder, loc, getValueOrCreateConstantIndexOp(builder, loc, k), size);
  StringRef operand = op.getMetadata() ? "an x" : "a y";
  cf::AssertOp::create(
      builder, loc, isEqual(builder, loc, rest, zero),
      getCheckMessage(op, "expected K to be a multiple of " + Twine(blockSize) +
                              " for " + operand +
                              " that is dequantized in registers"));
}

void blockscale::checkFusedSizes(OpBuilder &builder, linalg::GenericOp generic,
                                 OpOperand &operand,
                                 ArrayRef<OpFoldResult> loops, Location loc) {
  AffineMap map = generic.getMatchingIndexingMap(&operand);
  for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
    auto loop = dyn_cast<AffineDimExpr>(expr);
    if (!loop)
      continue;
    OpFoldResult got = tensor::getMixedSize(builder, loc, operand.get(), dim);
    OpFoldResult expected = loops[loop.getPosition()];
    if (isEqualConstantIntOrValue(got, expected))
      continue;
    Value isSame = isEqual(
        builder, loc, getValueOrCreateConstantIndexOp(builder, loc, got),
        getValueOrCreateConstantIndexOp(builder, loc, expected));
    cf::AssertOp::create(
        builder, loc, isSame,
        getCheckMessage(generic, "expected sizes of operand #" +
                                     Twine(operand.getOperandNumber()) +
                                     " that fit those of the result"));
  }
}
