//===- KernelAttributes.cpp - Attributes that a product needs -------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernels/FormKernels/KernelAttributes.h"

#include "Kernels/Gemm/Paths/GemmPath.h"
#include "Kernels/Gemm/Problem/QuantizedB.h"
#include "blockscale/Dialect/Transforms/Selection/Schedule.h"
#include "blockscale/Dialect/Transforms/Transforms.h"

using namespace mlir;
using namespace mlir::blockscale;

std::optional<NeededAttribute>
blockscale::findMissingAttribute(ProductOpInterface op, Path path) {
  auto instruction = op->getAttrOfType<InstructionAttr>(kInstructionAttrName);
  std::optional<QuantizedB> y = findQuantizedB(op);
  bool isComputed =
      instruction && instruction.getPath() == path &&
      (!takesQuantizedB(instruction) ||
       (y && y->types == getComputedCombination(op, instruction))) &&
      getRewrite(getComputedCombination(op, instruction),
                 instruction.getInstruction())
          .has_value();
  if (chooseInstruction(op, path) && !isComputed)
    return NeededAttribute{kInstructionAttrName, "blockscale-legalize"};
  auto schedule = op->getAttrOfType<ScheduleInterface>(kScheduleAttrName);
  const GemmPath &kernels = *getGemmPath(path);
  const GemmKernel *kernel = nullptr;
  if (schedule && schedule.isFor(path))
    kernel = kernels.findKernel(schedule);
  bool isScheduled = kernel && (kernel->getTransforms(instruction).y !=
                                    OperandTransform::DequantizedInRegisters ||
                                y);
  if (kernels.hasSchedules() && !isScheduled)
    return NeededAttribute{kScheduleAttrName, "blockscale-select-schedule"};
  return std::nullopt;
}
