//===- HostProblem.cpp - A GEMM as the host sees it -----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernels/Gemm/Problem/HostProblem.h"

using namespace mlir;
using namespace mlir::blockscale;

HostSizes blockscale::getHostSizes(OpBuilder &builder,
                                   ArrayRef<OpFoldResult> sizes) {
  OpFoldResult one = builder.getIndexAttr(1);
  return {sizes[sizes.size() - 2], sizes.back(),
          sizes.size() == 3 ? sizes[0] : one};
}

SmallVector<OpFoldResult> HostProblem::getResultSizes(OpBuilder &builder,
                                                      Location loc) const {
  SmallVector<OpFoldResult> result = getProductSizes();
  if (problem.hasPairs())
    result.back() = affine::makeComposedFoldedAffineApply(
        builder, loc, builder.getAffineDimExpr(0).floorDiv(2), {result.back()});
  return result;
}

SmallVector<OpFoldResult> HostProblem::getProductSizes() const {
  SmallVector<OpFoldResult> result = {sizes.m, sizes.n};
  if (problem.resultType.getRank() == 3)
    result.insert(result.begin(), sizes.batch);
  return result;
}

unsigned KernelInputs::add(Value value) {
  insert(value);
  return llvm::find(*this, value) - begin();
}

void HostProblem::renumber(FusedArguments &arguments, const HostProblem &from) {
  for (auto &[value, argument] : arguments)
    argument = inputs.add(from.inputs[argument]);
}

void HostProblem::renumberFactors(const HostProblem &from) {
  if (!problem.promotion)
    return;
  for (std::optional<SumFactors> *factors :
       {&problem.promotion->x, &problem.promotion->y})
    if (*factors)
      (*factors)->operand.argument =
          inputs.add(from.inputs[(*factors)->operand.argument]);
}

void HostProblem::addSurroundings(const HostProblem &from) {
  if (problem.acc)
    problem.acc = inputs.add(from.inputs[*problem.acc]);
  for (std::optional<FusedElementwise> *fused :
       {&problem.producer, &problem.consumer})
    if (*fused)
      renumber((*fused)->arguments, from);
  if (RowGroups *groups = problem.groups ? &*problem.groups : nullptr) {
    auto add = [&](unsigned argument) {
      return inputs.add(from.inputs[argument]);
    };
    groups->offsets = add(groups->offsets);
    for (std::optional<unsigned> *argument :
         {&groups->rows, &groups->scale, &groups->bias})
      if (*argument)
        *argument = add(**argument);
  }
  if (problem.quantizer)
    renumber(problem.quantizer->tensorScale.arguments, from);
  problem.result = inputs.size();
}
