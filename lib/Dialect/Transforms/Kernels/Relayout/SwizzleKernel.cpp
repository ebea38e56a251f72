//===- SwizzleKernel.cpp - Scales into the 32x4x4 layout ------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Copies row-major scales to the 32x4x4 layout of tensor cores. Reads and
// writes are whole sectors. The rows of groups have atoms of their own.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Gemm/Problem/KernelProblem.h"
#include "Kernels/Gemm/TileScheduler/GroupTile.h"
#include "Utils/IndexValues.h"
#include "Utils/OperandView.h"
#include "Utils/PackedElements.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::blockscale;

/// A thread moves two u32 of four scales of one row.
static constexpr int64_t kWords = 2;
static constexpr int64_t kScales = kWords * kScalesPerWord;

// The lanes of a warp, from the fastest index on: four groups of eight scales
// of a row, the four rows of an atom that are 32 apart, two rows that are
// neighbors. So each row that is read, and each run of two rows that is
// written, is a whole sector of 32 bytes.
static constexpr int64_t kGroups = 4;
static constexpr int64_t kQuarters = kScaleAtomRows / kScaleAtomOuter;
static constexpr int64_t kNeighbors = 2;

// The warps of a block move all rows of an atom.
static constexpr int64_t kWarps = kScaleAtomOuter / kNeighbors;

namespace {
class SwizzleKernel {
public:
  /// With `offsets`, and maybe `rows`, of groups.
  explicit SwizzleKernel(gpu::GPUFuncOp kernel, Value offsets = {},
                         Value rows = {})
      : kernel(kernel), loc(kernel.getLoc()), memory(kernel.getArgument(0)),
        result(kernel.getArguments().back()), offsets(offsets), rows(rows),
        type(cast<MemRefType>(memory.getType())), rank(type.getRank()) {}

  void build() {
    OpBuilder b = OpBuilder::atBlockBegin(&kernel.getBody().front());
    numRows = memref::DimOp::create(b, loc, memory, rank - 2);
    numColumns = memref::DimOp::create(b, loc, memory, rank - 1);
    Value atom = gpu::BlockIdOp::create(b, loc, gpu::Dimension::x);
    Value strip = gpu::BlockIdOp::create(b, loc, gpu::Dimension::y);
    Value batch = gpu::BlockIdOp::create(b, loc, gpu::Dimension::z);
    Value thread = gpu::ThreadIdOp::create(b, loc, gpu::Dimension::x);
    AffineExpr d0, d1, d2;
    bindDims(b.getContext(), d0, d1, d2);
    AffineExpr lane = d2 % kWarpLanes, pair = d2.floorDiv(kWarpLanes);
    AffineExpr group = lane % kGroups;
    AffineExpr quarter = lane.floorDiv(kGroups) % kQuarters;
    AffineExpr neighbor = lane.floorDiv(kGroups * kQuarters);
    SmallVector<Value> at = applyMap(
        b, loc,
        AffineMap::get(3, 0,
                       {d0 * kScaleAtomRows + quarter * kScaleAtomOuter +
                            pair * kNeighbors + neighbor,
                        (d1 * kGroups + group) * kScales},
                       b.getContext()),
        {atom, strip, thread});
    Value from = offsets ? emitRowOfGroup(b, atom, at[0]) : at[0];
    move(b, batch, from, at[0], at[1]);
    gpu::ReturnOp::create(b, loc);
  }

private:
  Value index(OpBuilder &b, int64_t value) { return makeIndex(b, loc, value); }

  SmallVector<Value> getPosition(Value batch, Value row, Value column) {
    if (rank == 2)
      return {row, column};
    return {batch, row, column};
  }

  /// The row of memory for row `padded` of the result, in `atom`; one that
  /// memory does not have for none.
  Value emitRowOfGroup(OpBuilder &b, Value atom, Value padded) {
    Value t = memref::DimOp::create(b, loc, rows ? rows : memory, 0);
    GroupSearch search(loc, offsets, kScaleAtomRows, t, GroupNumbering::Padded);
    SmallVector<Value> state = search.emitFirst(b);
    GroupTile tile = search.emitTile(b, atom, state);
    AffineExpr d0 = b.getAffineDimExpr(0), d1 = b.getAffineDimExpr(1);
    Value row = applyExpr(b, loc, d0 + d1 % kScaleAtomRows, {tile.row, padded});
    Value none = index(b, -1), zero = index(b, 0);
    // Nobody's atoms have no rows.
    Value end = arith::SelectOp::create(b, loc, tile.group.isNobody, zero,
                                        tile.group.end);
    Value isRow = isBelow(b, loc, row, end);
    if (rows)
      return emitLoadIf(
          b, loc, isRow,
          [&](OpBuilder &then) -> Value {
            Value word = memref::LoadOp::create(then, loc, rows, row);
            return arith::IndexCastOp::create(then, loc, then.getIndexType(),
                                              word);
          },
          none);
    return arith::SelectOp::create(b, loc, isRow, row, none);
  }

  /// Moves scales of row `from` to row `row` of the result.
  void move(OpBuilder &b, Value batch, Value from, Value row, Value column) {
    auto wordType = VectorType::get(kScalesPerWord, b.getI8Type());
    bool isKnown = !type.isDynamicDim(rank - 1);
    int64_t columns = isKnown ? type.getDimSize(rank - 1) : 1;
    // Eight scales at once where they are aligned.
    Value both;
    if (columns % kScales == 0) {
      auto wide = VectorType::get(kScales, b.getI8Type());
      both = loadVector(b, wide, batch, from, column);
      both = vector::BitCastOp::create(
          b, loc, VectorType::get(kWords, b.getI32Type()), both);
    }
    AffineExpr d0 = b.getAffineDimExpr(0);
    Value storedColumns = applyMap(
        b, loc,
        AffineMap::get(1, 0, d0.ceilDiv(kScaleAtomBlocks) * kScaleAtomBlocks),
        numColumns)[0];
    for (int64_t word = 0; word != kWords; ++word) {
      Value first = arith::AddIOp::create(b, loc, column,
                                          index(b, word * kScalesPerWord));
      // Strips are wider than the atoms may be.
      auto inAtoms =
          scf::IfOp::create(b, loc, isBelow(b, loc, first, storedColumns));
      OpBuilder then = inAtoms.getThenBodyBuilder();
      Value scales;
      if (both) {
        Value one = vector::ExtractOp::create(then, loc, both, word);
        one = vector::FromElementsOp::create(
            then, loc, VectorType::get(1, b.getI32Type()), one);
        scales = vector::BitCastOp::create(then, loc, wordType, one);
      } else if (columns % kScalesPerWord == 0) {
        scales = loadVector(then, wordType, batch, from, first);
      } else {
        scales = loadBytes(then, wordType, batch, from, first);
      }
      SmallVector<Value> to =
          applyMap(then, loc, getSwizzleMap(b.getContext(), rank),
                   getPosition(batch, row, first));
      vector::StoreOp::create(then, loc, scales, result, to,
                              /*nontemporal=*/false,
                              llvm::MaybeAlign(kScalesPerWord));
    }
  }

  /// Scales of a row that are aligned to their number; zeros beyond the last
  /// row and column.
  Value loadVector(OpBuilder &b, VectorType vector, Value batch, Value row,
                   Value column) {
    Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(vector));
    return emitGuarded(b, row, column, zero, [&](OpBuilder &then) -> Value {
      return vector::LoadOp::create(
          then, loc, vector, memory, getPosition(batch, row, column),
          /*nontemporal=*/false, llvm::MaybeAlign(vector.getNumElements()));
    });
  }

  Value loadBytes(OpBuilder &b, VectorType vector, Value batch, Value row,
                  Value column) {
    Value zero = arith::ConstantIntOp::create(b, loc, b.getI8Type(), 0);
    SmallVector<Value> bytes;
    for (int64_t i = 0; i != kScalesPerWord; ++i) {
      Value at = arith::AddIOp::create(b, loc, column, index(b, i));
      bytes.push_back(
          emitGuarded(b, row, at, zero, [&](OpBuilder &then) -> Value {
            return memref::LoadOp::create(then, loc, memory,
                                          getPosition(batch, row, at));
          }));
    }
    return vector::FromElementsOp::create(b, loc, vector, bytes);
  }

  Value emitGuarded(OpBuilder &b, Value row, Value column, Value otherwise,
                    function_ref<Value(OpBuilder &)> load) {
    Value isRow = isBelow(b, loc, row, numRows);
    Value isColumn = isBelow(b, loc, column, numColumns);
    Value inside = arith::AndIOp::create(b, loc, isRow, isColumn);
    return emitLoadIf(b, loc, inside, load, otherwise);
  }

  gpu::GPUFuncOp kernel;
  Location loc;
  Value memory, result, offsets, rows;
  MemRefType type;
  unsigned rank;
  Value numRows, numColumns;
};
} // namespace

KernelShape blockscale::getSwizzleKernelShape() {
  return {{kScaleAtomRows, kGroups * kScales, 1}, {kWarps * kWarpLanes, 1, 1}};
}

void blockscale::buildSwizzleKernel(gpu::GPUFuncOp kernel) {
  SwizzleKernel(kernel).build();
}

void blockscale::buildSwizzleGroupsKernel(gpu::GPUFuncOp kernel) {
  constexpr unsigned kWithRows = 4;
  Value rows;
  if (kernel.getNumArguments() == kWithRows)
    rows = kernel.getArgument(2);
  SwizzleKernel(kernel, kernel.getArgument(1), rows).build();
}
