//===- FusedOps.cpp - Parameters of fused ops -----------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each tensor or scalar that a fused body reads becomes a parameter of the
// kernel.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Gemm/Frontend/FusedOps.h"

#include "Kernels/Gemm/Frontend/ElementwiseFusion.h"
#include "Kernels/Gemm/Frontend/HostChecks.h"
#include "Kernels/Gemm/Problem/ScalarSlice.h"

using namespace mlir;
using namespace mlir::blockscale;

std::optional<FusedElementwise>
blockscale::fuseElementwise(OpBuilder &builder, Location loc, HostProblem &host,
                            linalg::GenericOp generic, Value product) {
  if (!generic)
    return std::nullopt;
  FusedElementwise fused;
  fused.op = generic;
  fused.product = product;
  for (OpOperand *operand : getUsedOperands(generic)) {
    if (operand->get() == product)
      continue;
    checkFusedSizes(builder, generic, *operand, host.getResultSizes(), loc);
    fused.arguments.emplace_back(operand->get(), host.addInput(operand->get()));
  }
  for (Value scalar : getCapturedScalars(generic))
    fused.arguments.emplace_back(scalar, host.addInput(scalar));
  return fused;
}

FusedScalar blockscale::fuseScalar(HostProblem &host, Value scalar) {
  FusedScalar fused = {scalar, {}};
  for (Value input : getScalarInputs(scalar))
    fused.arguments.emplace_back(input, host.addInput(input));
  return fused;
}
