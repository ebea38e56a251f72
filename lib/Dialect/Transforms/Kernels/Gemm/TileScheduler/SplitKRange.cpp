//===- SplitKRange.cpp - The range of K of a split-K tile -----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One division for all kernels, with as many ranges as the host has allocated
// partial results for.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Gemm/TileScheduler/SplitKRange.h"

#include "Utils/IndexValues.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::blockscale;

KRange blockscale::emitSplitKRange(OpBuilder &b, Location loc,
                                   const KernelProblem &problem,
                                   const ProblemSizes &sizes, int64_t k,
                                   Value batch, Value matrices) {
  AffineExpr d0 = b.getAffineDimExpr(0);
  Value steps = applyExprs(b, loc, {d0.ceilDiv(k)}, sizes.k)[0];
  KRange range = {batch, {}, steps};
  if (problem.splitK == 1)
    return range;
  auto index = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, loc, value);
  };
  // As many ranges as the host has allocated results for: none is empty.
  Value ranges = index(problem.splitK), one = index(1);
  if (ShapedType::isDynamic(problem.k)) {
    ranges = arith::MinUIOp::create(b, loc, steps, ranges);
    ranges = arith::MaxUIOp::create(b, loc, ranges, one);
  }
  Value number = batch;
  range.matrix = index(0);
  if (problem.hasBatch) {
    Value matricesOfRange =
        b.createOrFold<arith::DivUIOp>(loc, matrices, ranges);
    range.matrix = b.createOrFold<arith::RemUIOp>(loc, number, matricesOfRange);
    number = b.createOrFold<arith::DivUIOp>(loc, number, matricesOfRange);
  }
  // The first ranges get one more step if steps are left over. (Not the
  // difference of two quotients: ptxas 13.0 takes 2^32 too much off a
  // `mul.hi.u32`, extended to 64 bits, if the low half of what is subtracted is
  // 0.)
  Value each = b.createOrFold<arith::DivUIOp>(loc, steps, ranges);
  Value over = b.createOrFold<arith::RemUIOp>(loc, steps, ranges);
  Value before = b.createOrFold<arith::MinUIOp>(loc, number, over);
  Value isLonger = b.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::ult,
                                                 number, over);
  Value longer = b.createOrFold<arith::AddIOp>(loc, each, one);
  Value whole = b.createOrFold<arith::MulIOp>(loc, number, each);
  range.firstStep = b.createOrFold<arith::AddIOp>(loc, whole, before);
  range.steps = b.createOrFold<arith::SelectOp>(loc, isLonger, longer, each);
  return range;
}
