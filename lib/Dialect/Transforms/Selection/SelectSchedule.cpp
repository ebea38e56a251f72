//===- SelectSchedule.cpp - Schedules of kernels --------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Who wants which schedule: the option, the op, its function, or the path's own
// choice. What schedules are is known to the path's backend.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Backend.h"
#include "Kernels/CodesOfY.h"
#include "blockscale/Dialect/Transforms/Passes.h"
#include "blockscale/Dialect/Transforms/Selection/Schedule.h"
#include "blockscale/Dialect/Transforms/Transforms.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::blockscale {
#define GEN_PASS_DEF_SELECTSCHEDULEPASS
#include "blockscale/Dialect/Transforms/Passes.h.inc"
} // namespace mlir::blockscale

using namespace mlir;
using namespace mlir::blockscale;

namespace {

struct SelectSchedulePass final
    : mlir::blockscale::impl::SelectSchedulePassBase<SelectSchedulePass> {
  using Base::Base;

  void runOnOperation() override {
    FailureOr<TargetAttr> target = getTarget(getOperation());
    if (failed(target) || failed(parseOption(*(*target).getChip())))
      return signalPassFailure();
    WalkResult result =
        getOperation()->walk([&](ProductOpInterface op) -> WalkResult {
          return select(op, *(*target).getChip());
        });
    if (result.wasInterrupted())
      signalPassFailure();
  }

private:
  /// The option is of the form of one of the chip's paths.
  LogicalResult parseOption(const Chip &chip) {
    if (schedule.empty())
      return success();
    // The option is wrong, and no place in the module.
    auto emitHere = [&] { return emitError(UnknownLoc::get(&getContext())); };
    for (Path path : chip.paths) {
      const KernelBackend *backend = getKernelBackend(path);
      const ScheduleRules *rules =
          backend ? backend->getScheduleRules() : nullptr;
      if (!rules || !rules->hasForm(schedule))
        continue;
      FailureOr<ScheduleInterface> parsed =
          rules->parse(&getContext(), schedule, emitHere);
      if (failed(parsed))
        return failure();
      wanted = *parsed;
      return success();
    }
    // For a chip whose paths have none, there is nothing to choose.
    if (isScheduleText(schedule))
      return success();
    return emitHere() << "expected a schedule of the form "
                      << describeScheduleForms() << ", got '" << schedule
                      << "'";
  }

  LogicalResult select(ProductOpInterface op, const Chip &chip) {
    auto path = op->getAttrOfType<PathAttr>(kPathAttrName);
    if (!op.hasTensorSemantics() || !path)
      return success();
    const KernelBackend *backend = getKernelBackend(path.getValue());
    const ScheduleRules *rules =
        backend ? backend->getScheduleRules() : nullptr;
    if (!rules)
      return success();
    auto instruction = op->getAttrOfType<InstructionAttr>(kInstructionAttrName);
    if (!instruction)
      return op->emitOpError("expected the attribute '")
             << kInstructionAttrName << "' of blockscale-legalize";
    FailureOr<ScheduleInterface> found = wanted;
    // What is meant for products with scales says nothing of others.
    bool isForOthers =
        wanted && !wanted.isFor(path.getValue()) && !op.getXScale();
    if (!wanted || isForOthers)
      found = findAttr(op, path.getValue());
    else if (!wanted.isFor(path.getValue()))
      return op->emitOpError("expected a schedule of the path ")
             << StringRef(getPathInfo(path.getValue()).name) << ", '"
             << llvm::join(rules->getForms(), "' or '") << "', got '"
             << schedule << "'";
    if (failed(found))
      return failure();
    ScheduleInterface chosen = *found;
    if (!chosen)
      chosen = rules->choose(op, instruction, chip, !noWorkspace);
    else if (failed(rules->verify(op, instruction, chosen, chip,
                                  [&] { return op->emitOpError(); })))
      return failure();
    op->setAttr(kScheduleAttrName, chosen);
    if (backend->getTakenCodes(instruction, chosen) == TakenCodes::None) {
      std::string obstacle = backend->findCodesObstacle(op, chip, !noWorkspace);
      remarkOnDequantize(op, obstacle.empty() ? "another schedule" : obstacle);
    }
    return success();
  }

  /// The schedule that the op or else its function asks for; null for none.
  static FailureOr<ScheduleInterface> findAttr(ProductOpInterface op,
                                               Path path) {
    Operation *places[] = {op, op->getParentOfType<func::FuncOp>()};
    for (Operation *place : places) {
      Attribute attr = place ? place->getAttr(kScheduleAttrName) : Attribute();
      if (!attr)
        continue;
      auto schedule = dyn_cast<ScheduleInterface>(attr);
      if (schedule && schedule.isFor(path))
        return schedule;
      if (schedule && place != op.getOperation() && !op.getXScale())
        continue;
      return place->emitOpError("expected the attribute '")
             << kScheduleAttrName << "' to be a schedule of the path "
             << StringRef(getPathInfo(path).name) << ", got " << attr;
    }
    return ScheduleInterface();
  }

  /// That of the option; null for none.
  ScheduleInterface wanted;
};

} // namespace
