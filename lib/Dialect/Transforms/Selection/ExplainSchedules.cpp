//===- ExplainSchedules.cpp - Schedules, for people -----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Why a kernel has the schedule that it has can be asked, instead of read out
// of the code. What there is to say is known to the path's backend.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Backend.h"
#include "blockscale/Dialect/Transforms/Passes.h"
#include "blockscale/Dialect/Transforms/Selection/Schedule.h"
#include "blockscale/Dialect/Transforms/Transforms.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/raw_ostream.h"

namespace mlir::blockscale {
#define GEN_PASS_DEF_EXPLAINSCHEDULESPASS
#include "blockscale/Dialect/Transforms/Passes.h.inc"
} // namespace mlir::blockscale

using namespace mlir;
using namespace mlir::blockscale;

using Side = MmaScaledOp::Side;

static void printSize(raw_ostream &os, int64_t size) {
  if (ShapedType::isDynamic(size))
    os << '?';
  else
    os << size;
}

/// Such as "@main: 128 x 256 x 512, mxf8f6f4".
static void printHead(raw_ostream &os, ProductOpInterface op, PathAttr path,
                      InstructionAttr instruction) {
  if (auto function = op->getParentOfType<func::FuncOp>())
    os << '@' << function.getName() << ": ";
  auto x = cast<ShapedType>(op.getX().getType());
  for (int64_t size : cast<ShapedType>(op.getAcc().getType()).getShape()) {
    printSize(os, size);
    os << " x ";
  }
  printSize(os, x.getDimSize(MmaScaledOp::getKDim(Side::X, x.getRank())));
  os << ", ";
  if (instruction)
    os << StringRef(stringifyKind(instruction.getKind())) << '\n';
  else
    os << StringRef(getPathInfo(path.getValue()).name) << '\n';
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
      printHead(llvm::errs(), op, path, instruction);
      if (!instruction || !schedule || !schedule.isFor(path.getValue())) {
        llvm::errs() << "  no schedule: plain loops\n";
        return;
      }
      llvm::errs() << "  " << schedule << '\n';
      getKernelBackend(path.getValue())
          ->getScheduleRules()
          ->explain(op, instruction, schedule, chip, pictures, llvm::errs());
    });
    markAllAnalysesPreserved();
  }
};

} // namespace
