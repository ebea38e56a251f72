//===- SelectSchedule.cpp - Schedules of kernels --------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Who wants which schedule: the option, the op, its function, or the path's own
// choice. What schedules are is known to the path's kernels.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Gemm/Paths/GemmPath.h"
#include "Kernels/Gemm/Problem/QuantizedB.h"
#include "blockscale/Dialect/Transforms/Passes.h"
#include "blockscale/Dialect/Transforms/Selection/Schedule.h"
#include "blockscale/Dialect/Transforms/Transforms.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::blockscale {
#define GEN_PASS_DEF_SELECTSCHEDULEPASS
#include "blockscale/Dialect/Transforms/Passes.h.inc"
} // namespace mlir::blockscale

using namespace mlir;
using namespace mlir::blockscale;

namespace {
/// A product whose path has schedules.
struct Product {
  ProductOpInterface op;
  Path path;
  const GemmPath *kernels;
  InstructionAttr instruction;
};

struct SelectSchedulePass final
    : mlir::blockscale::impl::SelectSchedulePassBase<SelectSchedulePass> {
  using Base::Base;

  void runOnOperation() override {
    FailureOr<TargetAttr> target = getTarget(getOperation());
    if (failed(target))
      return signalPassFailure();
    chip = (*target).getChip();
    emulatedOn = (*target).getEmulatedOn();
    llvm::MapVector<Operation *, SmallVector<Product>> functions;
    if (failed(parseOption()) || failed(collect(functions)))
      return signalPassFailure();
    for (auto &[function, products] : functions) {
      for (Product &product : products)
        moveToWanted(product);
      if (failed(selectAll(products)))
        return signalPassFailure();
    }
  }

private:
  /// The option is of the form of one of the chip's paths.
  LogicalResult parseOption() {
    if (schedule.empty())
      return success();
    // The option is wrong, and no place in the module.
    auto emitHere = [&] { return emitError(UnknownLoc::get(&getContext())); };
    const ScheduleText *text = findScheduleText(schedule);
    if (!text)
      return emitHere() << "expected a schedule of the form "
                        << describeScheduleForms() << ", got '" << schedule
                        << "'" << describeRenamedFields(schedule);
    // One of another chip's path is one that no product here can take.
    bool isTaken = llvm::any_of(chip->paths, [&](Path path) {
      const GemmPath *kernels = getGemmPath(path);
      return kernels && kernels->hasSchedules() &&
             llvm::is_contained(kernels->getTexts(), text);
    });
    if (!isTaken)
      return success();
    wanted = text->parse(&getContext(), schedule, emitHere);
    return success(wanted != nullptr);
  }

  /// Finds the products, by the functions that they are in.
  LogicalResult
  collect(llvm::MapVector<Operation *, SmallVector<Product>> &functions) {
    WalkResult result =
        getOperation()->walk([&](ProductOpInterface op) -> WalkResult {
          auto path = op->getAttrOfType<PathAttr>(kPathAttrName);
          const GemmPath *kernels =
              path ? getGemmPath(path.getValue()) : nullptr;
          if (!op.hasTensorSemantics() || !kernels || !kernels->hasSchedules())
            return WalkResult::advance();
          auto instruction =
              op->getAttrOfType<InstructionAttr>(kInstructionAttrName);
          if (!instruction)
            return op->emitOpError("expected the attribute '")
                   << kInstructionAttrName << "' of blockscale-legalize";
          functions[op->getParentOfType<FunctionOpInterface>()].push_back(
              {op, path.getValue(), kernels, instruction});
          return WalkResult::advance();
        });
    return failure(result.wasInterrupted());
  }

  /// Of paths that convert their operands none is native: the option may ask
  /// for another one of them than the one that is estimated to be the best.
  void moveToWanted(Product &product) {
    if (!wanted || wanted.isFor(product.path) ||
        product.instruction.getInstruction().isNative())
      return;
    for (Path path : chip->paths) {
      const GemmPath *kernels = getGemmPath(path);
      std::optional<InstructionChoice> choice =
          chooseInstruction(product.op, path);
      if (!choice || !kernels || !kernels->hasSchedules() ||
          !wanted.isFor(path) || (emulatedOn && !emulatedOn->has(path)))
        continue;
      product.op->emitRemark("computed on the path ")
          << StringRef(getPathInfo(path).name) << ", as --schedule is of that";
      product.path = path;
      product.kernels = kernels;
      product.instruction =
          InstructionAttr::get(&getContext(), *choice->emitted);
      product.op->setAttr(kPathAttrName, PathAttr::get(&getContext(), path));
      product.op->setAttr(kInstructionAttrName, product.instruction);
      return;
    }
  }

  /// The option is for those products of a function that can take it. If there
  /// is none, the option is a mistake.
  LogicalResult selectAll(ArrayRef<Product> products) {
    SmallVector<std::string> obstacles;
    for (const Product &product : products)
      obstacles.push_back(findObstacle(product));
    if (llvm::none_of(obstacles,
                      [](const std::string &text) { return text.empty(); })) {
      const auto *first = llvm::find_if(products, [&](const Product &product) {
        return wanted && wanted.isFor(product.path);
      });
      size_t number = first == products.end() ? 0 : first - products.begin();
      return products[number].op->emitOpError(obstacles[number]);
    }
    for (auto [product, obstacle] : llvm::zip_equal(products, obstacles)) {
      bool takesOption = !schedule.empty() && obstacle.empty();
      if (!takesOption && !schedule.empty())
        product.op->emitRemark("the schedule is not that of --schedule: ")
            << obstacle;
      if (failed(select(product, takesOption)))
        return failure();
    }
    return success();
  }

  /// What keeps a product from the schedule of the option; empty for nothing.
  std::string findObstacle(const Product &product) {
    if (schedule.empty())
      return {};
    if (!wanted || !wanted.isFor(product.path))
      return ("expected a schedule of the path " +
              StringRef(getPathInfo(product.path).name) + ", '" +
              joinForms(product.kernels->getTexts(), "' or '") + "', got '" +
              schedule + "'")
          .str();
    std::string obstacle;
    ScopedDiagnosticHandler handler(&getContext(), [&](Diagnostic &diagnostic) {
      obstacle = diagnostic.str();
      return success();
    });
    // Without the name of the op, which is told anyway.
    (void)product.kernels->verify(product.op, product.instruction, wanted,
                                  *chip,
                                  [&] { return product.op->emitError(); });
    return obstacle;
  }

  LogicalResult select(const Product &product, bool takesOption) {
    ProductOpInterface op = product.op;
    FailureOr<ScheduleInterface> found =
        takesOption ? wanted : findAttr(op, product.path);
    if (failed(found))
      return failure();
    ScheduleInterface chosen = *found;
    if (!chosen)
      chosen =
          product.kernels->choose(op, product.instruction, *chip, !noWorkspace);
    else if (!takesOption && failed(product.kernels->verify(
                                 op, product.instruction, chosen, *chip,
                                 [&] { return op->emitOpError(); })))
      return failure();
    op->setAttr(kScheduleAttrName, chosen);
    const GemmKernel *kernel = product.kernels->findKernel(chosen);
    if (kernel->getTransforms(product.instruction).y !=
        OperandTransform::DequantizedInRegisters) {
      std::string obstacle =
          product.kernels->findMixedInputObstacle(op, *chip, !noWorkspace);
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

  /// That of the option; null for none, or one of another chip.
  ScheduleInterface wanted;
  const Chip *chip = nullptr, *emulatedOn = nullptr;
};

} // namespace
