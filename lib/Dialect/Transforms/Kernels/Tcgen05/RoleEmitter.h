//===- RoleEmitter.h - What each role does -------------------- -*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The three roles of a kernel of the path tcgen05. All of them go through the
// same tiles in the same order: a producer brings tiles along K to stages, one
// thread multiplies them, and four warps store sums, or make something of them.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_TCGEN05_ROLEEMITTER_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_TCGEN05_ROLEEMITTER_H

#include "Kernels/BlockTile.h"
#include "Kernels/Tcgen05/Ring.h"
#include "Kernels/Tcgen05/RingOperand.h"

namespace mlir::blockscale {

/// What a block does at a time.
struct RingTile : BlockTile {
  /// The matrix of operands; `batch` is that of the result.
  Value matrix;
  /// Its steps along K; null for the first one.
  Value firstStep, endStep;
};

class RoleEmitter {
public:
  /// `problem` is that of getInstructionProblem: rows and columns of tiles are
  /// rows of A and of B, but where sums are added and stored.
  RoleEmitter(OpBuilder &b, gpu::GPUFuncOp kernel, const KernelProblem &problem,
              const RingPlan &plan, const RingOperands &operands);

  /// Everything: what is made before the roles, and freed behind them.
  void emit();

private:
  using EmitTile = function_ref<SmallVector<Value>(
      OpBuilder &, const RingTile &, ValueRange)>;

  void emitInit();
  void emitFree();
  void emitProducer(OpBuilder &b);
  void emitFiller(OpBuilder &b);
  void emitMultiplier(OpBuilder &b);
  void emitStorer(OpBuilder &b);

  /// Calls `body` for each tile of the block; `values` go from tile to tile.
  void forEachTile(OpBuilder &b, SmallVector<Value> values, EmitTile body);
  /// Which matrix and which steps along K those of `tile` are, for which the
  /// result has `matrices` in all.
  void emitPartOfK(OpBuilder &b, RingTile &tile, Value matrices);
  /// Steps that each tile has at most, and whether all have as many; nullopt if
  /// nothing is known.
  struct StepCount {
    int64_t most;
    bool isSame;
  };
  std::optional<StepCount> getStepCount() const;
  /// Calls `body` for `count` (i32) steps along K with the stage that each has,
  /// from `place` in the ring of stages on; where the ring is then.
  /// `isUnrolled` makes whole rounds one step of a loop, in which stages are
  /// constants.
  using EmitStep =
      function_ref<void(OpBuilder &, Value step, const RingPlace &)>;
  RingPlace emitSteps(OpBuilder &b, RingPlace place, Value count,
                      bool isUnrolled, EmitStep body);
  /// The same for all steps of all tiles, of stages that were empty.
  using EmitTileStep = function_ref<void(OpBuilder &, const RingTile &,
                                         Value step, const RingPlace &)>;
  void fillStages(OpBuilder &b, bool isUnrolled, EmitTileStep body);
  /// Whether warps bring an operand.
  bool hasFiller() const;
  void emitFill(OpBuilder &b, const RingTile &tile, Value thread, Value step,
                const RingPlace &place);
  void emitLoads(OpBuilder &b, const RingTile &tile, Value step,
                 const RingPlace &place);
  SmallVector<Value> emitProducts(OpBuilder &b, const RingTile &tile,
                                  ValueRange values);
  /// The product of the stage at `place`; with `steps`, of those alone.
  void emitProduct(OpBuilder &b, const BlockTile &tile, const RingPlace &place,
                   Value acc, Value step, Value steps);
  void emitScaleCopies(OpBuilder &b, const RingPlace &place);
  void emitMask(OpBuilder &b, const RingPlace &place);
  Value emitScales(OpBuilder &b, const RingPlace &place, bool isA, Value shift);
  void emitSums(OpBuilder &b, const BlockTile &tile, const RingPlace &place,
                Value window);
  AccType getPartType(int64_t columns) const;
  void emitPart(OpBuilder &b, const BlockTile &tile, Value acc, Value column,
                bool isGuarded);

  Value index(OpBuilder &b, int64_t value) const;
  Value toWord(OpBuilder &b, Value value) const;
  Value word(OpBuilder &b, int64_t value) const;
  /// Whether K may end inside of an instruction.
  bool hasMask() const;
  /// Code for one thread of the warp.
  void emitElected(OpBuilder &b, function_ref<void(OpBuilder &)> body) const;
  /// Byte `plus` of the stage at `place`.
  Value emitStageOffset(OpBuilder &b, const RingPlace &place,
                        int64_t plus) const;
  Value emitWindow(OpBuilder &b, Value count) const;
  Value emitAcc(OpBuilder &b, Value window) const;
  const RingOperand &getElements(bool isA) const {
    return operands[isA ? 0 : 2];
  }

  OpBuilder &b;
  gpu::GPUFuncOp kernel;
  const KernelProblem &problem;
  const RingPlan &plan;
  const RingOperands &operands;
  Location loc;
  ProblemSizes sizes;
  /// All stages, as bytes; the address of tensor memory; the mbarriers.
  Value shared, slot, barriers;
  Value tmem;
  Ring stages, sums;
};

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_TCGEN05_ROLEEMITTER_H
