//===- LowerAccQuantize.cpp - Quantize accumulators -----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The epilogue that quantizes an accumulator in registers. The lanes that share
// a block reduce its largest magnitude by shuffles, and each quantizes its own
// elements. The layout's lowering (AccLowering.h) says which lanes share a
// block.
//
//===----------------------------------------------------------------------===//

#include "Fragments/AccElements.h"
#include "Fragments/LanePatterns.h"
#include "Quantize/BlockShuffle.h"
#include "Quantize/PackedStore.h"
#include "Quantize/QuantizedStores.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::blockscale;

static BlockFormat getFormat(AccQuantizeOp op) {
  return {*getElementFormat(op.getElement()), *getScaleFormat(op.getScale()),
          static_cast<int64_t>(op.getBlockSize()), op.getRule(),
          op.getElement()};
}

namespace {
class AccQuantizer {
public:
  AccQuantizer(OpBuilder &b, AccQuantizeOp op, AccBlocks blocks,
               const Chip &chip, Value lane)
      : b(b), loc(op.getLoc()), op(op), type(op.getAcc().getType()),
        blocks(std::move(blocks)), lane(lane), format(getFormat(op)),
        arithmetic(b, loc), packed(b, loc, format, op.getCodeBits(), chip),
        numColumns(op.getPairs() ? toColumnOfPair(op.getColumns())
                                 : op.getColumns()),
        stores(b, loc, op.getElements(), op.getScales(), op.getCodeBits(),
               op.getBlockSize(), op.getRows(), numColumns),
        run(op.getPairs() ? getAccLowering(type).getPairs(type)->run
                          : getAccLowering(type).getRunLength(type)) {}

  void emit(ValueRange acc) {
    makeElements(acc);
    if (blocks.pairLane != 0)
      exchangePairs();
    findTurn();
    Value largest;
    if (Value byReciprocal =
            format.rule ? Value()
                        : arithmetic.emitAllowsReciprocal(op.getTensorScale()))
      largest = quantizeEitherWay(byReciprocal);
    else
      largest = quantizeAll(/*byReciprocal=*/!format.rule);
    if (op.getAmax())
      emitJoinLargest(b, loc, largest, op.getAmax());
  }

private:
  /// The lane's part of a block.
  struct Part {
    ArrayRef<int64_t> runs;
    SmallVector<Value> elements;
    Value largest;
    MatrixPosition position;
    BlockFactor factor = {};
  };

  void makeElements(ValueRange acc);
  /// The column of the value of a pair whose first element has `column`.
  Value toColumnOfPair(Value column);
  void exchangePairs();
  void findTurn();
  Part getPart(ArrayRef<int64_t> runs);
  void quantize(MutableArrayRef<Part> group, bool byReciprocal);
  Value shareScale(MutableArrayRef<Part> group);
  Value makeScales(MutableArrayRef<Part> group);
  /// Returns `get` of the block of `group` that is assigned to this lane.
  template <typename Range, typename Get>
  Value selectTurn(Range &&group, Get get) {
    Value own;
    for (auto [i, part] : llvm::enumerate(group)) {
      Value value = get(part);
      if (!own || own == value) {
        own = value;
        continue;
      }
      Value isTurn = arith::CmpIOp::create(
          b, loc, arith::CmpIPredicate::eq, turn,
          arith::ConstantIndexOp::create(b, loc, static_cast<int64_t>(i)));
      own = select(isTurn, value, own);
    }
    return own;
  }
  /// The number of lanes that share a block.
  size_t getNumLanes() const { return size_t(1) << blocks.sharers.size(); }
  Value quantizeAll(bool byReciprocal);
  Value quantizeEitherWay(Value byReciprocal);
  bool canGather(ArrayRef<Part> group) const;
  void storeBlock(MatrixPosition position, ArrayRef<Value> words,
                  int64_t pairs);
  void storeElements(const Part &part, Value words);
  /// Null for always.
  Value isInside(const MatrixPosition &position);
  SmallVector<Value> split(Value words, int64_t elements);
  /// Whether the bit of the lane index is set.
  Value hasBit(int64_t bit);
  Value select(Value condition, Value ifTrue, Value ifFalse) {
    return b.createOrFold<arith::SelectOp>(loc, condition, ifTrue, ifFalse);
  }

  OpBuilder &b;
  Location loc;
  AccQuantizeOp op;
  AccType type;
  AccBlocks blocks;
  Value lane;
  BlockFormat format;
  BlockArithmetic arithmetic;
  PackedStore packed;
  /// Of the values, as rows and columns below.
  Value numColumns;
  QuantizedStores stores;
  /// The length of a run: consecutive elements of a row in the lane.
  int64_t run;
  SmallVector<Value> elements, rows, columns;
  /// The index of this lane among those of a block, and the index in the warp
  /// of the first of them.
  Value turn, firstLane;
};
} // namespace

Value AccQuantizer::toColumnOfPair(Value column) {
  AffineExpr d0 = b.getAffineDimExpr(0);
  return applyExpr(b, loc,
                   d0.floorDiv(2 * kPairDistance) * kPairDistance +
                       d0 % kPairDistance,
                   column);
}

void AccQuantizer::makeElements(ValueRange acc) {
  Value zero = arithmetic.number(0);
  auto emitValue = [&](ValueRange of, Value row, Value column, Value inside) {
    SmallVector<Value> arguments(of);
    arguments.append({row, column});
    return emitLoadIf(
        b, loc, inside,
        [&](OpBuilder &then) -> Value {
          return cloneBody(then, op.getBody().front(), arguments)[0];
        },
        zero);
  };
  if (op.getPairs()) {
    forEachPair(
        b, op, type, acc, lane,
        [&](ArrayRef<Value> pair, Value row, Value column, Value inside) {
          elements.push_back(emitValue(pair, row, column, inside));
          rows.push_back(row);
          columns.push_back(toColumnOfPair(column));
        });
    return;
  }
  for (SmallVector<Value> *values : {&elements, &rows, &columns})
    values->resize(acc.size());
  forEachElement(b, op, type, lane,
                 [&](int64_t index, Value row, Value column, Value inside) {
                   rows[index] = row;
                   columns[index] = column;
                   elements[index] = emitValue(acc[index], row, column, inside);
                 });
}

Value AccQuantizer::hasBit(int64_t bit) {
  AffineExpr d0 = b.getAffineDimExpr(0);
  Value value = applyExpr(b, loc, d0.floorDiv(bit) % 2, lane);
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, value,
                               arith::ConstantIndexOp::create(b, loc, 0));
}

/// Turns pairs of elements of two rows and one column into pairs of one row and
/// two columns. Each lane sends the element of one row, and receives that of
/// the other row.
void AccQuantizer::exchangePairs() {
  Value isOdd = hasBit(blocks.pairLane);
  for (size_t i = 0; i != elements.size(); i += 2) {
    Value &first = elements[i], &second = elements[i + 1];
    Value got =
        emitShuffle(b, loc, select(isOdd, first, second), blocks.pairLane);
    first = select(isOdd, got, first);
    second = select(isOdd, second, got);
    rows[i] = select(isOdd, rows[i + 1], rows[i]);
    columns[i] = select(isOdd, addIndex(b, loc, columns[i], -1), columns[i]);
  }
  run = 2;
}

/// Splits quantized elements, packed in an integer or a vector, into runs.
SmallVector<Value> AccQuantizer::split(Value packed, int64_t numElements) {
  int64_t runs = numElements / run;
  if (runs == 1)
    return {packed};
  if (!isa<VectorType>(packed.getType()))
    packed = vector::FromElementsOp::create(
        b, loc, VectorType::get(1, packed.getType()), packed);
  Type piece = b.getIntegerType(run * op.getCodeBits());
  packed =
      vector::BitCastOp::create(b, loc, VectorType::get(runs, piece), packed);
  return extractElements(b, loc, packed);
}

void AccQuantizer::findTurn() {
  AffineExpr d0 = b.getAffineDimExpr(0);
  AffineExpr number = b.getAffineConstantExpr(0), first = d0;
  for (auto [i, distance] : llvm::enumerate(blocks.sharers)) {
    AffineExpr bit = d0.floorDiv(distance) % 2;
    number = number + bit * (int64_t(1) << i);
    first = first - bit * distance;
  }
  SmallVector<Value> values = applyExprs(b, loc, {number, first}, lane);
  turn = values[0];
  firstLane = values[1];
}

AccQuantizer::Part AccQuantizer::getPart(ArrayRef<int64_t> runs) {
  Part part = {runs, {}, {}, {op.getBatch(), rows[runs[0]], columns[runs[0]]}};
  for (int64_t first : runs)
    llvm::append_range(part.elements, ArrayRef(elements).slice(first, run));
  for (Value element : part.elements) {
    Value magnitude = arithmetic.getMagnitude(element);
    part.largest = part.largest ? arithmetic.getLargest(part.largest, magnitude)
                                : magnitude;
  }
  for (int64_t distance : blocks.sharers)
    part.largest = arithmetic.getLargest(
        part.largest, emitShuffle(b, loc, part.largest, distance));
  return part;
}

/// Divisors are expensive: each lane computes that of one block of the group,
/// and receives the others. Returns the scale of its own block.
Value AccQuantizer::shareScale(MutableArrayRef<Part> group) {
  Value largest =
      selectTurn(group, [](const Part &part) { return part.largest; });
  Value tensorScale = op.getTensorScale();
  Value scale = arithmetic.emitScale(format, largest, tensorScale);
  BlockFactor own = arithmetic.emitFactor(format, scale, tensorScale);
  arithmetic.emitReciprocal(own);
  for (auto [i, part] : llvm::enumerate(group)) {
    int64_t bits = 0;
    for (auto [bit, distance] : llvm::enumerate(blocks.sharers))
      bits += (i >> bit & 1) * distance;
    Value from = arith::IndexCastUIOp::create(
        b, loc, b.getI32Type(), addIndex(b, loc, firstLane, bits));
    auto receive = [&](Value value) {
      return gpu::ShuffleOp::create(b, loc, value, from,
                                    arithmetic.integer(kWarpLanes),
                                    gpu::ShuffleMode::IDX)
          .getShuffleResult();
    };
    part.factor = arithmetic.fromReciprocal(
        receive(own.value), receive(own.reciprocal), tensorScale);
  }
  return scale;
}

/// Returns the scale of the block that is assigned to this lane. All lanes
/// compute the scales of all blocks.
Value AccQuantizer::makeScales(MutableArrayRef<Part> group) {
  SmallVector<Value> scales;
  for (Part &part : group) {
    scales.push_back(
        arithmetic.emitScale(format, part.largest, /*tensorScale=*/Value()));
    part.factor = arithmetic.emitFactor(format, scales.back(),
                                        /*tensorScale=*/Value());
  }
  return selectTurn(ArrayRef(scales), [](Value scale) { return scale; });
}

/// Quantizes a group of blocks: at most as many as lanes share a block.
void AccQuantizer::quantize(MutableArrayRef<Part> group, bool byReciprocal) {
  Value scale = format.rule ? makeScales(group) : shareScale(group);
  SmallVector<Value> words;
  for (const Part &part : group)
    words.push_back(packed.emitBy(byReciprocal, part.elements, part.factor));
  MatrixPosition position = {
      op.getBatch(),
      selectTurn(group, [](const Part &part) { return part.position.row; }),
      selectTurn(group, [](const Part &part) { return part.position.column; })};
  if (canGather(group))
    storeBlock(position, words, group[0].elements.size() / 2);
  else
    for (auto [part, packed] : llvm::zip_equal(group, words))
      storeElements(part, packed);
  Value hasTurn;
  if (group.size() != getNumLanes())
    hasTurn = isBelow(b, loc, turn,
                      arith::ConstantIndexOp::create(
                          b, loc, static_cast<int64_t>(group.size())));
  emitIf(b, loc, hasTurn, [&] {
    stores.storeScale(position, scale, op.getInBounds(), op.getInBounds());
  });
}

/// Quantizes all blocks. Returns the largest magnitude of all.
Value AccQuantizer::quantizeAll(bool byReciprocal) {
  Value largest;
  ArrayRef<SmallVector<int64_t>> left = blocks.parts;
  while (!left.empty()) {
    size_t count = std::min(getNumLanes(), left.size());
    SmallVector<Part> group = llvm::map_to_vector(
        left.take_front(count),
        [&](ArrayRef<int64_t> runs) { return getPart(runs); });
    left = left.drop_front(count);
    for (const Part &part : group)
      largest =
          largest ? arithmetic.getLargest(largest, part.largest) : part.largest;
    quantize(group, byReciprocal);
  }
  return largest;
}

Value AccQuantizer::quantizeEitherWay(Value byReciprocal) {
  auto emitWay = [&](bool way) {
    return [this, way](OpBuilder &, Location) {
      scf::YieldOp::create(b, loc, quantizeAll(way));
    };
  };
  return scf::IfOp::create(b, loc, byReciprocal, emitWay(true), emitWay(false))
      .getResult(0);
}

/// Whether a shuffle can give each lane a whole block of the group.
bool AccQuantizer::canGather(ArrayRef<Part> group) const {
  return run == 2 && blocks.sharers.size() == 2 && blocks.sharers[0] == 1 &&
         blocks.sharers[1] == 2 && group.size() == BlockShuffle::kLanes;
}

/// Gathers the lane's block from the parts of all lanes, and stores it at
/// `position`.
void AccQuantizer::storeBlock(MatrixPosition position, ArrayRef<Value> words,
                              int64_t pairs) {
  Type word = b.getI32Type();
  auto toWords = [&](Value packed) -> SmallVector<Value> {
    if (packed.getType() == word)
      return {packed};
    if (!isa<VectorType>(packed.getType()))
      return {arith::ExtUIOp::create(b, loc, word, packed)};
    return extractElements(b, loc, packed);
  };
  unsigned bits = op.getCodeBits();
  SmallVector<Value> block =
      BlockShuffle(b, loc, lane)
          .emit(llvm::map_to_vector(words, toWords), pairs, bits);
  AffineExpr d0 = b.getAffineDimExpr(0);
  int64_t size = op.getBlockSize();
  position.column =
      applyExpr(b, loc, d0.floorDiv(size) * size, position.column);
  // A store has at most 16 bytes.
  constexpr size_t kMost = 4;
  constexpr int64_t kWordBits = 32;
  emitIf(b, loc, isInside(position), [&] {
    for (size_t first = 0; first < block.size(); first += kMost) {
      ArrayRef<Value> some =
          ArrayRef(block).slice(first, std::min(kMost, block.size() - first));
      auto count = static_cast<int64_t>(some.size());
      MatrixPosition at = position;
      at.column = addIndex(b, loc, position.column,
                           static_cast<int64_t>(first) * kWordBits / bits);
      Value all = vector::FromElementsOp::create(
          b, loc, VectorType::get(count, word), some);
      stores.storeElements(at, all, count * kWordBits / bits);
    }
  });
}

Value AccQuantizer::isInside(const MatrixPosition &position) {
  if (op.getInBounds())
    return {};
  Value isRow = isBelow(b, loc, position.row, op.getRows());
  return emitBoth(b, loc, isRow, isBelow(b, loc, position.column, numColumns));
}

void AccQuantizer::storeElements(const Part &part, Value words) {
  SmallVector<Value> packedRuns =
      split(words, static_cast<int64_t>(part.elements.size()));
  emitIf(b, loc, isInside(part.position), [&] {
    for (auto [first, packed] : llvm::zip_equal(part.runs, packedRuns))
      stores.storeElements({op.getBatch(), rows[first], columns[first]}, packed,
                           run);
  });
}

static FailureOr<LaneResults>
lowerAccQuantize(AccQuantizeOp op, LaneOperands<AccQuantizeOp> operands,
                 Value lane, ConversionPatternRewriter &b) {
  FailureOr<TargetAttr> target = getTarget(op);
  if (failed(target))
    return failure();
  AccType type = op.getAcc().getType();
  const AccLowering &lowering = getAccLowering(type);
  auto size = static_cast<int64_t>(op.getBlockSize());
  std::optional<AccBlocks> blocks = op.getPairs()
                                        ? lowering.getPairBlocks(type, size)
                                        : lowering.getBlocks(type, size);
  if (!blocks)
    return b.notifyMatchFailure(op, "expected whole blocks");
  AccQuantizer(b, op, *std::move(blocks), (*target).getFinalChip(), lane)
      .emit(operands.getAcc());
  return LaneResults();
}

void blockscale::populateAccQuantizePatterns(const TypeConverter &converter,
                                             RewritePatternSet &patterns,
                                             Value lane) {
  addLanePatterns(converter, patterns, lane, lowerAccQuantize);
}
