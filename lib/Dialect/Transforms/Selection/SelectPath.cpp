//===- SelectPath.cpp - Selection of paths --------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Decides the path of each op once, and records it. A fallback must never be
// silent, so it gets a remark.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Gemm/Paths/GemmPath.h"
#include "Kernels/Gemm/Problem/QuantizedB.h"
#include "Selection/CoarseScales.h"
#include "Selection/PathChoice.h"
#include "Selection/SparsePaths.h"
#include "Selection/UnscaledProducts.h"
#include "blockscale/Dialect/IR/Sparse.h"
#include "blockscale/Dialect/Transforms/Passes.h"
#include "blockscale/Dialect/Transforms/Selection/Accumulate.h"
#include "blockscale/Dialect/Transforms/Transforms.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::blockscale {
#define GEN_PASS_DEF_SELECTPATHPASS
#include "blockscale/Dialect/Transforms/Passes.h.inc"
} // namespace mlir::blockscale

using namespace mlir;
using namespace mlir::blockscale;

static StringRef getPathName(Path path) { return getPathInfo(path).name; }

/// The names of the chips that have the instructions of one of `paths`.
static std::string listChips(ArrayRef<Path> paths) {
  std::string names;
  for (const Chip &chip : getChips())
    if (llvm::any_of(paths, [&](Path path) { return chip.has(path); }))
      names += (names.empty() ? "" : ", ") + std::string(chip.name);
  return names;
}

/// The names of the chips that have `instruction`.
static std::string listChips(const Instruction &instruction) {
  std::string names;
  for (const Chip &chip : getChips())
    if (instruction.isOn(chip))
      names += (names.empty() ? "" : ", ") + std::string(chip.name);
  return names;
}

/// Checks that `chip` has the instructions of ops below the tile level in
/// `root`. Unless `nativeOnly`, instructions that can be emulated only get a
/// remark. Emits an error at others.
static LogicalResult checkNamedInstructions(Operation *root, const Chip &chip,
                                            bool nativeOnly) {
  WalkResult result = root->walk([&](Operation *op) -> WalkResult {
    auto instruction = dyn_cast_if_present<InstructionAttr>(
        op->getInherentAttr("instruction").value_or(Attribute()));
    if (!instruction)
      return WalkResult::advance();
    const Instruction &row = instruction.getInstruction();
    // Sparse instructions of a warp can be emulated, but each chip of a family
    // has others.
    if (row.isSparse() && !row.isOn(chip)) {
      bool isEmulated =
          !nativeOnly && getPathInfo(instruction.getPath()).isWarpLevel;
      InFlightDiagnostic diagnostic =
          isEmulated ? op->emitRemark() : InFlightDiagnostic(op->emitOpError());
      diagnostic << "no " << getOpcode(row) << " on " << StringRef(chip.name);
      if (isEmulated)
        diagnostic << "; computed with the instruction in software";
      diagnostic << ", the instruction is there on " << listChips(row);
      return isEmulated ? WalkResult::advance() : WalkResult(diagnostic);
    }
    bool isNative = row.isNative();
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

namespace {

struct SelectPathPass final
    : mlir::blockscale::impl::SelectPathPassBase<SelectPathPass> {
  using Base::Base;

  void getDependentDialects(DialectRegistry &registry) const override {
    Base::getDependentDialects(registry);
    registry.insert<arith::ArithDialect, linalg::LinalgDialect,
                    tensor::TensorDialect>();
    registerProductOpInterfaceExternalModels(registry);
  }

  void runOnOperation() override {
    FailureOr<TargetAttr> target = getTarget(getOperation());
    if (failed(target))
      return signalPassFailure();
    if (failed(attachAccumulation(getOperation(), {accumulate, rebase})))
      return signalPassFailure();
    PathChooser chooser = {*(*target).getChip(), (*target).getEmulatedOn(),
                           !noWorkspace};
    rebaseScales(getOperation(), chooser);
    rewriteCoarseScales(getOperation(), chooser);
    if (failed(refuseCoarseScales(getOperation())))
      return signalPassFailure();
    if (failed(selectSparsePaths(getOperation(), chooser, nativeOnly)) ||
        failed(selectPaths(chooser)) || failed(selectGroupedPaths(chooser)) ||
        failed(selectUnscaledPaths(chooser)) ||
        failed(
            checkNamedInstructions(getOperation(), chooser.chip, nativeOnly)))
      signalPassFailure();
  }

private:
  LogicalResult selectPaths(const PathChooser &chooser) {
    WalkResult result = getOperation()->walk([&](MmaScaledOp op) -> WalkResult {
      FailureOr<Path> path = op->hasAttr(kPathAttrName)
                                 ? checkPath(op, chooser)
                                 : selectPath(op, chooser);
      if (failed(path))
        return failure();
      op->setAttr(kPathAttrName, PathAttr::get(&getContext(), *path));
      return WalkResult::advance();
    });
    return failure(result.wasInterrupted());
  }

  /// Checks the path that an attribute requests.
  FailureOr<Path> checkPath(MmaScaledOp op, const PathChooser &chooser) {
    Attribute attr = op->getAttr(kPathAttrName);
    auto wanted = dyn_cast<PathAttr>(attr);
    if (!wanted)
      return op.emitOpError("expected the attribute '")
             << kPathAttrName << "' to be a #blockscale.path, got " << attr;
    Path path = wanted.getValue();
    const PathInfo &info = getPathInfo(path);
    std::optional<InstructionChoice> choice =
        chooseInstruction(op.getTypes(), path);
    bool isNative =
        chooser.chip.has(path) && choice && choice->emitted->isNative();
    if (nativeOnly && !isNative)
      return op.emitOpError("no block-scaled instruction on ")
             << StringRef(chooser.chip.name) << " with the path "
             << getPathName(path);
    if (op.hasTensorSemantics() ? !chooser.chip.has(path) : !info.isWarpLevel)
      return op.emitOpError("expected a path for ")
             << (op.hasTensorSemantics() ? "tensors" : "vectors") << " on "
             << StringRef(chooser.chip.name) << ", got " << getPathName(path);
    if (choice && !chooser.isExecuted(*choice))
      return op.emitOpError("expected a path for tensors on ")
             << StringRef(chooser.emulatedOn->name) << ", got "
             << getPathName(path);
    return path;
  }

  FailureOr<Path> selectPath(MmaScaledOp op, const PathChooser &chooser) {
    return checkChoice(op, chooser, chooser.choose(op));
  }

  /// The path of `choice`, with a remark if it has no block-scaled instruction.
  FailureOr<Path> checkChoice(ProductOpInterface op, const PathChooser &chooser,
                              std::optional<InstructionChoice> choice) {
    if (choice && choice->emitted->isNative())
      return choice->emitted->path;
    std::string reason = chooser.explainFallback(op);
    if (nativeOnly || !choice)
      return op->emitOpError(reason);
    InFlightDiagnostic remark = op->emitRemark(reason);
    remark << "; dequantized to bf16 for " << getOpcode(*choice->emitted);
    if (std::string chips = chooser.listNativeChips(op); !chips.empty())
      remark << ", an instruction computes it on " << chips;
    return choice->emitted->path;
  }

  LogicalResult selectGroupedPaths(const PathChooser &chooser) {
    WalkResult result =
        getOperation()->walk([&](ProductOpInterface op) -> WalkResult {
          if (!op.getRowGroups())
            return WalkResult::advance();
          Attribute attr = op->getAttr(kPathAttrName);
          auto wanted = dyn_cast_or_null<PathAttr>(attr);
          if (attr && !wanted)
            return op->emitOpError("expected the attribute '")
                   << kPathAttrName << "' to be a #blockscale.path, got "
                   << attr;
          if (op.getPromotion() && failed(refuseIfNativeOnly(op)))
            return failure();
          std::optional<InstructionChoice> choice =
              chooser.chooseGrouped(op, wanted);
          if (!choice)
            return op->emitOpError("expected a path with kernels for groups of "
                                   "rows of these types and sizes on ")
                   << StringRef(chooser.chip.name);
          if (op.getXScale() && failed(checkChoice(op, chooser, choice)))
            return failure();
          op->setAttr(kPathAttrName,
                      PathAttr::get(&getContext(), choice->emitted->path));
          return WalkResult::advance();
        });
    return failure(result.wasInterrupted());
  }

  /// Matmuls without scales become loops if no path has an instruction for
  /// them.
  LogicalResult selectUnscaledPaths(const PathChooser &chooser) {
    SmallVector<ProductOpInterface> products;
    getOperation()->walk([&](ProductOpInterface op) {
      if (!isa<MmaScaledOp, SparseMmaScaledOp>(op) && !op.getRowGroups())
        products.push_back(op);
    });
    for (ProductOpInterface op : products)
      if (failed(selectUnscaledPath(op, chooser)))
        return failure();
    return success();
  }

  LogicalResult selectUnscaledPath(ProductOpInterface op,
                                   const PathChooser &chooser) {
    Attribute attr = op->removeAttr(kPathAttrName);
    auto wanted = dyn_cast_or_null<PathAttr>(attr);
    if (attr && !wanted)
      return op->emitOpError("expected the attribute '")
             << kPathAttrName << "' to be a #blockscale.path, got " << attr;
    if (op.getPromotion())
      return selectPromotedPath(op, chooser, wanted);
    if (wanted && getPathInfo(wanted.getValue()).opcode.empty())
      return success();
    // Paths support only the canonical form; loops need no such form.
    std::optional<Path> path;
    auto isAccepted = [&](ProductOpInterface canonical) {
      path = chooser.chooseUnscaled(canonical, wanted);
      return path.has_value();
    };
    if (isUnscaledProduct(op))
      if (ProductOpInterface canonical = replaceByCanonical(op, isAccepted)) {
        canonical->setAttr(kPathAttrName, PathAttr::get(&getContext(), *path));
        return success();
      }
    if (!wanted) {
      remarkOnDequantize(
          op, "K of whole blocks, f32 sums of bf16 or f16 values, and " +
                  describeMixedInputPaths());
      remarkOnLoops(op, chooser);
      return success();
    }
    return op->emitOpError("expected a path that has an instruction for it on ")
           << StringRef(chooser.chip.name) << ", got "
           << getPathName(wanted.getValue());
  }

  /// For promoted sums.
  LogicalResult refuseIfNativeOnly(ProductOpInterface op) {
    if (!nativeOnly)
      return success();
    return op->emitOpError("no block-scaled instruction has these scales; "
                           "they are factors of sums of ")
           << StringRef(getFormatInfo(op.getTypes().lhs).ptxName)
           << " elements";
  }

  /// Promoted sums have no other form.
  LogicalResult selectPromotedPath(ProductOpInterface op,
                                   const PathChooser &chooser,
                                   PathAttr wanted) {
    if (failed(refuseIfNativeOnly(op)))
      return failure();
    std::optional<Path> path = chooser.chooseUnscaled(op, wanted);
    if (!path)
      return op->emitOpError("expected a path with kernels that promote sums "
                             "of such elements on ")
             << StringRef(chooser.chip.name) << ", got "
             << (wanted ? getPathName(wanted.getValue()) : "none");
    op->setAttr(kPathAttrName, PathAttr::get(&getContext(), *path));
    return success();
  }

  /// Warns that `op`, without a path, does not use tensor cores, if it
  /// multiplies values that some instruction takes.
  static void remarkOnLoops(ProductOpInterface op, const PathChooser &chooser) {
    const Chip &chip = chooser.chip;
    TypeCombination types = op.getTypes();
    bool isTaken = llvm::any_of(getInstructions(), [&](const Instruction &row) {
      return row.scaling == Scaling::Nowhere && row.a == types.lhs &&
             row.b == types.rhs && row.isOn(chip);
    });
    if (!isTaken || !op.hasTensorSemantics() || findQuantizedB(op))
      return;
    bool isExecuted = llvm::any_of(chip.paths, [&](Path path) {
      std::optional<InstructionChoice> choice = chooseInstruction(types, path);
      return choice && chooser.isExecuted(*choice);
    });
    op->emitRemark("computed by loops, not by tensor cores: ")
        << (isExecuted ? "expected f32 sums, each of M, N and K in two "
                         "operands, and no size of 0"
                       : "only block-scaled instructions are emulated");
  }
};

} // namespace
