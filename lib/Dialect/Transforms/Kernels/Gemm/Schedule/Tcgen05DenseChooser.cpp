//===- Tcgen05DenseChooser.cpp - Schedules of tcgen05 ---------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which schedules the tcgen05 kernel can run; the choice among them is by the
// cost model in Tcgen05ScheduleEstimate.h.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Gemm/Mma/Tcgen05/TmemPlan.h"
#include "Kernels/Gemm/Problem/QuantizedB.h"
#include "Kernels/Gemm/Schedule/Tcgen05ScheduleChoice.h"
#include "Kernels/Gemm/Schedule/Tcgen05ScheduleExplanation.h"
#include "Kernels/Gemm/Schedule/WarpSpecializedChooser.h"
#include "blockscale/Dialect/IR/SoftwareTensorCore.h"
#include "blockscale/Support/TensorMemory.h"

using namespace mlir;
using namespace mlir::blockscale;

namespace {
class Tcgen05DenseChooser final : public WarpSpecializedChooser {
public:
  ScheduleInterface choose(ScheduledProduct product) const override;
  SmallVector<ScheduleInterface>
  getCandidates(ScheduledProduct product) const override;
  LogicalResult verify(ScheduledProduct product, ScheduleInterface schedule,
                       EmitErrorFn emitError) const override;
  void explain(ScheduledProduct product, ScheduleInterface schedule,
               bool hasPictures, raw_ostream &os) const override;
};
} // namespace

//===----------------------------------------------------------------------===//
// Limits
//===----------------------------------------------------------------------===//

/// Whether tcgen05 is emulated on the chip that runs the kernels.
static bool isInSoftware(ProductOpInterface op) {
  FailureOr<TargetAttr> target = lookupTarget(op);
  return succeeded(target) && *target && hasSoftwareTensorCore(*target);
}

/// Blocks load whole periods of swizzle rows, and 2-CTA instructions take N in
/// larger steps.
static LogicalResult verifyCluster(WarpSpecializedScheduleAttr schedule,
                                   KernelChooser::EmitErrorFn emitError) {
  ClusterSize cluster = schedule.getCluster();
  if (int64_t rows = kSwizzlePeriodRows * cluster.m;
      schedule.getN() % rows != 0)
    return emitError() << "expected N of the tile to be a multiple of " << rows
                       << " for a cluster of " << cluster.m
                       << " blocks along M, got " << schedule;
  if (!schedule.getTwoCta())
    return success();
  constexpr int64_t kGroup = 2;
  const AccColumns *columns = lookupAccColumns(kGroup, /*isTransposed=*/false);
  if (!isLegalN(*columns, schedule.getN()))
    return emitError() << "expected N of the tile to be a multiple of "
                       << columns->step << " for pairs of CTAs, got "
                       << schedule;
  return success();
}

static LogicalResult verifyInstructionK(WarpSpecializedScheduleAttr schedule,
                                        const Instruction &instruction,
                                        const Chip &chip,
                                        KernelChooser::EmitErrorFn emitError) {
  int64_t k = schedule.getInstructionK();
  if (k == 0)
    return success();
  const Instruction *wide = lookupWide(instruction, k);
  constexpr int64_t kStepN = 16;
  // Its scales cross into the next u32. With 64 rows, the instruction would
  // expect that one nearer than tcgen05.cp copies it.
  if (!wide || !wide->isOn(chip) || schedule.getN() % kStepN != 0 ||
      schedule.getM() != kTensorLanes)
    return emitError()
           << "expected types and a chip that have instructions with K of " << k
           << ", M of the tile of " << kTensorLanes
           << " and N of a multiple of " << kStepN << ", got "
           << getOpcode(instruction) << " on " << StringRef(chip.name)
           << " and " << schedule;
  return success();
}

LogicalResult Tcgen05DenseChooser::verify(ScheduledProduct product,
                                          ScheduleInterface given,
                                          EmitErrorFn emitError) const {
  auto schedule = cast<WarpSpecializedScheduleAttr>(given);
  const Instruction &instruction = product.getInstruction();
  // M of a 2-CTA instruction is that of both blocks.
  int64_t group = schedule.getBlocksOfProduct();
  if (!lookupAccLayout(group, schedule.getM() * group))
    return emitError() << "expected M of the tile to be " << kTensorLanes
                       << ", or " << kTensorLanes / 2
                       << " for pairs of CTAs, got " << given;
  if (schedule.getM() != kTensorLanes && schedule.getN() != kMostN)
    return emitError() << "expected N of the tile to be " << kMostN
                       << " for pairs of CTAs with " << schedule.getM()
                       << " rows each, got " << given;
  if (failed(verifyStages(product, schedule, emitError)))
    return failure();
  // PTX ISA, "Matrix shape": pairs with a sparse A have M of 256; and only A
  // can be sparse.
  if (product.op.getMetadata() &&
      (schedule.getSwapAb() || schedule.getM() != kTensorLanes))
    return emitError() << "expected M of the tile to be " << kTensorLanes
                       << " and operands that are not swapped for a sparse x, "
                          "got "
                       << given;
  if (isInSoftware(product.op) &&
      (schedule.getTwoCta() || schedule.getInstructionK() != 0))
    return emitError() << "not supported in this version: pairs of CTAs and "
                          "K of instructions in software, got "
                       << given;
  // The blocks of a cluster have tiles of one group.
  ClusterSize largest = {schedule.getTwoCta() ? 2 : 1, 1};
  if (product.op.getRowGroups() && schedule.getCluster() != largest)
    return emitError() << "expected no cluster but one pair of CTAs for groups "
                          "of rows, got "
                       << given;
  if (failed(verifyCluster(schedule, emitError)) ||
      failed(
          verifyInstructionK(schedule, instruction, product.chip, emitError)))
    return failure();
  TmemPlan plan(instruction, schedule);
  // N of the instruction is columns of the result, or rows with swap-AB.
  bool swapsAb = schedule.getSwapAb();
  ArrayRef<int64_t> shape =
      cast<ShapedType>(product.op.getAcc().getType()).getShape();
  int64_t n = shape[shape.size() - (swapsAb ? 2 : 1)];
  bool isOneTile = !ShapedType::isDynamic(n) && n <= schedule.getN();
  if (!isOneTile && schedule.getN() % kTileUnit != 0)
    return emitError() << "expected N of the tile to be a multiple of "
                       << kTileUnit << " for a result of more "
                       << (swapsAb ? "rows" : "columns") << ", got " << given;
  if (!plan.fitsTensorMemory())
    return emitError()
           << "expected a schedule whose accumulators, scales and metadata fit "
              "into "
           << kTensorColumns << " columns of tensor memory, got " << given;
  return success();
}

//===----------------------------------------------------------------------===//
// Choice
//===----------------------------------------------------------------------===//

static SmallVector<ScheduleCandidate>
estimateCandidates(ScheduledProduct product) {
  EstimatedProblem problem = getEstimatedProblem(product.op);
  problem.mayDivideK &= product.hasWorkspace;
  problem.isInSoftware = isInSoftware(product.op);
  return getScheduleCandidates(product.op.getContext(), problem,
                               product.getInstruction(), product.chip);
}

ScheduleInterface Tcgen05DenseChooser::choose(ScheduledProduct product) const {
  // Of products of groups, a path takes those that it has a schedule for.
  if (product.op.getRowGroups() &&
      !isTcgen05Best(product.op, product.chip, product.hasWorkspace))
    return {};
  return chooseSchedule(estimateCandidates(product)).schedule;
}

/// The best schedule for each N by estimate, and the same N with other stages.
SmallVector<ScheduleInterface>
Tcgen05DenseChooser::getCandidates(ScheduledProduct product) const {
  SmallVector<ScheduleInterface> candidates;
  for (const ScheduleCandidate &best : estimateCandidates(product)) {
    WarpSpecializedScheduleAttr schedule = best.schedule;
    candidates.push_back(schedule);
    for (int64_t accumulators : {2, 1})
      for (int64_t stages : {3, 4, 6})
        candidates.push_back(WarpSpecializedScheduleAttr::get(
            product.op->getContext(), schedule.getTile(), stages, accumulators,
            /*persistent=*/true, kTileGroup, schedule.getSwapAb(),
            schedule.getSplitK(), schedule.getCluster(), schedule.getTwoCta(),
            schedule.getInstructionK(), KernelKind::Dense,
            /*blocks_per_sm=*/1));
  }
  return candidates;
}

void Tcgen05DenseChooser::explain(ScheduledProduct product,
                                  ScheduleInterface given, bool hasPictures,
                                  raw_ostream &os) const {
  const Instruction &instruction = product.getInstruction();
  EstimatedProblem problem = getEstimatedProblem(product.op);
  TmemPlan plan(instruction, cast<WarpSpecializedScheduleAttr>(given));
  ScheduleRates rates = getScheduleRates(product.chip, instruction.kind);
  printScheduleEstimate(
      os, problem, estimateSchedule(problem, instruction, plan, rates), rates);
  printScheduleCandidates(os, estimateCandidates(product));
  if (!hasPictures)
    return;
  drawStages(os, plan);
  drawTensorMemory(os, plan);
}

bool blockscale::isTcgen05Best(ProductOpInterface op, const Chip &chip,
                               bool hasWorkspace) {
  if (op.getXScale())
    return true;
  // Another path dequantizes y in registers.
  if (std::optional<QuantizedB> y = findQuantizedB(op);
      y && chooseInstruction(y->types, chip))
    return false;
  return hasWorkspace || areReadInPlace(op);
}

const KernelChooser &blockscale::getTcgen05DenseChooser() {
  static const Tcgen05DenseChooser chooser;
  return chooser;
}
