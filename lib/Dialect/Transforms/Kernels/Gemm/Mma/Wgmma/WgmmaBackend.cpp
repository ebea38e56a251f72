//===- WgmmaBackend.cpp - The path wgmma ----------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Products of bf16 and f16 matrices by instructions of warpgroups: those of
// linalg, and those with scales whose operands are decoded first.

//===----------------------------------------------------------------------===//

#include "Kernels/Gemm/Mma/Wgmma/WgmmaBackend.h"

#include "Kernels/Gemm/Mainloop/Multistage/Stages.h"
#include "Kernels/Gemm/Mma/Wgmma/Gemv/GemvRoles.h"
#include "Kernels/Gemm/Problem/OpSizes.h"
#include "Kernels/Gemm/Problem/QuantizedB.h"
#include "blockscale/Support/TunedRows.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::blockscale;

static SharedMemoryPlan makePlan(const KernelProblem &problem) {
  auto schedule = cast<WarpSpecializedScheduleAttr>(problem.schedule);
  const Instruction &instruction = problem.instruction.getInstruction();
  if (!problem.quantizedB)
    return SharedMemoryPlan(instruction, schedule);
  return makeMixedInputPlan(instruction, schedule, *problem.quantizedB,
                            problem.k);
}

/// Whether bulk copies can bring an operand from where it is.
static bool isWhole(Value operand) {
  constexpr int64_t kNumbersOfLine = 8;
  int64_t last = cast<RankedTensorType>(operand.getType()).getShape().back();
  return isa<BlockArgument>(operand) &&
         KernelProblem::isMultiple(last, kNumbersOfLine);
}

/// Whether a product with scales is done earlier if its operands are decoded
/// first.
static bool isDequantizedFaster(ProductOpInterface op, const Chip &chip) {
  TunedLimits limits = getTunedLimits(chip.capability);
  constexpr uint64_t kBytesOfNumber = 3;
  OpSizes sizes = getOpSizes(op, kDequantizedSize);
  auto multiply = [](uint64_t first, auto... factors) {
    ((first = llvm::SaturatingMultiply<uint64_t>(first, factors)), ...);
    return first;
  };
  uint64_t products = multiply(sizes.batch, sizes.m, sizes.n, sizes.k);
  uint64_t numbers = multiply(sizes.batch, sizes.m + sizes.n, sizes.k);
  return products / limits.wgmmaProducts +
             multiply(numbers, kBytesOfNumber) / limits.writtenBytes +
             limits.launches <
         products / limits.syncProducts;
}

namespace {
class WgmmaBackend final : public KernelBackend {
public:
  const ScheduleRules *getScheduleRules() const override {
    return &getWgmmaScheduleRules();
  }
  bool takesOverSurroundings() const override { return true; }
  bool takesMixedInput() const override { return true; }

  bool isBestFor(ProductOpInterface op, const Chip &chip,
                 bool hasWorkspace) const override {
    if (!op.getXScale()) {
      bool takesCodes =
          chooseMixedInputSchedule(op, chip, hasWorkspace) != nullptr;
      if (!takesCodes && findQuantizedB(op) &&
          getOpSizes(op, kDequantizedSize).m <=
              getTunedLimits(chip.capability).mostSyncRows)
        return false;
      return hasWorkspace || (isWhole(op.getX()) && isWhole(op.getY()));
    }
    return chooseMixedInputSchedule(op, chip, hasWorkspace) ||
           (hasWorkspace && isDequantizedFaster(op, chip));
  }

  /// Operands with scales are dequantized to memory that tensor maps can be of,
  /// or have elements that the kernel loads in one way or the other.
  bool needsTensorMaps(const KernelProblem &problem) const override {
    return !problem.hasScales();
  }

  DequantizedOperands
  getDequantizedOperands(InstructionAttr,
                         ScheduleInterface given) const override {
    auto schedule = cast<WarpSpecializedScheduleAttr>(given);
    if (!schedule.getSwapAb())
      return DequantizedOperands::None;
    return schedule.getN() == 1 ? DequantizedOperands::Both
                                : DequantizedOperands::Y;
  }

  std::string findMixedInputObstacle(ProductOpInterface op, const Chip &chip,
                                     bool hasWorkspace) const override {
    if (chooseMixedInputSchedule(op, chip, hasWorkspace))
      return {};
    std::string obstacle = blockscale::findMixedInputObstacle(op);
    return obstacle.empty() ? describeMixedInputSizes(chip) : obstacle;
  }

  SplitKRule getSplit(const KernelProblem &problem) const override {
    auto schedule = cast<WarpSpecializedScheduleAttr>(problem.schedule);
    return {schedule.getSplitK(), schedule.getK()};
  }

  std::optional<ResultTile>
  getResultTile(const KernelProblem &problem) const override {
    auto schedule = cast<WarpSpecializedScheduleAttr>(problem.schedule);
    if (schedule.getSwapAb()) {
      SharedMemoryPlan plan =
          makeMixedInputPlan(problem.instruction.getInstruction(), schedule,
                             problem.types, problem.k);
      std::optional<AccType> sums = MixedInputRoles::getBlocksType(plan);
      if (!sums)
        return std::nullopt;
      return ResultTile{schedule.getN(), schedule.getM(), {*sums}};
    }
    return ResultTile{
        schedule.getM(), schedule.getN(), {WgmmaRoles::getAccType(schedule)}};
  }

  KernelShape getShape(const KernelProblem &problem) const override {
    auto schedule = cast<WarpSpecializedScheduleAttr>(problem.schedule);
    SharedMemoryPlan plan = makePlan(problem);
    KernelShape shape;
    shape.tile = {schedule.getM(), schedule.getN(), 1};
    if (schedule.getSwapAb())
      std::swap(shape.tile[0], shape.tile[1]);
    if (problem.quantizedB && !problem.isGemv)
      shape.words = 1;
    shape.threads = {WgmmaShares(schedule).getAllWarps() * kWarpLanes, 1, 1};
    shape.shared = getDynamicBytes(plan.getSharedBytes(), kBarrierBytes);
    shape.order =
        schedule.getPersistent() ? BlockOrder::Persistent : BlockOrder::Linear;
    shape.cluster = schedule.getCluster();
    KernelProblem asked = getInstructionProblem(problem);
    for (const StagedOperand &operand : planStagedOperands(asked, plan)) {
      if (!operand.tensor)
        continue;
      shape.maps.push_back(operand.tensor->getMap());
      shape.mapped.push_back(operand.tensor->getArgument());
    }
    return shape;
  }

  void build(gpu::GPUFuncOp kernel, const KernelProblem &asked) const override {
    SharedMemoryPlan plan = makePlan(asked);
    KernelProblem problem = getInstructionProblem(asked);
    StagedOperands operands = planStagedOperands(problem, plan);
    OpBuilder b = OpBuilder::atBlockBegin(&kernel.getBody().front());
    // What a block hands from one warpgroup to another is all of its registers.
    kernel->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(),
                    b.getI32IntegerAttr(1));
    if (plan.isGemv())
      GemvRoles(b, kernel, problem, plan, operands).emit();
    else if (problem.quantizedB)
      MixedInputRoles(b, kernel, problem, plan, operands).emit();
    else
      WgmmaRoles(b, kernel, problem, plan, operands).emit();
    gpu::ReturnOp::create(b, kernel.getLoc());
  }
};
} // namespace

const KernelBackend &blockscale::getWgmmaBackend() {
  static const WgmmaBackend backend;
  return backend;
}
