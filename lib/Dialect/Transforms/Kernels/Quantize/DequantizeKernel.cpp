//===- DequantizeKernel.cpp - From codes and scales to numbers ------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Bound by memory: each lane makes 8 numbers that follow each other, of codes
// that one load has, several times.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Quantize/DequantizeProblem.h"

#include "Kernels/ScalarSlice.h"
#include "Quantize/BlockArithmetic.h"
#include "Quantize/QuantizedStores.h"
#include "Utils/IndexValues.h"
#include "Utils/StoredCodes.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::blockscale;

static constexpr int64_t kNumbers = kDequantizedAtOnce;
/// How often a lane makes them.
static constexpr int64_t kRounds = 4;
static constexpr int64_t kWarps = 4;

/// Lanes of a row.
static int64_t getLanes(const DequantizeProblem &problem) {
  if (ShapedType::isDynamic(problem.k))
    return kWarpLanes;
  int64_t needed = llvm::divideCeilSigned(problem.k, kNumbers);
  return std::min<int64_t>(kWarpLanes, llvm::PowerOf2Ceil(needed));
}

static int64_t getRowsAtOnce(const DequantizeProblem &problem) {
  return kWarps * int64_t(kWarpLanes) / getLanes(problem);
}

KernelShape blockscale::getDequantizeShape(const DequantizeProblem &problem) {
  KernelShape shape;
  shape.tile = {getRowsAtOnce(problem) * kRounds, getLanes(problem) * kNumbers,
                1};
  shape.threads = {kWarps * int64_t(kWarpLanes), 1, 1};
  return shape;
}

namespace {
class DequantizeKernel {
public:
  DequantizeKernel(OpBuilder &b, gpu::GPUFuncOp kernel,
                   const DequantizeProblem &problem)
      : b(b), loc(kernel.getLoc()), kernel(kernel), problem(problem),
        op(problem.op), arithmetic(b, loc),
        result(kernel.getArgument(problem.result)) {}

  void build() {
    if (Value scale = op.getTensorScale())
      tensorScale = emitScalar(b, scale, [&](Value input) {
        return kernel.getArgument(getArgumentOf(problem.scaleInputs, input));
      });
    auto block = [&](gpu::Dimension dim) -> Value {
      return gpu::BlockIdOp::create(b, loc, dim);
    };
    Value thread = gpu::ThreadIdOp::create(b, loc, gpu::Dimension::x);
    int64_t lanes = getLanes(problem);
    AffineExpr d0, d1, d2;
    bindDims(b.getContext(), d0, d1, d2);
    KernelShape shape = getDequantizeShape(problem);
    SmallVector<Value> at = applyExprs(
        b, loc,
        {d0 * shape.tile[0] + d1.floorDiv(lanes),
         d2 * shape.tile[1] + d1 % lanes * kNumbers},
        ValueRange{block(gpu::Dimension::x), thread, block(gpu::Dimension::y)});
    Value batch = block(gpu::Dimension::z);
    Value rows = memref::DimOp::create(b, loc, result, problem.rank - 2);
    Value columns = memref::DimOp::create(b, loc, result, problem.rank - 1);
    if (!ShapedType::isDynamic(problem.k)) {
      emitLines(at, batch, rows, columns);
    } else {
      Value rest = arith::RemUIOp::create(
          b, loc, columns, arith::ConstantIndexOp::create(b, loc, kNumbers));
      Value zero = arith::ConstantIndexOp::create(b, loc, 0);
      Value isWhole =
          arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, rest, zero);
      auto branch = scf::IfOp::create(b, loc, isWhole, /*withElseRegion=*/true);
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(branch.thenBlock());
      emitLines(at, batch, rows, columns);
      b.setInsertionPointToStart(branch.elseBlock());
      emitOneByOne(at, batch, rows, columns);
    }
    gpu::ReturnOp::create(b, loc);
  }

private:
  Value isBelow(Value value, Value limit) {
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, value,
                                 limit);
  }
  SmallVector<Value> applyPlace(AffineMap map, const MatrixPlace &place) {
    return applyMap(b, loc, map, {place.batch, place.row, place.column});
  }
  void emitLines(const SmallVector<Value> &at, Value batch, Value rows,
                 Value columns);
  void emitOneByOne(const SmallVector<Value> &at, Value batch, Value rows,
                    Value columns);
  Value loadCodes(const MatrixPlace &place);
  Value loadScale(const MatrixPlace &place);
  SmallVector<Value> decode(Value codes, Value scale);
  Value makeNumber(Value code, Value scale);
  void store(const MatrixPlace &place, ArrayRef<Value> numbers);

  OpBuilder &b;
  Location loc;
  gpu::GPUFuncOp kernel;
  const DequantizeProblem &problem;
  DequantizeOp op;
  BlockArithmetic arithmetic;
  Value result, tensorScale;
};
} // namespace

/// Of lines that are whole numbers of loads.
void DequantizeKernel::emitLines(const SmallVector<Value> &at, Value batch,
                                 Value rows, Value columns) {
  Value hasColumns;
  if (!KernelProblem::isMultiple(problem.k,
                                 getDequantizeShape(problem).tile[1]))
    hasColumns = isBelow(at[1], columns);
  emitIf(b, loc, hasColumns, [&] {
    SmallVector<Value> places, loaded, scales;
    // What is outside reads what is last, so that all loads start at once.
    for (int64_t i = 0; i != kRounds; ++i) {
      Value row = addIndex(b, loc, at[0], i * getRowsAtOnce(problem));
      places.push_back(row);
      row = arith::MinUIOp::create(b, loc, row, addIndex(b, loc, rows, -1));
      loaded.push_back(loadCodes({batch, row, at[1]}));
      scales.push_back(loadScale({batch, row, at[1]}));
    }
    for (int64_t i = 0; i != kRounds; ++i) {
      SmallVector<Value> numbers = decode(loaded[i], scales[i]);
      emitIf(b, loc, isBelow(places[i], rows),
             [&] { store({batch, places[i], at[1]}, numbers); });
    }
  });
}

/// Of lines that start anywhere.
void DequantizeKernel::emitOneByOne(const SmallVector<Value> &at, Value batch,
                                    Value rows, Value columns) {
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  auto count = [&](int64_t number) -> Value {
    return arith::ConstantIndexOp::create(b, loc, number);
  };
  OpBuilder::InsertionGuard guard(b);
  auto round = scf::ForOp::create(b, loc, zero, count(kRounds), one);
  b.setInsertionPointToStart(round.getBody());
  auto number = scf::ForOp::create(b, loc, zero, count(kNumbers), one);
  b.setInsertionPointToStart(number.getBody());
  AffineExpr d0, d1;
  bindDims(b.getContext(), d0, d1);
  Value row = applyExprs(b, loc, {d0 + d1 * getRowsAtOnce(problem)},
                         {at[0], round.getInductionVar()})[0];
  Value column = addIndices(b, loc, at[1], number.getInductionVar());
  Value isInside = arith::AndIOp::create(b, loc, isBelow(row, rows),
                                         isBelow(column, columns));
  emitIf(b, loc, isInside, [&] {
    MatrixPlace place = {batch, row, column};
    Value code =
        emitLoadCode(b, loc, kernel.getArgument(problem.codes),
                     problem.codeBits, applyPlace(problem.codesMap, place));
    code = arith::ExtUIOp::create(b, loc, b.getI32Type(), code);
    Value scale = arithmetic.decode(op.getScaleFormat(), loadScale(place));
    SmallVector<Value> position = {row, column};
    if (problem.rank == 3)
      position.insert(position.begin(), batch);
    memref::StoreOp::create(b, loc, makeNumber(code, scale), result, position);
  });
}

/// 8 codes, as i32s.
Value DequantizeKernel::loadCodes(const MatrixPlace &place) {
  constexpr int64_t kByteBits = 8, kWordBits = 32;
  int64_t bits = kNumbers * problem.codeBits, bytes = bits / kByteBits;
  SmallVector<Value> position = applyPlace(problem.codesMap, place);
  position.back() = applyExprs(
      b, loc, {(b.getAffineDimExpr(0) * problem.codeBits).floorDiv(kByteBits)},
      position.back())[0];
  Value all =
      vector::LoadOp::create(b, loc, VectorType::get(bytes, b.getI8Type()),
                             kernel.getArgument(problem.codes), position,
                             /*nontemporal=*/false, llvm::MaybeAlign(bytes));
  return vector::BitCastOp::create(
      b, loc, VectorType::get(bits / kWordBits, b.getI32Type()), all);
}

Value DequantizeKernel::loadScale(const MatrixPlace &place) {
  MatrixPlace block = place;
  block.column = applyExprs(
      b, loc, {b.getAffineDimExpr(0).floorDiv(op.getBlock())}, place.column)[0];
  Value code =
      memref::LoadOp::create(b, loc, kernel.getArgument(problem.scales),
                             applyPlace(problem.scalesMap, block));
  return arith::ExtUIOp::create(b, loc, b.getI32Type(), code);
}

SmallVector<Value> DequantizeKernel::decode(Value codes, Value scaleCode) {
  constexpr int64_t kWordBits = 32;
  int64_t perWord = kWordBits / problem.codeBits;
  Value scale = arithmetic.decode(op.getScaleFormat(), scaleCode);
  SmallVector<Value> numbers;
  for (int64_t i = 0; i != kNumbers; ++i) {
    Value code = vector::ExtractOp::create(b, loc, codes, i / perWord);
    auto shift = static_cast<uint32_t>(i % perWord * problem.codeBits);
    code = arith::ShRUIOp::create(b, loc, code, arithmetic.integer(shift));
    code = arith::AndIOp::create(
        b, loc, code, arithmetic.integer((1u << problem.codeBits) - 1));
    numbers.push_back(makeNumber(code, scale));
  }
  return numbers;
}

/// The number of the result that `code` stands for.
Value DequantizeKernel::makeNumber(Value code, Value scale) {
  Type type = getElementTypeOrSelf(op.getResult().getType());
  Value number = arith::MulFOp::create(
      b, loc, arithmetic.decode(op.getElementFormat(), code), scale);
  if (tensorScale)
    number = arith::MulFOp::create(b, loc, number, tensorScale);
  if (type != number.getType())
    number = arith::TruncFOp::create(b, loc, type, number);
  return number;
}

void DequantizeKernel::store(const MatrixPlace &place,
                             ArrayRef<Value> numbers) {
  // Stores are of 16 bytes.
  constexpr int64_t kBits = 128;
  Type type = numbers.front().getType();
  auto ofStore = static_cast<int64_t>(kBits / type.getIntOrFloatBitWidth());
  for (int64_t i = 0; i != kNumbers; i += ofStore) {
    Value all = vector::FromElementsOp::create(
        b, loc, VectorType::get(ofStore, type), numbers.slice(i, ofStore));
    SmallVector<Value> position = {place.row,
                                   addIndex(b, loc, place.column, i)};
    if (problem.rank == 3)
      position.insert(position.begin(), place.batch);
    vector::StoreOp::create(b, loc, all, result, position,
                            /*nontemporal=*/false, llvm::MaybeAlign(kBits / 8));
  }
}

void blockscale::buildDequantize(gpu::GPUFuncOp kernel,
                                 const DequantizeProblem &problem) {
  OpBuilder body = OpBuilder::atBlockBegin(&kernel.getBody().front());
  DequantizeKernel(body, kernel, problem).build();
}
