//===- SplitKRange.cpp - What a matrix of partial sums is of --------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The same division for all kernels, whose parts the host has made room for.
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
  KRange part = {batch, {}, steps};
  if (problem.splitK == 1)
    return part;
  auto index = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, loc, value);
  };
  // As many parts as the host has made room for: no part is empty.
  Value parts = index(problem.splitK), one = index(1);
  if (ShapedType::isDynamic(problem.k)) {
    parts = arith::MinUIOp::create(b, loc, steps, parts);
    parts = arith::MaxUIOp::create(b, loc, parts, one);
  }
  Value number = batch;
  part.matrix = index(0);
  if (problem.hasBatch) {
    Value ofPart = b.createOrFold<arith::DivUIOp>(loc, matrices, parts);
    part.matrix = b.createOrFold<arith::RemUIOp>(loc, number, ofPart);
    number = b.createOrFold<arith::DivUIOp>(loc, number, ofPart);
  }
  // Steps that are left over go to the first parts. (Not the difference of two
  // quotients: ptxas 13.0 takes 2^32 too much off a `mul.hi.u32`, extended to
  // 64 bits, if the low half of what is subtracted is 0.)
  Value each = b.createOrFold<arith::DivUIOp>(loc, steps, parts);
  Value over = b.createOrFold<arith::RemUIOp>(loc, steps, parts);
  Value before = b.createOrFold<arith::MinUIOp>(loc, number, over);
  Value isLonger = b.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::ult,
                                                 number, over);
  Value longer = b.createOrFold<arith::AddIOp>(loc, each, one);
  Value whole = b.createOrFold<arith::MulIOp>(loc, number, each);
  part.firstStep = b.createOrFold<arith::AddIOp>(loc, whole, before);
  part.steps = b.createOrFold<arith::SelectOp>(loc, isLonger, longer, each);
  return part;
}
