//===- LowerTileOps.cpp - tile_mma in lanes -------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fragments/FragmentEmitter.h"
#include "Fragments/FragmentLoads.h"
#include "Fragments/LanePatterns.h"
#include "Utils/StoredCodes.h"
#include "blockscale/Dialect/IR/BlockScale.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::blockscale;

//===----------------------------------------------------------------------===//
// Warps of a block
//===----------------------------------------------------------------------===//

/// `value` * `factor` + `offset` (null for 0).
static Value scaleAndAdd(OpBuilder &b, Location loc, Value value,
                         int64_t factor, Value offset) {
  AffineExpr d0, d1;
  bindDims(b.getContext(), d0, d1);
  if (!offset)
    return applyMap(b, loc, AffineMap::get(1, 0, d0 * factor), value)[0];
  return applyMap(b, loc, AffineMap::get(2, 0, d0 * factor + d1),
                  {value, offset})[0];
}

static Value add(OpBuilder &b, Location loc, Value value, int64_t offset) {
  AffineExpr d0 = getAffineDimExpr(0, b.getContext());
  return applyMap(b, loc, AffineMap::get(1, 0, d0 + offset), value)[0];
}

/// This warp's share of an accumulator.
static WarpTile getWarpTile(OpBuilder &b, Location loc, AccType type) {
  Value thread = gpu::ThreadIdOp::create(b, loc, gpu::Dimension::x);
  AffineExpr d0 = getAffineDimExpr(0, b.getContext());
  AffineExpr warp = d0.floorDiv(kWarpLanes);
  SmallVector<Value> first = applyMap(
      b, loc,
      AffineMap::get(1, 0,
                     {warp.floorDiv(type.getWarpsN()) * type.getWarpM(),
                      warp % type.getWarpsN() * type.getWarpN()},
                     b.getContext()),
      thread);
  return {type.getWarpM(), type.getWarpN(), first[0], first[1]};
}

//===----------------------------------------------------------------------===//
// tile_mma
//===----------------------------------------------------------------------===//

namespace {

struct LowerTileMma final : LanePattern<TileMmaOp> {
  using LanePattern::LanePattern;

  LogicalResult
  matchAndRewrite(TileMmaOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    OpRow row = op.getRow().getRow();
    auto type = cast<AccType>(op.getAcc().getType());
    WarpTile tile = getWarpTile(rewriter, loc, type);
    TileLoader a(rewriter, op, Operand::A, lane, tile.firstRow);
    TileLoader b(rewriter, op, Operand::B, lane, tile.firstColumn);
    MmaEmitter emitter(rewriter, loc, row, lane);
    SmallVector<Value> acc = emitter.join(adaptor.getAcc());
    // Step by step, so that no more of the operands is in registers than the
    // next instructions need.
    int64_t steps = op.getNumK() / getEmittedInstruction(row, Path::MmaSync).k;
    SmallVector<Value> aWords, bWords;
    for (int64_t step = 0, word = -1; step != steps; ++step) {
      if (emitter.getWord(step) != word) {
        word = emitter.getWord(step);
        aWords = a.loadWords(word);
        bWords = b.loadWords(word);
      }
      SmallVector<Value> aTiles = a.loadStep(step);
      SmallVector<Value> bTiles = b.loadStep(step);
      emitter.emitStep(step, aTiles, aWords, bTiles, bWords, acc);
    }
    rewriter.replaceOpWithMultiple(op, {emitter.split(acc)});
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Accumulators
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
      index = scaleAndAdd(b, loc, i == 0 ? row : column, 1, index);
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

struct LowerAccLoad final : LanePattern<AccLoadOp> {
  using LanePattern::LanePattern;

  LogicalResult
  matchAndRewrite(AccLoadOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    WarpTile tile = getWarpTile(rewriter, loc, cast<AccType>(op.getType()));
    AccAddress address(rewriter, loc, op.getMemory(), op.getIndices());
    Value zero = arith::ConstantOp::create(
        rewriter, loc, rewriter.getZeroAttr(rewriter.getF32Type()));
    SmallVector<Value> elements;
    forEachAccPair(
        rewriter, loc, lane, tile, [&](int64_t, Value row, Value column) {
          if (op.getInBounds()) {
            Value pair = vector::LoadOp::create(
                rewriter, loc, VectorType::get(2, rewriter.getF32Type()),
                op.getMemory(), address.at(row, column),
                /*nontemporal=*/false, llvm::MaybeAlign(8));
            for (int64_t i : {0, 1})
              elements.push_back(
                  vector::ExtractOp::create(rewriter, loc, pair, i));
            return;
          }
          for (int64_t i : {0, 1}) {
            Value at = add(rewriter, loc, column, i);
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
    WarpTile tile =
        getWarpTile(rewriter, loc, cast<AccType>(op.getAcc().getType()));
    AccAddress address(rewriter, loc, op.getMemory(), op.getIndices());
    SmallVector<Value> elements(adaptor.getAcc());
    forEachAccPair(
        rewriter, loc, lane, tile, [&](int64_t index, Value row, Value column) {
          ArrayRef<Value> pair = ArrayRef(elements).slice(index, 2);
          if (op.getInBounds()) {
            Value both = vector::FromElementsOp::create(
                rewriter, loc, VectorType::get(2, rewriter.getF32Type()), pair);
            vector::StoreOp::create(rewriter, loc, both, op.getMemory(),
                                    address.at(row, column),
                                    /*nontemporal=*/false, llvm::MaybeAlign(8));
            return;
          }
          for (int64_t i : {0, 1}) {
            Value at = add(rewriter, loc, column, i);
            SmallVector<Value> position = address.at(row, at);
            auto guard =
                scf::IfOp::create(rewriter, loc, address.isInside(position));
            OpBuilder then = guard.getThenBodyBuilder();
            memref::StoreOp::create(then, loc, pair[i], op.getMemory(),
                                    position);
          }
        });
    rewriter.eraseOp(op);
    return success();
  }
};

/// Calls `body` for each element that the lane holds, with its number and its
/// position, and whether it is inside (null for always).
template <typename Op>
static void
forEachElement(OpBuilder &b, Op op, AccType type, Value lane,
               function_ref<void(int64_t, Value, Value, Value)> body) {
  Location loc = op.getLoc();
  WarpTile tile = getWarpTile(b, loc, type);
  forEachAccPair(
      b, loc, lane, tile, [&](int64_t index, Value row, Value column) {
        row = scaleAndAdd(b, loc, row, 1, op.getRow());
        column = scaleAndAdd(b, loc, column, 1, op.getColumn());
        for (int64_t i : {0, 1}) {
          Value at = add(b, loc, column, i);
          Value inside;
          if (!op.getInBounds()) {
            Value isRow = arith::CmpIOp::create(
                b, loc, arith::CmpIPredicate::ult, row, op.getRows());
            Value isColumn = arith::CmpIOp::create(
                b, loc, arith::CmpIPredicate::ult, at, op.getColumns());
            inside = arith::AndIOp::create(b, loc, isRow, isColumn);
          }
          body(index + i, row, at, inside);
        }
      });
}

/// The body of `block` for `arguments`, at `b`; gives its terminator's
/// operands.
static SmallVector<Value> cloneBody(OpBuilder &b, Block &block,
                                    ValueRange arguments) {
  IRMapping mapping;
  mapping.map(block.getArguments(), arguments);
  for (Operation &op : block.without_terminator())
    b.clone(op, mapping);
  return llvm::map_to_vector(
      block.getTerminator()->getOperands(),
      [&](Value v) { return mapping.lookupOrDefault(v); });
}

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

struct LowerAccForEach final : LanePattern<AccForEachOp> {
  using LanePattern::LanePattern;

  LogicalResult
  matchAndRewrite(AccForEachOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ValueRange elements = adaptor.getAcc();
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

void blockscale::forEachAccPair(
    OpBuilder &builder, Location loc, Value lane, const WarpTile &tile,
    function_ref<void(int64_t, Value, Value)> body) {
  const FragmentLayout &layout = getFragmentLayout(Operand::C, 32);
  SmallVector<std::pair<Value, Value>> first;
  for (unsigned reg = 0; reg != layout.registers; reg += 2) {
    auto [row, column] =
        emitElementPosition(builder, loc, layout, lane, reg, /*slot=*/0);
    first.emplace_back(scaleAndAdd(builder, loc, row, 1, tile.firstRow),
                       scaleAndAdd(builder, loc, column, 1, tile.firstColumn));
  }
  int64_t index = 0;
  for (int64_t m = 0; m < tile.m; m += layout.rows)
    for (int64_t n = 0; n < tile.n; n += layout.columns)
      for (auto [row, column] : first) {
        Value rowInTile = add(builder, loc, row, m);
        Value columnInTile = add(builder, loc, column, n);
        body(index, rowInTile, columnInTile);
        index += 2;
      }
}

void blockscale::populateTileToFragmentsPatterns(const TypeConverter &converter,
                                                 RewritePatternSet &patterns,
                                                 Value lane) {
  patterns.add<LowerAccZero>(converter, patterns.getContext());
  patterns.add<LowerTileMma, LowerAccLoad, LowerAccStore, LowerAccGenerate,
               LowerAccForEach>(converter, patterns.getContext(), lane);
}
