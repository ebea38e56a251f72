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
    if (!chip) {
      emitError(getOperation()->getLoc(), describeUnknownChip(target));
      return signalPassFailure();
    }
    WalkResult result = getOperation()->walk([&](MmaScaledOp op) -> WalkResult {
      FailureOr<Path> path = selectPath(op, *chip);
      if (failed(path))
        return failure();
      op->setAttr(kPathAttrName, PathAttr::get(&getContext(), *path));
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }

private:
  FailureOr<Path> selectPath(MmaScaledOp op, const Chip &chip) {
    OpRow row = op.getRow();
    const Instruction *instruction = getPreferredInstruction(row, chip.path);
    if (instruction && hasLowering(chip.path))
      return chip.path;

    std::string reason =
        instruction
            ? "not supported in this version: " +
                  std::string(stringifyPath(chip.path)) + " lowering"
            : "no block-scaled instruction on " + std::string(chip.name);
    if (nativeOnly)
      return op.emitOpError(reason);
    op.emitRemark(reason) << "; computed with plain arithmetic, an instruction "
                             "computes it on "
                          << listNativeChips(row);
    return Path::None;
  }
};

} // namespace
