//===- CombineRowsKernel.cpp - Kernel of combine_rows ---------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A thread has a few neighboring columns of a row of the result, which it reads
// and writes in one access if rows are aligned; and all slots of that row. The
// threads of a block follow each other in the row.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Routing/RoutingKernels.h"

#include "Reference/RowPosition.h"
#include "Utils/IndexValues.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::blockscale;

static constexpr int64_t kThreads = 128;
/// Columns of a thread: 16 bytes of bf16, or twice as much of f32.
static constexpr int64_t kColumns = 8;

namespace {
class CombineRowsKernel {
public:
  CombineRowsKernel(OpBuilder &b, gpu::GPUFuncOp kernel, CombineRowsOp op)
      : b(b), loc(kernel.getLoc()), op(op), source(kernel.getArgument(0)),
        positions(kernel.getArgument(1)), weights(kernel.getArgument(2)),
        result(kernel.getArgument(3)) {}

  void build() {
    AffineExpr d0, d1;
    bindDims(b.getContext(), d0, d1);
    row = gpu::BlockIdOp::create(b, loc, gpu::Dimension::x);
    Value first =
        applyExpr(b, loc, (d0 * kThreads + d1) * kColumns,
                  {gpu::BlockIdOp::create(b, loc, gpu::Dimension::y),
                   gpu::ThreadIdOp::create(b, loc, gpu::Dimension::x)});
    Value columns = memref::DimOp::create(b, loc, result, 1);
    last = addIndex(b, loc, memref::DimOp::create(b, loc, source, 0), -1);
    slots = memref::DimOp::create(b, loc, positions, 1);
    Value rest = applyExpr(b, loc, d0 % kColumns, columns);
    auto branch =
        scf::IfOp::create(b, loc, isEqual(b, loc, rest, makeIndex(b, loc, 0)),
                          /*withElseRegion=*/true);
    OpBuilder whole = branch.getThenBodyBuilder(),
              single = branch.getElseBodyBuilder();
    OpBuilder inside = beginIf(whole, isBelow(whole, loc, first, columns));
    emitColumns(inside, first, kColumns);
    Value end = arith::MinUIOp::create(
        single, loc, addIndex(single, loc, first, kColumns), columns);
    scf::ForOp::create(single, loc, first, end, makeIndex(single, loc, 1),
                       ValueRange(),
                       [&](OpBuilder &at, Location, Value column, ValueRange) {
                         emitColumns(at, column, 1);
                         scf::YieldOp::create(at, loc);
                       });
    gpu::ReturnOp::create(b, loc);
  }

private:
  OpBuilder beginIf(OpBuilder &at, Value condition) {
    return scf::IfOp::create(at, loc, condition).getThenBodyBuilder();
  }

  static Type getElement(Value memory) {
    return cast<MemRefType>(memory.getType()).getElementType();
  }
  /// The alignment of `count` elements of memory, which starts at 16 bytes.
  static llvm::MaybeAlign getAlignment(Value memory, int64_t count) {
    constexpr int64_t kMost = 16;
    return llvm::MaybeAlign(std::min<int64_t>(
        kMost, count * getElement(memory).getIntOrFloatBitWidth() / 8));
  }

  /// The sums of `count` columns from `column` on.
  void emitColumns(OpBuilder &at, Value column, int64_t count) {
    auto type = VectorType::get(count, at.getF32Type());
    Value zero = arith::ConstantOp::create(at, loc, at.getZeroAttr(type));
    auto loop = scf::ForOp::create(
        at, loc, makeIndex(at, loc, 0), slots, makeIndex(at, loc, 1), zero,
        [&](OpBuilder &inner, Location, Value slot, ValueRange total) {
          scf::YieldOp::create(inner, loc,
                               addSlot(inner, column, slot, total[0], type));
        });
    Value total = loop.getResult(0);
    if (Type element = getElement(result); !element.isF32())
      total = arith::TruncFOp::create(at, loc, VectorType::get(count, element),
                                      total);
    vector::StoreOp::create(at, loc, total, result, ValueRange{row, column},
                            /*nontemporal=*/false, getAlignment(result, count));
  }

  Value addSlot(OpBuilder &at, Value column, Value slot, Value total,
                VectorType type) {
    Value place[] = {row, slot};
    Value weight = memref::LoadOp::create(at, loc, weights, place);
    Value position = arith::IndexCastOp::create(
        at, loc, at.getIndexType(),
        memref::LoadOp::create(at, loc, positions, place));
    checkPosition(at, op, position, last);
    // Of a wrong one behind the last row, that is read.
    position = arith::MinSIOp::create(at, loc, position, last);
    Value isRow = arith::CmpIOp::create(at, loc, arith::CmpIPredicate::sge,
                                        position, makeIndex(at, loc, 0));
    auto branch = scf::IfOp::create(at, loc, type, isRow,
                                    /*withElseRegion=*/true);
    OpBuilder then = branch.getThenBodyBuilder(),
              other = branch.getElseBodyBuilder();
    Type element = getElement(source);
    Value value = vector::LoadOp::create(
        then, loc, VectorType::get(type.getShape(), element), source,
        ValueRange{position, column}, /*nontemporal=*/false,
        getAlignment(source, type.getNumElements()));
    if (!element.isF32())
      value = arith::ExtFOp::create(then, loc, type, value);
    Value factor = vector::BroadcastOp::create(then, loc, type, weight);
    value = arith::MulFOp::create(then, loc, factor, value);
    value = arith::AddFOp::create(then, loc, total, value);
    scf::YieldOp::create(then, loc, value);
    scf::YieldOp::create(other, loc, total);
    return branch.getResult(0);
  }

  OpBuilder &b;
  Location loc;
  CombineRowsOp op;
  Value source, positions, weights, result;
  Value row, last, slots;
};
} // namespace

KernelShape blockscale::getCombineRowsShape() {
  return {{1, kThreads * kColumns, 1}, {kThreads, 1, 1}};
}

void blockscale::buildCombineRows(gpu::GPUFuncOp kernel, CombineRowsOp op) {
  OpBuilder b = OpBuilder::atBlockBegin(&kernel.getBody().front());
  CombineRowsKernel(b, kernel, op).build();
}
