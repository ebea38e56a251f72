//===- SwizzleConstants.cpp - Constant scales in the 32x4x4 layout --------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Swizzles bytes, not floats, because e8m0 has no zero, and a NaN must keep its
// code.
//
//===----------------------------------------------------------------------===//

#include "ConstantFolds.h"
#include "blockscale/Dialect/IR/BlockScale.h"
#include "blockscale/Support/ScaleLayout.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::blockscale;

/// The largest constants that folding creates, in bytes: from existing data in
/// another order, and from a splat.
static constexpr int64_t kLimit = int64_t(1) << 24;
static constexpr int64_t kSplatLimit = int64_t(1) << 16;

/// Calls `visit` with the positions of each scale in the row-major buffer of
/// scales of `shape`, and in the swizzled one.
static void visitScales(
    ArrayRef<int64_t> shape, bool rowsLast,
    llvm::function_ref<void(int64_t rowMajor, int64_t swizzled)> visit) {
  int64_t numBatches = shape.size() == 3 ? shape[0] : 1;
  int64_t rows = shape.take_back(2)[rowsLast ? 1 : 0];
  int64_t blocks = shape.take_back(2)[rowsLast ? 0 : 1];
  int64_t batchBytes = llvm::divideCeilSigned(rows, kScaleAtomRows) *
                       llvm::divideCeilSigned(blocks, kScaleAtomBlocks) *
                       kScaleAtomBytes;
  for (int64_t batch = 0; batch != numBatches; ++batch)
    for (int64_t row = 0; row != rows; ++row)
      for (int64_t block = 0; block != blocks; ++block)
        visit(batch * rows * blocks +
                  (rowsLast ? block * rows + row : row * blocks + block),
              batch * batchBytes + getSwizzledScaleOffset(row, block, blocks));
}

DenseElementsAttr blockscale::swizzleConstant(DenseElementsAttr scales,
                                              ShapedType type, bool rowsLast) {
  ArrayRef<int64_t> shape = scales.getType().getShape();
  int64_t rows = shape.take_back(2)[rowsLast ? 1 : 0];
  int64_t blocks = shape.take_back(2)[rowsLast ? 0 : 1];
  bool isPadded = rows % kScaleAtomRows != 0 || blocks % kScaleAtomBlocks != 0;
  if (scales.isSplat() && !isPadded)
    return scales.resizeSplat(type);

  if (!isSmall(type, scales.isSplat() ? kSplatLimit : kLimit))
    return {};
  ArrayRef<char> from = scales.getRawData();
  std::vector<char> to(type.getNumElements(), 0);
  visitScales(shape, rowsLast, [&](int64_t rowMajor, int64_t swizzled) {
    to[swizzled] = from[scales.isSplat() ? 0 : rowMajor];
  });
  return DenseElementsAttr::getFromRawBuffer(type, to);
}

DenseElementsAttr blockscale::unswizzleConstant(DenseElementsAttr swizzled,
                                                ShapedType type) {
  if (swizzled.isSplat())
    return swizzled.resizeSplat(type);
  if (!isSmall(type, kLimit))
    return {};
  ArrayRef<char> from = swizzled.getRawData();
  std::vector<char> to(type.getNumElements());
  visitScales(type.getShape(), /*rowsLast=*/false,
              [&](int64_t rowMajor, int64_t position) {
                to[rowMajor] = from[position];
              });
  return DenseElementsAttr::getFromRawBuffer(type, to);
}
