//===- PathChoice.cpp - Choice of a path ----------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Selection/PathChoice.h"

#include "Kernels/Gemm/Paths/GemmPath.h"
#include "Kernels/Gemm/Problem/QuantizedB.h"
#include "Kernels/Gemm/Schedule/Choosers.h"
#include "Selection/ExpandSparse.h"
#include "blockscale/Dialect/Transforms/Selection/Schedule.h"
#include "blockscale/Dialect/Transforms/Transforms.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace mlir::blockscale;

/// Whether `path` supports operands such as those of `op`.
static bool takes(Path path, ProductOpInterface op) {
  return op.hasTensorSemantics() || getPathInfo(path).isWarpLevel;
}

/// The path of the schedule that the program requests; it has priority over
/// sizes.
enum class Request { None, Other, This };

static ScheduleInterface getRequestedSchedule(ProductOpInterface op) {
  Operation *ops[] = {op, op->getParentOfType<func::FuncOp>()};
  for (Operation *source : ops)
    if (auto schedule =
            source ? source->getAttrOfType<ScheduleInterface>(kScheduleAttrName)
                   : ScheduleInterface())
      return schedule;
  return {};
}

static Request getRequest(ProductOpInterface op, Path path) {
  if (ScheduleInterface schedule = getRequestedSchedule(op))
    return schedule.isFor(path) ? Request::This : Request::Other;
  return Request::None;
}

/// Whether `op` has a schedule for a kernel that reads metadata with wgmma.
static bool asksForSparseInput(ProductOpInterface op) {
  ScheduleInterface schedule = getRequestedSchedule(op);
  return schedule && schedule.getKernelKind() == KernelKind::SparseInput;
}

std::optional<InstructionChoice> PathChooser::choose(MmaScaledOp op) const {
  std::optional<InstructionChoice> first;
  for (Path path : chip.paths) {
    std::optional<InstructionChoice> choice =
        chooseInstruction(op.getTypes(), path);
    if (!choice || !takes(path, op) || !isExecuted(*choice))
      continue;
    const GemmPath *kernels = getGemmPath(path);
    if (!op.hasTensorSemantics() || !kernels)
      return choice;
    Request request = getRequest(op, path);
    bool isBest = kernels->isBestFor(op, chip, hasWorkspace);
    if (request == Request::This || (request == Request::None && isBest))
      return choice;
    if (!first && isBest)
      first = choice;
  }
  return first;
}

std::optional<Path> PathChooser::chooseUnscaled(ProductOpInterface op,
                                                PathAttr wanted) const {
  std::optional<Path> best;
  for (Path path : chip.paths) {
    std::optional<InstructionChoice> choice = chooseInstruction(op, path);
    const GemmPath *kernels = getGemmPath(path);
    if (!choice || !isExecuted(*choice) || !kernels ||
        (wanted && wanted.getValue() != path))
      continue;
    if (op.getPromotion() &&
        !kernels->choose(
            {op, InstructionAttr::get(op->getContext(), *choice->emitted), chip,
             hasWorkspace}))
      continue;
    if (wanted || getRequest(op, path) == Request::This)
      return path;
    if (!best && kernels->isBestFor(op, chip, hasWorkspace))
      best = path;
  }
  return best;
}

std::optional<InstructionChoice>
PathChooser::chooseGrouped(ProductOpInterface op, PathAttr wanted) const {
  std::optional<InstructionChoice> first;
  for (Path path : chip.paths) {
    const GemmPath *kernels = getGemmPath(path);
    std::optional<InstructionChoice> choice = chooseInstruction(op, path);
    if (!kernels || !kernels->takesGroups() || !choice ||
        !isExecuted(*choice) || (wanted && wanted.getValue() != path))
      continue;
    auto instruction = InstructionAttr::get(op->getContext(), *choice->emitted);
    Request request = getRequest(op, path);
    bool isTaken = bool(kernels->choose({op, instruction, chip, hasWorkspace}));
    if (request == Request::This || (request == Request::None && isTaken))
      return choice;
    if (!first && isTaken)
      first = choice;
  }
  return first;
}

std::optional<Path> PathChooser::chooseSparse(SparseMmaScaledOp op) const {
  if (!op.hasTensorSemantics())
    return std::nullopt;
  std::optional<InstructionChoice> choice = chooseNative(op.getTypes(), chip);
  // Sparse instructions of a warp are emulated, others are not.
  if (!choice ||
      (emulatedOn && !getPathInfo(choice->emitted->path).isWarpLevel))
    return std::nullopt;
  return choice->emitted->path;
}

std::optional<InstructionChoice>
PathChooser::chooseSparseWgmma(SparseMmaScaledOp op, PathAttr wanted) const {
  std::optional<Path> path = chip.findPath(Dequantization::InFront);
  if (!op.hasTensorSemantics() || emulatedOn || !path ||
      (wanted && wanted.getValue() != *path))
    return std::nullopt;
  std::optional<InstructionChoice> choice =
      chooseInstruction(op.getTypes(), *path);
  if (!choice)
    return std::nullopt;
  // The path alone asks for a dense product.
  bool isWanted = getRequestedSchedule(op)
                      ? asksForSparseInput(op)
                      : !wanted && isSparseInputBest(op, chip, hasWorkspace);
  return isWanted ? choice : std::nullopt;
}

SmallVector<AlternativeAttr>
PathChooser::getSparseAlternatives(SparseMmaScaledOp op,
                                   PathAttr wanted) const {
  if (wanted || emulatedOn || !op.hasTensorSemantics() ||
      getRequestedSchedule(op) || op->hasAttr(kAlternativesAttrName))
    return {};
  return getSparseInputAlternatives(op, chip, hasWorkspace);
}

std::optional<InstructionChoice>
PathChooser::chooseDequantizedSparse(SparseMmaScaledOp op,
                                     PathAttr wanted) const {
  if (std::optional<InstructionChoice> choice = chooseSparseWgmma(op, wanted))
    return choice;
  std::optional<Path> path = chip.findPath(Dequantization::InRegisters);
  if (!op.hasTensorSemantics() || emulatedOn || !path)
    return std::nullopt;
  std::optional<InstructionChoice> choice =
      chooseInstruction(op.getTypes(), *path);
  if (!choice)
    return std::nullopt;
  Request request = getRequest(op, *path);
  bool isWanted =
      wanted ? wanted.getValue() == *path
             : request == Request::This ||
                   (request == Request::None &&
                    !chooseNative(getDenseTypes(op), chip) &&
                    (isMetadataFaster(op, chip, getNumDenseProducts(op)) ||
                     !getSparseAlternatives(op, wanted).empty())) ||
                   // Its schedule is refused then, with the reason.
                   asksForSparseInput(op);
  return isWanted ? choice : std::nullopt;
}

std::string PathChooser::listSparseChips(const TypeCombination &types) {
  std::string names;
  for (const Chip &chip : getChips())
    if (chooseNative(types, chip))
      names += (names.empty() ? "" : ", ") + std::string(chip.name);
  return names;
}

bool PathChooser::isExecuted(const InstructionChoice &choice) const {
  return !emulatedOn || choice.emitted->isNative() ||
         emulatedOn->has(choice.emitted->path);
}

std::string PathChooser::explainFallback(ProductOpInterface op) const {
  std::optional<InstructionChoice> choice = chooseNative(op.getTypes(), chip);
  if (!choice)
    return "no block-scaled instruction on " + std::string(chip.name);
  const PathInfo &path = getPathInfo(choice->emitted->path);
  std::string opcode(path.opcode);
  if (!op.hasTensorSemantics())
    return opcode + " needs tiles in shared memory (async_tile_mma), not "
                    "vectors";
  const GemmPath *kernels = getGemmPath(choice->emitted->path);
  if (op.getRowGroups() && !(kernels && kernels->takesGroups()))
    return "no kernel with " + opcode + " for groups of rows";
  if (getRequest(op, choice->emitted->path) == Request::Other)
    return "the attribute '" + kScheduleAttrName.str() +
           "' is of another path, " + opcode + " computes it without that";
  return opcode + " computes it where the attribute '" + kPathAttrName.str() +
         "' requests the path " + std::string(path.name);
}

std::string PathChooser::listNativeChips(ProductOpInterface op) const {
  // If the chip has an instruction, another reason prevents its use.
  if (chooseNative(op.getTypes(), chip) && op.hasTensorSemantics())
    return "";
  std::string names;
  for (const Chip &other : getChips())
    if (std::optional<InstructionChoice> choice =
            chooseNative(op.getTypes(), other);
        choice && takes(choice->emitted->path, op))
      names += (names.empty() ? "" : ", ") + std::string(other.name);
  return names;
}
