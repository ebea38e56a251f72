//===- HostProblem.cpp - A GEMM as the host sees it -----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Numbers the parameters of a kernel.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Gemm/Problem/HostProblem.h"

using namespace mlir;
using namespace mlir::blockscale;

SmallVector<OpFoldResult> HostProblem::getResultSizes() const {
  SmallVector<OpFoldResult> result = {sizes.m, sizes.n};
  if (problem.resultType.getRank() == 3)
    result.insert(result.begin(), sizes.batch);
  return result;
}

unsigned HostProblem::addInput(Value value) {
  inputs.insert(value);
  return llvm::find(inputs, value) - inputs.begin();
}

void HostProblem::addSurroundings(const HostProblem &from) {
  auto renumber = [&](unsigned argument) {
    return addInput(from.inputs[argument]);
  };
  if (problem.acc)
    problem.acc = renumber(*problem.acc);
  for (std::optional<FusedElementwise> *fused :
       {&problem.producer, &problem.consumer})
    if (*fused)
      for (auto &[value, argument] : (*fused)->arguments)
        argument = renumber(argument);
  if (problem.quantizer)
    for (auto &[value, argument] : problem.quantizer->arguments)
      argument = renumber(argument);
  problem.result = inputs.size();
}
