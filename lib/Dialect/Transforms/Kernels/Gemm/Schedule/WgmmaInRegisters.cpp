//===- WgmmaInRegisters.cpp - Operands that wgmma has in registers --------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All of them have the same plan of shared memory, MixedInputPlan.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Gemm/Schedule/WgmmaInRegisters.h"

#include "Kernels/Gemm/Mma/Wgmma/MixedInputPlan.h"
#include "Utils/OperandView.h"
#include "blockscale/Dialect/Transforms/Transforms.h"
#include "blockscale/Support/TensorMemory.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::blockscale;

unsigned blockscale::getKDim(MmaScaledOp::Side side, Value operand) {
  return MmaScaledOp::getKDim(side,
                              cast<ShapedType>(operand.getType()).getRank());
}

BlockArgument blockscale::findContiguousArgument(Value quantized, AffineMap map,
                                                 unsigned k, bool &isStream) {
  OperandView view = traceOperand(quantized);
  auto unpack = view.tensor.getDefiningOp<UnpackOp>();
  if (unpack)
    view.tensor = unpack.getSource();
  auto argument = dyn_cast<BlockArgument>(getReshaped(view.tensor));
  auto function = dyn_cast_or_null<func::FuncOp>(
      argument ? argument.getOwner()->getParentOp() : nullptr);
  isStream = unpack || (function && function.getArgAttr(argument.getArgNumber(),
                                                        kPackedAttrName));
  bool isContiguous = view.map.compose(map).getResults().back() ==
                      getAffineDimExpr(k, map.getContext());
  return function && isContiguous ? argument : BlockArgument();
}

uint64_t blockscale::countTiles(const OpSizes &sizes, int64_t rows,
                                int64_t columns) {
  return llvm::SaturatingMultiply<uint64_t>(
      sizes.batch, llvm::SaturatingMultiply<uint64_t>(
                       llvm::divideCeilSigned(sizes.m, rows),
                       llvm::divideCeilSigned(sizes.n, columns)));
}

WarpSpecializedScheduleAttr blockscale::fitStages(
    ProductOpInterface op, const Chip &chip, const TypeCombination &types,
    int64_t most,
    function_ref<WarpSpecializedScheduleAttr(int64_t stages)> make) {
  int64_t k = getOpSizes(op, /*dynamicSize=*/0).k;
  const Instruction &instruction =
      *chooseInstruction(op.getTypes(), Path::Wgmma)->emitted;
  for (int64_t stages = most; stages != 0; --stages) {
    WarpSpecializedScheduleAttr schedule = make(stages);
    SharedMemoryPlan plan = makeMixedInputPlan(instruction, schedule, types, k);
    if (plan.getSharedBytes() <=
            getMostStageBytes(chip, schedule.getBlocksPerSm()) &&
        getSlicePartialBytes(schedule) <= plan.getSharedBytes())
      return schedule;
  }
  return {};
}

LogicalResult blockscale::verifyInRegisters(
    ScheduledProduct product, WarpSpecializedScheduleAttr schedule,
    const TypeCombination &types, KernelChooser::EmitErrorFn emitError) {
  const Instruction &instruction = product.getInstruction();
  StringRef kernel = stringifyKernelKind(schedule.getKernel());
  WgmmaShares shares(schedule);
  bool isShared =
      shares.slicesOfK * schedule.getM() == shares.groups * kWarpgroupRows;
  // The mbarriers of more stages do not fit.
  constexpr int64_t kMostStages = 8;
  if (schedule.getStages() > kMostStages)
    return emitError() << "expected at most " << kMostStages
                       << " stages for the kernel " << kernel << ", got "
                       << schedule;
  if (!isShared || schedule.getPersistent() ||
      schedule.getAccumulators() != 1 || schedule.getCluster() != ClusterSize())
    return emitError()
           << "expected M of the tile to be 64, 128 or 256, one accumulator, "
              "blocks that are not persistent, and no cluster, for the kernel "
           << kernel << ", got " << schedule;
  int64_t chunk = getMixedInputChunk(types);
  int64_t k = getOpSizes(product.op, /*dynamicSize=*/0).k;
  SharedMemoryPlan plan = makeMixedInputPlan(instruction, schedule, types, k);
  bool isGemv = schedule.getKernel() == KernelKind::Gemv;
  if (plan.getSliceK() % chunk != 0 || (isGemv && k % plan.getSliceK() != 0))
    return emitError() << "expected K of the tile to be " << shares.slicesOfK
                       << " K slices of a multiple of " << chunk
                       << (isGemv ? " that divides K" : "") << ", got "
                       << schedule;
  if (int64_t unit = getMixedInputUnit(types, k == 0); k % unit != 0)
    return emitError() << "expected K to be a multiple of " << unit
                       << ", for the kernel " << kernel << ", got " << schedule;
  int64_t bytes =
      std::max(plan.getSharedBytes(), getSlicePartialBytes(schedule));
  int64_t most = getMostStageBytes(product.chip, schedule.getBlocksPerSm());
  if (bytes > most || getSlicePartialBytes(schedule) > plan.getSharedBytes())
    return emitError() << "expected a schedule whose stages have "
                       << getSlicePartialBytes(schedule) << " to " << most
                       << " bytes of shared memory on "
                       << StringRef(product.chip.name) << ", got " << schedule
                       << ", with " << plan.getSharedBytes();
  return KernelChooser::verifySplitK(product.op, schedule.getSplitK(),
                                     schedule.getK(), schedule, emitError);
}
