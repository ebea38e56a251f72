//===- ExplainSchedules.cpp - Explanations of schedules -------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Explains why a kernel has its schedule. The path's kernels write the
// explanation.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Gemm/Paths/GemmPath.h"
#include "Kernels/Gemm/Problem/OpSizes.h"
#include "blockscale/Dialect/Transforms/Passes.h"
#include "blockscale/Dialect/Transforms/Selection/Schedule.h"
#include "blockscale/Dialect/Transforms/Transforms.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

namespace mlir::blockscale {
#define GEN_PASS_DEF_EXPLAINSCHEDULESPASS
#include "blockscale/Dialect/Transforms/Passes.h.inc"
} // namespace mlir::blockscale

using namespace mlir;
using namespace mlir::blockscale;

static void printSize(raw_ostream &os, int64_t size) {
  if (ShapedType::isDynamic(size))
    os << '?';
  else
    os << size;
}

/// Such as "@main: 128 x 256 x 512, mma_sync with mxf8f6f4"; whether a size is
/// dynamic.
static bool printHead(raw_ostream &os, ProductOpInterface op, PathAttr path,
                      InstructionAttr instruction) {
  if (auto function = op->getParentOfType<func::FuncOp>())
    os << '@' << function.getName() << ": ";
  auto sizes =
      llvm::to_vector(cast<ShapedType>(op.getAcc().getType()).getShape());
  sizes.push_back(getLogicalK(op));
  llvm::interleave(
      sizes, os, [&](int64_t size) { printSize(os, size); }, " x ");
  os << ", " << StringRef(getPathInfo(path.getValue()).name);
  if (instruction && instruction.getKind() != Kind::Unscaled)
    os << " with " << StringRef(stringifyKind(instruction.getKind()));
  os << '\n';
  return ShapedType::isDynamicShape(sizes);
}

/// Prints the values that the estimates assume for dynamic sizes.
static void printAssumedSizes(raw_ostream &os, const Chip &chip) {
  os << "  ? counts as " << kEstimatedSize;
  if (hasOpcode(chip, "wgmma.mma_async"))
    os << "; as " << kDequantizedSize
       << " to decide whether operands are dequantized first";
  os << '\n';
}

namespace {

struct ExplainSchedulesPass final
    : mlir::blockscale::impl::ExplainSchedulesPassBase<ExplainSchedulesPass> {
  using Base::Base;

  void runOnOperation() override {
    FailureOr<TargetAttr> target = getTarget(getOperation());
    if (failed(target))
      return signalPassFailure();
    const Chip &chip = *(*target).getChip();
    getOperation()->walk([&](ProductOpInterface op) {
      auto path = op->getAttrOfType<PathAttr>(kPathAttrName);
      auto instruction =
          op->getAttrOfType<InstructionAttr>(kInstructionAttrName);
      auto schedule = op->getAttrOfType<ScheduleInterface>(kScheduleAttrName);
      if (!path)
        return;
      bool isDynamic = printHead(llvm::errs(), op, path, instruction);
      if (!instruction || !schedule || !schedule.isFor(path.getValue())) {
        llvm::errs() << "  no schedule: loops\n";
        return;
      }
      llvm::errs() << "  " << schedule << '\n';
      if (isDynamic)
        printAssumedSizes(llvm::errs(), chip);
      getGemmPath(path.getValue())
          ->explain({op, instruction, chip}, schedule, pictures, llvm::errs());
    });
    markAllAnalysesPreserved();
  }
};

} // namespace
