//===- DenseRoles.cpp - Roles of the dense kernel with wgmma --------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A stage is free again as soon as the products that read it are complete.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Gemm/Mma/Wgmma/Dense/DenseRoles.h"

#include "Utils/IndexValues.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::blockscale;

AccType DenseRoles::getAccType(WarpSpecializedScheduleAttr schedule) {
  MLIRContext *context = schedule.getContext();
  WgmmaShares shares(schedule);
  return AccType::get(context, shares.getRows(), schedule.getN(),
                      WarpsAttr::get(context, shares.getWarps(), 1));
}

SmallVector<Value> DenseRoles::emitStep(OpBuilder &at,
                                        const PipelineState &place,
                                        ValueRange sums) {
  MLIRContext *context = at.getContext();
  InstructionAttr instruction = getInstruction();
  stages.emitWaitFull(at, place);
  Value y = emitTile(at, place, /*isA=*/false);
  MemRefType all = getTileType(/*isA=*/true);
  SmallVector<int64_t> shape(all.getShape());
  // Rows, or columns of 64 of them.
  shape[0] /= shares.parts;
  MemRefType part = MemRefType::Builder(all).setShape(shape);
  SmallVector<Value> products;
  for (auto [i, sum] : llvm::enumerate(sums)) {
    int64_t byte = plan.getOffset(GemmOperand::A) +
                   static_cast<int64_t>(i) * part.getNumElements();
    Value x = memref::ViewOp::create(
        at, loc, part, shared, emitStageOffset(at, place, byte), ValueRange());
    products.push_back(WarpgroupMmaOp::create(
        at, loc, sum.getType(), x, y, sum, instruction,
        TileLayoutAttr::get(context, getElements(true).layout),
        TileLayoutAttr::get(context, getElements(false).layout)));
  }
  auto wait = WarpgroupWaitOp::create(at, loc, sums.getTypes(), products,
                                      /*pending=*/0);
  emitElected(at, [&](OpBuilder &one) { emitEmptied(one, place); });
  return llvm::to_vector_of<Value>(wait.getResults());
}

void DenseRoles::emitSums(OpBuilder &at, const WorkTile &tile,
                          ValueRange sums) {
  // Those in bounds are stored in pairs.
  bool isAligned = KernelProblem::isMultiple(problem.n, 2);
  emitByBounds(at, tile, isAligned, [&](OpBuilder &path, bool isGuarded) {
    for (auto [i, sum] : llvm::enumerate(sums)) {
      BlockTile part = tile;
      part.row = addIndex(path, loc, tile.row,
                          static_cast<int64_t>(i) * shares.getRows());
      part.isGuarded = isGuarded;
      emitStore(path, sizes, part, sum);
    }
  });
}

SmallVector<Value> DenseRoles::emitProducts(OpBuilder &at, const WorkTile &tile,
                                            ValueRange values) {
  SmallVector<Value> sums;
  for (int64_t i = 0; i != shares.parts; ++i)
    sums.push_back(AccZeroOp::create(at, loc, getAccType(plan.getSchedule())));
  PipelineState place = emitSteps(
      at, {values[0], values[1]}, toWord(at, tile.steps),
      /*isUnrolled=*/true, sums,
      [&](OpBuilder &inner, Value, const PipelineState &inside,
          ValueRange before) { return emitStep(inner, inside, before); });
  emitSums(at, tile, sums);
  return {place.stage, place.parity};
}

void DenseRoles::emitConsumer(OpBuilder &role) {
  PipelineState first = stages.emitFirst(role);
  forEachTile(role, {first.stage, first.parity},
              [&](OpBuilder &at, const WorkTile &tile, ValueRange values) {
                return emitProducts(at, tile, values);
              });
}
