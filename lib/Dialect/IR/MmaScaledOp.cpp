//===- MmaScaledOp.cpp - Verification of mma_scaled -----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SizeRelations.h"
#include "blockscale/Dialect/IR/BlockScale.h"
#include "blockscale/Support/InstructionTable.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/InterleavedRange.h"

using namespace mlir;
using namespace mlir::blockscale;

//===----------------------------------------------------------------------===//
// Accessors
//===----------------------------------------------------------------------===//

ShapedType MmaScaledOp::getMatrixType(Side side) {
  return cast<ShapedType>((side == Side::X ? getX() : getY()).getType());
}

ShapedType MmaScaledOp::getScaleType(Side side) {
  return cast<ShapedType>(
      (side == Side::X ? getXScale() : getYScale()).getType());
}

unsigned MmaScaledOp::getRowDim(Side side, unsigned rank) {
  return side == Side::X ? rank - 2 : rank - 1;
}

unsigned MmaScaledOp::getKDim(Side side, unsigned rank) {
  return side == Side::X ? rank - 1 : rank - 2;
}

bool MmaScaledOp::hasTensorSemantics() {
  return isa<TensorType>(getAcc().getType());
}

MutableOperandRange MmaScaledOp::getDpsInitsMutable() {
  if (hasTensorSemantics())
    return getAccMutable();
  return MutableOperandRange(getOperation(), /*start=*/0, /*length=*/0);
}

/// The size along K, from x or y, if one of them has it static.
static int64_t getCommonK(ShapedType x, ShapedType y) {
  using Side = MmaScaledOp::Side;
  int64_t k = x.getDimSize(MmaScaledOp::getKDim(Side::X, x.getRank()));
  if (!ShapedType::isDynamic(k))
    return k;
  return y.getDimSize(MmaScaledOp::getKDim(Side::Y, y.getRank()));
}

int64_t MmaScaledOp::getBlock() {
  if (std::optional<uint64_t> block = getBlockSize())
    return *block;
  return getCommonK(getMatrixType(Side::X), getMatrixType(Side::Y)) /
         getCommonK(getScaleType(Side::X), getScaleType(Side::Y));
}

TypeCombination MmaScaledOp::getTypes() {
  return {*getElementFormat(getMatrixType(Side::X).getElementType()),
          *getElementFormat(getMatrixType(Side::Y).getElementType()),
          *getScaleFormat(getScaleType(Side::X).getElementType()),
          static_cast<unsigned>(getBlock())};
}

/// Ops with dynamic sizes may fail at run time, so they stay where they are.
Speculation::Speculatability MmaScaledOp::getSpeculatability() {
  return hasStaticShapes(getOperation()) ? Speculation::Speculatable
                                         : Speculation::NotSpeculatable;
}

LogicalResult MmaScaledOp::reifyResultShapes(
    OpBuilder &builder, ReifiedRankedShapedTypeDims &reifiedReturnShapes) {
  if (!hasTensorSemantics())
    return failure();
  reifiedReturnShapes.push_back(
      tensor::getMixedSizes(builder, getLoc(), getAcc()));
  return success();
}

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

/// The batch of `type`; a matrix without a batch has a batch of 1.
static int64_t getBatch(ShapedType type) {
  return type.getRank() == 3 ? type.getDimSize(0) : 1;
}

ArrayRef<NamedTile> MmaScaledOp::getTileOperands() {
  static constexpr NamedTile tiles[] = {{"x", TileType::Matrix},
                                        {"x_scale", TileType::Scales},
                                        {"y", TileType::Matrix},
                                        {"y_scale", TileType::Scales},
                                        {"acc", TileType::Accumulator}};
  return tiles;
}

NamedTile MmaScaledOp::getTileResult() {
  return {"the result", TileType::Accumulator};
}

static LogicalResult verifyC1SameKind(MmaScaledOp op) {
  Type first = op.getX().getType();
  for (Type type : op.getOperandTypes()) {
    if (isa<TensorType>(type) != isa<TensorType>(first))
      return op.emitOpError("expected all operands to be tensors or all to be "
                            "vectors, got ")
             << first << " and " << type;
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      if (tensor.getEncoding())
        return op.emitOpError("expected tensors without encoding, got ")
               << type;
  }
  return success();
}

static LogicalResult verifyC2Ranks(MmaScaledOp op) {
  auto rank = [](Value value) {
    return cast<ShapedType>(value.getType()).getRank();
  };
  int64_t xRank = rank(op.getX()), yRank = rank(op.getY());
  struct {
    StringRef name;
    int64_t expected;
    int64_t got;
    StringRef reason;
  } rows[] = {
      {"x_scale", xRank, rank(op.getXScale()), "as x has"},
      {"y_scale", yRank, rank(op.getYScale()), "as y has"},
      {"acc", std::max(xRank, yRank), rank(op.getAcc()),
       "the larger one of x and y"},
  };
  for (auto &row : rows)
    if (row.expected != row.got)
      return op.emitOpError("expected ")
             << row.name << " to have rank " << row.expected << ", "
             << row.reason << ", got rank " << row.got;
  return success();
}

SmallVector<SizeRelation> blockscale::getSizeRelations(MmaScaledOp op) {
  using Side = MmaScaledOp::Side;
  auto rank = [](Value value) {
    return cast<ShapedType>(value.getType()).getRank();
  };
  auto row = [&](Side side, Value value, StringRef name) {
    return NamedDim{value, MmaScaledOp::getRowDim(side, rank(value)), name,
                    side == Side::X ? "M" : "N"};
  };
  auto k = [&](Side side, Value value, StringRef name, StringRef dimName) {
    return NamedDim{value, MmaScaledOp::getKDim(side, rank(value)), name,
                    dimName};
  };
  auto batch = [&](Value value, StringRef name) {
    return NamedDim{value, 0, name, "batch"};
  };

  Value x = op.getX(), xScale = op.getXScale(), y = op.getY(),
        yScale = op.getYScale(), acc = op.getAcc();
  SmallVector<SizeRelation> relations;
  if (rank(x) == 3)
    relations.push_back({batch(xScale, "x_scale"), batch(x, "x")});
  relations.push_back({row(Side::X, xScale, "x_scale"), row(Side::X, x, "x")});
  if (rank(y) == 3)
    relations.push_back({batch(yScale, "y_scale"), batch(y, "y")});
  relations.push_back({row(Side::Y, yScale, "y_scale"), row(Side::Y, y, "y")});
  relations.push_back({k(Side::Y, y, "y", "K"), k(Side::X, x, "x", "K")});
  relations.push_back({k(Side::Y, yScale, "y_scale", "K_s"),
                       k(Side::X, xScale, "x_scale", "K_s")});
  relations.push_back({row(Side::X, acc, "acc"), row(Side::X, x, "x")});
  relations.push_back({row(Side::Y, acc, "acc"), row(Side::Y, y, "y")});
  return relations;
}

static LogicalResult verifyRelation(MmaScaledOp op,
                                    const SizeRelation &relation) {
  int64_t expected = relation.reference.getSize();
  int64_t got = relation.dim.getSize();
  if (!relation.isStatic() || expected == got)
    return success();
  return op.emitOpError("expected ")
         << relation.describe() << ", " << expected << ", got " << got << " ("
         << relation.dim.value.getType() << " with "
         << relation.reference.value.getType() << ")";
}

static LogicalResult verifyC3C4C6Sizes(MmaScaledOp op) {
  SmallVector<SizeRelation> relations = getSizeRelations(op);
  for (const SizeRelation &relation : relations)
    if (failed(verifyRelation(op, relation)))
      return failure();
  // Two sizes that must be equal to a third one, which is dynamic.
  for (auto [i, one] : llvm::enumerate(relations))
    for (const SizeRelation &other : ArrayRef(relations).take_front(i))
      if (one.reference.isSameAs(other.reference) &&
          failed(verifyRelation(op, {one.dim, other.dim})))
        return failure();
  return success();
}

static LogicalResult verifyC5Batch(MmaScaledOp op) {
  // The batch of its scales, if that of the operand is dynamic.
  auto getKnownBatch = [&](MmaScaledOp::Side side) {
    int64_t batch = getBatch(op.getMatrixType(side));
    return ShapedType::isDynamic(batch) ? getBatch(op.getScaleType(side))
                                        : batch;
  };
  int64_t x = getKnownBatch(MmaScaledOp::Side::X);
  int64_t y = getKnownBatch(MmaScaledOp::Side::Y);
  int64_t acc = getBatch(cast<ShapedType>(op.getAcc().getType()));
  auto isKnown = [](int64_t size) { return !ShapedType::isDynamic(size); };

  if (isKnown(x) && isKnown(y) && x != y && x != 1 && y != 1)
    return op.emitOpError("expected the batches of x and y to be equal or one "
                          "of them to be 1, got ")
           << x << " and " << y;

  // A batch other than 1 decides; two of 1 give 1.
  int64_t expected = ShapedType::kDynamic;
  if (isKnown(x) && (x != 1 || y == 1))
    expected = x;
  else if (isKnown(y) && y != 1)
    expected = y;
  if (isKnown(expected) && isKnown(acc) && acc != expected)
    return op.emitOpError("expected acc to have the batch of x and y, ")
           << expected << ", got " << acc;
  return success();
}

static LogicalResult verifyC7Positive(MmaScaledOp op) {
  for (auto [tile, type] :
       llvm::zip_equal(MmaScaledOp::getTileOperands(), op.getOperandTypes())) {
    auto shape = cast<ShapedType>(type).getShape();
    for (auto [dim, size] : llvm::enumerate(shape))
      if (size == 0)
        return op.emitOpError("expected all sizes to be at least 1, got 0 in "
                              "dimension ")
               << dim << " of " << tile.name << " (" << type << ")";
  }
  return success();
}

static LogicalResult verifyC8ScaleTypes(MmaScaledOp op) {
  Type x = op.getScaleType(MmaScaledOp::Side::X).getElementType();
  Type y = op.getScaleType(MmaScaledOp::Side::Y).getElementType();
  if (x != y)
    return op.emitOpError("expected x_scale and y_scale to have one element "
                          "type, got ")
           << x << " and " << y;
  return success();
}

/// (C9) for a known block size.
static LogicalResult verifyC9Legal(MmaScaledOp op, int64_t block) {
  Type xType = op.getMatrixType(MmaScaledOp::Side::X).getElementType();
  Type yType = op.getMatrixType(MmaScaledOp::Side::Y).getElementType();
  Type scaleType = op.getScaleType(MmaScaledOp::Side::X).getElementType();
  std::optional<Format> x = getElementFormat(xType);
  std::optional<Format> y = getElementFormat(yType);
  std::optional<Format> scale = getScaleFormat(scaleType);
  if (!x || !y || !scale) // See verifyTileTypes.
    return op.emitOpError("has element types of no known format");

  std::vector<unsigned> legal = getLegalBlockSizes(*x, *y, *scale);
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
    return op.emitOpError("expected scales of type ")
           << llvm::join(scales, " or ") << " for " << xType << " times "
           << yType << ", got " << scaleType;
  }
  return op.emitOpError("expected a block size of ")
         << llvm::interleaved(legal, " or ") << " for " << xType << " times "
         << yType << " with " << scaleType << " scales, got " << block;
}

static LogicalResult verifyC9C10Block(MmaScaledOp op) {
  using Side = MmaScaledOp::Side;
  int64_t k = getCommonK(op.getMatrixType(Side::X), op.getMatrixType(Side::Y));
  int64_t kScale =
      getCommonK(op.getScaleType(Side::X), op.getScaleType(Side::Y));
  bool hasK = !ShapedType::isDynamic(k);
  bool hasKScale = !ShapedType::isDynamic(kScale);
  std::optional<int64_t> attribute;
  if (IntegerAttr attr = op.getBlockSizeAttr())
    attribute = attr.getInt();

  if (!hasK || !hasKScale) {
    if (!attribute)
      return op.emitOpError("expected attribute 'block_size', because ")
             << (hasK ? "K_s" : "K") << " is dynamic";
    if (failed(verifyC9Legal(op, *attribute)))
      return failure();
    if (hasK && k % *attribute != 0)
      return op.emitOpError("expected K to be a multiple of block_size, ")
             << *attribute << ", got " << k;
    return success();
  }

  if (k % kScale != 0)
    return op.emitOpError("expected K to be a multiple of K_s, got K = ")
           << k << " and K_s = " << kScale;
  if (attribute && *attribute != k / kScale)
    return op.emitOpError("expected block_size to be K / K_s, ")
           << k / kScale << ", got " << *attribute;
  return verifyC9Legal(op, k / kScale);
}

LogicalResult MmaScaledOp::verify() {
  // Later checks rely on earlier ones: ranks before dimensions, and no size of
  // 0 before a division.
  if (failed(verifyC1SameKind(*this)) || failed(verifyC2Ranks(*this)) ||
      failed(verifyC7Positive(*this)) || failed(verifyC3C4C6Sizes(*this)) ||
      failed(verifyC5Batch(*this)) || failed(verifyC8ScaleTypes(*this)))
    return failure();
  return verifyC9C10Block(*this);
}
