//===- ScheduleCandidates.cpp - Schedules that may be tried ---------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Estimates choose a schedule without a card. With a card, schedules can be
// measured: this lists candidates of the backends, without those that are not
// legal.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Gemm/Paths/GemmPath.h"
#include "blockscale/Dialect/Transforms/Selection/Schedule.h"
#include "blockscale/Dialect/Transforms/Transforms.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::blockscale;

/// The instruction of `op` on `path`, which may differ from its own path. Null
/// if there is none, or if it is not block-scaled while its own is.
static InstructionAttr getInstruction(ProductOpInterface op, Path path,
                                      Path own) {
  auto instruction = op->getAttrOfType<InstructionAttr>(kInstructionAttrName);
  // Matmuls without scales have no other path.
  if (path == own || !op.getXScale())
    return path == own ? instruction : InstructionAttr();
  std::optional<InstructionChoice> choice =
      chooseInstruction(op.getTypes(), path);
  if (!choice ||
      choice->emitted->isNative() != instruction.getInstruction().isNative())
    return {};
  return InstructionAttr::get(op->getContext(), *choice->emitted);
}

SmallVector<ScheduleInterface>
blockscale::getScheduleCandidates(ProductOpInterface op, const Chip &chip,
                                  bool hasWorkspace) {
  Path own = op->getAttrOfType<PathAttr>(kPathAttrName).getValue();
  llvm::SmallSetVector<ScheduleInterface, 32> candidates;
  candidates.insert(op->getAttrOfType<ScheduleInterface>(kScheduleAttrName));
  // Errors of candidates that are not legal are not reported.
  ScopedDiagnosticHandler silence(op->getContext(),
                                  [](Diagnostic &) { return success(); });
  for (Path path : chip.paths) {
    const GemmPath *kernels = getGemmPath(path);
    InstructionAttr instruction = getInstruction(op, path, own);
    if (!kernels || !kernels->hasSchedules() || !instruction)
      continue;
    ScheduledProduct product = {op, instruction, chip, hasWorkspace};
    for (ScheduleInterface candidate : kernels->getCandidates(product))
      // A schedule that its own path supports would not select the other path.
      if ((path == own || !candidate.isFor(own)) &&
          succeeded(kernels->verify(product, candidate,
                                    [&] { return op->emitOpError(); })))
        candidates.insert(candidate);
  }
  return candidates.takeVector();
}

std::string blockscale::printTunedRow(ProductOpInterface op,
                                      ScheduleInterface schedule,
                                      const Chip &chip, StringRef benchmark) {
  Path own = op->getAttrOfType<PathAttr>(kPathAttrName).getValue();
  SmallVector<Path> paths = {own};
  llvm::append_range(paths, chip.paths);
  const auto *path =
      llvm::find_if(paths, [&](Path path) { return schedule.isFor(path); });
  const GemmPath *kernels = path == paths.end() ? nullptr : getGemmPath(*path);
  std::optional<TunedTile> tile;
  if (kernels && kernels->hasSchedules())
    tile = kernels->getTunedTile({op, {}, chip}, schedule);
  if (!tile)
    return "";
  std::string card = ("a card for " + StringRef(chip.name)).str();
  tile->card = card;
  tile->benchmark = benchmark;
  return printTunedTile(*tile);
}
