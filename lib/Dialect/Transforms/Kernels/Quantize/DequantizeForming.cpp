//===- DequantizeForming.cpp - From codes and scales to numbers -----------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Bound by memory: each lane makes 8 numbers that follow each other, of codes
// that one load has, several times. Codes that do not follow each other so are
// left to loops.
//
//===----------------------------------------------------------------------===//

#include "Kernels/KernelPurpose.h"
#include "Kernels/LaunchForming.h"
#include "Kernels/Quantize/QuantizeForming.h"
#include "Kernels/ScalarSlice.h"
#include "Quantize/BlockArithmetic.h"
#include "Quantize/QuantizedStores.h"
#include "Utils/IndexValues.h"
#include "Utils/OperandView.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::blockscale;

/// Numbers that a lane makes at once, and how often.
static constexpr int64_t kNumbers = 8, kRounds = 4;
static constexpr int64_t kWarps = 4;

namespace {
/// A `dequantize` of a matrix, or of a batch of them, as a kernel computes it.
struct DequantizeProblem {
  DequantizeOp op;
  unsigned rank;
  /// K; rows may be dynamic.
  int64_t k;
  /// The parameters for codes and scales, and (batch, row, column) -> where
  /// they are there.
  unsigned codes, scales, result;
  unsigned codeBits;
  AffineMap codesMap, scalesMap;
  FusedArguments scaleInputs;

  /// Lanes of a row, and the rows of a block.
  int64_t getLanes() const {
    int64_t needed = llvm::divideCeilSigned(k, kNumbers);
    return std::min<int64_t>(kWarpLanes, llvm::PowerOf2Ceil(needed));
  }
  int64_t getRowsAtOnce() const {
    return kWarps * int64_t(kWarpLanes) / getLanes();
  }
  KernelShape getShape() const {
    KernelShape shape;
    shape.tile = {getRowsAtOnce() * kRounds, getLanes() * kNumbers, 1};
    shape.threads = {kWarps * int64_t(kWarpLanes), 1, 1};
    return shape;
  }
};

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
    int64_t lanes = problem.getLanes();
    AffineExpr d0, d1, d2;
    bindDims(b.getContext(), d0, d1, d2);
    KernelShape shape = problem.getShape();
    SmallVector<Value> at = applyExprs(
        b, loc,
        {d0 * shape.tile[0] + d1.floorDiv(lanes),
         d2 * shape.tile[1] + d1 % lanes * kNumbers},
        ValueRange{block(gpu::Dimension::x), thread, block(gpu::Dimension::y)});
    Value batch = block(gpu::Dimension::z);
    Value rows = memref::DimOp::create(b, loc, result, problem.rank - 2);
    Value hasColumns;
    if (problem.k % shape.tile[1] != 0)
      hasColumns =
          isBelow(at[1], arith::ConstantIndexOp::create(b, loc, problem.k));
    emitIf(b, loc, hasColumns, [&] {
      SmallVector<Value> places, loaded, scales;
      // What is outside reads what is last, so that all loads start at once.
      for (int64_t i = 0; i != kRounds; ++i) {
        Value row = addIndex(b, loc, at[0], i * problem.getRowsAtOnce());
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
  Value loadCodes(const MatrixPlace &place);
  Value loadScale(const MatrixPlace &place);
  SmallVector<Value> decode(Value codes, Value scale);
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
  Type type = getElementTypeOrSelf(op.getResult().getType());
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
    Value number = arith::MulFOp::create(
        b, loc, arithmetic.decode(op.getElementFormat(), code), scale);
    if (tensorScale)
      number = arith::MulFOp::create(b, loc, number, tensorScale);
    if (type != number.getType())
      number = arith::TruncFOp::create(b, loc, type, number);
    numbers.push_back(number);
  }
  return numbers;
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

namespace {
struct FormDequantize final : OpRewritePattern<DequantizeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(DequantizeOp op,
                                PatternRewriter &rewriter) const override {
    auto type = dyn_cast<RankedTensorType>(op.getResult().getType());
    FailureOr<TargetAttr> target = lookupTarget(op);
    if (!type || (type.getRank() != 2 && type.getRank() != 3) ||
        !KernelProblem::isMultiple(type.getShape().back(), kNumbers) ||
        !op->getParentOfType<func::FuncOp>() || failed(target) || !*target ||
        (*target).getChip()->isCpu())
      return rewriter.notifyMatchFailure(
          op, "expected matrices of whole lines in a function, for a GPU");
    Location loc = op.getLoc();
    MLIRContext *context = op.getContext();
    DequantizeProblem problem;
    problem.op = op;
    problem.rank = type.getRank();
    problem.k = type.getShape().back();
    AffineMap map = getOperandMap(context, problem.rank, problem.rank - 2,
                                  ShapedType::kDynamic);
    StoredView codes = getStoredView(rewriter, loc, op.getCodes());
    StoredView scales = getStoredView(rewriter, loc, op.getScales());
    problem.codesMap = codes.map.compose(map);
    problem.scalesMap = scales.map.compose(map);
    problem.codeBits = codes.bits;
    constexpr unsigned kByte = 8;
    if (getContiguity(problem.codesMap, problem.rank) != Contiguity::Columns ||
        kByte % codes.bits != 0)
      return rewriter.notifyMatchFailure(op, "expected codes along K");

    SetVector<Value> inputs;
    auto addInput = [&](Value value) {
      inputs.insert(value);
      return static_cast<unsigned>(llvm::find(inputs, value) - inputs.begin());
    };
    problem.codes = addInput(codes.tensor);
    problem.scales = addInput(scales.tensor);
    if (Value scale = op.getTensorScale())
      for (Value input : getScalarInputs(scale))
        problem.scaleInputs.emplace_back(input, addInput(input));
    problem.result = inputs.size();

    SmallVector<OpFoldResult> sizes = getOperandSizes(
        rewriter, loc, op.getCodes(), traceOperand(op.getCodes()));
    HostSizes hostSizes = {
        sizes[problem.rank - 2], sizes.back(),
        problem.rank == 3 ? sizes[0] : OpFoldResult(rewriter.getIndexAttr(1))};
    KernelShape shape = problem.getShape();
    FailureOr<SmallVector<OpFoldResult>> blocks =
        getBlocks(rewriter, op, shape, hostSizes);
    if (failed(blocks))
      return failure();
    Value output = makeEmpty(rewriter, loc, type, sizes);
    gpu::GPUFuncOp kernel =
        makeKernel(rewriter, op, kDequantizePurpose, inputs.getArrayRef(),
                   TypeRange(type), shape);
    OpBuilder body = OpBuilder::atBlockBegin(&kernel.getBody().front());
    DequantizeKernel(body, kernel, problem).build();
    rewriter.replaceOp(op,
                       createLaunch(rewriter, loc, kernel, inputs.getArrayRef(),
                                    output, shape, *blocks));
    return success();
  }
};
} // namespace

void blockscale::populateFormDequantizePatterns(RewritePatternSet &patterns) {
  patterns.add<FormDequantize>(patterns.getContext());
}
