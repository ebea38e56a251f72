//===- LowerAccQuantize.cpp - Accumulators to codes and scales ------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Blocks are quantised where their numbers are: the lanes that share one tell
// each other the largest, and each makes codes of its own numbers. How they
// share is asked of the layout's row (AccLowering.h).
//
//===----------------------------------------------------------------------===//

#include "Fragments/AccElements.h"
#include "Fragments/LanePatterns.h"
#include "Quantize/CodeWords.h"
#include "Quantize/QuantizedStores.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::blockscale;

static BlockFormat getFormat(AccQuantizeOp op) {
  return {*getElementFormat(op.getElement()), *getScaleFormat(op.getScale()),
          op.getBlockSize(), op.getRule(), op.getElement()};
}

namespace {
class AccQuantizer {
public:
  AccQuantizer(OpBuilder &b, AccQuantizeOp op, AccBlocks blocks,
               const Chip &chip, Value lane)
      : b(b), loc(op.getLoc()), op(op), type(op.getAcc().getType()),
        blocks(std::move(blocks)), lane(lane), format(getFormat(op)),
        arithmetic(b, loc), codeWords(b, loc, format, op.getCodeBits(), chip),
        stores(b, loc, op.getCodes(), op.getScales(), op.getCodeBits(),
               op.getBlockSize(), op.getRows(), op.getColumns()),
        run(getAccLowering(type).getRunLength(type)) {}

  void emit(ValueRange acc) {
    makeNumbers(acc);
    if (blocks.pairLane != 0)
      exchangePairs();
    for (ArrayRef<int64_t> part : blocks.parts)
      quantize(part);
    storeScales();
    if (op.getAmax())
      emitJoinLargest(b, loc, largestOfAll, op.getAmax());
  }

private:
  /// The scale of a block, and a place in it.
  struct BlockScale {
    Value code;
    MatrixPlace place;
  };

  void makeNumbers(ValueRange acc);
  void exchangePairs();
  void quantize(ArrayRef<int64_t> part);
  void storeScales();
  SmallVector<Value> split(Value words, int64_t numbers);
  /// Whether the bit of a lane's number is set.
  Value hasBit(int64_t bit);
  Value select(Value condition, Value ifTrue, Value ifFalse) {
    return b.createOrFold<arith::SelectOp>(loc, condition, ifTrue, ifFalse);
  }
  Value isBelow(Value value, Value limit) {
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, value,
                                 limit);
  }

  OpBuilder &b;
  Location loc;
  AccQuantizeOp op;
  AccType type;
  AccBlocks blocks;
  Value lane;
  BlockFormat format;
  BlockArithmetic arithmetic;
  CodeWords codeWords;
  QuantizedStores stores;
  /// Neighbours in a row that the lane has.
  int64_t run;
  SmallVector<Value> numbers, rows, columns;
  SmallVector<BlockScale> scales;
  Value largestOfAll;
};
} // namespace

void AccQuantizer::makeNumbers(ValueRange acc) {
  Value zero = arithmetic.number(0);
  for (SmallVector<Value> *values : {&numbers, &rows, &columns})
    values->resize(acc.size());
  forEachElement(b, op, type, lane,
                 [&](int64_t index, Value row, Value column, Value inside) {
                   rows[index] = row;
                   columns[index] = column;
                   numbers[index] = emitLoadIf(
                       b, loc, inside,
                       [&](OpBuilder &then) -> Value {
                         return cloneBody(then, op.getBody().front(),
                                          {acc[index], row, column})[0];
                       },
                       zero);
                 });
}

Value AccQuantizer::hasBit(int64_t bit) {
  AffineExpr d0 = b.getAffineDimExpr(0);
  Value value = applyExprs(b, loc, {d0.floorDiv(bit) % 2}, lane)[0];
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, value,
                               arith::ConstantIndexOp::create(b, loc, 0));
}

/// Of elements of two rows and one column, for two rows in turn, to elements of
/// one row and two columns: each lane gives away those of the row that the
/// other one takes.
void AccQuantizer::exchangePairs() {
  Value isOdd = hasBit(blocks.pairLane);
  for (size_t i = 0; i != numbers.size(); i += 2) {
    Value &first = numbers[i], &second = numbers[i + 1];
    Value got =
        emitShuffle(b, loc, select(isOdd, first, second), blocks.pairLane);
    first = select(isOdd, got, first);
    second = select(isOdd, second, got);
    rows[i] = select(isOdd, rows[i + 1], rows[i]);
    columns[i] = select(isOdd, addIndex(b, loc, columns[i], -1), columns[i]);
  }
  run = 2;
}

/// The codes of each run, which an integer or a vector holds together.
SmallVector<Value> AccQuantizer::split(Value words, int64_t numbersOfWords) {
  int64_t runs = numbersOfWords / run;
  if (runs == 1)
    return {words};
  if (!isa<VectorType>(words.getType()))
    words = vector::FromElementsOp::create(
        b, loc, VectorType::get(1, words.getType()), words);
  Type piece = b.getIntegerType(run * op.getCodeBits());
  words =
      vector::BitCastOp::create(b, loc, VectorType::get(runs, piece), words);
  SmallVector<Value> pieces;
  for (int64_t i = 0; i != runs; ++i)
    pieces.push_back(vector::ExtractOp::create(b, loc, words, i));
  return pieces;
}

void AccQuantizer::quantize(ArrayRef<int64_t> part) {
  SmallVector<Value> own;
  for (int64_t first : part)
    llvm::append_range(own, ArrayRef(numbers).slice(first, run));
  Value largest;
  for (Value number : own) {
    Value magnitude = arithmetic.getMagnitude(number);
    largest = largest ? arithmetic.getLargest(largest, magnitude) : magnitude;
  }
  for (int64_t distance : blocks.sharers)
    largest =
        arithmetic.getLargest(largest, emitShuffle(b, loc, largest, distance));
  largestOfAll =
      largestOfAll ? arithmetic.getLargest(largestOfAll, largest) : largest;

  Value scale = arithmetic.emitScale(format, largest, op.getTensorScale());
  BlockFactor factor =
      arithmetic.emitFactor(format, scale, op.getTensorScale());
  if (!format.rule)
    arithmetic.emitReciprocal(largest, factor);
  Value words = codeWords.emit(own, factor);
  MatrixPlace place = {op.getBatch(), rows[part[0]], columns[part[0]]};
  Value inside;
  if (!op.getInBounds())
    inside = arith::AndIOp::create(b, loc, isBelow(place.row, op.getRows()),
                                   isBelow(place.column, op.getColumns()));
  emitIf(b, loc, inside, [&] {
    for (auto [first, codes] :
         llvm::zip_equal(part, split(words, static_cast<int64_t>(own.size()))))
      stores.storeCodes({op.getBatch(), rows[first], columns[first]}, codes,
                        run);
  });
  scales.push_back({scale, place});
}

/// Each lane of a block stores the scale of another one.
void AccQuantizer::storeScales() {
  int64_t lanes = int64_t(1) << blocks.sharers.size();
  AffineExpr d0 = b.getAffineDimExpr(0);
  AffineExpr bits = b.getAffineConstantExpr(0);
  for (auto [i, distance] : llvm::enumerate(blocks.sharers))
    bits = bits + d0.floorDiv(distance) % 2 * (int64_t(1) << i);
  Value turn = applyExprs(b, loc, {bits}, lane)[0];
  auto number = static_cast<int64_t>(scales.size());
  for (int64_t first = 0; first < number; first += lanes) {
    int64_t count = std::min(lanes, number - first);
    BlockScale own = scales[first];
    for (int64_t i = 1; i != count; ++i) {
      const BlockScale &other = scales[first + i];
      Value isTurn =
          arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, turn,
                                arith::ConstantIndexOp::create(b, loc, i));
      own.code = select(isTurn, other.code, own.code);
      own.place.row = select(isTurn, other.place.row, own.place.row);
      own.place.column = select(isTurn, other.place.column, own.place.column);
    }
    Value hasTurn;
    if (count != lanes)
      hasTurn = isBelow(turn, arith::ConstantIndexOp::create(b, loc, count));
    emitIf(b, loc, hasTurn, [&] {
      stores.storeScale(own.place, own.code, op.getInBounds(),
                        op.getInBounds());
    });
  }
}

namespace {
struct LowerAccQuantize final : LanePattern<AccQuantizeOp> {
  using LanePattern::LanePattern;

  LogicalResult
  matchAndRewrite(AccQuantizeOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    FailureOr<TargetAttr> target = getTarget(op);
    if (failed(target))
      return failure();
    AccType type = op.getAcc().getType();
    std::optional<AccBlocks> blocks =
        getAccLowering(type).getBlocks(type, op.getBlockSize());
    if (!blocks)
      return op.emitOpError("expected whole blocks of ")
             << op.getBlockSize() << " columns in each warp, got " << type;
    AccQuantizer(rewriter, op, *std::move(blocks), (*target).getFinalChip(),
                 lane)
        .emit(adaptor.getAcc());
    rewriter.eraseOp(op);
    return success();
  }
};
} // namespace

void blockscale::populateAccQuantizePatterns(const TypeConverter &converter,
                                             RewritePatternSet &patterns,
                                             Value lane) {
  patterns.add<LowerAccQuantize>(converter, patterns.getContext(), lane);
}
