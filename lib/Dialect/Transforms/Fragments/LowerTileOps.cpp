//===- LowerTileOps.cpp - Ops on accumulators in lanes --------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Lowers ops on accumulators to the code of one lane. The layout's lowering
// (AccLowering.h) says where elements are; everything else is the same for all
// layouts.
//
//===----------------------------------------------------------------------===//

#include "Fragments/AccElements.h"
#include "Fragments/LanePatterns.h"
#include "Utils/LaneOps.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::blockscale;

static FailureOr<LaneResults> lowerAccRead(AccReadOp op,
                                           LaneOperands<AccReadOp>, Value,
                                           ConversionPatternRewriter &b) {
  SmallVector<Value> elements = getAccLowering(op.getType()).emitRead(b, op);
  TmemWaitOp::create(b, op.getLoc(), TmemWaitKind::Load);
  return LaneResults{elements};
}

static FailureOr<LaneResults> lowerAccAdd(AccAddOp op,
                                          LaneOperands<AccAddOp> operands,
                                          Value, ConversionPatternRewriter &b) {
  SmallVector<Value> sums;
  for (auto [lhs, rhs] : llvm::zip_equal(operands.getLhs(), operands.getRhs()))
    sums.push_back(arith::AddFOp::create(b, op.getLoc(), lhs, rhs));
  return LaneResults{sums};
}

static FailureOr<LaneResults> lowerTileMma(TileMmaOp op,
                                           LaneOperands<TileMmaOp> operands,
                                           Value lane,
                                           ConversionPatternRewriter &b) {
  const AccLowering &lowering = getAccLowering(op.getAcc().getType());
  return LaneResults{lowering.emitTileMma(b, op, operands.getAcc(), lane)};
}

//===----------------------------------------------------------------------===//
// Whole accumulators
//===----------------------------------------------------------------------===//

static Value createZero(OpBuilder &b, Location loc, Type type) {
  return arith::ConstantOp::create(b, loc, b.getZeroAttr(type));
}

static FailureOr<LaneResults> lowerAccZero(AccZeroOp op,
                                           LaneOperands<AccZeroOp>, Value,
                                           ConversionPatternRewriter &b) {
  auto type = cast<AccType>(op.getType());
  return LaneResults{
      SmallVector<Value>(getAccLowering(type).getNumElements(type),
                         createZero(b, op.getLoc(), b.getF32Type()))};
}

namespace {
/// The position in memory of an element of the tile at `indices`.
class AccAddress {
public:
  AccAddress(OpBuilder &b, Location loc, Value memory, ValueRange indices)
      : b(b), loc(loc), indices(indices) {
    unsigned rank = indices.size();
    for (unsigned i : {0, 1})
      sizes[i] = memref::DimOp::create(b, loc, memory, rank - 2 + i);
  }

  SmallVector<Value> at(Value row, Value column) {
    SmallVector<Value> position(indices);
    unsigned rank = indices.size();
    for (unsigned i : {0, 1}) {
      Value &index = position[rank - 2 + i];
      index = addIndices(b, loc, i == 0 ? row : column, index);
    }
    return position;
  }

  Value isInside(ArrayRef<Value> position) {
    Value inside;
    for (auto [index, size] : llvm::zip_equal(position.take_back(2), sizes))
      inside = emitBoth(b, loc, inside, isBelow(b, loc, index, size));
    return inside;
  }

private:
  OpBuilder &b;
  Location loc;
  ValueRange indices;
  std::array<Value, 2> sizes;
};
} // namespace

/// The alignment of runs of f32 that `in_bounds` guarantees.
static llvm::MaybeAlign getRunAlignment(int64_t run) {
  constexpr int64_t kMostBytes = 16;
  return llvm::MaybeAlign(std::min<int64_t>(run * sizeof(float), kMostBytes));
}

static FailureOr<LaneResults> lowerAccLoad(AccLoadOp op,
                                           LaneOperands<AccLoadOp>, Value lane,
                                           ConversionPatternRewriter &b) {
  Location loc = op.getLoc();
  auto type = cast<AccType>(op.getType());
  const AccLowering &lowering = getAccLowering(type);
  int64_t run = lowering.getRunLength(type);
  AccAddress address(b, loc, op.getMemory(), op.getIndices());
  Value zero = createZero(b, loc, b.getF32Type());
  SmallVector<Value> elements;
  lowering.forEachRun(
      b, loc, type, lane, [&](int64_t, Value row, Value column) {
        if (op.getInBounds()) {
          Value all = vector::LoadOp::create(
              b, loc, VectorType::get(run, b.getF32Type()), op.getMemory(),
              address.at(row, column), /*nontemporal=*/false,
              getRunAlignment(run));
          llvm::append_range(elements, extractElements(b, loc, all));
          return;
        }
        for (int64_t i = 0; i != run; ++i) {
          Value at = addIndex(b, loc, column, i);
          SmallVector<Value> position = address.at(row, at);
          elements.push_back(emitLoadIf(
              b, loc, address.isInside(position),
              [&](OpBuilder &then) -> Value {
                return memref::LoadOp::create(then, loc, op.getMemory(),
                                              position);
              },
              zero));
        }
      });
  return LaneResults{elements};
}

static FailureOr<LaneResults> lowerAccStore(AccStoreOp op,
                                            LaneOperands<AccStoreOp> operands,
                                            Value lane,
                                            ConversionPatternRewriter &b) {
  Location loc = op.getLoc();
  auto type = cast<AccType>(op.getAcc().getType());
  const AccLowering &lowering = getAccLowering(type);
  int64_t run = lowering.getRunLength(type);
  AccAddress address(b, loc, op.getMemory(), op.getIndices());
  lowering.forEachRun(
      b, loc, type, lane, [&](int64_t index, Value row, Value column) {
        ValueRange values = operands.getAcc().slice(index, run);
        if (op.getInBounds()) {
          Value all = vector::FromElementsOp::create(
              b, loc, VectorType::get(run, b.getF32Type()), values);
          vector::StoreOp::create(b, loc, all, op.getMemory(),
                                  address.at(row, column),
                                  /*nontemporal=*/false, getRunAlignment(run));
          return;
        }
        for (int64_t i = 0; i != run; ++i) {
          Value at = addIndex(b, loc, column, i);
          SmallVector<Value> position = address.at(row, at);
          emitIf(b, loc, address.isInside(position), [&] {
            memref::StoreOp::create(b, loc, values[i], op.getMemory(),
                                    position);
          });
        }
      });
  return LaneResults();
}

static FailureOr<LaneResults> lowerAccGenerate(AccGenerateOp op,
                                               LaneOperands<AccGenerateOp>,
                                               Value lane,
                                               ConversionPatternRewriter &b) {
  Value zero = createZero(b, op.getLoc(), b.getF32Type());
  SmallVector<Value> elements;
  forEachElement(b, op, cast<AccType>(op.getType()), lane,
                 [&](int64_t, Value row, Value column, Value inside) {
                   elements.push_back(emitLoadIf(
                       b, op.getLoc(), inside,
                       [&](OpBuilder &then) -> Value {
                         return cloneBody(then, op.getBody().front(),
                                          {row, column})[0];
                       },
                       zero));
                 });
  return LaneResults{elements};
}

/// Returns the store at the end of `block` if the elements of an aligned run
/// can be stored by one instruction. It must be the only store, write the
/// element at the row and the column of the block's arguments, and write to
/// memory that is defined outside and whose rows all have the alignment of the
/// first one, as `aligned` promises of a dynamic number of columns.
static memref::StoreOp findRunStore(AccForEachOp op, int64_t run) {
  Block &block = op.getBody().front();
  auto stores = llvm::to_vector(block.getOps<memref::StoreOp>());
  if (!op.getAligned() || run == 1 || stores.size() != 1 ||
      stores.front()->getNextNode() != block.getTerminator())
    return {};
  memref::StoreOp store = stores.front();
  MemRefType type = store.getMemRefType();
  OperandRange indices = store.getIndices();
  int64_t rank = type.getRank();
  constexpr int64_t kMostBytes = 16;
  // Of pairs, the op says so.
  bool isAtElement = op.getPairs() ||
                     (rank >= 2 && indices[rank - 2] == block.getArgument(1) &&
                      indices[rank - 1] == block.getArgument(2));
  if (store.getMemRef().getParentBlock() == &block || !isAtElement ||
      !type.getLayout().isIdentity() || !type.getElementType().isIntOrFloat() ||
      type.getElementTypeBitWidth() < 8 ||
      run * type.getElementTypeBitWidth() > 8 * kMostBytes)
    return {};
  int64_t columns = type.getShape().back();
  bool isKnown = ShapedType::isDynamic(columns) || columns % run == 0;
  return isKnown ? store : memref::StoreOp();
}

/// Whether nothing but the store at its end keeps `block` from being run for
/// other elements.
static bool onlyReads(Block &block) {
  return llvm::all_of(block.without_terminator(), [](Operation &op) {
    return isa<memref::LoadOp, memref::StoreOp>(op) || isMemoryEffectFree(&op);
  });
}

/// Stores the values that the block of `op` computes for a run that starts at
/// (row, column). If the tile is guarded, a run is inside or outside as a
/// whole; what is outside reads for the last row or run inside. Of pairs,
/// `seconds` are the others.
static void emitRunStore(OpBuilder &b, AccForEachOp op, memref::StoreOp store,
                         ValueRange elements, ValueRange seconds, Value row,
                         Value column) {
  Location loc = op.getLoc();
  Block &block = op.getBody().front();
  auto run = static_cast<int64_t>(elements.size());
  SmallVector<Value> values, indices;
  Value inside, storeRow = row, storeColumn = column;
  Value rowArgument = block.getArguments().take_back(2)[0],
        columnArgument = block.getArguments().take_back(2)[1];
  if (!op.getInBounds()) {
    inside = emitBoth(b, loc, isBelow(b, loc, row, op.getRows()),
                      isBelow(b, loc, column, op.getColumns()));
    row = b.createOrFold<arith::MinUIOp>(loc, row,
                                         addIndex(b, loc, op.getRows(), -1));
    column = b.createOrFold<arith::MinUIOp>(
        loc, column,
        addIndex(b, loc, op.getColumns(),
                 op.getPairs() ? -run - kPairDistance : -run));
  }
  for (auto [i, element] : llvm::enumerate(elements)) {
    IRMapping mapping;
    mapping.map(block.getArgument(0), element);
    if (op.getPairs())
      mapping.map(block.getArgument(1), seconds[i]);
    mapping.map(rowArgument, row);
    mapping.map(columnArgument,
                addIndex(b, loc, column, static_cast<int64_t>(i)));
    for (Operation &inner : block.without_terminator())
      if (&inner != store.getOperation())
        b.clone(inner, mapping);
    values.push_back(mapping.lookupOrDefault(store.getValueToStore()));
    mapping.map(rowArgument, storeRow);
    mapping.map(columnArgument, storeColumn);
    if (i == 0)
      for (Value index : store.getIndices())
        indices.push_back(mapping.lookupOrDefault(index));
  }
  MemRefType type = store.getMemRefType();
  Value all = vector::FromElementsOp::create(
      b, loc, VectorType::get(run, type.getElementType()), values);
  emitIf(b, loc, inside, [&] {
    vector::StoreOp::create(
        b, loc, all, store.getMemRef(), indices, /*nontemporal=*/false,
        llvm::MaybeAlign(run * type.getElementTypeBitWidth() / 8));
  });
}

/// Returns the store at the end of `block`, if its address does not depend on
/// loads, and if the block has no other effects except reads of memory, at
/// least one.
static memref::StoreOp findStoreBehindReads(Block &block) {
  memref::StoreOp store;
  bool reads = false;
  for (Operation &op : block.without_terminator()) {
    if (store)
      return {};
    if (isa<memref::LoadOp>(op))
      reads = true;
    else if (auto last = dyn_cast<memref::StoreOp>(op))
      store = last;
    else if (!isMemoryEffectFree(&op))
      return {};
  }
  bool isKnown = store && llvm::none_of(store.getIndices(), [&](Value index) {
                   SetVector<Operation *> slice;
                   BackwardSliceOptions options;
                   options.inclusive = options.omitBlockArguments = true;
                   (void)getBackwardSlice(index, &slice, options);
                   return llvm::any_of(slice, [&](Operation *op) {
                     return op->getBlock() == &block && isa<memref::LoadOp>(op);
                   });
                 });
  return reads && isKnown ? store : memref::StoreOp();
}

/// Calls `body` for each element that the lane holds, or for each pair of them:
/// with its values, the position of the first one, and whether that is inside
/// (null for always).
static void
forEachInput(OpBuilder &b, AccForEachOp op, ValueRange elements, Value lane,
             function_ref<void(ArrayRef<Value>, Value, Value, Value)> body) {
  auto type = cast<AccType>(op.getAcc().getType());
  if (!op.getPairs())
    return forEachElement(
        b, op, type, lane,
        [&](int64_t index, Value row, Value column, Value inside) {
          body(elements[index], row, column, inside);
        });
  forEachPair(b, op, type, elements, lane, body);
}

/// Emits the guarded block of `op` for several elements, all reads before the
/// stores, so that the reads for an element wait neither for the store of the
/// element before nor for a branch: what is outside reads the last element
/// inside, and the address for that is not used. It does so for a few elements
/// at a time, to limit registers.
static void emitReadsFirst(OpBuilder &b, AccForEachOp op, memref::StoreOp store,
                           ValueRange elements, Value lane) {
  constexpr size_t kFewElements = 16, kMost = 8, kOfMany = 2;
  size_t atOnce = elements.size() <= kFewElements ? kMost : kOfMany;
  struct Pending {
    Value inside, value;
    SmallVector<Value> indices;
  };
  Location loc = op.getLoc();
  Block &block = op.getBody().front();
  Value lastRow = addIndex(b, loc, op.getRows(), -1),
        lastColumn = addIndex(b, loc, op.getColumns(),
                              op.getPairs() ? -1 - kPairDistance : -1);
  SmallVector<Pending> pending;
  auto emitStores = [&] {
    for (const Pending &next : pending)
      emitIf(b, loc, next.inside, [&] {
        memref::StoreOp::create(b, loc, next.value, store.getMemRef(),
                                next.indices);
      });
    pending.clear();
  };
  size_t numValues = block.getNumArguments() - 2;
  Value rowArgument = block.getArgument(numValues),
        columnArgument = block.getArgument(numValues + 1);
  forEachInput(
      b, op, elements, lane,
      [&](ArrayRef<Value> values, Value row, Value column, Value inside) {
        IRMapping mapping;
        mapping.map(block.getArguments().take_front(numValues), values);
        for (auto [argument, value, last] :
             {std::tuple(rowArgument, row, lastRow),
              std::tuple(columnArgument, column, lastColumn)})
          mapping.map(argument,
                      b.createOrFold<arith::MinUIOp>(loc, value, last));
        for (Operation &inner : block.without_terminator())
          if (&inner != store.getOperation())
            b.clone(inner, mapping);
        Value value = mapping.lookupOrDefault(store.getValueToStore());
        mapping.map(rowArgument, row);
        mapping.map(columnArgument, column);
        pending.push_back(
            {inside, value,
             llvm::map_to_vector(store.getIndices(), [&](Value v) {
               return mapping.lookupOrDefault(v);
             })});
        if (pending.size() == atOnce)
          emitStores();
      });
  emitStores();
}

static FailureOr<LaneResults>
lowerAccForEach(AccForEachOp op, LaneOperands<AccForEachOp> operands,
                Value lane, ConversionPatternRewriter &b) {
  Location loc = op.getLoc();
  ValueRange elements = operands.getAcc();
  auto type = cast<AccType>(op.getAcc().getType());
  Block &block = op.getBody().front();
  const AccLowering &lowering = getAccLowering(type);
  int64_t run = op.getPairs() ? lowering.getPairs(type)->run
                              : lowering.getRunLength(type);
  memref::StoreOp store = findRunStore(op, run);
  memref::StoreOp last = findStoreBehindReads(block);
  bool storesRuns = store && (op.getInBounds() || onlyReads(block));
  if (storesRuns && op.getPairs()) {
    SmallVector<Value> firsts, seconds;
    Value start;
    forEachInput(b, op, elements, lane,
                 [&](ArrayRef<Value> values, Value row, Value column, Value) {
                   if (firsts.empty())
                     start = column;
                   firsts.push_back(values[0]);
                   seconds.push_back(values[1]);
                   if (static_cast<int64_t>(firsts.size()) != run)
                     return;
                   emitRunStore(b, op, store, firsts, seconds, row, start);
                   firsts.clear();
                   seconds.clear();
                 });
  } else if (storesRuns)
    lowering.forEachRun(b, loc, type, lane,
                        [&](int64_t index, Value row, Value column) {
                          row = addIndices(b, loc, row, op.getRow());
                          column = addIndices(b, loc, column, op.getColumn());
                          emitRunStore(b, op, store, elements.slice(index, run),
                                       {}, row, column);
                        });
  else if (last && !op.getInBounds())
    emitReadsFirst(b, op, last, elements, lane);
  else
    forEachInput(
        b, op, elements, lane,
        [&](ArrayRef<Value> values, Value row, Value column, Value inside) {
          SmallVector<Value> arguments(values);
          arguments.append({row, column});
          emitIf(b, loc, inside, [&] { cloneBody(b, block, arguments); });
        });
  return LaneResults();
}

void blockscale::populateTileOpPatterns(const TypeConverter &converter,
                                        RewritePatternSet &patterns,
                                        Value lane) {
  addLanePatterns(converter, patterns, lane, lowerAccZero, lowerAccRead,
                  lowerAccAdd, lowerTileMma, lowerAccLoad, lowerAccStore,
                  lowerAccGenerate, lowerAccForEach);
  populateAccQuantizePatterns(converter, patterns, lane);
  populateAccInterleavePatterns(converter, patterns, lane);
  populatePromotionPatterns(converter, patterns, lane);
}
