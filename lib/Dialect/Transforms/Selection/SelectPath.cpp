//===- SelectPath.cpp - How a chip computes an op -------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A fallback must never be silent: what path an op takes is decided here, once,
// with a remark, and written down.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Backend.h"
#include "Kernels/CodesOfY.h"
#include "Selection/PlainProducts.h"
#include "blockscale/Dialect/IR/BlockScale.h"
#include "blockscale/Dialect/Transforms/Passes.h"
#include "blockscale/Dialect/Transforms/Selection/Schedule.h"
#include "blockscale/Dialect/Transforms/Transforms.h"

namespace mlir::blockscale {
#define GEN_PASS_DEF_SELECTPATHPASS
#include "blockscale/Dialect/Transforms/Passes.h.inc"
} // namespace mlir::blockscale

using namespace mlir;
using namespace mlir::blockscale;

/// Whether operands such as those of `op` can be those of `path`.
static bool takes(Path path, MmaScaledOp op) {
  return op.hasTensorSemantics() || getPathInfo(path).isWarpLevel;
}

/// The names of the chips that have a block-scaled instruction for `op`.
static std::string listNativeChips(MmaScaledOp op) {
  std::string names;
  for (const Chip &chip : getChips())
    if (std::optional<InstructionChoice> choice =
            chooseNative(op.getRow(), chip);
        choice && takes(choice->emitted->path, op))
      names += (names.empty() ? "" : ", ") + std::string(chip.name);
  return names;
}

/// The names of the chips that have the instructions of `path`.
static std::string listChips(Path path) {
  std::string names;
  for (const Chip &chip : getChips())
    if (chip.has(path))
      names += (names.empty() ? "" : ", ") + std::string(chip.name);
  return names;
}

static StringRef getPathName(Path path) { return getPathInfo(path).name; }

namespace {

struct SelectPathPass final
    : mlir::blockscale::impl::SelectPathPassBase<SelectPathPass> {
  using Base::Base;

  void getDependentDialects(DialectRegistry &registry) const override {
    Base::getDependentDialects(registry);
    registerProductOpInterfaceExternalModels(registry);
  }

  void runOnOperation() override {
    FailureOr<TargetAttr> target = getTarget(getOperation());
    if (failed(target))
      return signalPassFailure();
    chip = (*target).getChip();
    emulatedOn = (*target).getEmulatedOn();
    WalkResult result = getOperation()->walk([&](MmaScaledOp op) -> WalkResult {
      FailureOr<Path> path =
          op->hasAttr(kPathAttrName) ? checkPath(op) : selectPath(op);
      if (failed(path))
        return failure();
      op->setAttr(kPathAttrName, PathAttr::get(&getContext(), *path));
      return WalkResult::advance();
    });
    if (result.wasInterrupted() || failed(selectPlainPaths()) ||
        failed(checkLowerLevels()))
      signalPassFailure();
  }

private:
  /// The path that is asked for by an attribute.
  FailureOr<Path> checkPath(MmaScaledOp op) {
    Attribute attr = op->getAttr(kPathAttrName);
    auto wanted = dyn_cast<PathAttr>(attr);
    if (!wanted)
      return op.emitOpError("expected the attribute '")
             << kPathAttrName << "' to be a #blockscale.path, got " << attr;
    Path path = wanted.getValue();
    const PathInfo &info = getPathInfo(path);
    std::optional<InstructionChoice> choice =
        chooseInstruction(op.getRow(), path);
    bool isNative = chip->has(path) && choice && choice->emitted->isNative();
    if (nativeOnly && !isNative)
      return op.emitOpError("no block-scaled instruction on ")
             << StringRef(chip->name) << " with the path " << getPathName(path);
    if (op.hasTensorSemantics() ? !chip->has(path) : !info.isWarpLevel)
      return op.emitOpError("expected a path for ")
             << (op.hasTensorSemantics() ? "tensors" : "vectors") << " on "
             << StringRef(chip->name) << ", got " << getPathName(path);
    if (choice && !isExecuted(*choice))
      return op.emitOpError("expected a path for tensors on ")
             << StringRef(emulatedOn->name) << ", got " << getPathName(path);
    return path;
  }

  /// What schedule the program asks for decides before sizes do.
  enum class Wish { None, Other, This };
  static Wish getWish(ProductOpInterface op, Path path) {
    Operation *places[] = {op, op->getParentOfType<func::FuncOp>()};
    for (Operation *place : places) {
      auto asked =
          place ? place->getAttrOfType<ScheduleInterface>(kScheduleAttrName)
                : ScheduleInterface();
      if (asked)
        return asked.isFor(path) ? Wish::This : Wish::Other;
    }
    return Wish::None;
  }

  /// On the first path that can take the op and is the best for it; if there is
  /// no such one, on the first that can take it.
  std::optional<InstructionChoice> choose(MmaScaledOp op) {
    std::optional<InstructionChoice> first;
    for (Path path : chip->paths) {
      std::optional<InstructionChoice> choice =
          chooseInstruction(op.getRow(), path);
      if (!choice || !takes(path, op) || !isExecuted(*choice))
        continue;
      const KernelBackend *backend = getKernelBackend(path);
      if (!op.hasTensorSemantics() || !backend)
        return choice;
      Wish wish = getWish(op, path);
      bool isBest = backend->isBestFor(op, *chip, !noWorkspace);
      if (wish == Wish::This || (wish == Wish::None && isBest))
        return choice;
      if (!first && isBest)
        first = choice;
    }
    return first;
  }

  FailureOr<Path> selectPath(MmaScaledOp op) {
    OpRow row = op.getRow();
    std::optional<InstructionChoice> choice = choose(op);
    if (choice && choice->emitted->isNative())
      return choice->emitted->path;

    std::string reason = getReason(op);
    if (nativeOnly || !choice)
      return op.emitOpError(reason);
    InFlightDiagnostic remark = op.emitRemark(reason);
    remark << "; converted to bf16 for " << getOpcode(*choice->emitted);
    // Where the chip has an instruction, the reason says what keeps it away.
    std::string chips = chooseNative(row, *chip) && op.hasTensorSemantics()
                            ? ""
                            : listNativeChips(op);
    if (!chips.empty())
      remark << ", an instruction computes it on " << chips;
    return choice->emitted->path;
  }

  /// Products without scales become loops where no path has an instruction for
  /// them.
  LogicalResult selectPlainPaths() {
    SmallVector<ProductOpInterface> products;
    getOperation()->walk([&](ProductOpInterface op) {
      if (!isa<MmaScaledOp>(op))
        products.push_back(op);
    });
    for (ProductOpInterface op : products)
      if (failed(selectPlainPath(op)))
        return failure();
    return success();
  }

  /// Of the paths that have an instruction for `op` the one that is wanted, or
  /// else whose schedule the program asks for, or else the first that is the
  /// best.
  std::optional<Path> choosePlainPath(ProductOpInterface op, PathAttr wanted) {
    std::optional<Path> best;
    for (Path path : chip->paths) {
      std::optional<InstructionChoice> choice = chooseInstruction(op, path);
      const KernelBackend *backend = getKernelBackend(path);
      if (!choice || !isExecuted(*choice) || !backend ||
          (wanted && wanted.getValue() != path))
        continue;
      if (wanted || getWish(op, path) == Wish::This)
        return path;
      if (!best && backend->isBestFor(op, *chip, !noWorkspace))
        best = path;
    }
    return best;
  }

  LogicalResult selectPlainPath(ProductOpInterface op) {
    Attribute attr = op->removeAttr(kPathAttrName);
    auto wanted = dyn_cast_or_null<PathAttr>(attr);
    if (attr && !wanted)
      return op->emitOpError("expected the attribute '")
             << kPathAttrName << "' to be a #blockscale.path, got " << attr;
    if (wanted && getPathInfo(wanted.getValue()).opcode.empty())
      return success();
    // Its form is what paths know; of others none is left.
    if (isPlainProduct(op)) {
      OpBuilder builder(op);
      ProductOpInterface plain =
          makePlain(builder, cast<ProductOpInterface>(builder.clone(*op)));
      if (std::optional<Path> path = choosePlainPath(plain, wanted)) {
        op->getResult(0).replaceAllUsesWith(plain->getResult(0));
        op->erase();
        plain->setAttr(kPathAttrName, PathAttr::get(&getContext(), *path));
        return success();
      }
      erasePlain(plain);
    }
    if (!wanted) {
      remarkOnDequantize(
          op, "K of whole blocks, sums of f32 of bf16 or f16 numbers, and " +
                  describeCodesPaths());
      return success();
    }
    return op->emitOpError("expected a path that has an instruction for it on ")
           << StringRef(chip->name) << ", got "
           << getPathName(wanted.getValue());
  }

  /// Why no block-scaled instruction computes `op`, and what would satisfy it,
  /// if that is not another chip.
  std::string getReason(MmaScaledOp op) {
    std::optional<InstructionChoice> choice = chooseNative(op.getRow(), *chip);
    if (!choice)
      return "no block-scaled instruction on " + std::string(chip->name);
    const PathInfo &path = getPathInfo(choice->emitted->path);
    std::string opcode(path.opcode);
    if (!op.hasTensorSemantics())
      return opcode + " takes tiles in shared memory (async_tile_mma), not "
                      "vectors";
    if (getWish(op, choice->emitted->path) == Wish::Other)
      return "the attribute '" + kScheduleAttrName.str() +
             "' is of another path, " + opcode + " computes it without that";
    return opcode + " computes it where the attribute '" + kPathAttrName.str() +
           "' asks for the path " + std::string(path.name);
  }

  /// Ops that name their instruction themselves.
  LogicalResult checkLowerLevels() {
    WalkResult result = getOperation()->walk([&](Operation *op) -> WalkResult {
      auto instruction = dyn_cast_if_present<InstructionAttr>(
          op->getInherentAttr("instruction").value_or(Attribute()));
      if (!instruction)
        return WalkResult::advance();
      bool isNative = instruction.getInstruction().isNative();
      bool isPlain = instruction.getInstruction().scaling == Scaling::Nowhere;
      if (isPlain && !chip->has(instruction.getPath()))
        return op->emitOpError("no ")
               << StringRef(getPathInfo(instruction.getPath()).opcode) << " on "
               << StringRef(chip->name);
      if (isPlain)
        return WalkResult::advance();
      if (nativeOnly && !isNative)
        return op->emitOpError("expected a block-scaled instruction, got ")
               << instruction;
      if (!isNative || chip->has(instruction.getPath()))
        return WalkResult::advance();
      std::string reason =
          "no " + std::string(getPathInfo(instruction.getPath()).opcode) +
          " ... block_scale on " + std::string(chip->name);
      // Those of a warp can be computed in software.
      if (nativeOnly || !getPathInfo(instruction.getPath()).isWarpLevel)
        return op->emitOpError(reason);
      op->emitRemark(reason) << "; computed with the instruction in software, "
                                "the instruction itself is there on "
                             << listChips(instruction.getPath());
      return WalkResult::advance();
    });
    return failure(result.wasInterrupted());
  }

  /// Whether the chip that runs the code has `choice`, or software has: for
  /// instructions of others than those of scales there is none.
  bool isExecuted(const InstructionChoice &choice) const {
    return !emulatedOn || choice.emitted->isNative() ||
           emulatedOn->has(choice.emitted->path);
  }

  const Chip *chip = nullptr, *emulatedOn = nullptr;
};

} // namespace
