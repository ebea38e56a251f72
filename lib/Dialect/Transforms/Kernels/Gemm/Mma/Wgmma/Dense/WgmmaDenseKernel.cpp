//===- WgmmaDenseKernel.cpp - Dense GEMM with wgmma -----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The warp-specialized kernel for bf16 and f16 operands, and for block-scaled
// ones that kernels in front have dequantized. Both operands are read from
// shared memory (SS), and accumulators are in registers. A stage is empty again
// as soon as the wgmma that read it are complete.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Gemm/Mma/Kernels.h"

#include "Fragments/AccLowering.h"
#include "Kernels/Gemm/Mma/Wgmma/WarpgroupRoles.h"
#include "Kernels/Gemm/Mma/Wgmma/WgmmaKernel.h"

using namespace mlir;
using namespace mlir::blockscale;

namespace {
class DenseRoles final : public WarpgroupRoles {
public:
  using WarpgroupRoles::WarpgroupRoles;

  /// The accumulator of one instruction of all warpgroups.
  static AccType getAccType(WarpSpecializedScheduleAttr schedule) {
    MLIRContext *context = schedule.getContext();
    WgmmaShares shares(schedule);
    return AccType::get(context, shares.getRows(), schedule.getN(),
                        WarpsAttr::get(context, shares.getWarps(), 1));
  }

private:
  void emitConsumer(OpBuilder role) override {
    PipelineState first = stages.emitFirst(role);
    forEachTile(role, {first.stage, first.parity},
                [&](OpBuilder &at, const WorkTile &tile, ValueRange values) {
                  return emitProducts(at, tile, values);
                });
  }

  /// The mainloop and the epilogue of a tile; `values` are the pipeline state.
  SmallVector<Value> emitProducts(OpBuilder &at, const WorkTile &tile,
                                  ValueRange values) {
    SmallVector<Value> sums;
    for (int64_t i = 0; i != shares.mInstructions; ++i)
      sums.push_back(
          AccZeroOp::create(at, loc, getAccType(plan.getSchedule())));
    PipelineState state = emitSteps(
        at, {values[0], values[1]}, toWord(at, tile.steps),
        /*isUnrolled=*/true, sums,
        [&](OpBuilder &inner, Value, const PipelineState &inside,
            ValueRange before) { return emitStep(inner, inside, before); });
    emitTileEpilogue(at, tile, sums);
    return {state.stage, state.parity};
  }

  /// The accumulators plus the products of the stage of `state`.
  SmallVector<Value> emitStep(OpBuilder &at, const PipelineState &state,
                              ValueRange sums) {
    MLIRContext *context = at.getContext();
    InstructionAttr instruction = getInstruction();
    stages.emitWaitFull(at, state);
    Value y = emitTile(at, state, /*isA=*/false);
    MemRefType all = getTileType(/*isA=*/true);
    SmallVector<int64_t> shape(all.getShape());
    // The tile has rows, or columns of 64 rows.
    shape[0] /= shares.mInstructions;
    MemRefType part = MemRefType::Builder(all).setShape(shape);
    SmallVector<Value> products;
    for (auto [i, sum] : llvm::enumerate(sums)) {
      int64_t byte = plan.getOffset(GemmOperand::A) +
                     static_cast<int64_t>(i) * part.getNumElements();
      Value x = emitView(at, part, emitStageOffset(at, state, byte));
      products.push_back(WarpgroupMmaOp::create(
          at, loc, sum.getType(), x, y, sum, instruction,
          TileLayoutAttr::get(context, getElements(true).layout),
          TileLayoutAttr::get(context, getElements(false).layout)));
    }
    auto wait = WarpgroupWaitOp::create(at, loc, sums.getTypes(), products,
                                        /*pending=*/0);
    emitElected(at, [&](OpBuilder &one) { emitEmptied(one, state); });
    return llvm::to_vector_of<Value>(wait.getResults());
  }

  void emitTileEpilogue(OpBuilder &at, const WorkTile &tile, ValueRange sums) {
    // Values inside of the result are stored in pairs.
    bool isAligned = KernelProblem::isMultiple(problem.n, 2);
    emitByBounds(at, tile, isAligned, [&](OpBuilder &path, bool isGuarded) {
      for (auto [i, sum] : llvm::enumerate(sums)) {
        BlockTile subTile = tile;
        subTile.row = addIndex(path, loc, tile.row,
                               static_cast<int64_t>(i) * shares.getRows());
        subTile.isGuarded = isGuarded;
        emitStore(path, sizes, subTile, sum);
      }
    });
  }
};

class WgmmaDenseKernel final : public WgmmaKernel {
public:
  bool takesGroups() const override { return true; }
  OperandTransforms getTransforms(InstructionAttr) const override {
    return {OperandTransform::DequantizedInFront,
            OperandTransform::DequantizedInFront};
  }
  std::optional<ResultTile>
  getResultTile(const KernelProblem &problem) const override {
    WarpSpecializedScheduleAttr schedule = getSchedule(problem);
    return ResultTile{
        schedule.getM(), schedule.getN(), {DenseRoles::getAccType(schedule)}};
  }

  bool holdsPairs(const KernelProblem &problem) const override {
    AccType type = DenseRoles::getAccType(getSchedule(problem));
    return getAccLowering(type).getPairs(type).has_value();
  }

protected:
  std::unique_ptr<SharedMemoryPlan>
  makePlan(const KernelProblem &problem) const override {
    return std::make_unique<SharedMemoryPlan>(
        problem.instruction.getInstruction(), getSchedule(problem));
  }
  void emitRoles(const RoleContext &context) const override {
    DenseRoles(context).emit();
  }
};
} // namespace

const GemmKernel &blockscale::getWgmmaDenseKernel() {
  static const WgmmaDenseKernel kernel;
  return kernel;
}
