//===- RuntimeVerification.cpp - Checks of dynamic sizes ------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The checks of verifiers on static sizes, as assertions on dynamic sizes.
//
//===----------------------------------------------------------------------===//

#include "AtomLayout.h"
#include "Quantize/BlockTypes.h"
#include "blockscale/Dialect/IR/BlockScale.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"

using namespace mlir;
using namespace mlir::blockscale;

void UnswizzleScalesOp::generateRuntimeVerification(
    OpBuilder &builder, Location loc,
    function_ref<std::string(Operation *, StringRef)> generateErrorMessage) {
  if (hasStaticShapes(getOperation()))
    return;
  SizeChecker check(builder, loc, getOperation(), generateErrorMessage);

  // (U2) and (U3)
  SmallVector<OpFoldResult> sizes = getMixedSizes();
  SmallVector<OpFoldResult> atoms = getSwizzledSizes(builder, loc, sizes);
  for (size_t dim = 0; dim != sizes.size(); ++dim) {
    checkLeast(check, sizes, dim, "K_s");
    checkAtoms(check, getSource(), dim,
               getValueOrCreateConstantIndexOp(builder, loc, atoms[dim]));
  }
}

/// The common checks of `quantize` and `dequantize`: (Q2), (Q3), (Q6) and (E2),
/// (E3), (E5).
static void checkBlocks(SizeChecker &check, OpBuilder &builder, Value matrix,
                        Value scales, int64_t blockSize) {
  int64_t rank = cast<ShapedType>(matrix.getType()).getRank();
  for (int64_t dim = 0; dim != rank; ++dim) {
    // There may be no rows.
    if (dim + 1 == rank && isDynamic(matrix, dim))
      check.expect(check.isPositive(check.getSize(matrix, dim)),
                   "K to be at least 1");
    if (!scales || (!isDynamic(matrix, dim) && !isDynamic(scales, dim)))
      continue;
    Value size = check.getSize(matrix, dim);
    if (dim + 1 == rank)
      size = check.apply(builder.getAffineDimExpr(0).ceilDiv(blockSize),
                         {OpFoldResult(size)});
    check.expect(check.isEqual(size, check.getSize(scales, dim)),
                 "scales of blocks of " + Twine(blockSize) +
                     " of the elements");
  }
}

void QuantizeOp::generateRuntimeVerification(
    OpBuilder &builder, Location loc,
    function_ref<std::string(Operation *, StringRef)> generateErrorMessage) {
  if (hasStaticShapes(getOperation()))
    return;
  SizeChecker check(builder, loc, getOperation(), generateErrorMessage);
  if (hasCoarseScales()) {
    checkBlocks(check, builder, getX(), /*scales=*/{}, /*blockSize=*/1);
    return checkScaleBlock(check, getCoarseOperand(*this), /*hasScales=*/false);
  }
  int64_t blockSize = getBlock();
  checkBlocks(check, builder, getX(), /*scales=*/{}, blockSize);
  int64_t rank = cast<ShapedType>(getX().getType()).getRank();
  if (isDynamic(getX(), rank - 1) && !getPad()) {
    Value k = check.getSize(getX(), rank - 1);
    check.expect(check.isMultiple(k, blockSize),
                 "K to be a multiple of the block size, " + Twine(blockSize));
  }
}

void DequantizeOp::generateRuntimeVerification(
    OpBuilder &builder, Location loc,
    function_ref<std::string(Operation *, StringRef)> generateErrorMessage) {
  if (hasStaticShapes(getOperation()))
    return;
  SizeChecker check(builder, loc, getOperation(), generateErrorMessage);
  if (hasCoarseScales()) {
    checkBlocks(check, builder, getElements(), /*scales=*/{}, /*blockSize=*/1);
    CoarseOperand operand = getCoarseOperand(*this);
    for (unsigned dim = 0; dim != operand.rowDim; ++dim)
      if (isDynamic(getElements(), dim) || isDynamic(getScales(), dim))
        check.expect(check.isEqual(check.getSize(getElements(), dim),
                                   check.getSize(getScales(), dim)),
                     "scales to have the batch of the elements");
    return checkScaleBlock(check, operand);
  }
  checkBlocks(check, builder, getElements(), getScales(), getBlock());
}
