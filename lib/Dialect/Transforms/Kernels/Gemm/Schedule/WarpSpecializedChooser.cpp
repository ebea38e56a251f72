//===- WarpSpecializedChooser.cpp - Limits of all such schedules ----------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Limits that hold on every path with warp-specialized kernels.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Gemm/Schedule/WarpSpecializedChooser.h"

#include "Kernels/Gemm/Mainloop/WarpSpecialized/SharedMemoryPlan.h"

using namespace mlir;
using namespace mlir::blockscale;

LogicalResult
WarpSpecializedChooser::verifyStages(ScheduledProduct product,
                                     WarpSpecializedScheduleAttr schedule,
                                     EmitErrorFn emitError) {
  const Instruction &instruction = product.getInstruction();
  int64_t elements = getSwizzleRowElements(instruction);
  if (schedule.getK() != elements)
    return emitError() << "expected K of the tile to be " << elements << " for "
                       << product.instruction << ", got " << schedule;
  SharedMemoryPlan plan =
      getSharedMemoryPlan(product.op.getTypes(), instruction, schedule);
  if (plan.getSharedBytes() > getMostStageBytes(product.chip))
    return emitError() << "expected a schedule that needs at most "
                       << getMostStageBytes(product.chip)
                       << " bytes of shared memory on "
                       << StringRef(product.chip.name) << ", got " << schedule
                       << ", which needs " << plan.getSharedBytes();
  return verifySplitK(product.op, schedule.getSplitK(), schedule.getK(),
                      schedule, emitError);
}

/// Whether TMA can read an operand without a copy.
static bool isWhole(Value operand) {
  constexpr int64_t kRowElements = 8;
  int64_t last = cast<RankedTensorType>(operand.getType()).getShape().back();
  return isa<BlockArgument>(operand) &&
         KernelProblem::isMultiple(last, kRowElements);
}

bool blockscale::areReadInPlace(ProductOpInterface op) {
  return isWhole(op.getX()) && isWhole(op.getY());
}
