//===- WgmmaRoles.cpp - Roles of the path wgmma ---------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The first warpgroups multiply and store, the last one, of which one warp does
// something, loads: registers are handed from it to the others.

//===----------------------------------------------------------------------===//

#include "Kernels/Gemm/Mma/Wgmma/WgmmaRoles.h"

#include "Utils/IndexValues.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::blockscale;

namespace {
/// Registers of each thread: those of warpgroups that multiply, and of the one
/// that loads.
struct RegisterShares {
  int64_t groups;
  int32_t multiply, load;
};
} // namespace

// Together at most the 65536 of a SM, with what the block starts
// with, in steps of 8.
static constexpr RegisterShares kRegisterShares[] = {
    {1, 240, 24}, {2, 240, 24}, {3, 160, 32}, {4, 112, 32}};

WgmmaShares::WgmmaShares(WarpSpecializedScheduleAttr schedule) {
  // Sums of 64 x 256, or of 128 x 128, are 128 registers of each thread.
  constexpr int64_t kMostGroups = 3, kFewColumns = 64;
  int64_t rows = schedule.getM() / kWarpgroupRows;
  if (schedule.getSwapAb()) {
    groups = std::max<int64_t>(schedule.getN() <= kFewColumns ? 4 : 2, rows);
    parts = 1;
    partsOfK = groups / rows;
    return;
  }
  partsOfK = 1;
  groups = rows <= kMostGroups ? rows : rows / 2;
  parts = rows / groups;
}

WarpgroupRoles::WarpgroupRoles(OpBuilder &b, gpu::GPUFuncOp kernel,
                               const KernelProblem &problem,
                               const SharedMemoryPlan &plan,
                               const StagedOperands &operands)
    : RoleEmitter(b, kernel, problem, plan, operands, plan.getStageBarriers()),
      shares(plan.getSchedule()) {}

InstructionAttr WarpgroupRoles::getInstruction() const {
  const Instruction &row = problem.instruction.getInstruction();
  return InstructionAttr::get(problem.instruction.getContext(), row.path, row.m,
                              plan.getSchedule().getN(), row.k, row.kind, row.a,
                              row.b, row.scale, row.scaleVec);
}

void WarpgroupRoles::emitInit() {
  auto first = RolesOp::create(b, loc, ArrayRef<int64_t>{1}, 1);
  OpBuilder at = getRole(first, 0);
  emitElected(at, [&](OpBuilder &one) {
    emitStageBarriers(one, shares.getWarpsOfPart());
    emitFirst(one);
    NVVM::FenceMbarrierInitOp::create(one, loc);
  });
  emitAllBarrier(b);
}

void WarpgroupRoles::emitWait(OpBuilder &at) {
  NVVM::GriddepcontrolOp::create(at, loc, NVVM::GridDepActionKind::wait);
}

void WarpgroupRoles::emit() {
  emitInit();
  // Up to here, nothing of a kernel in front is touched.
  if (!isEarly())
    emitWait(b);
  const auto *registers =
      llvm::find_if(kRegisterShares, [&](const RegisterShares &row) {
        return row.groups == shares.groups;
      });
  SmallVector<int64_t> warps = {shares.getWarps(), kWarpgroupWarps};
  auto roles = RolesOp::create(b, loc, warps, warps.size());
  OpBuilder consumer = getRole(roles, 0);
  NVVM::SetMaxRegisterOp::create(consumer, loc, registers->multiply,
                                 NVVM::SetMaxRegisterAction::increase);
  emitConsumer(consumer);
  // All four warps give registers away; one of them loads.
  OpBuilder producers = getRole(roles, 1);
  NVVM::SetMaxRegisterOp::create(producers, loc, registers->load,
                                 NVVM::SetMaxRegisterAction::decrease);
  auto one = RolesOp::create(producers, loc,
                             ArrayRef<int64_t>{shares.getWarps() + 1}, 1);
  OpBuilder producer = getRole(one, 0);
  emitLoader(producer);
  // Others arrive at mbarriers of this block up to their last step.
  if (cluster.hasOthers())
    emitAllBarrier(b);
}

//===----------------------------------------------------------------------===//
// Warpgroups that multiply
//===----------------------------------------------------------------------===//

AccType WgmmaRoles::getAccType(WarpSpecializedScheduleAttr schedule) {
  MLIRContext *context = schedule.getContext();
  WgmmaShares shares(schedule);
  return AccType::get(context, shares.getRows(), schedule.getN(),
                      WarpsAttr::get(context, shares.getWarps(), 1));
}

SmallVector<Value> WgmmaRoles::emitStep(OpBuilder &at,
                                        const PipelineState &place,
                                        ValueRange sums) {
  MLIRContext *context = at.getContext();
  InstructionAttr instruction = getInstruction();
  stages.emitWaitFull(at, place);
  Value y = emitTile(at, place, /*isA=*/false);
  MemRefType all = getTileType(/*isA=*/true);
  SmallVector<int64_t> shape(all.getShape());
  // Rows, or columns of 64 of them.
  shape[0] /= shares.parts;
  MemRefType part = MemRefType::Builder(all).setShape(shape);
  SmallVector<Value> products;
  for (auto [i, sum] : llvm::enumerate(sums)) {
    int64_t byte =
        plan.getOffset(0) + static_cast<int64_t>(i) * part.getNumElements();
    Value x = memref::ViewOp::create(
        at, loc, part, shared, emitStageOffset(at, place, byte), ValueRange());
    products.push_back(WarpgroupMmaOp::create(
        at, loc, sum.getType(), x, y, sum, instruction,
        TileLayoutAttr::get(context, getElements(true).layout),
        TileLayoutAttr::get(context, getElements(false).layout)));
  }
  auto wait = WarpgroupWaitOp::create(at, loc, sums.getTypes(), products,
                                      /*pending=*/0);
  emitElected(at, [&](OpBuilder &one) { emitEmptied(one, place); });
  return llvm::to_vector_of<Value>(wait.getResults());
}

void WgmmaRoles::emitSums(OpBuilder &at, const WorkTile &tile,
                          ValueRange sums) {
  // Those in bounds are stored in pairs.
  bool isAligned = KernelProblem::isMultiple(problem.n, 2);
  emitByBounds(at, tile, isAligned, [&](OpBuilder &path, bool isGuarded) {
    for (auto [i, sum] : llvm::enumerate(sums)) {
      BlockTile part = tile;
      part.row = addIndex(path, loc, tile.row,
                          static_cast<int64_t>(i) * shares.getRows());
      part.isGuarded = isGuarded;
      emitStore(path, sizes, part, sum);
    }
  });
}

SmallVector<Value> WgmmaRoles::emitProducts(OpBuilder &at, const WorkTile &tile,
                                            ValueRange values) {
  SmallVector<Value> sums;
  for (int64_t i = 0; i != shares.parts; ++i)
    sums.push_back(AccZeroOp::create(at, loc, getAccType(plan.getSchedule())));
  PipelineState place = emitSteps(
      at, {values[0], values[1]}, toWord(at, tile.steps),
      /*isUnrolled=*/true, sums,
      [&](OpBuilder &inner, Value, const PipelineState &inside,
          ValueRange before) { return emitStep(inner, inside, before); });
  emitSums(at, tile, sums);
  return {place.stage, place.parity};
}

void WgmmaRoles::emitConsumer(OpBuilder &role) {
  PipelineState first = stages.emitFirst(role);
  forEachTile(role, {first.stage, first.parity},
              [&](OpBuilder &at, const WorkTile &tile, ValueRange values) {
                return emitProducts(at, tile, values);
              });
}
