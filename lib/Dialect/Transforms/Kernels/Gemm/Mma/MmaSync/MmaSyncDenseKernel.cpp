//===- MmaSyncDenseKernel.cpp - Warp-specialized GEMM with mma.sync -------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The warp-specialized kernel of the path mma_sync: a TMA producer, and MMA
// warps with block-scaled mma.sync. (The other kernel of the path is the
// multistage one, Mainloop/Multistage/MultistageKernel.cpp.)
//
// MMA warps come first, the producer warp last. MMA warps read fragments with
// ldmatrix, and empty a stage as soon as its last fragments are in registers:
// the next copy overlaps with their multiplication. They do the epilogue from
// their registers.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Gemm/Epilogue/Epilogue.h"
#include "Kernels/Gemm/Mainloop/WarpSpecialized/MmaWarps.h"
#include "Kernels/Gemm/Mainloop/WarpSpecialized/RoleEmitter.h"
#include "Kernels/Gemm/Mainloop/WarpSpecialized/WarpSpecializedKernel.h"
#include "Kernels/Gemm/Mma/Kernels.h"
#include "blockscale/Dialect/IR/DynamicMemory.h"
#include "blockscale/Support/ScaleLayout.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::blockscale;

namespace {
class MmaSyncRoles final : protected RoleEmitter {
public:
  explicit MmaSyncRoles(const RoleContext &context)
      : RoleEmitter(context, context.plan.getStageBarriers()),
        warps(plan.getSchedule()) {}

  void emit() {
    alignStages();
    emitInit();
    // Everything up to here may overlap with the kernel in front.
    NVVM::GriddepcontrolOp::create(b, loc, NVVM::GridDepActionKind::wait);
    SmallVector<int64_t> counts = {warps.getCount(), 1};
    if (hasSoftwareProducer())
      counts.push_back(kSoftwareProducerWarps);
    auto roles = RolesOp::create(b, loc, counts, counts.size());
    emitConsumer(getRole(roles, 0));
    emitProducer(getRole(roles, 1));
    if (hasSoftwareProducer()) {
      emitSoftwareProducer(getRole(roles, 2),
                           (warps.getCount() + 1) * kWarpLanes);
    }
  }

  /// The accumulator of a tile.
  static AccType getAccType(WarpSpecializedScheduleAttr schedule) {
    MLIRContext *context = schedule.getContext();
    MmaWarps warps(schedule);
    return AccType::get(context, schedule.getM(), schedule.getN(),
                        WarpsAttr::get(context, warps.rows, warps.columns));
  }

private:
  /// Aligns stages to the swizzle.
  void alignStages() {
    // TMA swizzles by bits of the address.
    IntegerAttr bytes =
        b.getI64IntegerAttr(kSwizzlePeriodRows * kSwizzleRowBytes);
    Value memory = shared;
    if (auto view = memory.getDefiningOp<memref::ViewOp>())
      memory = view.getSource();
    if (auto dynamic = memory.getDefiningOp<gpu::DynamicSharedMemoryOp>()) {
      dynamic->setAttr(kDynamicAlignmentName, bytes);
      return;
    }
    for (auto [i, attribution] :
         llvm::enumerate(kernel.getWorkgroupAttributions()))
      if (attribution == memory)
        kernel.setWorkgroupAttributionAttr(
            i, LLVM::LLVMDialect::getAlignAttrName(), bytes);
  }

  void emitInit() {
    OpBuilder at = makeFirstWarp();
    emitElected(at, [&](OpBuilder &one) {
      // One thread of each MMA warp arrives when a stage is empty.
      emitStageBarriers(one, warps.getCount());
      NVVM::FenceMbarrierInitOp::create(one, loc);
    });
    emitAllBarrier(b);
  }

  void emitConsumer(OpBuilder role) {
    PipelineState first = stages.emitFirst(role);
    WarpSpecializedScheduleAttr schedule = plan.getSchedule();
    bool isInside = KernelProblem::isMultiple(problem.m, schedule.getM()) &&
                    KernelProblem::isMultiple(problem.n, schedule.getN());
    forEachTile(role, {first.stage, first.parity},
                [&](OpBuilder &at, WorkTile tile, ValueRange values) {
                  tile.isGuarded = !isInside;
                  return emitProducts(at, tile, values);
                });
  }

  /// The mainloop and the epilogue of a tile; `values` are the pipeline state.
  SmallVector<Value> emitProducts(OpBuilder &at, const WorkTile &tile,
                                  ValueRange values) {
    SmallVector<Value> sums = {emitInitialAccumulator(
        at, kernel, problem, sizes, tile, getAccType(plan.getSchedule()))};
    PipelineState state = {values[0], values[1]};
    Steps steps = emitStepCounts(at, tile);
    state = emitSteps(at, state, steps.whole, /*isUnrolled=*/true, sums,
                      [&](OpBuilder &inner, Value, const PipelineState &inside,
                          ValueRange before) -> SmallVector<Value> {
                        return {emitStep(inner, tile, inside, before[0], {})};
                      });
    if (steps.cut)
      state = emitSteps(
          at, state, steps.cut, /*isUnrolled=*/false, sums,
          [&](OpBuilder &inner, Value, const PipelineState &inside,
              ValueRange before) -> SmallVector<Value> {
            return {emitStep(inner, tile, inside, before[0], steps.blocks)};
          });
    // Values inside of the result are stored in pairs.
    bool isAligned = KernelProblem::isMultiple(problem.n, 2);
    emitByBounds(at, tile, isAligned, [&](OpBuilder &path, bool isGuarded) {
      BlockTile of = tile;
      of.isGuarded = isGuarded;
      emitEpilogue(path, kernel, problem, sizes, of, sums[0]);
    });
    return {state.stage, state.parity};
  }

  /// The steps of `tile`: whole ones, and one that K ends in.
  struct Steps {
    Value whole, cut;
    /// The scale blocks of the latter.
    Value blocks;
  };
  Steps emitStepCounts(OpBuilder &at, const WorkTile &tile) {
    // Behind the end of K, TMA fills in zeros: for elements, and for whole u32
    // of scales. The rest of the u32 that K ends in may be anything.
    if (!hasCut())
      return {toWord(at, tile.steps), {}, {}};
    AffineExpr d0 = at.getAffineDimExpr(0);
    int64_t blocks = plan.getSchedule().getK() / problem.types.blockSize;
    SmallVector<Value> of =
        applyExprs(at, loc, {d0.floorDiv(blocks), d0 % blocks}, sizes.blocks);
    Value whole = of[0];
    if (tile.firstStep)
      whole = at.createOrFold<arith::SubIOp>(loc, whole, tile.firstStep);
    whole = at.createOrFold<arith::MinUIOp>(loc, whole, tile.steps);
    Value cut = at.createOrFold<arith::SubIOp>(loc, tile.steps, whole);
    return {toWord(at, whole), toWord(at, cut), of[1]};
  }

  /// `sum` plus the product of the stage of `state`, of which the first
  /// `blocks` scale blocks count (null for all).
  Value emitStep(OpBuilder &at, const WorkTile &tile,
                 const PipelineState &state, Value sum, Value blocks) {
    MLIRContext *context = at.getContext();
    stages.emitWaitFull(at, state);
    Value a = emitElements(at, state, /*isA=*/true);
    Value aScales = emitScales(at, tile, state, /*isA=*/true);
    Value b = emitElements(at, state, /*isA=*/false);
    Value bScales = emitScales(at, tile, state, /*isA=*/false);
    auto getLayout = [&](bool isA) {
      return TileLayoutAttr::get(context, getElements(isA).layout);
    };
    auto atoms = ScaleTileLayoutAttr::get(context, ScaleOrder::Atoms);
    sum = TileMmaOp::create(
        at, loc, sum.getType(), a, aScales, b, bScales, sum, blocks,
        /*tensor_scale=*/Value(), emitMetadata(at, state),
        TypeCombinationAttr::get(context, problem.types), problem.instruction,
        getLayout(true), getLayout(false), atoms, atoms,
        /*metadata_atoms=*/problem.types.sparsity.has_value());
    // One thread arrives for all lanes of the warp.
    constexpr int32_t kAllLanes = -1;
    NVVM::SyncWarpOp::create(at, loc, word(at, kAllLanes));
    emitElected(at, [&](OpBuilder &one) { emitEmptied(one, state); });
    return sum;
  }

  /// A or B in the stage of `state`.
  Value emitElements(OpBuilder &at, const PipelineState &state, bool isA) {
    WarpSpecializedScheduleAttr schedule = plan.getSchedule();
    int64_t rows = isA ? schedule.getM() : schedule.getN();
    // One element a byte if rows are contiguous.
    SmallVector<int64_t> shape = {rows, kSwizzleRowBytes};
    if (int64_t columns = plan.getColumns(isA); columns != 1)
      shape.insert(shape.begin(), columns);
    if (getElements(isA).layout.major == Major::MN)
      shape = {plan.getElementsOfK(isA), rows};
    return emitView(
        at, shape, at.getI8Type(),
        emitStageOffset(at, state, plan.getOffset(getElementsOf(isA))));
  }

  /// The metadata of A; null if A is dense.
  Value emitMetadata(OpBuilder &at, const PipelineState &state) {
    if (!problem.types.sparsity)
      return Value();
    return emitView(at,
                    {plan.getMetadataBytes() / kMetadataAtomBytes,
                     kMetadataAtomRows, kMetadataAtomBytes},
                    at.getI8Type(),
                    emitStageOffset(at, state, plan.getOffset(GemmOperand::E)));
  }

  /// Their scales. A tile of 64 rows may start in the middle of an atom, which
  /// is an offset in each row of the atom.
  Value emitScales(OpBuilder &at, const WorkTile &tile,
                   const PipelineState &state, bool isA) {
    WarpSpecializedScheduleAttr schedule = plan.getSchedule();
    int64_t rows = isA ? schedule.getM() : schedule.getN();
    Value offset = emitStageOffset(at, state, plan.getOffset(getScalesOf(isA)));
    if (rows % kScaleAtomRows != 0) {
      AffineExpr d0 = at.getAffineDimExpr(0);
      Value shift = applyExprs(
          at, loc,
          {(d0 % kScaleAtomRows).floorDiv(kScaleAtomOuter) * kScaleAtomBlocks},
          isA ? tile.row : tile.column)[0];
      offset = addIndices(at, loc, offset, shift);
    }
    return emitView(at,
                    {plan.getRowAtoms(isA), plan.getScaleWords(),
                     kScaleAtomOuter, kScaleAtomInner},
                    at.getI8Type(), offset);
  }

  /// Whether K may end inside of a u32 of scales.
  bool hasCut() const {
    return !KernelProblem::isMultiple(problem.k,
                                      problem.types.blockSize * kScalesPerWord);
  }

  MmaWarps warps;
};

class MmaSyncDenseKernel final : public WarpSpecializedKernel {
public:
  bool wantsAtoms() const override { return true; }
  bool wantsPackedElements(const KernelOperand &operand, Format format,
                           const KernelProblem &problem) const override {
    return couldCopyIfPacked(operand, format, problem);
  }
  std::optional<ResultTile>
  getResultTile(const KernelProblem &problem) const override {
    WarpSpecializedScheduleAttr schedule = getSchedule(problem);
    return ResultTile{
        schedule.getM(), schedule.getN(), {MmaSyncRoles::getAccType(schedule)}};
  }

protected:
  std::unique_ptr<SharedMemoryPlan>
  makePlan(const KernelProblem &problem) const override {
    return std::make_unique<SharedMemoryPlan>(
        getSharedMemoryPlan(problem.types, problem.instruction.getInstruction(),
                            getSchedule(problem)));
  }
  int64_t getThreads(WarpSpecializedScheduleAttr schedule) const override {
    return (MmaWarps(schedule).getCount() + 1) * kWarpLanes;
  }
  void emitRoles(const RoleContext &context) const override {
    MmaSyncRoles(context).emit();
  }
};
} // namespace

const GemmKernel &blockscale::getMmaSyncDenseKernel() {
  static const MmaSyncDenseKernel kernel;
  return kernel;
}
