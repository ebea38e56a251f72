//===- TileToFragments.cpp - tile_mma in lanes ----------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CodeAccess.h"
#include "FragmentEmitter.h"
#include "ToFragments.h"
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

/// Loads one operand's fragments from shared memory.
class TileLoader {
public:
  TileLoader(OpBuilder &b, Location loc, const OpRow &row, Operand operand,
             Value lane)
      : b(b), loc(loc), row(row), operand(operand), lane(lane),
        layout(getFragmentLayout(
            operand, getSlot(getEmittedInstruction(row, Path::MmaSync).kind,
                             operand == Operand::A ? row.lhs : row.rhs)
                         .bits)) {}

  /// Rows [first, first + rows) of `elements` and `scales`.
  OperandFragments load(Value elements, Value scales, Value first,
                        int64_t rows) {
    int64_t k =
        cast<MemRefType>(scales.getType()).getDimSize(1) * row.blockSize;
    FragmentCounts counts(row, operand, rows, k);
    OperandFragments fragments;
    auto [laneRow, laneByte] = emitAddress();
    Value firstRow = scaleAndAdd(b, loc, laneRow, 1, first);
    SmallVector<Value> bytes;
    for (int64_t step = 0; step != counts.steps; ++step)
      bytes.push_back(
          add(b, loc, laneByte, step * layout.columns * layout.slotBits / 8));
    for (int64_t tile = 0; tile != counts.tiles; ++tile) {
      SmallVector<Value> &steps = fragments.registers.emplace_back();
      Value row = add(b, loc, firstRow, tile * layout.rows);
      for (Value byte : bytes)
        steps.push_back(loadMatrices(elements, row, byte));
    }
    for (int64_t group = 0; group != counts.groups; ++group) {
      SmallVector<Value> &words = fragments.scaleWords.emplace_back();
      for (int64_t word = 0; word != counts.words; ++word)
        words.push_back(loadWord(scales, first, group, word));
    }
    return fragments;
  }

private:
  /// The position, in a tile, that this lane passes to ldmatrix: register r of
  /// lane l gets four bytes of row l / 4 of matrix r, whose rows are at the
  /// addresses that lanes 8 r to 8 r + 7 pass. So lane L passes what the first
  /// lane of group L % 8 has in register L / 8. (Where there are fewer
  /// registers, the other lanes' addresses are not used.)
  std::pair<Value, Value> emitAddress() {
    MLIRContext *context = b.getContext();
    AffineExpr l = getAffineDimExpr(0, context);
    AffineMap firstLane =
        AffineMap::get(1, 0,
                       {l % 8 * 4, l.floorDiv(8) % layout.registers,
                        getAffineConstantExpr(0, context)},
                       context);
    auto [row, column] = emitElementPosition(b, loc, layout, lane, firstLane);
    return {row, divide(column, 8 / layout.slotBits)};
  }

  Value divide(Value value, int64_t divisor) {
    AffineExpr d0 = getAffineDimExpr(0, b.getContext());
    return applyMap(b, loc, AffineMap::get(1, 0, d0.floorDiv(divisor)),
                    value)[0];
  }

  Value loadMatrices(Value elements, Value row, Value byte) {
    int64_t registers = layout.registers;
    auto type = VectorType::get({registers, 4}, b.getI8Type());
    Value matrices =
        nvgpu::LdMatrixOp::create(b, loc, type, elements, ValueRange{row, byte},
                                  /*transpose=*/false, registers);
    SmallVector<Value> words;
    for (int64_t reg = 0; reg != registers; ++reg)
      words.push_back(asWord(vector::ExtractOp::create(b, loc, matrices, reg)));
    return vector::FromElementsOp::create(
        b, loc, VectorType::get(registers, b.getI32Type()), words);
  }

  /// Four bytes as an i32.
  Value asWord(Value bytes) {
    Value word = vector::BitCastOp::create(
        b, loc, VectorType::get(1, b.getI32Type()), bytes);
    return vector::ExtractOp::create(b, loc, word, 0);
  }

  Value loadWord(Value scales, Value first, int64_t group, int64_t word) {
    const ScaleFragment &fragment = getScaleFragment(operand);
    Value laneRow = emitScaleRow(b, loc, operand, lane);
    Value address = scaleAndAdd(b, loc, laneRow, 1, first);
    address =
        add(b, loc, address, group * fragment.tiles * fragment.rowsPerTile);
    // A group may be larger than the warp's share; its lanes beyond the tile
    // are not selected, but load.
    int64_t rows = cast<MemRefType>(scales.getType()).getDimSize(0);
    Value last = arith::ConstantIndexOp::create(b, loc, rows - 1);
    address = arith::MinUIOp::create(b, loc, address, last);
    Value byte = arith::ConstantIndexOp::create(b, loc, word * kScalesPerWord);
    return asWord(vector::LoadOp::create(
        b, loc, VectorType::get(kScalesPerWord, b.getI8Type()), scales,
        ValueRange{address, byte}));
  }

  OpBuilder &b;
  Location loc;
  OpRow row;
  Operand operand;
  Value lane;
  const FragmentLayout &layout;
};

struct LowerTileMma final : LanePattern<TileMmaOp> {
  using LanePattern::LanePattern;

  LogicalResult
  matchAndRewrite(TileMmaOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    OpRow row = op.getRow().getRow();
    WarpTile tile =
        getWarpTile(rewriter, loc, cast<AccType>(op.getAcc().getType()));
    OperandFragments a =
        TileLoader(rewriter, loc, row, Operand::A, lane)
            .load(op.getA(), op.getAScale(), tile.firstRow, tile.m);
    OperandFragments b =
        TileLoader(rewriter, loc, row, Operand::B, lane)
            .load(op.getB(), op.getBScale(), tile.firstColumn, tile.n);
    rewriter.replaceOp(
        op, emitMmas(rewriter, loc, row, lane, a, b, adaptor.getAcc()));
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
    Type type = getTypeConverter()->convertType(op.getType());
    rewriter.replaceOpWithNewOp<arith::ConstantOp>(op,
                                                   rewriter.getZeroAttr(type));
    return success();
  }
};

/// The position in memory of an element of the tile at `indices`, and whether
/// it is inside.
class AccAddress {
public:
  AccAddress(OpBuilder &b, Location loc, Value memory, ValueRange indices)
      : b(b), loc(loc), memory(memory), indices(indices) {
    unsigned rank = indices.size();
    for (unsigned i : {0, 1})
      sizes[i] = memref::DimOp::create(b, loc, memory, rank - 2 + i);
  }

  std::pair<SmallVector<Value>, Value> at(Value row, Value column) {
    SmallVector<Value> position(indices);
    unsigned rank = indices.size();
    Value inside;
    for (unsigned i : {0, 1}) {
      Value &index = position[rank - 2 + i];
      index = scaleAndAdd(b, loc, i == 0 ? row : column, 1, index);
      Value below = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult,
                                          index, sizes[i]);
      inside = inside ? arith::AndIOp::create(b, loc, inside, below) : below;
    }
    return {position, inside};
  }

private:
  OpBuilder &b;
  Location loc;
  Value memory;
  ValueRange indices;
  Value sizes[2];
};

struct LowerAccLoad final : LanePattern<AccLoadOp> {
  using LanePattern::LanePattern;

  LogicalResult
  matchAndRewrite(AccLoadOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto type = cast<VectorType>(getTypeConverter()->convertType(op.getType()));
    WarpTile tile = getWarpTile(rewriter, loc, cast<AccType>(op.getType()));
    AccAddress address(rewriter, loc, op.getMemory(), op.getIndices());
    Value zero = arith::ConstantOp::create(
        rewriter, loc, rewriter.getZeroAttr(type.getElementType()));
    SmallVector<Value> elements;
    forEachAccElement(rewriter, loc, lane, tile,
                      [&](int64_t, Value row, Value column) {
                        auto [position, inside] = address.at(row, column);
                        ArrayRef<Value> indices = position;
                        elements.push_back(emitLoadIf(
                            rewriter, loc, inside,
                            [&](OpBuilder &then) -> Value {
                              return memref::LoadOp::create(
                                  then, loc, op.getMemory(), indices);
                            },
                            zero));
                      });
    rewriter.replaceOpWithNewOp<vector::FromElementsOp>(op, type, elements);
    return success();
  }
};

struct LowerAccStore final : LanePattern<AccStoreOp> {
  using LanePattern::LanePattern;

  LogicalResult
  matchAndRewrite(AccStoreOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    WarpTile tile =
        getWarpTile(rewriter, loc, cast<AccType>(op.getAcc().getType()));
    AccAddress address(rewriter, loc, op.getMemory(), op.getIndices());
    forEachAccElement(
        rewriter, loc, lane, tile, [&](int64_t index, Value row, Value column) {
          auto [position, inside] = address.at(row, column);
          Value element =
              vector::ExtractOp::create(rewriter, loc, adaptor.getAcc(), index);
          auto guard = scf::IfOp::create(rewriter, loc, inside);
          OpBuilder then = guard.getThenBodyBuilder();
          memref::StoreOp::create(then, loc, element, op.getMemory(), position);
        });
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

void blockscale::forEachAccElement(
    OpBuilder &builder, Location loc, Value lane, const WarpTile &tile,
    function_ref<void(int64_t, Value, Value)> body) {
  const FragmentLayout &layout = getFragmentLayout(Operand::C, 32);
  SmallVector<std::pair<Value, Value>> first;
  for (unsigned reg = 0; reg != layout.registers; ++reg) {
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
        body(index++, rowInTile, columnInTile);
      }
}

void blockscale::populateTileToFragmentsPatterns(const TypeConverter &converter,
                                                 RewritePatternSet &patterns,
                                                 Value lane) {
  patterns.add<LowerAccZero>(converter, patterns.getContext());
  patterns.add<LowerTileMma, LowerAccLoad, LowerAccStore>(
      converter, patterns.getContext(), lane);
}
