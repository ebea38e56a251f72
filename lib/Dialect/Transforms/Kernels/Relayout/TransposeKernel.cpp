//===- TransposeKernel.cpp - Transposes through shared memory -------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A block moves a tile through shared memory, so that both sides are read and
// written along their rows: the lanes of a warp have neighboring elements of a
// row of the source, and then of a row of the result.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Relayout/TransposeKernel.h"

#include "Utils/IndexValues.h"
#include "Utils/LaneOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::blockscale;

/// Rows and columns of a tile.
static constexpr int64_t kTile = 64;
static constexpr int64_t kWarps = 8;
/// Bytes of a bank of shared memory.
static constexpr int64_t kBankBytes = 4;

namespace {
class TransposeKernel {
public:
  explicit TransposeKernel(gpu::GPUFuncOp kernel)
      : kernel(kernel), loc(kernel.getLoc()), source(kernel.getArgument(0)),
        result(kernel.getArgument(1)) {}

  void build() {
    OpBuilder b = OpBuilder::atBlockBegin(&kernel.getBody().front());
    Type element = cast<MemRefType>(source.getType()).getElementType();
    // Rows end one bank further than the ones before, so that a column has an
    // element in each bank.
    int64_t pitch =
        kTile + kBankBytes * 8 / int64_t(element.getIntOrFloatBitWidth());
    auto shared = gpu::AddressSpaceAttr::get(
        b.getContext(), gpu::GPUDialect::getWorkgroupAddressSpace());
    tile = kernel.addWorkgroupAttribution(
        MemRefType::get({kTile, pitch}, element, MemRefLayoutAttrInterface(),
                        shared),
        loc);

    Value thread = gpu::ThreadIdOp::create(b, loc, gpu::Dimension::x);
    AffineExpr d0 = b.getAffineDimExpr(0);
    SmallVector<Value> ids =
        applyExprs(b, loc, {d0.floorDiv(kWarpLanes), d0 % kWarpLanes}, thread);
    warp = ids[0], lane = ids[1];
    Value rows = memref::DimOp::create(b, loc, source, 0);
    Value columns = memref::DimOp::create(b, loc, source, 1);
    // Either side may have more tiles than y of a grid has blocks.
    Value block = gpu::BlockIdOp::create(b, loc, gpu::Dimension::x);
    Value inRow = applyExpr(b, loc, d0.ceilDiv(kTile), columns);
    auto getStart = [&](Value tileNumber) {
      return applyExpr(b, loc, d0 * kTile, tileNumber);
    };
    Value row = getStart(b.createOrFold<arith::DivUIOp>(loc, block, inRow));
    Value column = getStart(b.createOrFold<arith::RemUIOp>(loc, block, inRow));
    Value isWhole = emitBoth(b, loc, isTileInside(b, row, rows),
                             isTileInside(b, column, columns));
    // Without branches between them, all loads are under way at the same time.
    emitRows(
        b, isWhole, row, column,
        [&](OpBuilder &at, Position tiled, Position global, bool isGuarded) {
          if (isGuarded)
            global = {clamp(at, global.row, rows),
                      clamp(at, global.column, columns)};
          move(at, source, global, tile, tiled);
        });
    gpu::BarrierOp::create(b, loc);
    emitRows(
        b, isWhole, column, row,
        [&](OpBuilder &at, Position tiled, Position global, bool isGuarded) {
          Position from = {tiled.column, tiled.row};
          if (!isGuarded)
            return move(at, tile, from, result, global);
          Value isInside =
              emitBoth(at, loc, isBelow(at, loc, global.row, columns),
                       isBelow(at, loc, global.column, rows));
          OpBuilder then =
              scf::IfOp::create(at, loc, isInside).getThenBodyBuilder();
          move(then, tile, from, result, global);
        });
    gpu::ReturnOp::create(b, loc);
  }

private:
  struct Position {
    Value row, column;
  };
  using Body = function_ref<void(OpBuilder &, Position tiled, Position global,
                                 bool isGuarded)>;

  Value isTileInside(OpBuilder &b, Value start, Value size) {
    return isBelow(b, loc, addConstant(b, loc, start, kTile - 1), size);
  }

  Value clamp(OpBuilder &b, Value position, Value size) {
    return arith::MinUIOp::create(b, loc, position,
                                  addConstant(b, loc, size, -1));
  }

  void move(OpBuilder &b, Value from, Position source, Value to,
            Position target) {
    Value value = memref::LoadOp::create(b, loc, from,
                                         ValueRange{source.row, source.column});
    memref::StoreOp::create(b, loc, value, to,
                            ValueRange{target.row, target.column});
  }

  /// Each warp has every eighth row of a tile that starts at (row, column) of a
  /// matrix, each lane elements of these rows, at positions in the tile and in
  /// the matrix. A tile that is not whole is guarded.
  void emitRows(OpBuilder &b, Value isWhole, Value row, Value column,
                Body body) {
    auto branch = scf::IfOp::create(b, loc, isWhole, /*withElseRegion=*/true);
    for (bool isGuarded : {false, true}) {
      OpBuilder at =
          isGuarded ? branch.getElseBodyBuilder() : branch.getThenBodyBuilder();
      for (int64_t i = 0; i != kTile; i += kWarps)
        for (int64_t j = 0; j != kTile; j += kWarpLanes) {
          Position tiled = {addConstant(at, loc, warp, i),
                            addConstant(at, loc, lane, j)};
          Position global = {addIndices(at, loc, row, tiled.row),
                             addIndices(at, loc, column, tiled.column)};
          body(at, tiled, global, isGuarded);
        }
    }
  }

  gpu::GPUFuncOp kernel;
  Location loc;
  Value source, result, tile, warp, lane;
};
} // namespace

KernelShape blockscale::getTransposeKernelShape() {
  return {{kTile, kTile, 1},
          {kWarps * kWarpLanes, 1, 1},
          /*shared=*/0,
          BlockOrder::Linear};
}

void blockscale::buildTransposeKernel(gpu::GPUFuncOp kernel) {
  TransposeKernel(kernel).build();
}
