//===- SelectPath.cpp - How a chip computes an op -------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/IR/BlockScale.h"
#include "blockscale/Dialect/Transforms/Passes.h"
#include "blockscale/Dialect/Transforms/Transforms.h"

namespace mlir::blockscale {
#define GEN_PASS_DEF_SELECTPATHPASS
#include "blockscale/Dialect/Transforms/Passes.h.inc"
} // namespace mlir::blockscale

using namespace mlir;
using namespace mlir::blockscale;

/// The names of the chips that have a block-scaled instruction for `row` with
/// a lowering.
static std::string listNativeChips(const OpRow &row) {
  std::string names;
  for (const Chip &chip : getChips())
    if (hasLowering(chip.path) && getPreferredInstruction(row, chip.path))
      names += (names.empty() ? "" : ", ") + std::string(chip.name);
  return names;
}

namespace {

struct SelectPathPass final
    : mlir::blockscale::impl::SelectPathPassBase<SelectPathPass> {
  using Base::Base;

  void runOnOperation() override {
    const Chip *chip = lookupChip(target);
    if (!chip || chip->isCpu()) {
      emitError(getOperation()->getLoc(),
                chip ? "expected a GPU, got cpu" : describeUnknownChip(target));
      return signalPassFailure();
    }
    WalkResult result = getOperation()->walk([&](MmaScaledOp op) -> WalkResult {
      FailureOr<Path> path = selectPath(op, *chip);
      if (failed(path))
        return failure();
      op->setAttr(kPathAttrName, PathAttr::get(&getContext(), *path));
      return WalkResult::advance();
    });
    if (result.wasInterrupted() || failed(checkLowerLevels(*chip)))
      signalPassFailure();
  }

private:
  FailureOr<Path> selectPath(MmaScaledOp op, const Chip &chip) {
    OpRow row = op.getRow();
    const Instruction *instruction = getPreferredInstruction(row, chip.path);
    if (instruction && hasLowering(chip.path))
      return chip.path;

    std::string reason = getReason(chip, instruction);
    if (nativeOnly)
      return op.emitOpError(reason);
    op.emitRemark(reason) << "; computed with "
                          << (op.hasTensorSemantics() ? "plain arithmetic"
                                                      : kInSoftware)
                          << ", an instruction computes it on "
                          << listNativeChips(row);
    return Path::None;
  }

  static constexpr const char *kInSoftware = "the instruction in software";

  static std::string getReason(const Chip &chip,
                               const Instruction *instruction) {
    if (instruction)
      return "not supported in this version: " +
             std::string(stringifyPath(chip.path)) + " lowering";
    return "no block-scaled instruction on " + std::string(chip.name);
  }

  /// Ops that ask for mma.sync by themselves.
  LogicalResult checkLowerLevels(const Chip &chip) {
    if (chip.path == Path::MmaSync)
      return success();
    WalkResult result = getOperation()->walk([&](Operation *op) -> WalkResult {
      if (!isa<TileMmaOp, MmaSyncOp>(op))
        return WalkResult::advance();
      std::string reason =
          "no mma.sync ... block_scale on " + std::string(chip.name);
      if (nativeOnly)
        return op->emitOpError(reason);
      op->emitRemark(reason) << "; computed with " << kInSoftware;
      return WalkResult::advance();
    });
    return failure(result.wasInterrupted());
  }
};

} // namespace
