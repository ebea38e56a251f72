//===- ExactRecomputation.cpp - Recompute where bf16 is inexact -----------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The per-block inexact flags of the bf16 kernels become the skip conditions of
// the kernel that recomputes.
//
//===----------------------------------------------------------------------===//

#include "Kernels/FormKernels/ExactRecomputation.h"

#include "Kernels/Gemm/Frontend/ProblemOfOp.h"
#include "Kernels/Gemm/Paths/GemmPath.h"
#include "Kernels/Gemm/Problem/QuantizedB.h"
#include "blockscale/Dialect/Transforms/Transforms.h"

using namespace mlir;
using namespace mlir::blockscale;

ExactRecomputation blockscale::getExactRecomputation(ProductOpInterface op,
                                                     const Chip &chip) {
  std::optional<Path> path = chip.findPath(Dequantization::InRegisters);
  assert(path && "all GPUs dequantize in registers");
  const GemmPath *gemm = getGemmPath(*path);
  auto instruction = InstructionAttr::get(
      op->getContext(), *chooseInstruction(op, *path)->emitted);
  ScheduleInterface schedule =
      gemm->choose({op, instruction, chip, /*hasWorkspace=*/false,
                    /*isRare=*/true});
  return {gemm->findKernel(schedule), instruction, schedule};
}

HostProblem blockscale::getExactProblem(OpBuilder &builder,
                                        ProductOpInterface op,
                                        const DequantizedProduct &dequantized,
                                        const ExactRecomputation &kernel) {
  const KernelProblem &product = dequantized.product.problem;
  HostProblem host = makeHostProblem(
      builder, op, *kernel.gemm, kernel.instruction, kernel.schedule,
      product.hasPairs() ? product.consumer->op : linalg::GenericOp());
  KernelProblem &problem = host.problem;
  for (Value condition : dequantized.skipConditions)
    if (condition)
      problem.skipConditions.push_back(host.inputs.add(condition));
  problem.result = host.inputs.size();
  return host;
}
