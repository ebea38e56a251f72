//===- SplitKProblem.cpp - Two kernels for one product --------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which parameters and sizes either kernel has.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Gemm/Frontend/SplitKProblem.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::blockscale;

/// How many parts there are: no more than units of K, but one.
static OpFoldResult getParts(OpBuilder &b, Location loc, OpFoldResult k,
                             const SplitKRule &split) {
  if (std::optional<int64_t> known = getConstantIntValue(k)) {
    int64_t units = llvm::divideCeilSigned(*known, split.unit);
    return b.getIndexAttr(std::clamp<int64_t>(units, 1, split.parts));
  }
  auto index = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, loc, value);
  };
  Value units =
      arith::CeilDivUIOp::create(b, loc, cast<Value>(k), index(split.unit));
  Value most = arith::MinUIOp::create(b, loc, units, index(split.parts));
  return arith::MaxUIOp::create(b, loc, most, index(1)).getResult();
}

static OpFoldResult multiply(OpBuilder &b, Location loc, OpFoldResult lhs,
                             OpFoldResult rhs) {
  Value left = getValueOrCreateConstantIndexOp(b, loc, lhs);
  Value right = getValueOrCreateConstantIndexOp(b, loc, rhs);
  return getAsOpFoldResult(b.createOrFold<arith::MulIOp>(loc, left, right));
}

HostProblem blockscale::getPartialProducts(OpBuilder &builder, Location loc,
                                           const HostProblem &host,
                                           const SplitKRule &split) {
  HostProblem products;
  products.sizes = host.sizes;
  KernelProblem &problem = products.problem;
  problem = host.problem;
  problem.acc = std::nullopt;
  problem.producer = problem.consumer = std::nullopt;
  assert(!problem.quantizer && "sums of parts go by themselves");
  OpFoldResult parts = getParts(builder, loc, host.sizes.k, split);
  problem.splitK = getConstantIntValue(parts).value_or(split.parts);
  OpFoldResult matrices = multiply(builder, loc, parts, host.sizes.batch);
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
    operand->argument = products.addInput(host.inputs[operand->argument]);
  }
  if (problem.tensorScale)
    for (auto &[value, argument] : problem.tensorScale->arguments)
      argument = products.addInput(host.inputs[argument]);
  problem.result = products.inputs.size();
  return products;
}

HostProblem blockscale::getSumOfParts(const HostProblem &host, Value partial) {
  HostProblem sums;
  sums.sizes = host.sizes;
  KernelProblem &problem = sums.problem;
  problem = host.problem;
  sums.inputs.insert(partial);
  sums.addSurroundings(host);
  return sums;
}
