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
#include "Fragments/FragmentEmitter.h"
#include "Fragments/LanePatterns.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::blockscale;

namespace {

struct LowerAccRead final : OpConversionPattern<AccReadOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(AccReadOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    SmallVector<Value> elements =
        getAccLowering(op.getType()).emitRead(rewriter, op);
    TmemWaitOp::create(rewriter, op.getLoc(), TmemWaitKind::Load);
    rewriter.replaceOpWithMultiple(op, {elements});
    return success();
  }
};

struct LowerAccAdd final : OpConversionPattern<AccAddOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(AccAddOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    SmallVector<Value> sums;
    for (auto [lhs, rhs] : llvm::zip_equal(adaptor.getLhs(), adaptor.getRhs()))
      sums.push_back(arith::AddFOp::create(rewriter, op.getLoc(), lhs, rhs));
    rewriter.replaceOpWithMultiple(op, {sums});
    return success();
  }
};

struct LowerTileMma final : LanePattern<TileMmaOp> {
  using LanePattern::LanePattern;

  LogicalResult
  matchAndRewrite(TileMmaOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    const AccLowering &lowering = getAccLowering(op.getAcc().getType());
    rewriter.replaceOpWithMultiple(
        op, {lowering.emitTileMma(rewriter, op, adaptor.getAcc(), lane)});
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Whole accumulators
//===----------------------------------------------------------------------===//

struct LowerAccZero final : OpConversionPattern<AccZeroOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(AccZeroOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    SmallVector<Type> types;
    if (failed(getTypeConverter()->convertType(op.getType(), types)))
      return failure();
    Value zero = arith::ConstantOp::create(rewriter, op.getLoc(),
                                           rewriter.getZeroAttr(types.front()));
    SmallVector<Value> elements(types.size(), zero);
    rewriter.replaceOpWithMultiple(op, {elements});
    return success();
  }
};

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
    for (auto [index, size] : llvm::zip_equal(position.take_back(2), sizes)) {
      Value below =
          arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, index, size);
      inside = inside ? arith::AndIOp::create(b, loc, inside, below) : below;
    }
    return inside;
  }

private:
  OpBuilder &b;
  Location loc;
  ValueRange indices;
  std::array<Value, 2> sizes;
};

/// The alignment of runs of f32 that `in_bounds` guarantees.
static llvm::MaybeAlign getRunAlignment(int64_t run) {
  constexpr int64_t kMostBytes = 16;
  return llvm::MaybeAlign(std::min<int64_t>(run * sizeof(float), kMostBytes));
}

struct LowerAccLoad final : LanePattern<AccLoadOp> {
  using LanePattern::LanePattern;

  LogicalResult
  matchAndRewrite(AccLoadOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto type = cast<AccType>(op.getType());
    const AccLowering &lowering = getAccLowering(type);
    int64_t run = lowering.getRunLength(type);
    AccAddress address(rewriter, loc, op.getMemory(), op.getIndices());
    Value zero = arith::ConstantOp::create(
        rewriter, loc, rewriter.getZeroAttr(rewriter.getF32Type()));
    SmallVector<Value> elements;
    lowering.forEachRun(
        rewriter, loc, type, lane, [&](int64_t, Value row, Value column) {
          if (op.getInBounds()) {
            Value all = vector::LoadOp::create(
                rewriter, loc, VectorType::get(run, rewriter.getF32Type()),
                op.getMemory(), address.at(row, column),
                /*nontemporal=*/false, getRunAlignment(run));
            for (int64_t i = 0; i != run; ++i)
              elements.push_back(
                  vector::ExtractOp::create(rewriter, loc, all, i));
            return;
          }
          for (int64_t i = 0; i != run; ++i) {
            Value at = addIndex(rewriter, loc, column, i);
            SmallVector<Value> position = address.at(row, at);
            elements.push_back(emitLoadIf(
                rewriter, loc, address.isInside(position),
                [&](OpBuilder &then) -> Value {
                  return memref::LoadOp::create(then, loc, op.getMemory(),
                                                position);
                },
                zero));
          }
        });
    rewriter.replaceOpWithMultiple(op, {elements});
    return success();
  }
};

struct LowerAccStore final : LanePattern<AccStoreOp> {
  using LanePattern::LanePattern;

  LogicalResult
  matchAndRewrite(AccStoreOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto type = cast<AccType>(op.getAcc().getType());
    const AccLowering &lowering = getAccLowering(type);
    int64_t run = lowering.getRunLength(type);
    AccAddress address(rewriter, loc, op.getMemory(), op.getIndices());
    SmallVector<Value> elements(adaptor.getAcc());
    lowering.forEachRun(
        rewriter, loc, type, lane, [&](int64_t index, Value row, Value column) {
          ArrayRef<Value> values = ArrayRef(elements).slice(index, run);
          if (op.getInBounds()) {
            Value all = vector::FromElementsOp::create(
                rewriter, loc, VectorType::get(run, rewriter.getF32Type()),
                values);
            vector::StoreOp::create(
                rewriter, loc, all, op.getMemory(), address.at(row, column),
                /*nontemporal=*/false, getRunAlignment(run));
            return;
          }
          for (int64_t i = 0; i != run; ++i) {
            Value at = addIndex(rewriter, loc, column, i);
            SmallVector<Value> position = address.at(row, at);
            auto guard =
                scf::IfOp::create(rewriter, loc, address.isInside(position));
            OpBuilder then = guard.getThenBodyBuilder();
            memref::StoreOp::create(then, loc, values[i], op.getMemory(),
                                    position);
          }
        });
    rewriter.eraseOp(op);
    return success();
  }
};

struct LowerAccGenerate final : LanePattern<AccGenerateOp> {
  using LanePattern::LanePattern;

  LogicalResult
  matchAndRewrite(AccGenerateOp op, OneToNOpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value zero = arith::ConstantOp::create(
        rewriter, loc, rewriter.getZeroAttr(rewriter.getF32Type()));
    SmallVector<Value> elements;
    forEachElement(rewriter, op, cast<AccType>(op.getType()), lane,
                   [&](int64_t, Value row, Value column, Value inside) {
                     elements.push_back(emitLoadIf(
                         rewriter, loc, inside,
                         [&](OpBuilder &then) -> Value {
                           return cloneBody(then, op.getBody().front(),
                                            {row, column})[0];
                         },
                         zero));
                   });
    rewriter.replaceOpWithMultiple(op, {elements});
    return success();
  }
};

/// Returns the store at the end of `block` if the elements of an aligned run
/// can be stored by one instruction. It must be the only store, write the
/// element at the row and the column of the block's arguments, and write to
/// memory that is defined outside and whose rows all have the alignment of the
/// first one.
static memref::StoreOp findRunStore(Block &block, int64_t run) {
  auto stores = llvm::to_vector(block.getOps<memref::StoreOp>());
  if (run == 1 || stores.size() != 1 ||
      stores.front()->getNextNode() != block.getTerminator())
    return {};
  memref::StoreOp store = stores.front();
  MemRefType type = store.getMemRefType();
  OperandRange indices = store.getIndices();
  int64_t rank = type.getRank();
  constexpr int64_t kMostBytes = 16;
  if (store.getMemRef().getParentBlock() == &block || rank < 2 ||
      indices[rank - 2] != block.getArgument(1) ||
      indices[rank - 1] != block.getArgument(2) ||
      !type.getLayout().isIdentity() || !type.getElementType().isIntOrFloat() ||
      type.getElementTypeBitWidth() < 8 ||
      run * type.getElementTypeBitWidth() > 8 * kMostBytes)
    return {};
  int64_t columns = type.getShape().back();
  if (ShapedType::isDynamic(columns) || columns % run != 0)
    return {};
  return store;
}

/// Stores the values that the block of `op` computes for a run that starts at
/// (row, column).
static void emitRunStore(OpBuilder &b, AccForEachOp op, memref::StoreOp store,
                         ValueRange elements, Value row, Value column) {
  Location loc = op.getLoc();
  Block &block = op.getBody().front();
  SmallVector<Value> values, indices;
  for (auto [i, element] : llvm::enumerate(elements)) {
    IRMapping mapping;
    mapping.map(
        block.getArguments(),
        ArrayRef<Value>{element, row,
                        addIndex(b, loc, column, static_cast<int64_t>(i))});
    for (Operation &inner : block.without_terminator())
      if (&inner != store.getOperation())
        b.clone(inner, mapping);
    values.push_back(mapping.lookupOrDefault(store.getValueToStore()));
    if (i == 0)
      for (Value index : store.getIndices())
        indices.push_back(mapping.lookupOrDefault(index));
  }
  MemRefType type = store.getMemRefType();
  auto run = static_cast<int64_t>(values.size());
  Value all = vector::FromElementsOp::create(
      b, loc, VectorType::get(run, type.getElementType()), values);
  vector::StoreOp::create(
      b, loc, all, store.getMemRef(), indices, /*nontemporal=*/false,
      llvm::MaybeAlign(run * type.getElementTypeBitWidth() / 8));
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
                   Operation *producer = index.getDefiningOp();
                   return producer && producer->getBlock() == &block;
                 });
  return reads && isKnown ? store : memref::StoreOp();
}

/// Emits the guarded block of `op` for several elements, all reads before the
/// stores, so that the reads for an element do not wait for the store of the
/// element before. It does so for a few elements at a time, to limit registers.
static void emitReadsFirst(OpBuilder &b, AccForEachOp op, memref::StoreOp store,
                           ValueRange elements, Value lane) {
  constexpr size_t kAtOnce = 2;
  struct Pending {
    Value inside, value;
    SmallVector<Value> indices;
  };
  Location loc = op.getLoc();
  Block &block = op.getBody().front();
  Value zero = arith::ConstantOp::create(
      b, loc, b.getZeroAttr(store.getValueToStore().getType()));
  SmallVector<Pending> pending;
  auto emitStores = [&] {
    for (const Pending &next : pending) {
      OpBuilder then =
          scf::IfOp::create(b, loc, next.inside).getThenBodyBuilder();
      memref::StoreOp::create(then, loc, next.value, store.getMemRef(),
                              next.indices);
    }
    pending.clear();
  };
  forEachElement(b, op, cast<AccType>(op.getAcc().getType()), lane,
                 [&](int64_t index, Value row, Value column, Value inside) {
                   IRMapping mapping;
                   mapping.map(block.getArguments(),
                               ArrayRef<Value>{elements[index], row, column});
                   Value value = emitLoadIf(
                       b, loc, inside,
                       [&](OpBuilder &then) -> Value {
                         for (Operation &inner : block.without_terminator())
                           if (&inner != store.getOperation())
                             then.clone(inner, mapping);
                         return mapping.lookupOrDefault(
                             store.getValueToStore());
                       },
                       zero);
                   pending.push_back(
                       {inside, value,
                        llvm::map_to_vector(store.getIndices(), [&](Value v) {
                          return mapping.lookupOrDefault(v);
                        })});
                   if (pending.size() == kAtOnce)
                     emitStores();
                 });
  emitStores();
}

struct LowerAccForEach final : LanePattern<AccForEachOp> {
  using LanePattern::LanePattern;

  LogicalResult
  matchAndRewrite(AccForEachOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ValueRange elements = adaptor.getAcc();
    auto type = cast<AccType>(op.getAcc().getType());
    const AccLowering &lowering = getAccLowering(type);
    int64_t run = lowering.getRunLength(type);
    memref::StoreOp store = findRunStore(op.getBody().front(), run);
    if (store && op.getInBounds() && op.getAligned()) {
      lowering.forEachRun(
          rewriter, op.getLoc(), type, lane,
          [&](int64_t index, Value row, Value column) {
            row = addIndices(rewriter, op.getLoc(), row, op.getRow());
            column = addIndices(rewriter, op.getLoc(), column, op.getColumn());
            emitRunStore(rewriter, op, store, elements.slice(index, run), row,
                         column);
          });
      rewriter.eraseOp(op);
      return success();
    }
    memref::StoreOp last = findStoreBehindReads(op.getBody().front());
    if (last && !op.getInBounds()) {
      emitReadsFirst(rewriter, op, last, elements, lane);
      rewriter.eraseOp(op);
      return success();
    }
    forEachElement(rewriter, op, cast<AccType>(op.getAcc().getType()), lane,
                   [&](int64_t index, Value row, Value column, Value inside) {
                     OpBuilder b(rewriter);
                     if (inside)
                       b = scf::IfOp::create(rewriter, op.getLoc(), inside)
                               .getThenBodyBuilder();
                     cloneBody(b, op.getBody().front(),
                               {elements[index], row, column});
                   });
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

void blockscale::populateTileOpPatterns(const TypeConverter &converter,
                                        RewritePatternSet &patterns,
                                        Value lane) {
  patterns.add<LowerAccZero, LowerAccRead, LowerAccAdd>(converter,
                                                        patterns.getContext());
  patterns.add<LowerTileMma, LowerAccLoad, LowerAccStore, LowerAccGenerate,
               LowerAccForEach>(converter, patterns.getContext(), lane);
  populateAccQuantizePatterns(converter, patterns, lane);
}
