//===- MmaSyncRoles.cpp - Warp roles of mma.sync --------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// MMA warps come first, the producer warp last. MMA warps read fragments with
// ldmatrix, and empty a stage as soon as its last fragments are in registers:
// the next copy overlaps with their multiplication.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Gemm/Mma/MmaSync/MmaSyncRoles.h"

#include "Kernels/Gemm/Epilogue/Epilogue.h"
#include "Utils/IndexValues.h"
#include "blockscale/Dialect/IR/DynamicMemory.h"
#include "blockscale/Support/ScaleLayout.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::blockscale;

int64_t MmaSyncRoles::getThreads(WarpSpecializedScheduleAttr schedule) {
  return (MmaWarps(schedule).getCount() + 1) * kWarpLanes;
}

MmaSyncRoles::MmaSyncRoles(OpBuilder &b, gpu::GPUFuncOp kernel,
                           const KernelProblem &problem,
                           const SharedMemoryPlan &plan,
                           const StagedOperands &operands)
    : RoleEmitter(b, kernel, problem, plan, operands, plan.getStageBarriers()),
      warps(plan.getSchedule()) {}

AccType MmaSyncRoles::getAccType(WarpSpecializedScheduleAttr schedule) {
  MLIRContext *context = schedule.getContext();
  MmaWarps warps(schedule);
  return AccType::get(context, schedule.getM(), schedule.getN(),
                      WarpsAttr::get(context, warps.rows, warps.columns));
}

//===----------------------------------------------------------------------===//
// Around the roles
//===----------------------------------------------------------------------===//

void MmaSyncRoles::emitInit() {
  auto first = RolesOp::create(b, loc, ArrayRef<int64_t>{1}, 1);
  OpBuilder at = getRole(first, 0);
  emitElected(at, [&](OpBuilder &one) {
    // One thread of each MMA warp arrives when a stage is empty.
    emitStageBarriers(one, warps.getCount());
    NVVM::FenceMbarrierInitOp::create(one, loc);
  });
  emitAllBarrier(b);
}

void MmaSyncRoles::alignStages() {
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

void MmaSyncRoles::emit() {
  alignStages();
  emitInit();
  // Everything up to here may overlap with the kernel in front.
  NVVM::GriddepcontrolOp::create(b, loc, NVVM::GridDepActionKind::wait);
  SmallVector<int64_t> counts = {warps.getCount(), 1};
  if (hasSoftwareProducer())
    counts.push_back(kSoftwareProducerWarps);
  auto roles = RolesOp::create(b, loc, counts, counts.size());
  OpBuilder consumer = getRole(roles, 0);
  emitConsumer(consumer);
  OpBuilder producer = getRole(roles, 1);
  emitProducer(producer);
  if (hasSoftwareProducer()) {
    OpBuilder loader = getRole(roles, 2);
    emitSoftwareProducer(loader, (warps.getCount() + 1) * kWarpLanes);
  }
}

//===----------------------------------------------------------------------===//
// MMA warps
//===----------------------------------------------------------------------===//

/// A or B in the stage of `state`.
Value MmaSyncRoles::emitElements(OpBuilder &at, const PipelineState &state,
                                 bool isA) {
  WarpSpecializedScheduleAttr schedule = plan.getSchedule();
  int64_t rows = isA ? schedule.getM() : schedule.getN();
  // One element a byte if rows are contiguous.
  SmallVector<int64_t> shape = {rows, kSwizzleRowBytes};
  if (getElements(isA).layout.major == Major::MN)
    shape = {schedule.getK(), rows};
  auto type =
      MemRefType::get(shape, at.getI8Type(), MemRefLayoutAttrInterface(),
                      cast<MemRefType>(shared.getType()).getMemorySpace());
  Value offset = emitStageOffset(at, state, plan.getOffset(getElementsOf(isA)));
  return memref::ViewOp::create(at, loc, type, shared, offset, ValueRange());
}

/// Their scales. A tile of 64 rows may start in the middle of an atom, which is
/// an offset in each row of the atom.
Value MmaSyncRoles::emitScales(OpBuilder &at, const WorkTile &tile,
                               const PipelineState &state, bool isA) {
  WarpSpecializedScheduleAttr schedule = plan.getSchedule();
  int64_t rows = isA ? schedule.getM() : schedule.getN();
  auto type =
      MemRefType::get({plan.getRowAtoms(isA), plan.getScaleWords(),
                       kScaleAtomOuter, kScaleAtomInner},
                      at.getI8Type(), MemRefLayoutAttrInterface(),
                      cast<MemRefType>(shared.getType()).getMemorySpace());
  Value offset = emitStageOffset(at, state, plan.getOffset(getScalesOf(isA)));
  if (rows % kScaleAtomRows != 0) {
    AffineExpr d0 = at.getAffineDimExpr(0);
    Value shift = applyExprs(
        at, loc,
        {(d0 % kScaleAtomRows).floorDiv(kScaleAtomOuter) * kScaleAtomBlocks},
        isA ? tile.row : tile.column)[0];
    offset = addIndices(at, loc, offset, shift);
  }
  return memref::ViewOp::create(at, loc, type, shared, offset, ValueRange());
}

Value MmaSyncRoles::emitStep(OpBuilder &at, const WorkTile &tile,
                             const PipelineState &state, Value sum,
                             Value blocks) {
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
      /*tensor_scale=*/Value(),
      TypeCombinationAttr::get(context, problem.types), problem.instruction,
      getLayout(true), getLayout(false), atoms, atoms);
  // One thread arrives for all lanes of the warp.
  constexpr int32_t kAllLanes = -1;
  NVVM::SyncWarpOp::create(at, loc, word(at, kAllLanes));
  emitElected(at, [&](OpBuilder &one) { emitEmptied(one, state); });
  return sum;
}

bool MmaSyncRoles::hasCut() const {
  return !KernelProblem::isMultiple(problem.k,
                                    problem.types.blockSize * kScalesPerWord);
}

MmaSyncRoles::Steps MmaSyncRoles::emitStepCounts(OpBuilder &at,
                                                 const WorkTile &tile) {
  // Behind the end of K, TMA fills in zeros: for elements, and for whole u32 of
  // scales. The rest of the u32 that K ends in may be anything.
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

SmallVector<Value> MmaSyncRoles::emitProducts(OpBuilder &at,
                                              const WorkTile &tile,
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

void MmaSyncRoles::emitConsumer(OpBuilder &role) {
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
