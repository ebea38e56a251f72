//===- NamedInstructions.cpp - Ops that name their instruction ------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Selection/NamedInstructions.h"

using namespace mlir;
using namespace mlir::blockscale;

/// The names of the chips that have the instructions of `path`.
static std::string listChips(Path path) {
  std::string names;
  for (const Chip &chip : getChips())
    if (chip.has(path))
      names += (names.empty() ? "" : ", ") + std::string(chip.name);
  return names;
}

LogicalResult blockscale::checkNamedInstructions(Operation *root,
                                                 const Chip &chip,
                                                 bool nativeOnly) {
  WalkResult result = root->walk([&](Operation *op) -> WalkResult {
    auto instruction = dyn_cast_if_present<InstructionAttr>(
        op->getInherentAttr("instruction").value_or(Attribute()));
    if (!instruction)
      return WalkResult::advance();
    bool isNative = instruction.getInstruction().isNative();
    bool isPlain = instruction.getInstruction().scaling == Scaling::Nowhere;
    if (isPlain && !chip.has(instruction.getPath()))
      return op->emitOpError("no ")
             << StringRef(getPathInfo(instruction.getPath()).opcode) << " on "
             << StringRef(chip.name);
    if (isPlain)
      return WalkResult::advance();
    if (nativeOnly && !isNative)
      return op->emitOpError("expected a block-scaled instruction, got ")
             << instruction;
    if (!isNative || chip.has(instruction.getPath()))
      return WalkResult::advance();
    std::string reason =
        "no " + std::string(getPathInfo(instruction.getPath()).opcode) +
        " ... block_scale on " + std::string(chip.name);
    // Instructions of a warp can be emulated.
    if (nativeOnly || !getPathInfo(instruction.getPath()).isWarpLevel)
      return op->emitOpError(reason);
    op->emitRemark(reason) << "; computed with the instruction in software, "
                              "the instruction itself is there on "
                           << listChips(instruction.getPath());
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}
