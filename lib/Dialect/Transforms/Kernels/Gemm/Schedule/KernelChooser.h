//===- KernelChooser.h - The interface of choosers --------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The choosing half of a GEMM kernel: when it is the best kernel of its path,
// with which schedule, and which schedules are legal. GemmKernel.h is the
// emitting half.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_SCHEDULE_KERNELCHOOSER_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_SCHEDULE_KERNELCHOOSER_H

#include "Kernels/Gemm/Schedule/ScheduleText.h"
#include "blockscale/Support/TunedRows.h"

namespace mlir::blockscale {

/// What a schedule is chosen for: `op` on tensors, which `instruction` computes
/// on `chip`. Without `hasWorkspace` there is no memory beside arguments and
/// results.
struct ScheduledProduct {
  ProductOpInterface op;
  InstructionAttr instruction;
  const Chip &chip;
  bool hasWorkspace = true;
  /// Of a kernel that usually has nothing to do: what is fused behind it counts
  /// more than its time.
  bool isRare = false;

  const Instruction &getInstruction() const {
    return instruction.getInstruction();
  }
};

class KernelChooser {
public:
  using EmitErrorFn = ScheduleText::EmitErrorFn;

  virtual ~KernelChooser() = default;

  /// The text of its schedule attribute.
  virtual const ScheduleText &getText() const = 0;
  /// The schedule for `product`; null if a later kernel of the path is better.
  virtual ScheduleInterface choose(ScheduledProduct product) const = 0;
  /// Schedules for `product`, of dynamic sizes, each of which is better than
  /// the one that the path chooses for some sizes; see AlternativeAttr. Empty
  /// if there are none.
  virtual SmallVector<AlternativeAttr>
  getAlternatives(ScheduledProduct product) const {
    return {};
  }
  /// Schedules that may be better than the one of `choose`, for --tune to
  /// measure. Not all of them are legal: `verify` tells.
  virtual SmallVector<ScheduleInterface>
  getCandidates(ScheduledProduct product) const = 0;
  /// Checks that the chip can run the kernel for `product` with `schedule`:
  /// shared memory, registers, sizes.
  virtual LogicalResult verify(ScheduledProduct product,
                               ScheduleInterface schedule,
                               EmitErrorFn emitError) const = 0;
  /// Prints the reasons for the choice for `product`, and the costs of
  /// `schedule`; with `hasPictures`, also its shared memory and tensor memory.
  virtual void explain(ScheduledProduct product, ScheduleInterface schedule,
                       bool hasPictures, raw_ostream &os) const = 0;
  /// The row of the table of measured tiles that would choose `schedule` for
  /// products like `product`; nullopt if an estimate chooses.
  virtual std::optional<TunedTile>
  getTunedTile(ScheduledProduct product, ScheduleInterface schedule) const {
    return std::nullopt;
  }

  /// Checks that K of `op` has a step of `unit` elements for each of `ranges`
  /// split-K ranges. A dynamic K passes.
  static LogicalResult verifySplitK(ProductOpInterface op, int64_t ranges,
                                    int64_t unit, ScheduleInterface schedule,
                                    EmitErrorFn emitError);
};

/// How many SMs `chip` has; 1 if that is not known.
int64_t getSms(const Chip &chip);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_SCHEDULE_KERNELCHOOSER_H
