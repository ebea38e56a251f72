//===- ScaledProductRules.cpp - Rules of products with scales -------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ScaledProductRules.h"
#include "blockscale/Support/InstructionTable.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/InterleavedRange.h"

using namespace mlir;
using namespace mlir::blockscale;

//===----------------------------------------------------------------------===//
// Dimensions
//===----------------------------------------------------------------------===//

static NamedDim getFromEnd(const NamedShape &of, unsigned fromEnd,
                           StringRef name, int64_t factor = 1) {
  return {of, static_cast<unsigned>(of.type().getRank()) - fromEnd, name,
          factor};
}

static NamedDim getBatch(const NamedShape &of) { return {of, 0, "batch"}; }
static NamedDim getM(const NamedShape &of) { return getFromEnd(of, 2, "M"); }
static NamedDim getN(const NamedShape &of) { return getFromEnd(of, 1, "N"); }
static NamedDim getKOf(const RowsOfX &of) {
  return getFromEnd(of.shape, 1, "K", of.perElement);
}
static NamedDim getKOfY(const ScaledProduct &of) {
  return getFromEnd(of.y, 2, "K");
}
static NamedDim getBlocksOfX(const ScaledProduct &of) {
  return getFromEnd(of.xScale, 1, "K_s");
}
static NamedDim getBlocksOfY(const ScaledProduct &of) {
  return getFromEnd(of.yScale, 2, "K_s");
}

static bool isKnown(int64_t size) { return !ShapedType::isDynamic(size); }

SmallVector<NamedShape> ScaledProduct::getOperands() const {
  SmallVector<NamedShape> operands;
  for (const RowsOfX &of : rows)
    operands.push_back(of.shape);
  operands.append({xScale, y, yScale, acc});
  return operands;
}

int64_t ScaledProduct::getK() const {
  for (const RowsOfX &of : rows)
    if (int64_t k = getKOf(of).getSize(); isKnown(k))
      return k;
  return getKOfY(*this).getSize();
}

int64_t ScaledProduct::getBlocks() const {
  int64_t blocks = getBlocksOfX(*this).getSize();
  return isKnown(blocks) ? blocks : getBlocksOfY(*this).getSize();
}

int64_t ScaledProduct::getBlock() const {
  return blockSize ? blockSize.getInt() : getK() / getBlocks();
}

SmallVector<SizeRelation>
blockscale::getSizeRelations(const ScaledProduct &of) {
  SmallVector<SizeRelation> relations;
  const RowsOfX &x = of.rows.front();
  ArrayRef<RowsOfX> others = ArrayRef(of.rows).drop_front();
  auto addRows = [&](const NamedShape &shape, bool hasRows = true) {
    if (x.shape.type().getRank() == 3)
      relations.push_back({getBatch(shape), getBatch(x.shape)});
    if (hasRows)
      relations.push_back({getM(shape), getM(x.shape)});
  };
  for (const RowsOfX &other : others)
    addRows(other.shape);
  addRows(of.xScale, !of.hasCoarseScales);
  if (of.y.type().getRank() == 3)
    relations.push_back({getBatch(of.yScale), getBatch(of.y)});
  if (!of.hasCoarseScales)
    relations.push_back({getN(of.yScale), getN(of.y)});
  relations.push_back({getKOfY(of), getKOf(x)});
  for (const RowsOfX &other : others)
    relations.push_back({getKOf(other), getKOf(x)});
  if (!of.hasCoarseScales)
    relations.push_back({getBlocksOfY(of), getBlocksOfX(of)});
  relations.push_back({getM(of.acc), getM(x.shape)});
  relations.push_back({getN(of.acc), getN(of.y)});
  return relations;
}

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

LogicalResult blockscale::verifyRanks(Operation *op, const ScaledProduct &of) {
  auto verify = [&](const NamedShape &shape, int64_t expected,
                    StringRef reason) -> LogicalResult {
    int64_t got = shape.type().getRank();
    if (got == expected)
      return success();
    return op->emitOpError("expected ")
           << shape.name << " to have rank " << expected << ", " << reason
           << ", got rank " << got;
  };
  int64_t x = of.getX().type().getRank(), y = of.y.type().getRank();
  for (const RowsOfX &other : ArrayRef(of.rows).drop_front())
    if (failed(verify(other.shape, x, "as x has")))
      return failure();
  if (failed(verify(of.xScale, x, "as x has")) ||
      failed(verify(of.yScale, y, "as y has")))
    return failure();
  return verify(of.acc, std::max(x, y), "the larger one of x and y");
}

/// The batch of one of the shapes, if it is known; 1 without one.
static int64_t getKnownBatch(ArrayRef<NamedShape> shapes) {
  for (const NamedShape &shape : shapes) {
    if (shape.type().getRank() != 3)
      return 1;
    if (!shape.type().isDynamicDim(0))
      return shape.type().getDimSize(0);
  }
  return ShapedType::kDynamic;
}

LogicalResult blockscale::verifyBatch(Operation *op, const ScaledProduct &of) {
  SmallVector<NamedShape> ofX = {of.xScale};
  for (const RowsOfX &rows : of.rows)
    ofX.push_back(rows.shape);
  int64_t x = getKnownBatch(ofX), y = getKnownBatch({of.y, of.yScale});
  int64_t acc = getKnownBatch(of.acc);
  if (isKnown(x) && isKnown(y) && x != y && x != 1 && y != 1)
    return op->emitOpError("expected the batches of x and y to be equal or one "
                           "of them to be 1, got ")
           << x << " and " << y;
  // A batch other than 1 decides; two of 1 give 1.
  int64_t expected = ShapedType::kDynamic;
  if (isKnown(x) && (x != 1 || y == 1))
    expected = x;
  else if (isKnown(y) && y != 1)
    expected = y;
  if (isKnown(expected) && isKnown(acc) && acc != expected)
    return op->emitOpError("expected acc to have the batch of x and y, ")
           << expected << ", got " << acc;
  return success();
}

LogicalResult blockscale::verifyScaleTypes(Operation *op,
                                           const ScaledProduct &of) {
  Type x = of.xScale.type().getElementType();
  Type y = of.yScale.type().getElementType();
  if (x == y)
    return success();
  return op->emitOpError("expected x_scale and y_scale to have one element "
                         "type, got ")
         << x << " and " << y;
}

/// (C9), (X9) for a known block size.
static LogicalResult verifyLegalBlock(Operation *op, const ScaledProduct &of,
                                      int64_t block) {
  Type xType = of.getX().type().getElementType();
  Type yType = of.y.type().getElementType();
  Type scaleType = of.xScale.type().getElementType();
  std::optional<Format> x = getElementFormat(xType);
  std::optional<Format> y = getElementFormat(yType);
  std::optional<Format> scale = getScaleFormat(scaleType);
  if (!x || !y || !scale) // See verifyTileTypes.
    return op->emitOpError("has element types of no known format");

  std::vector<unsigned> legal = of.getLegal(*x, *y, *scale);
  if (llvm::is_contained(legal, block))
    return success();
  if (legal.empty()) {
    SmallVector<std::string> scales;
    for (const TypeCombination &types : getTypeCombinations()) {
      std::string name(getFormatInfo(types.scale).mlirName);
      if (types.lhs == *x && types.rhs == *y &&
          !llvm::is_contained(scales, name))
        scales.push_back(name);
    }
    return op->emitOpError("expected scales of type ")
           << llvm::join(scales, " or ") << " for " << xType << " times "
           << yType << ", got " << scaleType;
  }
  return op->emitOpError("expected a block size of ")
         << llvm::interleaved(legal, " or ") << " for " << xType << " times "
         << yType << " with " << scaleType << " scales, got " << block;
}

LogicalResult blockscale::verifyBlock(Operation *op, const ScaledProduct &of) {
  int64_t k = of.getK(), blocks = of.getBlocks();
  std::optional<int64_t> attribute;
  if (of.blockSize)
    attribute = of.blockSize.getInt();

  if (!isKnown(k) || !isKnown(blocks)) {
    if (!attribute)
      return op->emitOpError("expected attribute 'block_size', because ")
             << (isKnown(k) ? "K_s" : "K") << " is dynamic";
    if (failed(verifyLegalBlock(op, of, *attribute)))
      return failure();
    if (isKnown(k) && k % *attribute != 0)
      return op->emitOpError("expected K to be a multiple of block_size, ")
             << *attribute << ", got " << k;
    return success();
  }

  if (k % blocks != 0)
    return op->emitOpError("expected K to be a multiple of K_s, got K = ")
           << k << " and K_s = " << blocks;
  if (attribute && *attribute != k / blocks)
    return op->emitOpError("expected block_size to be K / K_s, ")
           << k / blocks << ", got " << *attribute;
  return verifyLegalBlock(op, of, k / blocks);
}

//===----------------------------------------------------------------------===//
// Checks at run time
//===----------------------------------------------------------------------===//

/// (C5), (X5)
static void checkBatch(SizeChecker &check, const ScaledProduct &of) {
  auto batch = [&](const NamedShape &matrix) {
    return matrix.type().getRank() == 3 ? check.getSize(matrix.value, 0)
                                        : check.getConstant(1);
  };
  Value x = batch(of.getX()), y = batch(of.y), acc = batch(of.acc);
  Value one = check.getConstant(1);
  Value isXBatch = check.isEqual(x, acc), isYBatch = check.isEqual(y, acc);
  Value isXOne = check.isEqual(x, one), isYOne = check.isEqual(y, one);
  StringRef expectation = "the batches of x and y to be 1 or that of acc";
  check.expect(check.isEither(isXBatch, isXOne), expectation);
  check.expect(check.isEither(isYBatch, isYOne), expectation);
  check.expect(check.isEither(isXBatch, isYBatch),
               "acc to have the batch of x and y");
}

void blockscale::checkScaledProduct(SizeChecker &check,
                                    const ScaledProduct &of) {
  // (C7), (X7), except for M and the batch: at run time there may be no rows,
  // and then the result is empty.
  NamedDim n = getN(of.acc), k = getKOf(of.rows.front());
  if (n.isDynamic())
    check.expect(check.isPositive(emitSize(check, n)), "N to be at least 1");
  Value kSize = emitSize(check, k);
  if (k.isDynamic())
    check.expect(check.isPositive(kSize), "K to be at least 1");

  checkSizes(check, getSizeRelations(of));

  // (C9), (C10), (X9), (X10)
  if (!of.hasCoarseScales) {
    int64_t block = of.getBlock();
    Value blocks = emitSize(check, getBlocksOfX(of));
    check.expect(check.isEqual(check.multiply(blocks, block), kSize),
                 "K to be K_s times the block size, " + Twine(block));
  }

  if (of.acc.type().getRank() == 3)
    checkBatch(check, of);
}
