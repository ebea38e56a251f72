//===- ReferenceKernel.cpp - The reference GEMM ---------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One thread computes one element of the result, in exact arithmetic and
// without tensor cores. Every chip has this path, and all others are compared
// with it.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Gemm/Epilogue/Epilogue.h"
#include "Kernels/Gemm/Mma/Kernels.h"
#include "Utils/IndexValues.h"
#include "Utils/PackedElements.h"
#include "blockscale/Dialect/Transforms/Transforms.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::blockscale;

/// A block computes so many rows of so many results; neighboring threads
/// compute neighbors of a row.
static constexpr int64_t kRows = 8, kColumns = 32;

namespace {
/// Emits the body of one kernel.
class ReferenceBody {
public:
  ReferenceBody(gpu::GPUFuncOp kernel, const KernelProblem &problem)
      : kernel(kernel), problem(problem), loc(kernel.getLoc()),
        f64(Float64Type::get(kernel.getContext())) {}

  void build() {
    OpBuilder b = OpBuilder::atBlockBegin(&kernel.getBody().front());
    ProblemSizes sizes(b, kernel, problem);
    AffineExpr d0 = getAffineDimExpr(0, b.getContext());
    Value x = gpu::ThreadIdOp::create(b, loc, gpu::Dimension::x);
    Value y = gpu::ThreadIdOp::create(b, loc, gpu::Dimension::y);
    auto getFirst = [&](gpu::Dimension dimension, int64_t tile) {
      Value block = gpu::BlockIdOp::create(b, loc, dimension);
      return applyExprs(b, loc, {d0 * tile}, block)[0];
    };
    BlockTile tile;
    tile.batch = gpu::BlockIdOp::create(b, loc, gpu::Dimension::z);
    tile.row = getFirst(gpu::Dimension::x, kRows);
    tile.column = getFirst(gpu::Dimension::y, kColumns);
    buildTile(b, tile, x, y, sizes);
    gpu::ReturnOp::create(b, loc);
  }

private:
  /// The result of thread (x, y) of `tile`.
  void buildTile(OpBuilder &b, const BlockTile &tile, Value x, Value y,
                 const ProblemSizes &sizes) {
    Value row = addIndices(b, loc, tile.row, y);
    Value column = addIndices(b, loc, tile.column, x);
    Value isRow = isBelow(b, loc, row, sizes.m),
          isColumn = isBelow(b, loc, column, sizes.n);
    Value isInside = arith::AndIOp::create(b, loc, isRow, isColumn);
    OpBuilder inner = scf::IfOp::create(b, loc, isInside).getThenBodyBuilder();
    buildResult(inner, tile.batch, row, column, sizes.blocks);
  }

  void buildResult(OpBuilder &b, Value batch, Value row, Value column,
                   Value numBlocks) {
    SmallVector<Value> position = {row, column};
    if (problem.resultType.getRank() == 3)
      position.insert(position.begin(), batch);

    Value sum;
    if (problem.acc || problem.producer) {
      Value acc = emitInitialElement(b, kernel, problem, position);
      sum = arith::ExtFOp::create(b, loc, f64, acc);
    } else {
      sum = arith::ConstantOp::create(b, loc, b.getF64FloatAttr(0.0));
    }
    sum = buildBlocks(b, batch, row, column, numBlocks, sum);
    Value result = arith::TruncFOp::create(b, loc, b.getF32Type(), sum);
    emitEpilogueElement(b, kernel, problem, position, result);
  }

  Value loadElement(OpBuilder &b, const KernelOperand &operand, Format format,
                    Value batch, Value row, Value column) {
    if (operand.splat) {
      Value code = arith::ConstantOp::create(
          b, loc, b.getI8IntegerAttr(static_cast<int8_t>(*operand.splat)));
      return emitDecode(b, loc, code, format);
    }
    batch = getOperandBatch(b, kernel, operand, batch);
    SmallVector<Value> position =
        applyMap(b, loc, operand.map, {batch, row, column});
    Value code = emitLoadCode(b, loc, kernel.getArgument(operand.argument),
                              operand.bits, position);
    return emitDecode(b, loc, code, format);
  }

  /// Adds the products of all blocks along K to `sum`.
  Value buildBlocks(OpBuilder &b, Value batch, Value row, Value column,
                    Value numBlocks, Value sum) {
    int64_t blockSize = problem.types.blockSize;
    Value zero = makeIndex(b, loc, 0);
    Value one = makeIndex(b, loc, 1);
    Value size = makeIndex(b, loc, blockSize);
    auto blocks = scf::ForOp::create(b, loc, zero, numBlocks, one, sum);
    OpBuilder inBlock = OpBuilder::atBlockBegin(blocks.getBody());
    Value block = blocks.getInductionVar();
    Value xScale = loadElement(inBlock, problem[GemmOperand::SFA],
                               problem.types.scale, batch, row, block);
    Value yScale = loadElement(inBlock, problem[GemmOperand::SFB],
                               problem.types.scale, batch, column, block);
    auto elements = scf::ForOp::create(inBlock, loc, zero, size, one,
                                       blocks.getRegionIterArgs());
    scf::YieldOp::create(inBlock, loc, elements.getResults());

    OpBuilder inner = OpBuilder::atBlockBegin(elements.getBody());
    AffineExpr d0, d1;
    bindDims(b.getContext(), d0, d1);
    Value k = applyMap(inner, loc, AffineMap::get(2, 0, d0 * blockSize + d1),
                       {block, elements.getInductionVar()})[0];
    Value x = loadElement(inner, problem[GemmOperand::A], problem.types.lhs,
                          batch, row, k);
    Value y = loadElement(inner, problem[GemmOperand::B], problem.types.rhs,
                          batch, column, k);
    // Each product is exact in f64: at most 16 bits of significand.
    x = arith::MulFOp::create(inner, loc, x, xScale);
    y = arith::MulFOp::create(inner, loc, y, yScale);
    Value product = arith::MulFOp::create(inner, loc, x, y);
    Value next = arith::AddFOp::create(
        inner, loc, elements.getRegionIterArgs().front(), product);
    scf::YieldOp::create(inner, loc, next);
    return blocks.getResult(0);
  }

  gpu::GPUFuncOp kernel;
  const KernelProblem &problem;
  Location loc;
  Type f64;
};
} // namespace

namespace {
class ReferenceKernel final : public GemmKernel {
public:
  KernelKind getKind() const override { return KernelKind::Reference; }
  bool fusesSurroundings() const override { return false; }

  KernelShape getShape(const KernelProblem &problem) const override {
    KernelShape shape;
    shape.tile = {kRows, kColumns, 1};
    shape.threads = {kColumns, kRows, 1};
    return shape;
  }

  void build(gpu::GPUFuncOp kernel,
             const KernelProblem &problem) const override {
    ReferenceBody(kernel, problem).build();
  }
};
} // namespace

const GemmKernel &blockscale::getReferenceKernel() {
  static const ReferenceKernel kernel;
  return kernel;
}
