//===- ProblemSizes.cpp - Sizes in kernels --------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernels/Gemm/Problem/KernelProblem.h"
#include "Utils/IndexValues.h"
#include "Utils/PackedElements.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::blockscale;

/// The whole bytes of so many elements. Does not overflow for any number of
/// them.
static int64_t getWholeBytes(int64_t elements, int64_t bits) {
  return elements / 8 * bits + elements % 8 * bits / 8;
}

int64_t KernelOperand::getStrideAlignment() const {
  switch (contiguity) {
  case Contiguity::Columns:
    return std::max<int64_t>(getWholeBytes(columnMultiple, bits), 1);
  case Contiguity::Rows:
    return std::max<int64_t>(getWholeBytes(rowMultiple, bits), 1);
  case Contiguity::Atoms:
    return kScaleAtomInner;
  case Contiguity::Other:
    break;
  }
  return 1;
}

Value blockscale::getOperandSize(OpBuilder &b, gpu::GPUFuncOp kernel,
                                 const KernelOperand &operand, unsigned dim) {
  Location loc = kernel.getLoc();
  Value memory = kernel.getArgument(operand.argument);
  AffineExpr index = getAffineDimExpr(dim, b.getContext());
  // Transposes permute, so that the index is one of the memref's.
  unsigned position = llvm::find(operand.map.getResults(), index) -
                      operand.map.getResults().begin();
  Value size = memref::DimOp::create(b, loc, memory, position);
  if (operand.bits >= 8 || position + 1 != operand.map.getNumResults())
    return size;
  PackedUnit unit = getPackedUnit(operand.bits);
  AffineExpr d0 = b.getAffineDimExpr(0);
  return applyMap(b, loc,
                  AffineMap::get(1, 0, d0.floorDiv(unit.bytes) * unit.elements),
                  size)[0];
}

ProblemSizes::ProblemSizes(OpBuilder &builder, gpu::GPUFuncOp kernel,
                           const KernelProblem &problem) {
  Location loc = kernel.getLoc();
  constexpr unsigned kRow = 1, kColumn = 2;
  auto get = [&](int64_t known, const KernelOperand &operand,
                 unsigned dim) -> Value {
    if (!ShapedType::isDynamic(known))
      return makeIndex(builder, loc, known);
    if (dim == kRow && operand.rows)
      return kernel.getArgument(*operand.rows);
    return getOperandSize(builder, kernel, operand, dim);
  };
  bool isGathered = problem.groups && problem.groups->gathersX;
  if (isGathered) {
    Value rows = kernel.getArgument(*problem.groups->rows);
    m = memref::DimOp::create(builder, loc, rows, 0);
    rowsOfX = getOperandSize(builder, kernel, problem[GemmOperand::A], kRow);
  } else {
    m = rowsOfX = get(problem.m, problem[GemmOperand::A], kRow);
  }
  n = get(problem.n, problem[GemmOperand::B], kRow);
  AffineExpr d0 = builder.getAffineDimExpr(0);
  // Of a sparse product B has the logical K; but rows of a dequantized one may
  // be longer.
  bool isSparse = problem.types.sparsity.has_value();
  bool isB = isSparse && !problem.quantizedB;
  k = get(problem.k, problem[isB ? GemmOperand::B : GemmOperand::A], kColumn);
  if (isSparse && !isB && ShapedType::isDynamic(problem.k))
    k = applyMap(
        builder, loc,
        AffineMap::get(1, 0, d0 * problem.getLogicalUnit(GemmOperand::A)),
        k)[0];
  auto getColumns = [&](GemmOperand id) {
    AffineExpr columns = d0.floorDiv(problem.getLogicalUnit(id));
    return applyMap(builder, loc, AffineMap::get(1, 0, columns), k)[0];
  };
  blocks = getColumns(GemmOperand::SFA);
  if (!problem.types.sparsity)
    return;
  keptK = getColumns(GemmOperand::A);
  metadata = getColumns(GemmOperand::E);
}

Value blockscale::getOperandBatch(OpBuilder &builder, gpu::GPUFuncOp kernel,
                                  const KernelOperand &operand, Value batch) {
  if (!operand.mayBroadcast || operand.splat)
    return batch;
  Location loc = kernel.getLoc();
  Value size = getOperandSize(builder, kernel, operand, /*dim=*/0);
  Value one = makeIndex(builder, loc, 1);
  Value last = arith::SubIOp::create(builder, loc, size, one);
  return arith::MinUIOp::create(builder, loc, batch, last);
}

Value blockscale::emitGroupFlag(OpBuilder &b, Location loc,
                                const KernelProblem &problem,
                                gpu::GPUFuncOp kernel, Value flags,
                                Value group) {
  Value count = memref::DimOp::create(b, loc, flags, 0);
  Value groups = memref::DimOp::create(
      b, loc, kernel.getArgument(problem.groups->offsets), 0);
  Value first = arith::SubIOp::create(b, loc, count, groups);
  return arith::AddIOp::create(b, loc, first, group);
}
