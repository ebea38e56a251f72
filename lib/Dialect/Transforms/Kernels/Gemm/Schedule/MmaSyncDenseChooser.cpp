//===- MmaSyncDenseChooser.cpp - Schedules of warp-specialized mma.sync ---===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// When the warp-specialized kernel of the path mma_sync is better than the
// multistage one, and with which tile and stages.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Gemm/Mainloop/WarpSpecialized/MmaWarps.h"
#include "Kernels/Gemm/Mainloop/WarpSpecialized/SharedMemoryPlan.h"
#include "Kernels/Gemm/Problem/OpSizes.h"
#include "Kernels/Gemm/Schedule/ProductBounds.h"
#include "Kernels/Gemm/Schedule/WarpSpecializedChooser.h"
#include "Utils/OperandView.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace mlir::blockscale;

namespace {
class MmaSyncDenseChooser final : public WarpSpecializedChooser {
public:
  ScheduleInterface choose(ScheduledProduct product) const override;
  SmallVector<ScheduleInterface>
  getCandidates(ScheduledProduct product) const override;
  LogicalResult verify(ScheduledProduct product, ScheduleInterface schedule,
                       EmitErrorFn emitError) const override;
  void explain(ScheduledProduct product, ScheduleInterface given, bool,
               raw_ostream &os) const override {
    auto schedule = cast<WarpSpecializedScheduleAttr>(given);
    MmaWarps warps(schedule);
    printProductBounds(os, product,
                       {schedule.getM(), schedule.getN(), schedule.getK(),
                        schedule.getSplitK(), warps.columns, warps.rows});
  }
};
} // namespace

LogicalResult MmaSyncDenseChooser::verify(ScheduledProduct product,
                                          ScheduleInterface given,
                                          EmitErrorFn emitError) const {
  auto schedule = cast<WarpSpecializedScheduleAttr>(given);
  if (product.op.getMetadata() && schedule.getM() != kMetadataAtomRows)
    return emitError() << "expected M of the tile to be " << kMetadataAtomRows
                       << " for a sparse x, got " << given;
  // Tiles start with an atom of scales, or in the middle of one.
  constexpr int64_t kSides[] = {64, 128, 256};
  for (auto [name, size] :
       {std::pair("M", schedule.getM()), std::pair("N", schedule.getN())})
    if (!llvm::is_contained(kSides, size))
      return emitError() << "expected " << name
                         << " of the tile to be 64, 128 or 256 on the path "
                            "mma_sync, got "
                         << given;
  if (schedule.getAccumulators() != 1 || schedule.getSwapAb() ||
      schedule.getCluster() != ClusterSize() || schedule.getTwoCta() ||
      schedule.getInstructionK() != 0)
    return emitError() << "expected one accumulator, operands that are not "
                          "swapped, a cluster of 1x1 blocks and no K of "
                          "instructions on the path mma_sync, got "
                       << given;
  if (failed(verifyStages(product, schedule, emitError)))
    return failure();
  constexpr int64_t kMostWarps = 8;
  if (int64_t warps = MmaWarps(schedule).getCount(); warps > kMostWarps)
    return emitError() << "expected a schedule with at most " << kMostWarps
                       << " warps of 64 x 64 results, got " << given
                       << ", which has " << warps;
  return success();
}

namespace {
/// A tile, and the largest number of stages that is tried.
struct DenseTile {
  int64_t m, n, mostStages;
};
} // namespace

static constexpr DenseTile kWarpSpecializedTiles[] = {
    {128, 128, 3}, {128, 64, 4}, {64, 128, 4}, {64, 64, 4}};

SmallVector<ScheduleInterface>
MmaSyncDenseChooser::getCandidates(ScheduledProduct product) const {
  const Instruction &instruction = product.getInstruction();
  SmallVector<WarpSpecializedScheduleAttr> candidates;
  for (const DenseTile &row : kWarpSpecializedTiles) {
    // Metadata comes in whole atoms.
    if (product.op.getMetadata() && row.m != kMetadataAtomRows)
      continue;
    int64_t tile[] = {row.m, row.n, getSwizzleRowElements(instruction)};
    auto make = [&](int64_t stages) {
      return WarpSpecializedScheduleAttr::get(product.op->getContext(), tile,
                                              stages,
                                              /*accumulators=*/1,
                                              /*persistent=*/true);
    };
    int64_t bytes =
        getSharedMemoryPlan(product.op.getTypes(), instruction, make(1))
            .getStageBytes();
    // With a single stage, copies and MMAs take turns: a smaller tile, which
    // comes later, is faster.
    int64_t stages = getMostStageBytes(product.chip) / bytes;
    if (!candidates.empty() && candidates.back().getStages() == 1)
      candidates.pop_back();
    candidates.push_back(make(std::clamp<int64_t>(stages, 1, row.mostStages)));
  }
  return llvm::to_vector_of<ScheduleInterface>(candidates);
}

//===----------------------------------------------------------------------===//
// Choice
//===----------------------------------------------------------------------===//

/// The argument of the function that `operand` is a view of, for TMA; null if
/// there is none.
static OperandView findMemory(Value operand) {
  OperandView view = traceOperand(operand);
  if (auto unpack = view.tensor.getDefiningOp<UnpackOp>())
    view.tensor = unpack.getSource();
  auto argument = dyn_cast<BlockArgument>(getReshaped(view.tensor));
  if (!argument || !isa<func::FuncOp>(argument.getOwner()->getParentOp()))
    view.tensor = {};
  return view;
}

/// Whether TMA can bring `elements` and `scales`: rows along K, and atoms.
static bool areCopied(MmaScaledOp::Side side, Value elements, Value scales,
                      Format format, Kind kind, int64_t k) {
  // Rows are multiples of 16 bytes, and of 128 elements if TMA pads them to
  // bytes.
  constexpr int64_t kBits = 16 * 8, kPaddedElements = 128;
  unsigned rank = cast<ShapedType>(elements.getType()).getRank();
  OperandView view = findMemory(elements), atoms = findMemory(scales);
  if (!view.tensor || !atoms.tensor ||
      view.map.getResults().back() !=
          getAffineDimExpr(MmaScaledOp::getKDim(side, rank),
                           elements.getContext()) ||
      cast<ShapedType>(atoms.tensor.getType()).getRank() != rank + 2)
    return false;
  unsigned bits = getFormatInfo(format).bits;
  if (hasContainers(kind) && bits != 8)
    return k % kPaddedElements == 0;
  return k * bits % kBits == 0;
}

/// Whether TMA can bring all operands of `op` on its target.
static bool areAllCopied(ProductOpInterface op, Kind kind) {
  FailureOr<TargetAttr> target = getTarget(op);
  if (failed(target) || !hasBulkCopies((*target).getFinalChip()))
    return false;
  int64_t k = getOpSizes(op, /*dynamicSize=*/1).k;
  TypeCombination types = op.getTypes();
  return k % (types.blockSize * kScalesPerWord) == 0 &&
         areCopied(MmaScaledOp::Side::X, op.getX(), op.getXScale(), types.lhs,
                   kind, getKeptElements(k, types.sparsity)) &&
         areCopied(MmaScaledOp::Side::Y, op.getY(), op.getYScale(), types.rhs,
                   kind, k);
}

/// Whether all tiles are inside of the result and take whole rounds of the
/// pipeline: otherwise ptxas 13.0 spills some registers.
static bool areWhole(ProductOpInterface op,
                     WarpSpecializedScheduleAttr schedule) {
  OpSizes sizes = getOpSizes(op, /*dynamicSize=*/1);
  return sizes.m % schedule.getM() == 0 && sizes.n % schedule.getN() == 0 &&
         sizes.k % (schedule.getK() * schedule.getStages()) == 0;
}

/// Warp-specialized kernels execute half as many instructions between MMAs.
/// That pays if TMA brings all operands and there are tiles for all SMs: in the
/// replay of the simulator they are 1.4 to 2.4 times as fast as the multistage
/// kernel, also with two stages instead of three.
ScheduleInterface MmaSyncDenseChooser::choose(ScheduledProduct product) const {
  auto schedule =
      cast<WarpSpecializedScheduleAttr>(getCandidates(product).front());
  auto multistage = cast<MultistageScheduleAttr>(
      getMmaSyncMultistageChooser().choose(product));
  if (multistage.getM() >= schedule.getM() &&
      multistage.getN() >= schedule.getN() && areWhole(product.op, schedule) &&
      areAllCopied(product.op, product.instruction.getKind()))
    return schedule;
  return {};
}

const KernelChooser &blockscale::getMmaSyncDenseChooser() {
  static const MmaSyncDenseChooser chooser;
  return chooser;
}
