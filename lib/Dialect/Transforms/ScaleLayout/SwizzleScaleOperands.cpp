//===- SwizzleScaleOperands.cpp - Feed mma_scaled swizzled scales ---------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The order of the steps: arguments first, because that leaves swizzles in
// callers. These and the user's are moved up and hoisted. Then the remaining
// row-major operands get a swizzle, at its final position.
//
//===----------------------------------------------------------------------===//

#include "ScaleLayout/ScaleTrace.h"
#include "ScaleLayout/ScaleUses.h"
#include "blockscale/Dialect/Transforms/Passes.h"
#include "blockscale/Dialect/Transforms/Transforms.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/RegionKindInterface.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/LoopInvariantCodeMotionUtils.h"
#include "mlir/Transforms/RegionUtils.h"

namespace mlir::blockscale {
#define GEN_PASS_DEF_SWIZZLESCALEOPERANDSPASS
#include "blockscale/Dialect/Transforms/Passes.h.inc"
} // namespace mlir::blockscale

using namespace mlir;
using namespace mlir::blockscale;

/// Decided by the selected path, else by the chip; if neither is known, always
/// true. No path has coarse scales.
static bool wantsSwizzledScales(MmaScaledOp op, const Chip *chip) {
  if (op.hasCoarseScales())
    return false;
  auto wants = [](Path path) { return getPathInfo(path).wantsSwizzledScales; };
  if (auto path = op->getAttrOfType<PathAttr>(kPathAttrName))
    return wants(path.getValue());
  if (!chip)
    return true;
  std::optional<InstructionChoice> choice =
      chooseInstruction(op.getTypes(), *chip);
  return choice && wants(choice->emitted->path);
}

/// Moves swizzles, with ops that only they use, out of loops.
static void hoistSwizzles(ModuleOp module) {
  DenseSet<Operation *> movable;
  SmallVector<Operation *> worklist;
  module.walk([&](SwizzleScalesOp op) { worklist.push_back(op); });
  while (!worklist.empty()) {
    Operation *op = worklist.pop_back_val();
    if (!movable.insert(op).second)
      continue;
    for (Value operand : op->getOperands())
      if (Operation *producer = operand.getDefiningOp();
          isa_and_present<linalg::TransposeOp, tensor::EmptyOp, tensor::DimOp,
                          tensor::ExtractSliceOp, affine::AffineApplyOp,
                          arith::ConstantOp>(producer))
        worklist.push_back(producer);
  }
  // Inner loops first, so that outer loops can move them further.
  module.walk([&](LoopLikeOpInterface loop) {
    moveLoopInvariantCode(
        loop.getLoopRegions(),
        [&](Value value, Region *) {
          return loop.isDefinedOutsideOfLoop(value);
        },
        [&](Operation *op, Region *) {
          return movable.contains(op) && isMemoryEffectFree(op) &&
                 isSpeculatable(op);
        },
        [&](Operation *op, Region *) { loop.moveOutOfLoop(op); });
  });
}

/// Whether ops around `op` may form a cycle, on which folding may not
/// terminate.
static bool isInGraphRegion(Operation *op) {
  for (Region *region = op->getParentRegion(); region;
       region = region->getParentRegion()) {
    if (mayBeGraphRegion(*region))
      return true;
    if (region->getParentOp()->hasTrait<OpTrait::IsIsolatedFromAbove>())
      return false;
  }
  return false;
}

/// Whether `op` defines or moves possible scales; also true for `tensor.empty`,
/// so that it is erased with its transpose.
static bool handlesScales(Operation *op) {
  if (!isa<SwizzleScalesOp, UnswizzleScalesOp, tensor::ExtractSliceOp,
           linalg::TransposeOp, tensor::EmptyOp>(op) ||
      op->getNumResults() != 1 || isInGraphRegion(op))
    return false;
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  return type && getScaleFormat(type.getElementType());
}

/// Applies the patterns to scales only, so that the rest of the program does
/// not change.
static LogicalResult carrySwizzles(ModuleOp module) {
  // In a graph region, an op may use itself.
  IRRewriter rewriter(module.getContext());
  (void)eraseUnreachableBlocks(rewriter, module->getRegions());
  SmallVector<Operation *> ops;
  module.walk([&](Operation *op) {
    if (handlesScales(op))
      ops.push_back(op);
  });
  // The driver processes the last one first. Processing from the top down
  // avoids updating the uses of all later ops again and again.
  std::reverse(ops.begin(), ops.end());
  RewritePatternSet patterns(module.getContext());
  populateCarrySwizzlesPatterns(patterns);
  linalg::TransposeOp::getCanonicalizationPatterns(patterns,
                                                   module.getContext());
  GreedyRewriteConfig config;
  config.setStrictness(GreedyRewriteStrictness::ExistingAndNewOps);
  if (succeeded(applyOpPatternsGreedily(ops, std::move(patterns), config)))
    return success();
  return emitError(module.getLoc(), "swizzles did not converge");
}

namespace {

/// Swizzles row-major scale operands where folding does not undo it: constants,
/// and scales that a loop slices.
class SwizzleInserter {
public:
  void insert(MmaScaledOp op) {
    insert(op, op.getXScaleMutable(), /*rowsLast=*/false);
    insert(op, op.getYScaleMutable(), /*rowsLast=*/true);
  }

  /// Says why a swizzle of the user stays in a loop, if a slice is the reason.
  void explain(SwizzleScalesOp op) {
    if (!isa<RankedTensorType>(op.getType()))
      return;
    ScaleTrace trace = traceScales(op.getSource(), /*rowsLast=*/false);
    if (!isSlicedIn(getHoistPoint(op, trace.source), trace))
      return;
    for (const ScaleSlice &slice : trace.slices)
      if (std::string reason = describeCutAtom(slice, /*toItsEnd=*/true);
          !reason.empty())
        return remarkOnCut(slice.op, reason);
  }

  /// Erases what is no longer used.
  void eraseReplaced() {
    while (!replaced.empty()) {
      Operation *op = replaced.pop_back_val();
      if (!isOpTriviallyDead(op))
        continue;
      for (Value operand : op->getOperands())
        if (Operation *producer = operand.getDefiningOp())
          replaced.insert(producer);
      op->erase();
    }
  }

private:
  void insert(MmaScaledOp op, OpOperand &operand, bool rowsLast) {
    ScaleTrace trace = traceScales(operand.get(), rowsLast);
    bool isUnswizzled = trace.source.getDefiningOp<UnswizzleScalesOp>();
    DenseElementsAttr constant;
    bool isConstant = matchPattern(trace.source, m_Constant(&constant));
    if (!isUnswizzled && !isConstant)
      trace = traceScales(operand.get(), rowsLast, isInLoopOrTranspose);
    Operation *point = getHoistPoint(op, trace.source);
    // Scales that are unswizzled already, and not sliced, are in their final
    // form.
    if (isUnswizzled ? trace.slices.empty()
                     : !isConstant && !isSlicedIn(point, trace))
      return;
    for (const ScaleSlice &slice : trace.slices)
      if (std::string reason = describeCutAtom(slice); !reason.empty())
        return remarkOnCut(slice.op, reason);
    if (isUnswizzled)
      return;
    if (Value swizzled = getSwizzle(trace, isConstant ? nullptr : point))
      replace(op, operand, trace, rowsLast, swizzled);
  }

  /// A slice that is not in a loop is itself the source.
  static bool isInLoopOrTranspose(Operation *op) {
    return isa<linalg::TransposeOp>(op) ||
           op->getParentOfType<LoopLikeOpInterface>();
  }

  /// Whether `point` is a loop that slices values from outside of it.
  static bool isSlicedIn(Operation *point, const ScaleTrace &trace) {
    return isa<LoopLikeOpInterface>(point) &&
           llvm::any_of(trace.slices, [&](const ScaleSlice &slice) {
             return point->isAncestor(slice.op);
           });
  }

  /// Operands often share a slice.
  void remarkOnCut(tensor::ExtractSliceOp slice, StringRef reason) {
    if (remarked.insert(slice).second)
      slice.emitRemark("the slice cuts an atom of scales, which stay as they "
                       "are: ")
          << reason;
  }

  /// The source swizzled in front of `point`; next to it if it is a constant.
  Value getSwizzle(const ScaleTrace &trace, Operation *point) {
    Value &swizzled = swizzles[{{trace.source, trace.rowsLast}, point}];
    if (swizzled)
      return swizzled;
    Location loc = trace.source.getLoc();
    OpBuilder builder(trace.source.getContext());
    if (point) {
      builder.setInsertionPoint(point);
      return swizzled = emitSwizzle(builder, loc, trace.source, trace.rowsLast);
    }
    builder.setInsertionPointAfterValue(trace.source);
    return swizzled =
               getSwizzledConstant(builder, loc, trace.source, trace.rowsLast);
  }

  void replace(MmaScaledOp op, OpOperand &operand, const ScaleTrace &trace,
               bool rowsLast, Value swizzled) {
    OpBuilder builder(op);
    Location loc = op.getLoc();
    auto type = cast<RankedTensorType>(operand.get().getType());
    SmallVector<OpFoldResult> sizes =
        getAsIndexOpFoldResult(op.getContext(), type.getShape());
    for (const ScaleSlice &slice : trace.slices) {
      swizzled = sliceSwizzled(builder, loc, slice, swizzled);
      sizes = getResultSizes(slice.op);
      if (slice.rowsLast != rowsLast)
        std::swap(sizes[sizes.size() - 2], sizes.back());
    }
    if (Operation *producer = operand.get().getDefiningOp())
      replaced.insert(producer);
    operand.set(getUnswizzled(builder, loc, swizzled, type, rowsLast, sizes));
  }

  using Key = std::pair<std::pair<Value, unsigned>, Operation *>;
  DenseMap<Key, Value> swizzles;
  DenseSet<Operation *> remarked;
  /// Erased last, so that no new op has the address of a key.
  llvm::SetVector<Operation *> replaced;
};

struct SwizzleScaleOperandsPass final
    : mlir::blockscale::impl::SwizzleScaleOperandsPassBase<
          SwizzleScaleOperandsPass> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    FailureOr<TargetAttr> target = lookupTarget(module);
    if (failed(target))
      return signalPassFailure();
    const Chip *chip = *target ? (*target).getChip() : nullptr;
    auto wantsSwizzled = [&](MmaScaledOp op) {
      return op.hasTensorSemantics() && wantsSwizzledScales(op, chip);
    };
    if (changeSignature)
      swizzleArguments(module, wantsSwizzled);
    if (failed(carrySwizzles(module)))
      return signalPassFailure();
    hoistSwizzles(module);

    SwizzleInserter inserter;
    module.walk([&](MmaScaledOp op) {
      if (wantsSwizzled(op) && !isInGraphRegion(op))
        inserter.insert(op);
    });
    module.walk([&](SwizzleScalesOp op) { inserter.explain(op); });
    inserter.eraseReplaced();
  }
};

} // namespace
