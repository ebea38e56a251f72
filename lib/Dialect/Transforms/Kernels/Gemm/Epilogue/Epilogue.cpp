//===- Epilogue.cpp - The epilogue of a GEMM ------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Works on accumulators of any layout, through region bodies that get the
// position and the value of one element. So one epilogue serves mma.sync, wgmma
// and tcgen05.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Gemm/Epilogue/Epilogue.h"

#include "Fragments/AccLowering.h"
#include "Kernels/Gemm/Frontend/ElementwiseFusion.h"
#include "Kernels/Gemm/Problem/ScalarSlice.h"
#include "Quantize/BlockArithmetic.h"
#include "Utils/IndexValues.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::blockscale;

/// Position of an element in the result.
static SmallVector<Value> getResultPosition(const KernelProblem &problem,
                                            const BlockTile &tile, Value row,
                                            Value column) {
  if (problem.resultType.getRank() == 2)
    return {row, column};
  return {tile.batch, row, column};
}

/// The element of `fused` at `position`; `getProduct` gives elements of the
/// product.
static Value
emitFusedElement(OpBuilder &b, gpu::GPUFuncOp kernel,
                 const FusedElementwise &fused, ArrayRef<Value> position,
                 function_ref<Value(ArrayRef<Value> indices)> getProduct) {
  Location loc = kernel.getLoc();
  return emitElement(
      b, fused.op, position,
      [&](OpBuilder &at, Value input, ArrayRef<Value> indices) -> Value {
        if (input == fused.product)
          return getProduct(indices);
        Value argument =
            kernel.getArgument(getArgumentOf(fused.arguments, input));
        if (!isa<MemRefType>(argument.getType()))
          return argument;
        return memref::LoadOp::create(at, loc, argument, indices);
      });
}

Value blockscale::emitInitialElement(OpBuilder &b, gpu::GPUFuncOp kernel,
                                     const KernelProblem &problem,
                                     ArrayRef<Value> position) {
  if (problem.producer)
    return emitFusedElement(b, kernel, *problem.producer, position, nullptr);
  return memref::LoadOp::create(b, kernel.getLoc(),
                                kernel.getArgument(*problem.acc), position);
}

Value blockscale::emitResultElement(OpBuilder &b, gpu::GPUFuncOp kernel,
                                    const KernelProblem &problem,
                                    ArrayRef<Value> position, Value sum) {
  if (!problem.consumer)
    return sum;
  return emitFusedElement(b, kernel, *problem.consumer, position,
                          [&](ArrayRef<Value>) { return sum; });
}

/// What the fused op makes of a pair of sums, the first of which is at
/// `position` of the product, and its column.
static std::pair<Value, Value> emitPairElement(OpBuilder &b,
                                               gpu::GPUFuncOp kernel,
                                               const KernelProblem &problem,
                                               ArrayRef<Value> position,
                                               ArrayRef<Value> sums) {
  AffineExpr d0 = b.getAffineDimExpr(0);
  SmallVector<Value> columns = applyExprs(
      b, kernel.getLoc(),
      {d0.floorDiv(2 * kPairDistance), d0 % kPairDistance,
       d0.floorDiv(2 * kPairDistance) * kPairDistance + d0 % kPairDistance},
      position[1]);
  Value element = emitFusedElement(
      b, kernel, *problem.consumer, {position[0], columns[0], columns[1]},
      [&](ArrayRef<Value> indices) {
        // (row, block, half, column)
        return matchPattern(indices[2], m_Zero()) ? sums[0] : sums[1];
      });
  return {element, columns[2]};
}

void blockscale::emitEpilogueElement(OpBuilder &b, gpu::GPUFuncOp kernel,
                                     const KernelProblem &problem,
                                     ArrayRef<Value> position, Value sum) {
  Value element = emitResultElement(b, kernel, problem, position, sum);
  memref::StoreOp::create(b, kernel.getLoc(), element,
                          kernel.getArgument(problem.result), position);
}

Value blockscale::emitInitialAccumulator(OpBuilder &b, gpu::GPUFuncOp kernel,
                                         const KernelProblem &problem,
                                         const ProblemSizes &sizes,
                                         const BlockTile &tile, AccType type) {
  Location loc = kernel.getLoc();
  bool inBounds = !tile.isGuarded;
  // Sums with a factor are added to the accumulator later.
  if (problem.groups && problem.groups->scale)
    return AccZeroOp::create(b, loc, type);
  if (problem.acc && !problem.producer)
    return AccLoadOp::create(
        b, loc, type, kernel.getArgument(*problem.acc),
        getResultPosition(problem, tile, tile.row, tile.column), inBounds);
  if (!problem.producer)
    return AccZeroOp::create(b, loc, type);
  auto op = AccGenerateOp::create(b, loc, type, tile.row, tile.column,
                                  tile.getEndRow(sizes.m), sizes.n, inBounds);
  Type indexType = b.getIndexType();
  OpBuilder::InsertionGuard guard(b);
  Block *body =
      b.createBlock(&op.getBody(), {}, {indexType, indexType}, {loc, loc});
  Value element =
      emitInitialElement(b, kernel, problem,
                         getResultPosition(problem, tile, body->getArgument(0),
                                           body->getArgument(1)));
  YieldOp::create(b, loc, element);
  return op;
}

/// What a grouped product makes of the sum at `position`, which has the
/// accumulator in it already unless sums have a factor. Rows of nobody get the
/// accumulator itself: it may be -0, to which +0 was added.
static Value emitGroupedElement(OpBuilder &b, gpu::GPUFuncOp kernel,
                                const KernelProblem &problem,
                                const BlockTile &tile, ArrayRef<Value> position,
                                Value sum) {
  Location loc = kernel.getLoc();
  const RowGroups &groups = *problem.groups;
  bool hasAcc = problem.acc || problem.producer;
  if (!hasAcc && !groups.scale && !groups.bias && !groups.rows)
    return sum;
  auto load = [&](unsigned argument, ValueRange indices) -> Value {
    return memref::LoadOp::create(b, loc, kernel.getArgument(argument),
                                  indices);
  };
  Value acc =
      hasAcc
          ? emitInitialElement(b, kernel, problem, position)
          : Value(arith::ConstantOp::create(b, loc, b.getF32FloatAttr(0.0f)));
  Value group = tile.group->number, result = sum;
  if (groups.scale) {
    result = arith::MulFOp::create(b, loc, result, load(*groups.scale, group));
    result = arith::AddFOp::create(b, loc, acc, result);
  }
  if (groups.bias)
    result = arith::AddFOp::create(b, loc, result,
                                   load(*groups.bias, {group, position[1]}));
  Value isKept = tile.group->isNobody;
  if (groups.rows) {
    Value zero = arith::ConstantIntOp::create(b, loc, 0, 32);
    Value isNoRow =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt,
                              load(*groups.rows, position[0]), zero);
    isKept = arith::OrIOp::create(b, loc, isKept, isNoRow);
  }
  return arith::SelectOp::create(b, loc, isKept, acc, result);
}

/// The sum over all of K at `position`, of which the mainloop has made `sum`.
static Value emitWholeSum(OpBuilder &b, gpu::GPUFuncOp kernel,
                          const KernelProblem &problem, const BlockTile &tile,
                          ArrayRef<Value> position, Value sum, bool addsFirst) {
  if (addsFirst)
    sum =
        arith::AddFOp::create(b, kernel.getLoc(), sum,
                              emitInitialElement(b, kernel, problem, position));
  if (problem.groups)
    sum = emitGroupedElement(b, kernel, problem, tile, position, sum);
  return sum;
}

/// Starts the body for each element of the accumulator of `tile` in `region`,
/// and moves there: the position of the element, and its sum over all of K.
static std::pair<SmallVector<Value>, Value>
beginElementBody(OpBuilder &b, gpu::GPUFuncOp kernel,
                 const KernelProblem &problem, const BlockTile &tile,
                 Region &region, bool addsFirst) {
  Location loc = kernel.getLoc();
  Type indexType = b.getIndexType();
  Block *body = b.createBlock(
      &region, {}, {b.getF32Type(), indexType, indexType}, {loc, loc, loc});
  SmallVector<Value> position = getResultPosition(
      problem, tile, body->getArgument(1), body->getArgument(2));
  Value sum = emitWholeSum(b, kernel, problem, tile, position,
                           body->getArgument(0), addsFirst);
  return {position, sum};
}

/// The same for pairs of columns: what the fused op makes of a pair, and its
/// position in the result.
static std::pair<SmallVector<Value>, Value>
beginPairBody(OpBuilder &b, gpu::GPUFuncOp kernel, const KernelProblem &problem,
              const BlockTile &tile, Region &region, bool addsFirst) {
  Location loc = kernel.getLoc();
  Type indexType = b.getIndexType(), f32 = b.getF32Type();
  Block *body = b.createBlock(&region, {}, {f32, f32, indexType, indexType},
                              {loc, loc, loc, loc});
  Value row = body->getArgument(2), column = body->getArgument(3);
  SmallVector<Value> sums;
  for (unsigned half : {0, 1})
    sums.push_back(
        emitWholeSum(b, kernel, problem, tile,
                     {row, addIndex(b, loc, column, half * kPairDistance)},
                     body->getArgument(half), addsFirst));
  auto [element, resultColumn] =
      emitPairElement(b, kernel, problem, {row, column}, sums);
  return {{row, resultColumn}, element};
}

/// Quantizes `acc` behind the fused elementwise op.
static void emitQuantized(OpBuilder &b, gpu::GPUFuncOp kernel,
                          const KernelProblem &problem,
                          const ProblemSizes &sizes, const BlockTile &tile,
                          Value acc, bool addsFirst) {
  Location loc = kernel.getLoc();
  const FusedQuantize &quantizer = *problem.quantizer;
  QuantizeOp quantize = quantizer.op;
  Value tensorScale = emitScalar(b, kernel, quantizer.tensorScale);
  BlockFormat format = BlockFormat::get(quantize);
  ScaleRuleAttr rule;
  if (format.rule)
    rule = ScaleRuleAttr::get(b.getContext(), *format.rule);
  unsigned elements = problem.result, scales = elements + 1,
           amax = elements + 2;
  auto op = AccQuantizeOp::create(
      b, loc, acc, tile.row, tile.column, tile.getEndRow(sizes.m), sizes.n,
      problem.hasBatch ? tile.batch : Value(), tensorScale,
      kernel.getArgument(elements), kernel.getArgument(scales),
      quantize.getAmax() ? Value(kernel.getArgument(amax)) : Value(),
      TypeAttr::get(format.type),
      TypeAttr::get(getElementTypeOrSelf(quantize.getScales().getType())),
      b.getI64IntegerAttr(format.blockSize), rule,
      b.getI64IntegerAttr(quantizer.elementBits),
      tile.isGuarded ? UnitAttr() : b.getUnitAttr(),
      problem.hasPairs() ? b.getUnitAttr() : UnitAttr());
  OpBuilder::InsertionGuard guard(b);
  Value result;
  if (problem.hasPairs()) {
    result =
        beginPairBody(b, kernel, problem, tile, op.getBody(), addsFirst).second;
  } else {
    auto [position, sum] =
        beginElementBody(b, kernel, problem, tile, op.getBody(), addsFirst);
    result = emitResultElement(b, kernel, problem, position, sum);
  }
  YieldOp::create(b, loc, BlockArithmetic(b, loc).toF32(result));
}

void blockscale::emitEpilogue(OpBuilder &b, gpu::GPUFuncOp kernel,
                              const KernelProblem &problem,
                              const ProblemSizes &sizes, const BlockTile &tile,
                              Value acc, bool addsFirst) {
  Location loc = kernel.getLoc();
  bool inBounds = !tile.isGuarded;
  if (problem.quantizer)
    return emitQuantized(b, kernel, problem, sizes, tile, acc, addsFirst);
  if (!problem.consumer && !problem.groups && !addsFirst &&
      !tile.hasAlignedRows) {
    AccStoreOp::create(b, loc, acc, kernel.getArgument(problem.result),
                       getResultPosition(problem, tile, tile.row, tile.column),
                       inBounds);
    return;
  }
  // Tiles start at multiples of 8 columns, and parameters are aligned.
  Type result = kernel.getArgument(problem.result).getType();
  bool isKnown =
      !ShapedType::isDynamic(cast<MemRefType>(result).getShape().back());
  auto op = AccForEachOp::create(b, loc, acc, tile.row, tile.column,
                                 tile.getEndRow(sizes.m), sizes.n, inBounds,
                                 tile.hasAlignedRows || (inBounds && isKnown));
  OpBuilder::InsertionGuard guard(b);
  if (problem.hasPairs()) {
    op.setPairs(true);
    auto [position, element] =
        beginPairBody(b, kernel, problem, tile, op.getBody(), addsFirst);
    memref::StoreOp::create(b, loc, element, kernel.getArgument(problem.result),
                            position);
    YieldOp::create(b, loc);
    return;
  }
  auto [position, sum] =
      beginElementBody(b, kernel, problem, tile, op.getBody(), addsFirst);
  emitEpilogueElement(b, kernel, problem, position, sum);
  YieldOp::create(b, loc);
}
