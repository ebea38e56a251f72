//===- SparseMmaOp.cpp - Verification of sparse_mma_scaled ----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The sizes of operands are in a list of equalities; the verifier checks the
// static ones, and `generateRuntimeVerification` the others.
//
//===----------------------------------------------------------------------===//

#include "SizeChecker.h"
#include "Sparse/SparseShapes.h"
#include "blockscale/Support/InstructionTable.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/InterleavedRange.h"

using namespace mlir;
using namespace mlir::blockscale;

//===----------------------------------------------------------------------===//
// Accessors
//===----------------------------------------------------------------------===//

const GranularityInfo &SparseMmaScaledOp::getUnits() {
  return getGranularityInfo(getGranularity().getValue());
}

TypeCombination SparseMmaScaledOp::getTypes() {
  auto getElement = [](Value value) {
    return getElementTypeOrSelf(value.getType());
  };
  return {*getElementFormat(getElement(getX())),
          *getElementFormat(getElement(getY())),
          *getScaleFormat(getElement(getXScale())),
          static_cast<unsigned>(getBlock()), getUnits().granularity};
}

bool SparseMmaScaledOp::hasTensorSemantics() {
  return isa<TensorType>(getAcc().getType());
}

MutableOperandRange SparseMmaScaledOp::getDpsInitsMutable() {
  if (hasTensorSemantics())
    return getAccMutable();
  return MutableOperandRange(getOperation(), /*start=*/0, /*length=*/0);
}

void SparseMmaScaledOp::build(OpBuilder &builder, OperationState &state,
                              Value x, Value metadata, Value xScale, Value y,
                              Value yScale, Value acc, Granularity granularity,
                              int64_t blockSize) {
  build(builder, state, acc.getType(), x, metadata, xScale, y, yScale, acc,
        GranularityAttr::get(builder.getContext(), granularity),
        blockSize == 0 ? IntegerAttr() : builder.getI64IntegerAttr(blockSize),
        UnitAttr());
}

LogicalResult SparseMmaScaledOp::reifyResultShapes(
    OpBuilder &builder, ReifiedRankedShapedTypeDims &reifiedReturnShapes) {
  if (!hasTensorSemantics())
    return failure();
  reifiedReturnShapes.push_back(
      tensor::getMixedSizes(builder, getLoc(), getAcc()));
  return success();
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

namespace {
/// A dimension of an operand; its size times `factor` is the size that the
/// name stands for.
struct ScaledDim {
  StringRef operand;
  Value value;
  unsigned dim;
  StringRef name;
  int64_t factor = 1;

  ShapedType type() const { return cast<ShapedType>(value.getType()); }
  bool isDynamic() const { return type().isDynamicDim(dim); }
  int64_t getSize() const {
    return isDynamic() ? ShapedType::kDynamic : type().getDimSize(dim) * factor;
  }
  bool isSameAs(const ScaledDim &other) const {
    return value == other.value && dim == other.dim;
  }
};

/// Two dimensions of one size.
struct Equality {
  ScaledDim dim, reference;

  bool isStatic() const { return !dim.isDynamic() && !reference.isDynamic(); }
  std::string describe() const {
    return (dim.operand + " to have the " + reference.name + " of " +
            reference.operand)
        .str();
  }
};

/// The operands of an op by name, and their dimensions.
class Operands {
public:
  explicit Operands(SparseMmaScaledOp op)
      : x{"x", op.getX()}, metadata{"metadata", op.getMetadata()},
        xScale{"x_scale", op.getXScale()}, y{"y", op.getY()},
        yScale{"y_scale", op.getYScale()}, acc{"acc", op.getAcc()},
        perByte(op.getUnits().elementsPerByte()) {}

  SmallVector<NamedShape> all() const {
    return {x, metadata, xScale, y, yScale, acc};
  }

  // The last two dimensions, of operands of the left side and the right side.
  ScaledDim m(const NamedShape &of) const { return dim(of, 2, "M"); }
  ScaledDim n(const NamedShape &of) const { return dim(of, 1, "N"); }
  ScaledDim batch(const NamedShape &of) const {
    return {of.name, of.value, 0, "batch"};
  }
  ScaledDim kOfX() const { return dim(x, 1, "K", kUnitsPerChunk / kKeptUnits); }
  ScaledDim kOfMetadata() const { return dim(metadata, 1, "K", perByte); }
  ScaledDim kOfY() const { return dim(y, 2, "K"); }
  ScaledDim blocksOfX() const { return dim(xScale, 1, "K_s"); }
  ScaledDim blocksOfY() const { return dim(yScale, 2, "K_s"); }

  /// (X3), (X4) and (X6).
  SmallVector<Equality> getEqualities() const {
    SmallVector<Equality> equalities;
    auto add = [&](ScaledDim dim, ScaledDim reference) {
      equalities.push_back({dim, reference});
    };
    for (const NamedShape &of : {metadata, xScale}) {
      if (x.type().getRank() == 3)
        add(batch(of), batch(x));
      add(m(of), m(x));
    }
    if (y.type().getRank() == 3)
      add(batch(yScale), batch(y));
    add(n(yScale), n(y));
    add(kOfY(), kOfX());
    add(kOfMetadata(), kOfX());
    add(blocksOfY(), blocksOfX());
    add(m(acc), m(x));
    add(n(acc), n(y));
    return equalities;
  }

  /// The static size of one of `dims`, or dynamic.
  static int64_t getKnown(ArrayRef<ScaledDim> dims) {
    for (const ScaledDim &dim : dims)
      if (!dim.isDynamic())
        return dim.getSize();
    return ShapedType::kDynamic;
  }
  int64_t getK() const { return getKnown({kOfY(), kOfX(), kOfMetadata()}); }
  int64_t getBlocks() const { return getKnown({blocksOfX(), blocksOfY()}); }

  NamedShape x, metadata, xScale, y, yScale, acc;

private:
  ScaledDim dim(const NamedShape &of, unsigned fromEnd, StringRef name,
                int64_t factor = 1) const {
    return {of.name, of.value,
            static_cast<unsigned>(of.type().getRank()) - fromEnd, name, factor};
  }

  int64_t perByte;
};
} // namespace

int64_t SparseMmaScaledOp::getLogicalK() { return Operands(*this).getK(); }

int64_t SparseMmaScaledOp::getBlock() {
  if (std::optional<uint64_t> block = getBlockSize())
    return *block;
  Operands operands(*this);
  return operands.getK() / operands.getBlocks();
}

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

static LogicalResult verifyX2Ranks(SparseMmaScaledOp op, const Operands &of) {
  int64_t x = of.x.type().getRank(), y = of.y.type().getRank();
  struct {
    const NamedShape &shape;
    int64_t expected;
    StringRef reason;
  } rows[] = {{of.metadata, x, "as x has"},
              {of.xScale, x, "as x has"},
              {of.yScale, y, "as y has"},
              {of.acc, std::max(x, y), "the larger one of x and y"}};
  for (auto &row : rows)
    if (row.shape.type().getRank() != row.expected)
      return op.emitOpError("expected ")
             << row.shape.name << " to have rank " << row.expected << ", "
             << row.reason << ", got rank " << row.shape.type().getRank();
  return success();
}

static LogicalResult verifyEquality(SparseMmaScaledOp op,
                                    const Equality &equality) {
  int64_t expected = equality.reference.getSize();
  int64_t got = equality.dim.getSize();
  if (!equality.isStatic() || expected == got)
    return success();
  return op.emitOpError("expected ")
         << equality.describe() << ", " << expected << ", got " << got << " ("
         << equality.dim.type() << " with " << equality.reference.type() << ")";
}

static LogicalResult verifyX3X4X6Sizes(SparseMmaScaledOp op,
                                       const Operands &of) {
  SmallVector<Equality> equalities = of.getEqualities();
  for (const Equality &equality : equalities)
    if (failed(verifyEquality(op, equality)))
      return failure();
  // Two sizes that must be equal to a third one, which is dynamic.
  for (auto [i, one] : llvm::enumerate(equalities))
    for (const Equality &other : ArrayRef(equalities).take_front(i))
      if (one.reference.isSameAs(other.reference) &&
          failed(verifyEquality(op, {one.dim, other.dim})))
        return failure();
  return success();
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

static LogicalResult verifyX5Batch(SparseMmaScaledOp op, const Operands &of) {
  int64_t x = getKnownBatch({of.x, of.xScale, of.metadata});
  int64_t y = getKnownBatch({of.y, of.yScale});
  int64_t acc = getKnownBatch(of.acc);
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

static LogicalResult verifyX8ScaleTypes(SparseMmaScaledOp op,
                                        const Operands &of) {
  Type x = of.xScale.type().getElementType();
  Type y = of.yScale.type().getElementType();
  if (x == y)
    return success();
  return op.emitOpError("expected x_scale and y_scale to have one element "
                        "type, got ")
         << x << " and " << y;
}

/// (X9) for a known block size.
static LogicalResult verifyX9Legal(SparseMmaScaledOp op, const Operands &of,
                                   int64_t block) {
  Type x = of.x.type().getElementType(), y = of.y.type().getElementType();
  Type scale = of.xScale.type().getElementType();
  std::vector<unsigned> legal = getLegalSparseBlockSizes(
      *getElementFormat(x), *getElementFormat(y), *getScaleFormat(scale));
  if (llvm::is_contained(legal, block))
    return success();
  if (legal.empty())
    return op.emitOpError("expected scales of type f8E8M0FNU for ")
           << x << " times " << y << ", got " << scale;
  return op.emitOpError("expected a block size of ")
         << llvm::interleaved(legal, " or ") << " for " << x << " times " << y
         << " with " << scale << " scales, got " << block;
}

static LogicalResult verifyX9X10Block(SparseMmaScaledOp op,
                                      const Operands &of) {
  int64_t k = of.getK(), blocks = of.getBlocks();
  bool hasK = !ShapedType::isDynamic(k);
  std::optional<int64_t> attribute;
  if (IntegerAttr attr = op.getBlockSizeAttr())
    attribute = attr.getInt();
  if (!hasK || ShapedType::isDynamic(blocks)) {
    if (!attribute)
      return op.emitOpError("expected attribute 'block_size', because ")
             << (hasK ? "K_s" : "K") << " is dynamic";
    if (failed(verifyX9Legal(op, of, *attribute)))
      return failure();
    if (hasK && k % *attribute != 0)
      return op.emitOpError("expected K to be a multiple of block_size, ")
             << *attribute << ", got " << k;
    return success();
  }
  if (k % blocks != 0)
    return op.emitOpError("expected K to be a multiple of K_s, got K = ")
           << k << " and K_s = " << blocks;
  if (attribute && *attribute != k / blocks)
    return op.emitOpError("expected block_size to be K / K_s, ")
           << k / blocks << ", got " << *attribute;
  return verifyX9Legal(op, of, k / blocks);
}

LogicalResult SparseMmaScaledOp::verify() {
  // Later checks rely on earlier ones: ranks before dimensions, and no size of
  // 0 before a division.
  Operands of(*this);
  if (failed(verifySameKind(*this, of.all())) ||
      failed(verifyX2Ranks(*this, of)) ||
      failed(verifyNoZeroSize(*this, of.all())) ||
      failed(verifyX3X4X6Sizes(*this, of)) ||
      failed(verifyX5Batch(*this, of)) || failed(verifyX8ScaleTypes(*this, of)))
    return failure();
  return verifyX9X10Block(*this, of);
}

//===----------------------------------------------------------------------===//
// Checks at run time
//===----------------------------------------------------------------------===//

void SparseMmaScaledOp::generateRuntimeVerification(
    OpBuilder &builder, Location loc,
    function_ref<std::string(Operation *, StringRef)> generateErrorMessage) {
  if (hasStaticShapes(getOperation()))
    return; // Fields of metadata are checked where they are read.
  SizeChecker check(builder, loc, getOperation(), generateErrorMessage);
  Operands of(*this);
  AffineExpr d0 = builder.getAffineDimExpr(0);
  auto getSize = [&](const ScaledDim &dim) {
    Value size = check.getSize(dim.value, dim.dim);
    return check.apply(d0 * dim.factor, {OpFoldResult(size)});
  };

  // (X7), except for M and the batch: at run time there may be no rows, and
  // then the result is empty.
  if (of.n(of.acc).isDynamic())
    check.expect(check.isPositive(getSize(of.n(of.acc))), "N to be at least 1");
  if (of.kOfX().isDynamic())
    check.expect(check.isPositive(getSize(of.kOfX())), "K to be at least 1");

  // (X3), (X4) and (X6)
  for (const Equality &equality : of.getEqualities())
    if (!equality.isStatic())
      check.expect(
          check.isEqual(getSize(equality.dim), getSize(equality.reference)),
          equality.describe());

  // (X9) and (X10)
  Value blocks = getSize(of.blocksOfX());
  check.expect(
      check.isEqual(check.apply(d0 * getBlock(), {OpFoldResult(blocks)}),
                    getSize(of.kOfX())),
      "K to be K_s times the block size, " + Twine(getBlock()));

  // (X5)
  if (of.acc.type().getRank() != 3)
    return;
  auto batch = [&](const NamedShape &matrix) {
    return matrix.type().getRank() == 3 ? check.getSize(matrix.value, 0)
                                        : check.getConstant(1);
  };
  Value x = batch(of.x), y = batch(of.y), acc = batch(of.acc);
  Value one = check.getConstant(1);
  Value isXBatch = check.isEqual(x, acc), isYBatch = check.isEqual(y, acc);
  Value isXOne = check.isEqual(x, one), isYOne = check.isEqual(y, one);
  StringRef expectation = "the batches of x and y to be 1 or that of acc";
  check.expect(check.isEither(isXBatch, isXOne), expectation);
  check.expect(check.isEither(isYBatch, isYOne), expectation);
  check.expect(check.isEither(isXBatch, isYBatch),
               "acc to have the batch of x and y");
}
