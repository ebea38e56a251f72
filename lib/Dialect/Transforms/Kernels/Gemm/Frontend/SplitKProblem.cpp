//===- SplitKProblem.cpp - The two problems of split-K --------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernels/Gemm/Frontend/SplitKProblem.h"

#include "Utils/IndexValues.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::blockscale;

OpFoldResult blockscale::getRanges(OpBuilder &b, Location loc, OpFoldResult k,
                                   const SplitKRule &split) {
  if (std::optional<int64_t> known = getConstantIntValue(k)) {
    int64_t units = llvm::divideCeilSigned(*known, split.unit);
    return b.getIndexAttr(std::clamp<int64_t>(units, 1, split.ranges));
  }
  Value units = arith::CeilDivUIOp::create(b, loc, cast<Value>(k),
                                           makeIndex(b, loc, split.unit));
  Value most =
      arith::MinUIOp::create(b, loc, units, makeIndex(b, loc, split.ranges));
  return arith::MaxUIOp::create(b, loc, most, makeIndex(b, loc, 1)).getResult();
}

static OpFoldResult multiply(OpBuilder &b, Location loc, OpFoldResult lhs,
                             OpFoldResult rhs) {
  Value left = getValueOrCreateConstantIndexOp(b, loc, lhs);
  Value right = getValueOrCreateConstantIndexOp(b, loc, rhs);
  return getAsOpFoldResult(b.createOrFold<arith::MulIOp>(loc, left, right));
}

HostProblem blockscale::getPartialProducts(OpBuilder &builder, Location loc,
                                           const HostProblem &host,
                                           OpFoldResult ranges,
                                           int64_t splitK) {
  HostProblem products;
  products.sizes = host.sizes;
  KernelProblem &problem = products.problem;
  problem = host.problem;
  problem.acc = std::nullopt;
  problem.producer = problem.consumer = std::nullopt;
  assert(!problem.quantizer && "sums of parts go by themselves");
  problem.splitK = splitK;
  OpFoldResult matrices = multiply(builder, loc, ranges, host.sizes.batch);
  products.sizes.batch = matrices;
  int64_t known = getConstantIntValue(matrices).value_or(ShapedType::kDynamic);
  problem.resultType = RankedTensorType::get({known, problem.m, problem.n},
                                             builder.getF32Type());
  for (GemmOperand id : kGemmOperands) {
    if (!problem.reads(id))
      continue;
    KernelOperand *operand = &problem[id];
    if (operand->splat)
      continue;
    operand->argument = products.inputs.add(host.inputs[operand->argument]);
    if (operand->rows)
      operand->rows = products.inputs.add(host.inputs[*operand->rows]);
  }
  products.renumber(problem.tensorScale.arguments, host);
  products.renumberFactors(host);
  problem.result = products.inputs.size();
  return products;
}

HostProblem blockscale::getSplitKReduction(const HostProblem &host,
                                           Value partial) {
  HostProblem sums;
  sums.sizes = host.sizes;
  KernelProblem &problem = sums.problem;
  problem = host.problem;
  problem.promotion = std::nullopt;
  sums.inputs.insert(partial);
  sums.addSurroundings(host);
  return sums;
}
