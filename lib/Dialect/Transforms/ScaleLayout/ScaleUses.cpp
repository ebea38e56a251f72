//===- ScaleUses.cpp - Uses of scale arguments ----------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An argument may change its layout only if every use of it agrees, through
// calls, slices and transposes.
//
//===----------------------------------------------------------------------===//

#include "ScaleLayout/ScaleUses.h"

#include "ScaleLayout/ScaleTrace.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::blockscale;

namespace {

class ScaleUsesInspector {
public:
  ScaleUsesInspector(
      function_ref<bool(MmaScaledOp)> wantsSwizzled,
      function_ref<std::optional<bool>(func::CallOp, unsigned)> getCallOrder)
      : wantsSwizzled(wantsSwizzled), getCallOrder(getCallOrder) {}

  ScaleUses inspect(BlockArgument argument) {
    worklist.push_back(
        {argument, /*isTransposed=*/false, /*isSwizzled=*/false});
    DenseSet<Value> visited; // Graph regions may have cycles.
    SmallVector<ScaleSlice> slices;
    while (!worklist.empty()) {
      Derived derived = worklist.pop_back_val();
      if (!visited.insert(derived.value).second)
        continue;
      for (OpOperand &use : derived.value.getUses()) {
        if (!inspectUse(use, derived))
          uses.setObstacle(use.getOwner(), "it is used not only as scales");
        else if (auto slice = dyn_cast<tensor::ExtractSliceOp>(use.getOwner());
                 slice && !derived.isSwizzled)
          slices.push_back({slice, derived.isTransposed});
      }
    }
    if (uses.rowsFirst && uses.rowsLast)
      uses.setObstacle(argument.getOwner()->getParentOp(),
                       "rows are its first dimension and its last one");
    // Only now it is known which of their dimensions are rows.
    for (ScaleSlice slice : slices) {
      slice.rowsLast ^= uses.rowsLast;
      if (std::string reason = describeCutAtom(slice); !reason.empty())
        uses.setObstacle(slice.op, "a slice cuts an atom: " + reason);
    }
    return std::move(uses);
  }

private:
  /// A value made from the argument.
  struct Derived {
    Value value;
    /// Whether rows and blocks are swapped, compared with the argument.
    bool isTransposed;
    bool isSwizzled;
  };

  /// Records that a use has the rows of `derived` last, or first.
  bool take(const Derived &derived, bool rowsLast) {
    bool isOfArgument = rowsLast != derived.isTransposed;
    (isOfArgument ? uses.rowsLast : uses.rowsFirst) = true;
    return true;
  }

  bool follow(Value value, bool isTransposed, bool isSwizzled) {
    worklist.push_back({value, isTransposed, isSwizzled});
    return true;
  }

  /// Whether `use` is possible with a swizzled argument.
  bool inspectUse(OpOperand &use, const Derived &derived) {
    return TypeSwitch<Operation *, bool>(use.getOwner())
        .Case([&](MmaScaledOp op) {
          // Elements of x and y may have the type of scales.
          bool isYScale = &use == &op.getYScaleMutable();
          if (!isYScale && &use != &op.getXScaleMutable())
            return false;
          uses.holdsScales |= wantsSwizzled(op);
          return take(derived, /*rowsLast=*/isYScale);
        })
        .Case([&](func::CallOp call) {
          std::optional<bool> rowsLast =
              getCallOrder(call, use.getOperandNumber());
          if (!rowsLast)
            return false;
          uses.holdsScales = true;
          return take(derived, *rowsLast);
        })
        .Case([&](linalg::TransposeOp op) {
          TransposeKind kind = classifyTranspose(op);
          if (kind == TransposeKind::Other || use.get() == op.getInit())
            return false;
          bool swaps = kind == TransposeKind::SwapsMatrix;
          return follow(op->getResult(0), derived.isTransposed != swaps,
                        /*isSwizzled=*/false);
        })
        .Case([&](tensor::ExtractSliceOp op) {
          return (derived.isSwizzled || isMatrixSlice(op)) &&
                 follow(op.getResult(), derived.isTransposed,
                        derived.isSwizzled);
        })
        .Case([&](SwizzleScalesOp op) {
          return take(derived, /*rowsLast=*/false) &&
                 follow(op.getResult(), derived.isTransposed,
                        /*isSwizzled=*/true);
        })
        .Case([&](UnswizzleScalesOp op) {
          return follow(op.getResult(), derived.isTransposed,
                        /*isSwizzled=*/false);
        })
        .Case([&](tensor::DimOp) { return true; })
        .Default(false);
  }

  function_ref<bool(MmaScaledOp)> wantsSwizzled;
  function_ref<std::optional<bool>(func::CallOp, unsigned)> getCallOrder;
  ScaleUses uses;
  SmallVector<Derived> worklist;
};

} // namespace

ScaleUses blockscale::inspectScaleUses(
    BlockArgument argument, function_ref<bool(MmaScaledOp)> wantsSwizzled,
    function_ref<std::optional<bool>(func::CallOp, unsigned)> getCallOrder) {
  return ScaleUsesInspector(wantsSwizzled, getCallOrder).inspect(argument);
}
